package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/zstd"
)

// layer is one layer of an image.
type layer struct {
	open   func() (io.ReadCloser, error)
	size   int64   // of what open gives
	digest v1.Hash // of what open gives; empty if nobody says
	diffID v1.Hash // of the unpacked layer
}

// entry is one name in a layer.
type entry struct {
	header *tar.Header
	number int // of the entry in its layer
	io.Reader
}

// budget is how much more all layers together may unpack to.
type budget struct{ bytes int64 }

// meter adds up what was read and tells it.
type meter struct {
	done, total, told int64
	tell              func(done, total int64)
}

func (m *meter) add(n int) {
	m.done += int64(n)
	if m.tell != nil && (m.done-m.told >= 1<<20 || m.done == m.total) {
		m.told = m.done
		m.tell(m.done, m.total)
	}
}

// read hands every entry of the layer to visit until that returns false. With
// verify the layer is read to its end and its digests must be right; an error
// of reading that wrong bytes explain is reported as the wrong digest.
func (l layer) read(ctx context.Context, m *meter, b *budget, verify bool, visit func(entry) (bool, error)) error {
	rc, err := l.open()
	if err != nil {
		return err
	}
	defer rc.Close()
	packed, err := newChecked(&source{ctx: ctx, r: rc, meter: m}, l.digest)
	if err != nil {
		return err
	}
	err = l.unpack(packed, b, verify, visit)
	if !verify || ctx.Err() != nil || errors.As(err, new(limitError)) {
		return err
	}
	if e := packed.finish(l.size); e != nil {
		return e
	}
	return err
}

func (l layer) unpack(packed io.Reader, b *budget, verify bool, visit func(entry) (bool, error)) error {
	plain, closePlain, err := decompress(packed)
	if err != nil {
		return err
	}
	defer closePlain()
	unpacked, err := newChecked(&limited{r: plain, budget: b}, l.diffID)
	if err != nil {
		return err
	}
	t := tar.NewReader(unpacked)
	for n := 0; ; n++ {
		header, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return unpackError(err)
		}
		more, err := visit(entry{header, n, t})
		if err != nil {
			return unpackError(err)
		}
		if !more && !verify {
			return nil
		}
	}
	if !verify {
		return nil
	}
	return unpacked.finish(-1)
}

// unpackError says what a failure to read the archive means.
func unpackError(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("truncated: the archive ends in the middle of a file")
	case errors.Is(err, tar.ErrHeader):
		return errors.New("not a tar archive, or damaged")
	}
	return err
}

// decompress looks at the first bytes, because media types are often wrong.
func decompress(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReaderSize(r, 64<<10)
	magic, err := b.Peek(4)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, fmt.Errorf("damaged gzip data: %w", err)
		}
		return z, func() { z.Close() }, nil
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, fmt.Errorf("damaged zstd data: %w", err)
		}
		return z, z.Close, nil
	}
	return b, func() {}, nil
}

// limitError reports that an image is larger than allowed.
type limitError string

func (e limitError) Error() string { return string(e) }

// limited ends with a [limitError] when the budget is used up.
type limited struct {
	r      io.Reader
	budget *budget
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.budget.bytes -= int64(n); l.budget.bytes < 0 {
		return 0, limitError("unpacks to more than the limit: not read further")
	}
	return n, err
}

// source reads from outside: it ends with its context and counts.
type source struct {
	ctx   context.Context
	r     io.Reader
	meter *meter
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	s.meter.add(n)
	return n, err
}

// checked computes the digest of what is read through it.
type checked struct {
	r    io.Reader
	want v1.Hash
	hash hash.Hash // nil if there is nothing to check
	n    int64
}

func newChecked(r io.Reader, want v1.Hash) (*checked, error) {
	c := &checked{r: r, want: want}
	if want == (v1.Hash{}) {
		return c, nil
	}
	h, err := v1.Hasher(want.Algorithm)
	if err != nil {
		return nil, fmt.Errorf("digest %s: %w", want, err)
	}
	c.hash = h
	return c, nil
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.hash != nil {
		c.hash.Write(p[:n])
	}
	return n, err
}

// finish reads what is left and compares size, unless it is negative, and
// digest.
func (c *checked) finish(size int64) error {
	if _, err := io.Copy(io.Discard, c); err != nil {
		return err
	}
	if size >= 0 && c.n != size {
		return fmt.Errorf("truncated or changed: %d of %d bytes", c.n, size)
	}
	if c.hash == nil {
		return nil
	}
	if got := fmt.Sprintf("%x", c.hash.Sum(nil)); got != c.want.Hex {
		return fmt.Errorf("digest mismatch: want %s, the bytes have %s:%s", c.want, c.want.Algorithm, got)
	}
	return nil
}
