package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// maxNesting bounds indexes that name indexes.
const maxNesting = 4

// openLayout opens the image for the wanted platform in an OCI image layout.
func openLayout(dir string, want choice) (content, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return content{}, fileError(err)
	}
	if !info.IsDir() {
		return content{}, errors.New("not a directory: use docker-archive: for a file")
	}
	data, err := readDocument(filepath.Join(dir, "index.json"))
	if errors.Is(err, os.ErrNotExist) {
		return content{}, errors.New("not an OCI image layout: it has no index.json")
	}
	if err != nil {
		return content{}, fmt.Errorf("index.json: %w", err)
	}
	all, err := candidates(data, func(d v1.Descriptor) ([]byte, error) { return blob(dir, d) }, maxNesting)
	if err != nil {
		return content{}, err
	}
	chosen, err := want.choose(all)
	if err != nil {
		return content{}, err
	}
	manifest, err := blob(dir, chosen)
	if err != nil {
		return content{}, err
	}
	m, err := parseManifest(manifest)
	if err != nil {
		return content{}, err
	}
	var c content
	if c.config, err = blob(dir, m.Config); err != nil {
		return content{}, err
	}
	for _, d := range m.Layers {
		c.layers = append(c.layers, layer{size: d.Size, digest: d.Digest, open: func() (io.ReadCloser, error) {
			return openRegular(blobPath(dir, d.Digest))
		}})
	}
	return c, nil
}

// candidates returns the images that an index names, those in nested indexes
// included.
func candidates(index []byte, get func(v1.Descriptor) ([]byte, error), depth int) ([]candidate, error) {
	m, err := v1.ParseIndexManifest(bytes.NewReader(index))
	if err != nil {
		return nil, fmt.Errorf("not an image index: %w", err)
	}
	if len(m.Manifests) > maxLayers {
		return nil, fmt.Errorf("an index of %d images, more than the limit of %d", len(m.Manifests), maxLayers)
	}
	var all []candidate
	for _, d := range m.Manifests {
		switch {
		case d.MediaType.IsIndex() && depth > 0:
			nested, err := get(d)
			if err != nil {
				return nil, err
			}
			more, err := candidates(nested, get, depth-1)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		case isImage(d):
			all = append(all, candidate{d, d.Annotations["org.opencontainers.image.ref.name"]})
		}
		if len(all) > maxLayers {
			return nil, fmt.Errorf("more than %d images in an index", maxLayers)
		}
	}
	return all, nil
}

// parseManifest reads the manifest of an image and refuses what is none.
func parseManifest(data []byte) (*v1.Manifest, error) {
	m, err := v1.ParseManifest(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not an image manifest: %w", err)
	}
	if !m.Config.MediaType.IsConfig() {
		return nil, fmt.Errorf("not an image but an artifact of type %.100q", m.Config.MediaType)
	}
	if m.Config.Size > maxDocument {
		return nil, fmt.Errorf("a configuration of %d bytes, more than the limit of %d", m.Config.Size, maxDocument)
	}
	return m, nil
}

func blobPath(dir string, h v1.Hash) string {
	return filepath.Join(dir, "blobs", h.Algorithm, h.Hex)
}

// blob returns a small blob after checking its digest.
func blob(dir string, d v1.Descriptor) ([]byte, error) {
	data, err := readDocument(blobPath(dir, d.Digest))
	if err != nil {
		return nil, fmt.Errorf("blob %s: %w", d.Digest, err)
	}
	c, err := newChecked(bytes.NewReader(data), d.Digest)
	if err != nil {
		return nil, err
	}
	if err := c.finish(d.Size); err != nil {
		return nil, fmt.Errorf("blob %s: %w", d.Digest, err)
	}
	return data, nil
}

// readDocument reads a small regular file.
func readDocument(name string) ([]byte, error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err != nil {
		return nil, fileError(err)
	}
	if len(data) > maxDocument {
		return nil, fmt.Errorf("larger than the limit of %d bytes", maxDocument)
	}
	if !json.Valid(data) {
		return nil, errors.New("not valid JSON")
	}
	return data, nil
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
