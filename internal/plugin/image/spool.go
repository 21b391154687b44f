package image

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// spool holds the temporary files of one image.
type spool struct {
	files []*os.File
	named []string // files that the system did not let go nameless
	kept  int64    // bytes of the executables among them
}

// create makes a temporary file that disappears with the process.
func (s *spool) create() (*os.File, error) {
	f, err := os.CreateTemp("", "nri-compat-*")
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	s.files = append(s.files, f)
	// Windows cannot remove an open file; it is removed when it is closed.
	if os.Remove(f.Name()) != nil {
		s.named = append(s.named, f.Name())
	}
	return f, nil
}

// keep copies r, of at most limit bytes, into a temporary file.
func (s *spool) keep(r io.Reader, limit int64) (*os.File, int64, error) {
	f, err := s.create()
	if err != nil {
		return nil, 0, err
	}
	n, err := io.Copy(f, io.LimitReader(r, limit+1))
	if err != nil {
		return nil, 0, err
	}
	if n > limit {
		return nil, 0, limitError(fmt.Sprintf("larger than the limit of %d bytes: not read further", limit))
	}
	return f, n, nil
}

// drop gives up an executable before the others, to bound the space in use.
func (s *spool) drop(f *os.File, size int64) {
	s.files = slices.DeleteFunc(s.files, func(g *os.File) bool { return f == g })
	s.kept -= size
	f.Close()
}

func (s *spool) close() error {
	var errs []error
	for _, f := range s.files {
		if err := f.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	for _, name := range s.named {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	s.files, s.named = nil, nil
	return errors.Join(errs...)
}
