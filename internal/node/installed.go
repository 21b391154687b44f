package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// InstalledPlugin is a plugin in the directory from which a runtime starts plugins
// when it starts itself.
type InstalledPlugin struct {
	// Index is the two digits that order the plugins; Name is the rest of the
	// file's name, without the dash between them. Both are empty if the name is
	// not of that form.
	Index, Name string
	// Path is the file.
	Path string
	// Config is the file with the plugin's configuration; empty if there is none.
	Config string
	// Problem says, in one sentence, why the runtime does not start it, or does
	// not start because of it; empty if it does.
	Problem string
}

// InstalledPlugins lists the plugins in a directory, by name. A directory that
// does not exist has none, as for the runtime. Files that a runtime passes over
// because they are not executable are listed with a Problem.
func (h Host) InstalledPlugins(pluginPath, configPath string) ([]InstalledPlugin, error) {
	entries, err := os.ReadDir(h.path(pluginPath))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("installed plugins: %w", err)
	}
	var plugins []InstalledPlugin
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		p := InstalledPlugin{Path: path.Join(pluginPath, e.Name())}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // It was removed while this was read.
		case err != nil:
			return nil, fmt.Errorf("installed plugins: %w", err)
		case info.Mode().Perm()&0o111 == 0:
			p.Problem = "not executable: the runtime passes it over"
		}
		var ok bool
		if p.Index, p.Name, ok = pluginName(e.Name()); !ok && p.Problem == "" {
			p.Problem = "the name is not of the form NN-name, so the runtime does not start NRI"
		}
		if ok {
			if p.Config, err = h.pluginConfig(configPath, p); err != nil {
				return nil, err
			}
		}
		plugins = append(plugins, p)
	}
	return plugins, nil
}

// pluginName splits the name of a plugin's file.
func pluginName(file string) (index, name string, ok bool) {
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	if len(file) < 4 || !digit(file[0]) || !digit(file[1]) || file[2] != '-' {
		return "", "", false
	}
	return file[:2], file[3:], true
}

// pluginConfig finds the configuration of a plugin: the one with its index first.
func (h Host) pluginConfig(dir string, p InstalledPlugin) (string, error) {
	if dir == "" {
		return "", nil
	}
	for _, name := range []string{p.Index + "-" + p.Name, p.Name} {
		file := path.Join(dir, name+".conf")
		_, err := os.Stat(h.path(file))
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("installed plugins: %w", err)
		}
	}
	return "", nil
}
