package devproc

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	cachePrefix = "devserver-"
	tempPrefix  = "building-"
	keepBuilds  = 2
)

// Ensure returns the path of the development server's binary, building it
// first unless the cache has one of the same sources and Go version. progress
// may be nil; [Printer] makes one for a terminal or a log.
//
// Processes that call Ensure at the same time build once: the others wait.
// When ctx ends, the compilers are killed and nothing half-built stays.
func Ensure(ctx context.Context, progress func(Progress)) (string, error) {
	dir, err := moduleDir(ctx)
	if err != nil {
		return "", err
	}
	b := builder{src: filepath.Join(dir, serverDir), cache: cacheDir()}
	bin, err := b.ensure(ctx, progress)
	if err != nil {
		return "", fmt.Errorf("build the development Temporal server: %w", err)
	}
	return bin, nil
}

// cacheDir returns the directory that holds the builds.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil { // no home directory
		return tempCacheDir()
	}
	return filepath.Join(dir, "turnkeel")
}

// tempCacheDir is the cache directory where the user's is missing or cannot
// be written to.
func tempCacheDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("turnkeel-%d", os.Getuid()))
}

// builder builds the main package in src into a directory of cache.
type builder struct {
	src   string
	cache string
	tmp   string // during a build: its directory for temporary files
	track *tracker
}

// ensure is Ensure on the builder's directories.
func (b *builder) ensure(ctx context.Context, progress func(Progress)) (bin string, err error) {
	b.track = newTracker(progress)
	defer func() { b.track.finish(err) }()

	env, err := b.goEnv(ctx)
	if err != nil {
		return "", err
	}
	if bin, err = b.cached(env); err != nil || bin != "" {
		return bin, err
	}
	if err = b.makeCache(); err != nil {
		return "", err
	}
	// One lock for all builds: two at once would only take each other's CPU,
	// and whoever holds it may tidy the whole directory.
	lock, err := waitLock(ctx, filepath.Join(b.cache, "devserver.lock"),
		func() { b.track.phase(PhaseWaiting, 0) })
	if err != nil {
		return "", err
	}
	defer lock.unlock()
	b.sweep()
	for range 3 { // again when the sources were edited meanwhile
		if bin, err = b.cached(env); err != nil || bin != "" {
			return bin, err
		}
		if err = b.build(ctx, env); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("the sources in %s keep changing during the build", b.src)
}

// makeCache makes sure that the cache directory can be written to, and moves
// to the one in the temp directory if not.
func (b *builder) makeCache() error {
	err := writable(b.cache)
	if err != nil && b.cache != tempCacheDir() {
		b.cache = tempCacheDir()
		err = writable(b.cache)
	}
	if err != nil {
		return fmt.Errorf("cache directory: %w", err)
	}
	return nil
}

// writable creates dir and tries to create something in it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	probe, err := os.MkdirTemp(dir, tempPrefix)
	if err != nil {
		return err
	}
	return os.Remove(probe)
}

// owned reports whether dir is a directory of this user that nobody else can
// write to: binaries are run from it, and the one in the temp directory has a
// name that others can guess.
func owned(dir string) bool {
	st, err := os.Lstat(dir)
	if err != nil || !st.IsDir() || st.Mode().Perm()&0o022 != 0 {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) == os.Getuid()
}

// cached returns the binary of the present sources, or "" if there is none,
// and marks it as used.
func (b *builder) cached(env string) (string, error) {
	hash, err := b.hash(env)
	if err != nil {
		return "", err
	}
	if b.cache == tempCacheDir() && !owned(b.cache) {
		if _, err := os.Lstat(b.cache); err == nil {
			return "", fmt.Errorf("%s belongs to another user or is writable by others", b.cache)
		}
	}
	bin := b.binary(hash)
	if st, err := os.Stat(bin); err != nil || !st.Mode().IsRegular() {
		return "", nil
	}
	now := time.Now()
	_ = os.Chtimes(filepath.Dir(bin), now, now) // sweep keeps the newest
	return bin, nil
}

// binary returns where the build of a hash is kept.
func (b *builder) binary(hash string) string {
	return filepath.Join(b.cache, cachePrefix+hash, "devserver")
}

// hash identifies a build: the toolchain and every file in src, embedded ones
// included, but tests, documents and executables (a stray `go build`).
func (b *builder) hash(env string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00", env)
	err := filepath.WalkDir(b.src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir():
			if path != b.src && (name == "testdata" || name == "tests" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || strings.HasPrefix(name, "."),
			strings.HasSuffix(name, "_test.go"), strings.HasSuffix(name, ".md"):
			return nil
		}
		if st, err := d.Info(); err != nil || st.Mode()&0o111 != 0 {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.src, path)
		fmt.Fprintf(h, "%s\x00%d\x00%s", rel, len(data), data)
		return err
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// sweep removes what killed builders left, and all builds but the most
// recently used ones. The caller holds the lock.
func (b *builder) sweep() {
	entries, err := os.ReadDir(b.cache)
	if err != nil {
		return
	}
	type build struct {
		path string
		used time.Time
	}
	var builds []build
	for _, e := range entries {
		path := filepath.Join(b.cache, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), tempPrefix):
			_ = os.RemoveAll(path)
		case e.IsDir() && strings.HasPrefix(e.Name(), cachePrefix):
			if st, err := e.Info(); err == nil {
				builds = append(builds, build{path, st.ModTime()})
			}
		}
	}
	slices.SortFunc(builds, func(a, b build) int { return b.used.Compare(a.used) })
	for _, old := range builds[min(len(builds), keepBuilds):] {
		_ = os.RemoveAll(old.path)
	}
}
