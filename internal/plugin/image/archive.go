package image

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

// archive is the outer tar file that "docker save" writes.
type archive struct {
	file  *os.File
	parts map[string]part
}

// part is one file in it, or a link to another one.
type part struct {
	offset, size int64
	link         string
}

// openArchive reads the index of an archive; the layers are read in place.
//
// The archive's own text says where its configuration and layers are, and every
// size is that of a part of a file that exists, so nothing large is read here.
func (i *Image) openArchive(name string) (content, error) {
	f, err := openRegular(name)
	if err != nil {
		return content{}, err
	}
	i.spool.files = append(i.spool.files, f)
	a, err := readArchive(f)
	if err != nil {
		return content{}, err
	}
	var images []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	data, err := a.document("manifest.json")
	if err != nil {
		return content{}, fmt.Errorf("not an archive of \"docker save\": %w", err)
	}
	if err := json.Unmarshal(data, &images); err != nil {
		return content{}, fmt.Errorf("not an archive of \"docker save\": manifest.json: %w", err)
	}
	if len(images) != 1 {
		var tags []string
		for _, m := range images {
			tags = append(tags, m.RepoTags...)
		}
		return content{}, fmt.Errorf("%d images in one archive (%s): save one", len(images), strings.Join(tags, ", "))
	}
	var c content
	if c.config, err = a.document(images[0].Config); err != nil {
		return content{}, err
	}
	if want := digestInName(images[0].Config); want != "" && want != digestOf(c.config) {
		return content{}, fmt.Errorf("digest mismatch: the configuration %s has %s", images[0].Config, digestOf(c.config))
	}
	for _, l := range images[0].Layers {
		p, err := a.part(l)
		if err != nil {
			return content{}, err
		}
		c.layers = append(c.layers, layer{size: p.size, open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(f, p.offset, p.size)), nil
		}})
	}
	return c, nil
}

// openRegular opens a file and refuses what is not one: a pipe would block and
// a directory is the other scheme.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fileError(err)
	}
	if info.IsDir() {
		return nil, errors.New("is a directory: use oci-dir: for an OCI image layout")
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(name)
	return f, fileError(err)
}

// fileError takes the path out of an error; the reference in front has it.
func fileError(err error) error {
	if e := new(os.PathError); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// readArchive notes where each file of the archive is.
func readArchive(f *os.File) (archive, error) {
	a := archive{f, map[string]part{}}
	magic := make([]byte, 2)
	if _, err := f.ReadAt(magic, 0); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		return a, errors.New("compressed with gzip: unpack it with gunzip first")
	}
	info, err := f.Stat()
	if err != nil {
		return a, fileError(err)
	}
	for t := tar.NewReader(f); len(a.parts) <= 10*maxLayers; {
		h, err := t.Next()
		if err == io.EOF {
			return a, nil
		}
		if err != nil {
			return a, fmt.Errorf("not an archive of \"docker save\": %w", unpackError(err))
		}
		name := path.Clean("/" + h.Name)
		switch h.Typeflag {
		case tar.TypeReg:
			// The reader has read the header and no more, so this is the place.
			offset, err := f.Seek(0, io.SeekCurrent)
			if err != nil {
				return a, fileError(err)
			}
			if offset+h.Size > info.Size() || offset+h.Size < offset {
				return a, fmt.Errorf("truncated: %.100q needs %d bytes, the file has %d more", h.Name, h.Size, info.Size()-offset)
			}
			a.parts[name] = part{offset: offset, size: h.Size}
		case tar.TypeSymlink:
			a.parts[name] = part{link: path.Join(path.Dir(name), h.Linkname)}
		case tar.TypeLink:
			a.parts[name] = part{link: path.Clean("/" + h.Linkname)}
		}
	}
	return a, errors.New("not an archive of \"docker save\": too many files")
}

// part returns the part with the given name, following links.
func (a archive) part(name string) (part, error) {
	at := path.Clean("/" + name)
	for range maxLinks {
		p, ok := a.parts[at]
		if !ok {
			return part{}, fmt.Errorf("%.100q is not in the archive", name)
		}
		if p.link == "" {
			return p, nil
		}
		at = p.link
	}
	return part{}, fmt.Errorf("%.100q: too many links", name)
}

// document returns a small file of the archive.
func (a archive) document(name string) ([]byte, error) {
	p, err := a.part(name)
	if err != nil {
		return nil, err
	}
	if p.size > maxDocument {
		return nil, fmt.Errorf("%.100q has %d bytes, more than the limit of %d", name, p.size, maxDocument)
	}
	data := make([]byte, p.size)
	if _, err := a.file.ReadAt(data, p.offset); err != nil && err != io.EOF {
		return nil, fileError(err)
	}
	return data, nil
}

// digestInName returns the digest that the name of a configuration is made of,
// empty for another name.
func digestInName(name string) string {
	base := strings.TrimSuffix(path.Base(name), ".json")
	if len(base) != 64 || strings.Trim(base, "0123456789abcdef") != "" {
		return ""
	}
	return "sha256:" + base
}
