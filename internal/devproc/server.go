package devproc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/turnkeel/turnkeel/internal/child"
)

const (
	readyWait = 60 * time.Second
	stopWait  = 15 * time.Second
)

// Default asks [Options] for the port that temporal-dev.yaml names.
const Default = -1

// Options says how a server is to run. The zero value is a throw-away server
// on free ports.
type Options struct {
	Dir                string    // data directory, created if missing; "" = a temp directory, removed by Stop
	Port               int       // frontend port; 0 = a free one, Default = the yaml's
	UIPort             int       // web UI port; 0 = a free one, Default = the yaml's
	Stock              bool      // a server as `temporal server start-dev` sets it up
	DynamicConfig      []string  // "key=value" each, over the yaml's
	NoSearchAttributes bool      // do not register the project's search attributes
	Stderr             io.Writer // the server's log; nil = dropped
	ExtraArgs          []string  // appended to the command line
}

// Server is a running development server.
type Server struct {
	Address   string `json:"address"` // frontend, host:port
	UI        string `json:"ui"`      // URL of the web UI
	Namespace string `json:"namespace"`
	DB        string `json:"db"` // the SQLite file
	PID       int    `json:"pid"`

	cmd      *exec.Cmd
	lifeline io.Closer // the child stops when it closes
	logs     *tail
	temp     *tempDir // nil if the caller named the directory
	done     chan struct{}
	exit     error // of Wait; read after done

	stopOnce sync.Once
	stopErr  error
	mu       sync.Mutex
	asked    bool // Stop or Kill was called: an exit is no surprise
}

// Start runs the binary that [Ensure] returned and waits until it serves.
// ctx bounds the start only: the server lives until Stop, Kill or the end of
// this process. A server that does not come up is gone when Start returns,
// and the error carries what it wrote to its standard error last.
func Start(ctx context.Context, bin string, o Options) (*Server, error) {
	dir, err := moduleDir(ctx)
	if err != nil {
		return nil, err
	}
	var temp *tempDir
	if o.Dir == "" {
		if temp, err = newTempDir(); err != nil {
			return nil, err
		}
		o.Dir = temp.path
	}
	s, err := start(ctx, bin, filepath.Join(dir, configFile), o)
	// A free port may be lost to another process before the server listens.
	for range 2 {
		if err == nil || o.Port != 0 || o.UIPort != 0 || !strings.Contains(err.Error(), "address already in use") {
			break
		}
		s, err = start(ctx, bin, filepath.Join(dir, configFile), o)
	}
	if err != nil {
		temp.remove()
		return nil, fmt.Errorf("start the development Temporal server: %w", err)
	}
	s.temp = temp
	return s, nil
}

// start is Start with the config file and o.Dir settled.
func start(ctx context.Context, bin, config string, o Options) (*Server, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return nil, err
	}
	if err = os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s := &Server{done: make(chan struct{}), logs: &tail{w: o.Stderr}}
	ready := make(chan error, 1)
	s.cmd = exec.Command(bin, o.args(config, filepath.Join(dir, "temporal.db"))...)
	s.cmd.Dir = dir
	s.cmd.Stdout = &lineWriter{f: s.readyLine(ready)}
	s.cmd.Stderr = s.logs
	s.cmd.SysProcAttr = child.Attr(syscall.SIGTERM)
	s.cmd.WaitDelay = 2 * time.Second
	// The lifeline: nothing is ever written to it, and the write end, which
	// only this process has, closes when this process ends.
	if s.lifeline, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	exited, err := child.Start(s.cmd)
	if err != nil {
		return nil, err
	}
	go func() {
		s.exit = <-exited
		close(s.done)
	}()
	if err = s.awaitReady(ctx, ready); err != nil {
		_ = s.Kill()
		return nil, err
	}
	return s, nil
}

// args returns the command line.
func (o Options) args(config, db string) []string {
	args := []string{"--stdin-lifeline", "--config", config, "--db", db}
	if o.Port != Default {
		args = append(args, "--port", strconv.Itoa(o.Port))
	}
	if o.UIPort != Default {
		args = append(args, "--ui-port", strconv.Itoa(o.UIPort))
	}
	if o.Stock {
		args = append(args, "--stock")
	}
	for _, kv := range o.DynamicConfig {
		args = append(args, "--dynamic-config", kv)
	}
	if o.NoSearchAttributes {
		args = append(args, "--no-search-attributes")
	}
	return append(args, o.ExtraArgs...)
}

// awaitReady waits for the ready line, the child's exit, or the end of
// patience, whichever is first.
func (s *Server) awaitReady(ctx context.Context, ready <-chan error) error {
	timeout := time.NewTimer(readyWait)
	defer timeout.Stop()
	select {
	case err := <-ready:
		return err
	case <-s.done:
		select { // it may have become ready and died at once
		case err := <-ready:
			if err != nil {
				return err
			}
		default:
		}
		return s.exitError()
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return fmt.Errorf("not ready after %s; its last output: %s", readyWait, s.logs)
	}
}

// exitError describes an exit nobody asked for, in the child's own words.
func (s *Server) exitError() error {
	if last := s.logs.String(); last != "" {
		return errors.New(last)
	}
	if s.exit == nil {
		return errors.New("it exited without a message")
	}
	return s.exit
}

// Done is closed when the server's process has ended, for whatever reason.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns why the server ended although neither Stop nor Kill was called;
// nil while it runs.
func (s *Server) Err() error {
	select {
	case <-s.done:
	default:
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked {
		return nil
	}
	return fmt.Errorf("the development Temporal server ended on its own: %w", s.exitError())
}

// Stop ends the server in an orderly way (SIGTERM), or by SIGKILL when it has
// not ended after 15 seconds or when ctx ends, and removes the temp directory
// if Start made one. It returns nil if the server ended as asked; an error if
// it had to be killed, or had ended on its own before. Further calls return
// the same.
func (s *Server) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.stopErr = s.stop(ctx)
		s.temp.remove()
	})
	return s.stopErr
}

// stop is Stop without the bookkeeping.
func (s *Server) stop(ctx context.Context) error {
	select {
	case <-s.done:
		return s.Err()
	default:
	}
	s.ask()
	ctx, cancel := context.WithTimeoutCause(ctx, stopWait, fmt.Errorf("still there after %s", stopWait))
	defer cancel()
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // fails only if it is gone
	select {
	case <-s.done:
	case <-ctx.Done():
		_ = s.Kill()
		return fmt.Errorf("the development Temporal server was killed: %w", context.Cause(ctx))
	}
	var exit *exec.ExitError
	if errors.As(s.exit, &exit) && exit.Exited() {
		return fmt.Errorf("the development Temporal server did not stop cleanly: %w: %s", s.exit, s.logs)
	}
	return nil
}

// Kill ends the server by SIGKILL, as a crash does, and waits for its end.
// Stop is still to be called, for the temp directory.
func (s *Server) Kill() error {
	s.ask()
	err := s.cmd.Process.Kill()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.done
	return nil
}

// ask notes that the server's end is wanted, unless it has ended already.
func (s *Server) ask() {
	select {
	case <-s.done:
		return
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
}
