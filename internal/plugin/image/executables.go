package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	maxFound = 64 // executables that are kept when all are looked at
	maxWords = 16 // words of a command that are looked at
)

// File is one executable of an image. It can be read until the image is closed.
type File struct {
	// Path is its path in the image, after following links.
	Path string
	Size int64
	io.ReaderAt
}

// Executables is the answer of [Image.Executables].
type Executables struct {
	// Files are the executables, at least one.
	Files []File
	// Aside says in one sentence why Files are not what the image starts:
	// because it starts a script, for instance, or a shell with a command. What
	// that does with the executables is not known. Empty if the words of
	// ENTRYPOINT and CMD lead to the one file.
	Aside string
}

// Executables returns the plugin's executable: the first word of ENTRYPOINT and
// CMD that names a program which accept accepts, so that an init program in
// front of the plugin is skipped. If there is none, it returns every program of
// the image that accept accepts, sorted by path. A program is an executable
// file in the format of Linux, macOS or Windows; accept may be nil for all.
// An image without any such program is an error.
func (i *Image) Executables(ctx context.Context, accept func(File) bool) (Executables, error) {
	if accept == nil {
		accept = func(File) bool { return true }
	}
	found, err := i.executables(ctx, accept)
	if err != nil {
		return Executables{}, fmt.Errorf("%s: %w", i.Ref, err)
	}
	return found, nil
}

func (i *Image) executables(ctx context.Context, accept func(File) bool) (Executables, error) {
	file, aside, err := i.started(ctx, accept)
	if err != nil {
		return Executables{}, err
	}
	if aside == "" {
		return Executables{Files: []File{file}}, nil
	}
	files, programs, err := i.all(ctx, accept)
	switch {
	case err != nil:
		return Executables{}, err
	case programs == 0:
		return Executables{}, errors.New("no executable program in the image; " + aside)
	case len(files) == 0:
		return Executables{}, fmt.Errorf("none of the %d executable programs in the image is a plugin; %s", programs, aside)
	}
	return Executables{files, aside}, nil
}

// started returns the program that the image starts or, if that is no plugin, a
// sentence that says what it starts instead.
func (i *Image) started(ctx context.Context, accept func(File) bool) (File, string, error) {
	words := append(slices.Clone(i.config.Config.Entrypoint), i.config.Config.Cmd...)
	if len(words) == 0 {
		return File{}, "the image names no command to start", nil
	}
	wanted := map[*file]string{}
	var order []string
	for n, word := range words[:min(len(words), maxWords)] {
		// A word that is no path is a program only in the first place; elsewhere
		// it is more likely an argument that happens to have the same name.
		if n > 0 && !strings.Contains(word, "/") {
			continue
		}
		if f, name := i.resolve(word); f != nil {
			wanted[f] = name
			order = append(order, name)
		}
	}
	seen := map[string]candidateFile{}
	err := i.extract(ctx, wanted, func(name string, size int64, r io.Reader) error {
		c, err := i.load(name, size, r)
		seen[name] = c
		return err
	})
	if err != nil {
		return File{}, "", err
	}
	for _, name := range order {
		if c := seen[name]; c.File.ReaderAt != nil && accept(c.File) {
			return c.File, "", nil
		}
	}
	f, name := i.resolve(words[0])
	if f == nil {
		return File{}, fmt.Sprintf("the image starts %.100q, which is not an executable file in it", words[0]), nil
	}
	if c := seen[name]; c.script != "" {
		return File{}, fmt.Sprintf("the image starts the script %.100q (%s), whose commands were not followed", name, c.script), nil
	}
	return File{}, fmt.Sprintf("the image starts %.100q, which is not itself a plugin", name), nil
}

// resolve finds the executable file that a word of a command names, as the
// container's PATH and links lead to it.
func (i *Image) resolve(word string) (*file, string) {
	var tries []string
	switch {
	case path.IsAbs(word):
		tries = []string{word}
	case strings.Contains(word, "/"):
		tries = []string{i.config.Config.WorkingDir + "/" + word}
	case word != "":
		for _, dir := range strings.Split(i.searchPath(), ":") {
			tries = append(tries, dir+"/"+word)
		}
	}
	for _, name := range tries {
		if n, real := i.tree.lookup(name); n != nil && n.file != nil && n.file.executable {
			return n.file, real
		}
	}
	return nil, ""
}

func (i *Image) searchPath() string {
	for _, v := range i.config.Config.Env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			return p
		}
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

// all returns every accepted program, and how many programs there are.
func (i *Image) all(ctx context.Context, accept func(File) bool) (files []File, programs int, err error) {
	wanted := map[*file]string{}
	i.tree.each(func(name string, f *file) {
		// One file with several names is reported by the first of them.
		if old, ok := wanted[f]; f.executable && (!ok || name < old) {
			wanted[f] = name
		}
	})
	err = i.extract(ctx, wanted, func(name string, size int64, r io.Reader) error {
		c, err := i.load(name, size, r)
		if err != nil || c.File.ReaderAt == nil {
			return err
		}
		programs++
		if !accept(c.File) {
			i.spool.drop(c.temp, c.Size)
			return nil
		}
		if files = append(files, c.File); len(files) > maxFound {
			return limitError(fmt.Sprintf("more than %d programs in the image are plugins", maxFound))
		}
		return nil
	})
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, programs, err
}

// extract hands the wanted files to visit, layer by layer.
func (i *Image) extract(ctx context.Context, wanted map[*file]string, visit func(name string, size int64, r io.Reader) error) error {
	byLayer := map[int]map[int]*file{}
	for f := range wanted {
		if byLayer[f.layer] == nil {
			byLayer[f.layer] = map[int]*file{}
		}
		byLayer[f.layer][f.number] = f
	}
	budget := &budget{bytes: i.maxBytes}
	for _, n := range slices.Sorted(maps.Keys(byLayer)) {
		left := byLayer[n]
		err := i.layers[n].read(ctx, &meter{}, budget, false, func(e entry) (bool, error) {
			f := left[e.number]
			if f == nil {
				return true, nil
			}
			delete(left, e.number)
			err := visit(wanted[f], f.size, e)
			return len(left) > 0, err
		})
		if err != nil {
			return fmt.Errorf("layer %d of %d: %w", n+1, len(i.layers), err)
		}
		if len(left) > 0 {
			return fmt.Errorf("layer %d of %d: changed while it was read", n+1, len(i.layers))
		}
	}
	return nil
}

// Manifest returns the declared manifest of the executable with the given path
// in the image: the file [ManifestName] next to it, else at the root, else the
// label [ManifestLabel]. Source names the place. A manifest of more than 1 MiB
// is cut there; no reader of manifests takes one of that size.
func (i *Image) Manifest(executable string) (data []byte, source string, ok bool) {
	for _, dir := range []string{path.Dir(path.Clean("/" + executable)), "/"} {
		n, name := i.tree.lookup(path.Join(dir, ManifestName))
		if n != nil && n.file != nil && n.file.content != nil {
			return n.file.content, i.Ref.String() + ":" + name, true
		}
	}
	if label, ok := i.Labels()[ManifestLabel]; ok {
		return []byte(label), i.Ref.String() + ": label " + ManifestLabel, true
	}
	return nil, "", false
}
