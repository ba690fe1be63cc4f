package toolbin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// waitDelay is how long a cancelled build may take to end.
const waitDelay = 5 * time.Second

// tool is a main package that a module of its own pins.
type tool struct {
	name   string // of the binary
	pkg    string // import path of the main package
	module string // directory whose go.mod and go.sum pin it
	cache  string // directory that keeps the builds
}

// ensure returns the tool's binary, building it unless the cache has it.
func (t tool) ensure(ctx context.Context) (string, error) {
	version, err := t.version(ctx)
	if err != nil {
		return "", t.failed(err)
	}
	binary := filepath.Join(t.cache, t.name+"-"+version, t.name)
	if built(binary) {
		return binary, nil
	}
	if err := os.MkdirAll(t.cache, 0o755); err != nil {
		return "", t.failed(err)
	}
	unlock, err := lock(ctx, filepath.Join(t.cache, t.name+".lock"))
	if err != nil {
		return "", t.failed(err)
	}
	defer unlock()
	if built(binary) { // by the process we waited for
		return binary, nil
	}
	if err := t.build(ctx, binary); err != nil {
		return "", t.failed(err)
	}
	return binary, nil
}

func (t tool) failed(err error) error {
	return fmt.Errorf("build %s as pinned in %s: %w", t.pkg, filepath.Join(t.module, "go.mod"), err)
}

// version names a build after all that decides it: the pins and the toolchain.
func (t tool) version(ctx context.Context) (string, error) {
	toolchain, err := t.goCommand(ctx, "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	fmt.Fprintln(hash, t.pkg, toolchain)
	for _, name := range []string{"go.mod", "go.sum"} {
		pins, err := os.ReadFile(filepath.Join(t.module, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, len(pins))
		hash.Write(pins)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// build puts the binary in its place whole or not at all.
func (t tool) build(ctx context.Context, binary string) error {
	temp, err := os.MkdirTemp(t.cache, "building-"+t.name+"-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if _, err := t.goCommand(ctx, "build", "-buildvcs=false", "-o", filepath.Join(temp, t.name), t.pkg); err != nil {
		return err
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	dir := filepath.Dir(binary)
	if err := os.RemoveAll(dir); err != nil { // one without a binary in it
		return err
	}
	return os.Rename(temp, dir)
}

// goCommand runs the go command on the tool's module and gives its output.
func (t tool) goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.module
	cmd.WaitDelay = waitDelay
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the go command then ends its compilers
	// A caller's -modfile or workspace would pin other versions.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

func built(binary string) bool {
	info, err := os.Stat(binary)
	return err == nil && info.Mode().IsRegular()
}

// lock takes an exclusive lock on the file at path, which the kernel drops
// when its holder dies, and returns what releases it.
func lock(ctx context.Context, path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
