// Package gitrepo reads the objects of one local git repository, bare or not,
// through a single "git cat-file --batch" process and "git for-each-ref". It
// never touches the network, not even in a partial clone: an object that is
// not there is [ErrMissing].
package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ErrMissing is the error for an object that the repository does not have.
var ErrMissing = errors.New("object is missing")

// maxObject bounds one object; the largest Go file that is read has 1 MB.
const maxObject = 64 << 20

// Repo reads one repository. It is not safe for concurrent use.
type Repo struct {
	dir    string
	ctx    context.Context
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	broken error // set once the process cannot be talked to any more
	trees  map[string][]Entry
}

// Entry is one entry of a tree.
type Entry struct {
	Name string
	// Hash is the object's name in hexadecimal.
	Hash string
	// Dir is set for a directory. Links and submodules are left out.
	Dir bool
}

// Ref is a tag or a branch.
type Ref struct {
	// Name is the short name, such as "v1.7.0" or "main".
	Name string
	// Date is the day, YYYY-MM-DD, on which an annotated tag was made, or on
	// which the commit was committed, where the one who did it was.
	Date string
}

// Open starts reading the repository at dir. The context ends the process.
func Open(ctx context.Context, dir string) (*Repo, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	r := &Repo{dir: dir, ctx: ctx, trees: map[string][]Entry{}}
	git, err := r.gitDir()
	if err != nil {
		return nil, err
	}
	r.cmd = command(ctx, git, "cat-file", "--batch")
	r.cmd.Stderr = &r.stderr
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", dir, err)
	}
	r.out = bufio.NewReaderSize(out, 1<<16)
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("repository %s: start git: %w", dir, err)
	}
	return r, nil
}

// gitDir finds the git directory: dir itself if it is one, else that of the
// work tree whose top dir is. Directories above it do not count: a directory
// that happens to lie inside some other work tree is not a repository.
func (r *Repo) gitDir() (string, error) {
	for _, git := range []string{r.dir, r.dir + "/.git"} {
		if _, err := os.Stat(git); err != nil {
			continue
		}
		out, err := command(r.ctx, git, "rev-parse", "--absolute-git-dir").Output()
		if err == nil {
			return strings.TrimSpace(string(out)), nil
		}
		if ctxErr := r.ctx.Err(); ctxErr != nil {
			err = ctxErr
		}
		if r.ctx.Err() != nil || errors.Is(err, exec.ErrNotFound) {
			return "", fmt.Errorf("repository %s: %w", r.dir, err)
		}
	}
	return "", fmt.Errorf("repository %s: not a git directory: name a clone, or the .git or bare directory of one", r.dir)
}

func command(ctx context.Context, gitDir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + gitDir}, args...)...)
	// Replacement objects and a promisor remote could answer with something
	// else than what the repository has.
	cmd.Env = append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return cmd
}

// Close ends the process.
func (r *Repo) Close() error {
	r.in.Close()
	io.Copy(io.Discard, r.out)
	if err := r.cmd.Wait(); err != nil && r.broken == nil && r.ctx.Err() == nil {
		return fmt.Errorf("repository %s: %w", r.dir, err)
	}
	return nil
}

// Refs returns all tags and the branches of that name, oldest first.
func (r *Repo) Refs(branches ...string) ([]Ref, error) {
	args := []string{"for-each-ref", "--sort=creatordate", "--format=%(refname:lstrip=2) %(creatordate:short)", "refs/tags"}
	for _, b := range branches {
		args = append(args, "refs/heads/"+b)
	}
	git, err := r.gitDir()
	if err != nil {
		return nil, err
	}
	cmd := command(r.ctx, git, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("repository %s: list tags: %w: %s", r.dir, err, firstLine(stderr.String()))
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		name, date, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			continue // a tag of something that has no date
		}
		refs = append(refs, Ref{name, date})
	}
	return refs, nil
}

// Root returns the name of the root tree of a tag, branch or commit.
func (r *Repo) Root(rev string) (string, error) {
	_, hash, kind, err := r.object(rev + "^{tree}")
	if err != nil {
		return "", err
	}
	if kind != "tree" {
		return "", fmt.Errorf("repository %s: %s is a %s, not a commit", r.dir, rev, kind)
	}
	return hash, nil
}

// Blob returns the content of a file.
func (r *Repo) Blob(hash string) ([]byte, error) {
	data, _, kind, err := r.object(hash)
	if err == nil && kind != "blob" {
		err = fmt.Errorf("repository %s: object %s is a %s, not a file", r.dir, hash, kind)
	}
	return data, err
}

// Tree returns the entries of a directory. The result is shared: callers must
// not change it.
func (r *Repo) Tree(hash string) ([]Entry, error) {
	if entries, ok := r.trees[hash]; ok {
		return entries, nil
	}
	data, _, kind, err := r.object(hash)
	if err != nil {
		return nil, err
	}
	if kind != "tree" {
		return nil, fmt.Errorf("repository %s: object %s is a %s, not a directory", r.dir, hash, kind)
	}
	entries, err := parseTree(data, len(hash)/2)
	if err != nil {
		return nil, fmt.Errorf("repository %s: object %s: %w", r.dir, hash, err)
	}
	r.trees[hash] = entries
	return entries, nil
}

// parseTree decodes a tree object: "MODE NAME\0HASH" again and again.
func parseTree(data []byte, hashSize int) ([]Entry, error) {
	var entries []Entry
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < hashSize || len(name) == 0 {
			return nil, errors.New("it is no tree: an entry is cut off")
		}
		switch string(mode) {
		case "40000":
			entries = append(entries, Entry{string(name), fmt.Sprintf("%x", rest[:hashSize]), true})
		case "100644", "100755", "100664":
			entries = append(entries, Entry{string(name), fmt.Sprintf("%x", rest[:hashSize]), false})
		}
		data = rest[hashSize:]
	}
	return entries, nil
}

// object asks the process for one object.
func (r *Repo) object(name string) (data []byte, hash, kind string, err error) {
	if r.broken != nil {
		return nil, "", "", r.broken
	}
	if strings.ContainsAny(name, "\n ") || name == "" {
		return nil, "", "", fmt.Errorf("repository %s: invalid object name %q", r.dir, name)
	}
	if _, err := io.WriteString(r.in, name+"\n"); err != nil {
		return nil, "", "", r.fail(name, err)
	}
	header, err := r.out.ReadString('\n')
	if err != nil {
		return nil, "", "", r.fail(name, err)
	}
	fields := strings.Fields(header)
	switch {
	case len(fields) == 2 && fields[1] == "missing":
		return nil, "", "", fmt.Errorf("repository %s: %s: %w", r.dir, name, ErrMissing)
	case len(fields) == 2: // "ambiguous" and whatever git may add
		return nil, "", "", fmt.Errorf("repository %s: %s: object is %s", r.dir, name, fields[1])
	case len(fields) != 3:
		return nil, "", "", r.fail(name, fmt.Errorf("unexpected answer %q", strings.TrimSpace(header)))
	}
	size, err := strconv.Atoi(fields[2])
	if err != nil || size < 0 || size > maxObject {
		return nil, "", "", r.fail(name, fmt.Errorf("object of %s bytes: at most %d are read", fields[2], maxObject))
	}
	data = make([]byte, size)
	if _, err := io.ReadFull(r.out, data); err != nil {
		return nil, "", "", r.fail(name, err)
	}
	if _, err := r.out.Discard(1); err != nil {
		return nil, "", "", r.fail(name, err)
	}
	return data, fields[0], fields[1], nil
}

// fail ends the conversation: after a broken answer nothing that follows can
// be trusted. Git says on its standard error what is wrong with the object.
func (r *Repo) fail(name string, err error) error {
	if r.ctx.Err() != nil {
		err = r.ctx.Err()
	}
	r.in.Close()
	io.Copy(io.Discard, r.out)
	r.cmd.Wait() // stderr is complete only now
	if said := firstLine(r.stderr.String()); said != "" && r.ctx.Err() == nil {
		err = errors.New(said)
	}
	r.broken = fmt.Errorf("repository %s: read %s: %w", r.dir, name, err)
	return r.broken
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
