package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FolderStore is a [Store] in a folder; [Folder] makes one.
type FolderStore struct{ dir string }

// Folder keeps blobs as files below dir, which is made when the first blob
// comes. Any number of processes may use one folder, also over a network file
// system whose rename is atomic. Files are readable by their owner only: they
// hold what tools returned.
func Folder(dir string) *FolderStore { return &FolderStore{dir: dir} }

// Dir is the folder.
func (s *FolderStore) Dir() string { return s.dir }

// Put implements [Store]. The file appears whole or not at all, also when the
// process or the machine dies on the way.
func (s *FolderStore) Put(ctx context.Context, data []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	ref := Ref(data)
	path, err := s.path(ref)
	if err != nil {
		return "", err
	}
	if old, err := os.ReadFile(path); err == nil && Check(ref, old) == nil { //nolint:gosec // the name is a digest
		return ref, nil // a damaged file is written anew
	}
	if err := write(path, data); err != nil {
		return "", fmt.Errorf("keep blob %s: %w", ref, err)
	}
	return ref, nil
}

// Get implements [Store].
func (s *FolderStore) Get(ctx context.Context, ref string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := s.path(ref)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path) //nolint:gosec // the name is a digest
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s is not in %s", ErrNotFound, ref, s.dir)
	case err != nil:
		return nil, fmt.Errorf("read blob %s: %w", ref, err)
	}
	if err := Check(ref, data); err != nil {
		return nil, err
	}
	return data, nil
}

// path is dir/ab/abcd…: a folder of a million files is slow to list.
func (s *FolderStore) path(ref string) (string, error) {
	digest, err := Digest(ref)
	if err != nil {
		return "", err
	}
	if s.dir == "" {
		return "", errors.New("blob: the folder has no name")
	}
	return filepath.Join(s.dir, digest[:2], digest), nil
}

// write makes path with data: into a file beside it, which is on disk before
// it gets its name.
func write(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the new name outlive a power cut. File systems that cannot
// sync a folder say so and lose nothing but that.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // a folder of ours
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}
