package node

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
)

// maxDropInEntries bounds what is looked at below a directory of drop-ins: a process
// can name any, and / as well.
const maxDropInEntries = 1000

// dropIns lists the files in a directory of the node and below whose names end in
// ext, all for an empty one, in lexical order.
func (h Host) dropIns(dir, ext string) ([]string, error) {
	var files []string
	entries := 0
	err := filepath.WalkDir(h.path(dir), func(p string, e fs.DirEntry, err error) error {
		if entries++; entries > maxDropInEntries {
			return fmt.Errorf("%s: more than %d files and directories: it is no directory of drop-ins", dir, maxDropInEntries)
		}
		if err != nil || e.IsDir() || ext != "" && filepath.Ext(p) != ext {
			return err
		}
		rel, err := filepath.Rel(h.path(dir), p)
		if err != nil {
			return err
		}
		if len(files) == maxImports {
			return fmt.Errorf("%s: more than %d files", dir, maxImports)
		}
		files = append(files, path.Join(dir, filepath.ToSlash(rel)))
		return nil
	})
	return files, err
}
