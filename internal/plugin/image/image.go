// Package image finds the executable of a plugin in a container image: in a
// registry ("image:REF"), in an archive as "docker save" writes it
// ("docker-archive:FILE") or in an OCI image layout ("oci-dir:DIR").
//
// [Open] fetches the image for one platform, checks every digest, and reads the
// names in all layers, with whiteouts, symbolic and hard links as a runtime
// would unpack them; nothing is unpacked. [Image.Executables] then takes out
// the program that ENTRYPOINT and CMD start, or else every program that the
// caller accepts, and [Image.Manifest] the declared manifest.
//
// Images are not trusted. The bytes fetched and the bytes unpacked are limited,
// and so is the number of names; a layer that goes beyond is an error, never a
// shorter answer. Files are kept in temporary files that have no name while they
// are in use (where the system allows it) and are gone after [Image.Close], or
// after an error. Every access to the network ends with its context. Nothing of
// an image is ever run.
package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// DefaultMaxBytes is the limit of [Options.MaxBytes] when it is 0.
const DefaultMaxBytes = 4 << 30

const (
	// ManifestName is the base name of the files that [Image.Manifest] finds.
	ManifestName = "nri-compat.yaml"
	// ManifestLabel is the image label that it falls back to.
	ManifestLabel = "io.nri-compat.requirements"
)

const (
	maxDocument = 4 << 20 // bytes of a manifest, an index or a config
	maxFile     = 1 << 30 // bytes of one executable
	maxNames    = 500_000 // names in all layers together
	maxLayers   = 1_000
	maxManifest = 1 << 20 // bytes that are kept of a declared manifest
)

// Options change how an image is opened. The zero value is ready to use.
type Options struct {
	// Platform chooses among the platforms of an image, in the form "OS/ARCH" or
	// "OS/ARCH/VARIANT". Empty stands for Linux on the architecture of this
	// machine, or for the only platform there is.
	Platform string
	// MaxBytes limits what is fetched and, separately, what the layers unpack to;
	// 0 stands for [DefaultMaxBytes].
	MaxBytes int64
	// Keychain holds the credentials for registries; nil stands for those of the
	// docker command line.
	Keychain authn.Keychain
	// Progress, if not nil, is told from time to time how many of the total
	// compressed bytes of the layers were read. It is called from the goroutine
	// that calls Open.
	Progress func(done, total int64)
}

// Image is an opened image. It is not safe for concurrent use.
type Image struct {
	// Ref is the reference it was opened by.
	Ref Ref
	// Platform is the platform that was chosen, such as "linux/arm64/v8"; empty
	// if the image does not say.
	Platform string
	// Digest is the digest of the image's configuration, which is the image ID.
	Digest string

	config   v1.ConfigFile
	layers   []layer
	tree     *tree
	maxBytes int64
	spool    *spool
}

// content is what the three kinds of references have in common: the verified
// configuration and the layers, lowest first.
type content struct {
	config []byte
	layers []layer
}

// Open opens an image and reads the names in its layers. The caller must close
// the image. An error says which reference failed.
func Open(ctx context.Context, ref Ref, o Options) (*Image, error) {
	img := &Image{Ref: ref, maxBytes: o.MaxBytes, spool: &spool{}}
	if img.maxBytes <= 0 {
		img.maxBytes = DefaultMaxBytes
	}
	if err := img.open(ctx, o); err != nil {
		return nil, fmt.Errorf("%s: %w", ref, errors.Join(err, img.Close()))
	}
	return img, nil
}

func (i *Image) open(ctx context.Context, o Options) error {
	want, err := newChoice(o.Platform)
	if err != nil {
		return err
	}
	var c content
	switch i.Ref.Scheme {
	case DockerArchive:
		c, err = i.openArchive(i.Ref.Target)
	case OCIDir:
		c, err = openLayout(i.Ref.Target, want)
	case Registry:
		c, err = i.openRemote(ctx, i.Ref.Target, want, o)
	default:
		err = fmt.Errorf("unknown kind of image reference %q", i.Ref.Scheme)
	}
	if err != nil {
		return err
	}
	if err := i.setConfig(c, want); err != nil {
		return err
	}
	if i.Ref.Scheme == Registry {
		o.Progress = nil // told already while the layers were fetched
	}
	return i.index(ctx, o.Progress)
}

// setConfig takes over the configuration and gives each layer the digest of its
// unpacked form.
func (i *Image) setConfig(c content, want choice) error {
	if err := json.Unmarshal(c.config, &i.config); err != nil {
		return fmt.Errorf("not an image: its configuration is not the one of an image: %w", err)
	}
	if len(c.layers) > maxLayers {
		return fmt.Errorf("%d layers, more than the limit of %d", len(c.layers), maxLayers)
	}
	if len(i.config.RootFS.DiffIDs) != len(c.layers) {
		return fmt.Errorf("not an image: %d layers, but its configuration lists %d", len(c.layers), len(i.config.RootFS.DiffIDs))
	}
	if len(c.layers) == 0 {
		return errors.New("an image without layers: there is nothing to read")
	}
	i.Platform = platformName(v1.Platform{OS: i.config.OS, Architecture: i.config.Architecture, Variant: i.config.Variant})
	if err := want.check(i.Platform); err != nil {
		return err
	}
	i.Digest = digestOf(c.config)
	for n := range c.layers {
		c.layers[n].diffID = i.config.RootFS.DiffIDs[n]
	}
	i.layers = c.layers
	return nil
}

// index reads the names in all layers.
func (i *Image) index(ctx context.Context, progress func(done, total int64)) error {
	i.tree = newTree()
	meter := &meter{tell: progress}
	for _, l := range i.layers {
		meter.total += l.size
	}
	budget := &budget{bytes: i.maxBytes}
	for n, l := range i.layers {
		i.tree.layer = n
		err := l.read(ctx, meter, budget, true, func(e entry) (bool, error) { return true, i.tree.add(e) })
		if err != nil {
			return fmt.Errorf("layer %d of %d: %w", n+1, len(i.layers), err)
		}
	}
	return nil
}

// Labels returns the labels of the image; nil if it has none.
func (i *Image) Labels() map[string]string { return i.config.Config.Labels }

// Close gives up everything the image holds, the files that
// [Image.Executables] returned included.
func (i *Image) Close() error { return i.spool.close() }
