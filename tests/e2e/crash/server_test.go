package crash

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/internal/devproc"
)

// devserver is a server of a test's own that can be killed and brought back on
// its data and its ports.
type devserver struct {
	t       *testing.T
	bin     string
	options devproc.Options
	*devproc.Server
}

func newDevserver(t *testing.T, dynamic ...string) *devserver {
	t.Helper()
	bin, err := devproc.Ensure(t.Context(), devproc.Printer(os.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	s := &devserver{t: t, bin: bin, options: devproc.Options{Dir: t.TempDir(), DynamicConfig: dynamic, Stderr: io.Discard}}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	if err := s.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(s.Address)
	if err == nil {
		s.options.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *devserver) start(ctx context.Context) (err error) {
	s.Server, err = devproc.Start(ctx, s.bin, s.options)
	return err
}

func (s *devserver) server() agenttest.Server {
	return agenttest.Server{Address: s.Address, Namespace: s.Namespace}
}

// The Temporal server is killed with SIGKILL in the middle of turns and comes
// back on its SQLite file, three times: while the model is called, and while a
// tool's request is at work. The workers stay.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	s := newDevserver(t)
	book := newLedger(t, quick)
	run(t, book, agenttest.CrashOptions{
		Server: s.server(), Workers: 2, Turns: 6, Script: script(mail, pay),
		Disaster: func(ctx context.Context, scene *agenttest.CrashScene) error {
			for _, begun := range []func() int{asked(scene), book.count, book.count} {
				if err := more(ctx, begun); err != nil {
					return err
				}
				if err := s.Kill(); err != nil {
					return err
				}
				if err := s.start(ctx); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// asked counts the requests of the model.
func asked(scene *agenttest.CrashScene) func() int {
	return func() int { return len(scene.Model.Requests()) }
}

// more waits until a count grows: then a turn is in the middle of something.
func more(ctx context.Context, count func() int) error {
	before := count()
	return until(ctx, func() (bool, error) { return count() > before, nil })
}

// untilWithin is how long a condition is waited for.
const untilWithin = time.Minute

// until polls a condition.
func until(ctx context.Context, met func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, untilWithin)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := met(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("what was waited for did not come: %w", ctx.Err())
		}
	}
}

// proxy is the network between the workers and the server.
type proxy struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, conns: map[net.Conn]bool{}}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() { p.join(in) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.set(true)
		open.Wait()
	})
	return p
}

// join carries bytes both ways until one side ends.
func (p *proxy) join(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer out.Close()
	p.mu.Lock()
	if p.cut {
		p.mu.Unlock()
		return
	}
	p.conns[in], p.conns[out] = true, true
	p.mu.Unlock()
	done := make(chan struct{}, 2)
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		done <- struct{}{}
	}
	go carry(in, out)
	go carry(out, in)
	<-done
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, in)
	delete(p.conns, out)
}

// set cuts the network, with all connections that stand, or restores it.
func (p *proxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	for c := range p.conns {
		if cut {
			_ = c.Close()
		}
	}
}

// The network to the server is cut in the middle of turns and restored: for a
// moment, and for longer than a heartbeat timeout, so that the server gives up
// calls that have arrived and whose results cannot be reported.
func TestNetworkCut(t *testing.T) {
	t.Parallel()
	p := newProxy(t, server.Address)
	book := newLedger(t, quick)
	r := run(t, book, agenttest.CrashOptions{
		Server:  agenttest.Server{Address: p.listener.Addr().String(), Namespace: server.Namespace},
		Workers: 2, Turns: 6, Script: script(mail, pay),
		Disaster: func(ctx context.Context, scene *agenttest.CrashScene) error {
			for _, outage := range []time.Duration{300 * time.Millisecond, 5 * time.Second, 5 * time.Second} {
				if err := more(ctx, book.count); err != nil {
					return err
				}
				p.set(true)
				select {
				case <-time.After(outage): // the outage itself
				case <-ctx.Done():
				}
				p.set(false)
			}
			return nil
		},
	})
	if r.Completed < 6 {
		t.Errorf("%d turns", r.Completed)
	}
}
