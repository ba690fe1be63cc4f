package devproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/turnkeel/turnkeel/internal/child"
)

// buildFlags make the build independent of where the checkout is, of its VCS
// state and of the caller's GOFLAGS. `go list` gets them too, since what is
// stale depends on them.
var buildFlags = []string{"-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", "-s -w"}

// goEnv returns the toolchain that builds in src, in a form to hash. It may
// download that toolchain.
func (b *builder) goEnv(ctx context.Context) (string, error) {
	return b.goRun(ctx, nil, "env", "GOVERSION", "GOOS", "GOARCH")
}

// build compiles the sources and puts the binary in its place, whole or not
// at all. The caller holds the lock.
func (b *builder) build(ctx context.Context, env string) error {
	hash, err := b.hash(env)
	if err != nil {
		return err
	}
	if b.tmp, err = os.MkdirTemp(b.cache, tempPrefix); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.tmp) }()
	out := filepath.Join(b.tmp, "out")
	if err = os.Mkdir(out, 0o755); err != nil {
		return err
	}

	b.track.phase(PhaseChecking, 0)
	stale, err := b.stale(ctx)
	if err != nil {
		return err
	}
	if len(stale) > 1 {
		b.track.phase(PhaseCompiling, len(stale))
	} else {
		b.track.phase(PhaseLinking, 0) // the program alone: compiled in a moment
	}
	args := append([]string{"build", "-v", "-o", filepath.Join(out, "devserver")}, buildFlags...)
	count := func(line string) bool { return b.countPackage(line, stale) }
	if _, err = b.goRun(ctx, count, append(args, ".")...); err != nil {
		return err
	}
	if now, err := b.hash(env); err != nil || now != hash {
		return err // edited meanwhile: the caller looks again
	}
	dir := filepath.Dir(b.binary(hash))
	if err = os.RemoveAll(dir); err != nil { // one without a binary in it
		return err
	}
	if err = os.Rename(out, dir); err != nil {
		return err
	}
	b.sweep()
	return nil
}

// stale downloads the modules the build needs and returns the packages that
// are to be compiled, which are those that `go build -v` names. The program
// itself comes last.
func (b *builder) stale(ctx context.Context) ([]string, error) {
	args := append([]string{"list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, buildFlags...)
	out, err := b.goRun(ctx, nil, append(args, ".")...)
	return strings.Fields(out), err
}

// countPackage counts a line of `go build -v`; it reports whether the line
// was one. The last one is the program itself, which is then linked.
func (b *builder) countPackage(line string, stale []string) bool {
	if line == "" || strings.ContainsAny(line, " :") {
		return false
	}
	b.track.update(func(p *Progress) bool {
		if p.Phase != PhaseCompiling {
			return false
		}
		if line == stale[len(stale)-1] {
			*p = Progress{Phase: PhaseLinking}
			return true
		}
		p.Done++
		p.Total = max(p.Total, p.Done)
		return false
	})
	return true
}

// countDownload counts a `go: downloading` line, and enters that phase at the
// first.
func (b *builder) countDownload() {
	b.track.update(func(p *Progress) bool {
		if p.Phase == PhaseCompiling || p.Phase == PhaseLinking {
			return false
		}
		first := p.Phase != PhaseDownloading
		if first {
			*p = Progress{Phase: PhaseDownloading}
		}
		p.Done++
		return first
	})
}

// goRun runs the go command in src and returns its standard output. Lines of
// its standard error that neither report a download nor satisfy line (may be
// nil) are the message of the error, if it fails. When ctx ends, the whole
// process group is interrupted, then killed.
func (b *builder) goRun(ctx context.Context, line func(string) bool, args ...string) (string, error) {
	var stdout bytes.Buffer
	var messages []string
	cmd := exec.Command("go", args...)
	cmd.Dir = b.src
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "PWD="+b.src,
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if b.tmp != "" {
		// Its work directory goes with ours, even if it is killed.
		cmd.Env = append(cmd.Env, "GOTMPDIR="+b.tmp)
	}
	cmd.Stdout = &stdout
	cmd.Stderr = &lineWriter{f: func(s string) {
		switch {
		case strings.HasPrefix(s, "go: downloading "):
			b.countDownload()
		case line != nil && line(s):
		case len(messages) < 30:
			messages = append(messages, s)
		}
	}}
	cmd.SysProcAttr = child.Attr(syscall.SIGKILL)
	cmd.WaitDelay = 2 * time.Second
	exited, err := child.Start(cmd)
	if errors.Is(err, exec.ErrNotFound) {
		return "", noSource("it is built with the go command, which is not in PATH")
	} else if err != nil {
		return "", err
	}
	select {
	case err = <-exited:
	case <-ctx.Done():
		killGroup(cmd.Process.Pid, exited)
		return "", ctx.Err()
	}
	if err != nil {
		said := strings.Join(messages, "\n")
		return "", fmt.Errorf("go %s in %s: %w\n%s%s", args[0], b.src, err, said, goAdvice(said))
	}
	return stdout.String(), nil
}

// goAdvice is what to do about the go command's own failures that have nothing
// to do with the sources.
func goAdvice(said string) string {
	const instead = ", or set TEMPORAL_ADDRESS to a Temporal server that runs already"
	switch {
	case strings.Contains(said, "requires go >= "):
		return "\nThe Temporal server needs a newer Go than yours: install it, or unset GOTOOLCHAIN so that the go command fetches it" + instead
	case strings.Contains(said, "toolchain not available"), strings.Contains(said, "dial tcp"), strings.Contains(said, "module lookup disabled"):
		return "\nThe first build takes its modules, and a newer Go where yours is older, from the Go module proxy: check the network and GOPROXY" + instead
	}
	return ""
}

// killGroup ends a process group and waits for its leader: first by SIGINT,
// at which the go command tidies up, then by SIGKILL.
func killGroup(pgid int, exited <-chan error) {
	_ = syscall.Kill(-pgid, syscall.SIGINT)
	select {
	case <-exited: //nolint:errcheck // how it ended does not matter
		_ = syscall.Kill(-pgid, syscall.SIGKILL) // compilers that remain
		return
	case <-time.After(2 * time.Second):
	}
	_ = syscall.Kill(-pgid, syscall.SIGKILL)
	<-exited //nolint:errcheck // how it ended does not matter
}

// lineWriter calls f for every line written to it; an unfinished last line is
// dropped.
type lineWriter struct {
	mu   sync.Mutex
	rest []byte
	f    func(string)
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexByte(w.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		line := strings.TrimRight(string(w.rest[:i]), "\r")
		w.rest = w.rest[i+1:]
		w.f(line)
	}
}
