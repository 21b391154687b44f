package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// openRemote fetches an image from a registry. The layers are kept as they come,
// compressed, because they are read more than once.
func (i *Image) openRemote(ctx context.Context, target string, want choice, o Options) (content, error) {
	ref, err := name.ParseReference(target)
	if err != nil {
		return content{}, fmt.Errorf("invalid image name: %w", err)
	}
	keychain := o.Keychain
	if keychain == nil {
		keychain = authn.DefaultKeychain
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(keychain), remote.WithUserAgent("nri-compat")}
	img, err := choose(ref, want, options)
	if err != nil {
		return content{}, remoteError(ctx, ref, err)
	}
	c, err := i.fetch(ctx, img, o.Progress)
	return c, remoteError(ctx, ref, err)
}

// choose asks the registry for the image for the wanted platform.
func choose(ref name.Reference, want choice, options []remote.Option) (v1.Image, error) {
	desc, err := remote.Get(ref, options...)
	if err != nil {
		return nil, err
	}
	switch {
	case desc.MediaType.IsIndex():
		all, err := candidates(desc.Manifest, func(d v1.Descriptor) ([]byte, error) {
			nested, err := remote.Get(ref.Context().Digest(d.Digest.String()), options...)
			if err != nil {
				return nil, err
			}
			return nested.Manifest, nil
		}, maxNesting)
		if err != nil {
			return nil, err
		}
		chosen, err := want.choose(all)
		if err != nil {
			return nil, err
		}
		return remote.Image(ref.Context().Digest(chosen.Digest.String()), options...)
	case desc.MediaType.IsImage():
		return desc.Image()
	}
	return nil, fmt.Errorf("not an image but %.100q", desc.MediaType)
}

// fetch downloads configuration and layers. The library checks the digests of
// both while it reads.
func (i *Image) fetch(ctx context.Context, img v1.Image, progress func(done, total int64)) (content, error) {
	raw, err := img.RawManifest()
	if err != nil {
		return content{}, err
	}
	m, err := parseManifest(raw)
	if err != nil {
		return content{}, err
	}
	meter := &meter{tell: progress}
	for _, d := range m.Layers {
		if d.Size < 0 || d.Size > i.maxBytes-meter.total {
			return content{}, limitError(fmt.Sprintf("layers of more than the limit of %d bytes: not fetched", i.maxBytes))
		}
		meter.total += d.Size
	}
	var c content
	if c.config, err = img.RawConfigFile(); err != nil {
		return content{}, err
	}
	layers, err := img.Layers()
	if err != nil {
		return content{}, err
	}
	if len(layers) != len(m.Layers) {
		return content{}, fmt.Errorf("not an image: %d layers, %d of them readable", len(m.Layers), len(layers))
	}
	for n, l := range layers {
		kept, err := i.fetchLayer(ctx, l, m.Layers[n], meter)
		if err != nil {
			return content{}, fmt.Errorf("layer %d of %d: %w", n+1, len(layers), err)
		}
		c.layers = append(c.layers, kept)
	}
	return c, nil
}

func (i *Image) fetchLayer(ctx context.Context, l v1.Layer, d v1.Descriptor, m *meter) (layer, error) {
	rc, err := l.Compressed()
	if err != nil {
		return layer{}, err
	}
	defer rc.Close()
	f, n, err := i.spool.keep(&source{ctx: ctx, r: rc, meter: m}, d.Size)
	if err != nil {
		return layer{}, err
	}
	return layer{size: n, digest: d.Digest, open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(f, 0, n)), nil
	}}, nil
}

// remoteError says what an answer of the registry means to the user.
func remoteError(ctx context.Context, ref name.Reference, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("registry %s: %w", ref.Context().RegistryStr(), context.Cause(ctx))
	}
	refused := new(transport.Error)
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &registryError{fmt.Sprintf("registry %s: unauthorized: log in with \"docker login %s\", or the image does not exist (status %d)",
			ref.Context().RegistryStr(), ref.Context().RegistryStr(), refused.StatusCode), refused}
	case http.StatusNotFound:
		return &registryError{fmt.Sprintf("registry %s: no image %s", ref.Context().RegistryStr(), ref.Name()), refused}
	}
	return &registryError{fmt.Sprintf("registry %s: %v", ref.Context().RegistryStr(), err), refused}
}

// registryError is an answer by which a registry refuses, in one line.
type registryError struct {
	text    string
	refused *transport.Error
}

func (e *registryError) Error() string { return e.text }
func (e *registryError) Unwrap() error { return e.refused }

// Details is which request was answered how.
func (e *registryError) Details() []string {
	status := fmt.Sprintf("HTTP status %d %s", e.refused.StatusCode, http.StatusText(e.refused.StatusCode))
	if r := e.refused.Request; r != nil && r.URL != nil {
		// Without the query, which can hold a signature.
		status += fmt.Sprintf(" of %s %s://%s%s", r.Method, r.URL.Scheme, r.URL.Host, r.URL.EscapedPath())
	}
	return []string{status}
}
