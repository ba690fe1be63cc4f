package mcptools

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// D03, T60: a listing whose pages never end is an error at once, at the start
// and before a call, which is not made.
func TestListingNeverEnds(t *testing.T) {
	t.Parallel()
	tools := oneTool("send", "Sends.", textSchema)
	loop := script{Tools: tools, RawList: []byte(answer(`{"tools":` + string(tools) + `,"nextCursor":"again"}`))}
	for name, endless := range map[string]script{"the same page": loop, "always another": {Tools: tools, OnList: "endless"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t, endless)
			config := s.config(Options{})
			config.StartTimeout = time.Hour
			if c, err := Connect(t.Context(), config); err == nil || !strings.Contains(err.Error(), "its listing of tools") {
				t.Errorf("got %v, %v", c, err)
			}
			s.set(script{Tools: tools})
			c := s.connect(Options{ToolOptions: ToolOptions{Timeout: time.Hour}})
			s.set(endless)
			if _, v := run(t, c.Tools()[0], `{"text":"a"}`); v.Outcome != contract.OutcomeNotExecuted || !strings.Contains(v.Text, "its listing of tools") {
				t.Errorf("got %+v", v)
			}
			if calls := s.lines("call "); len(calls) != 0 {
				t.Errorf("the server got %v", calls)
			}
		})
	}
}

// D05, D06: a server that dies in a call and leaves a process behind that holds
// its output open ends the call all the same.
func TestOrphanHoldsTheOutput(t *testing.T) {
	t.Parallel()
	orphan := script{Tools: oneTool("send", "Sends.", textSchema), Result: []byte(`{"content":[]}`), OnCall: "orphan"}
	s := newScripted(t, orphan)
	tool := s.connect(Options{ToolOptions: ToolOptions{Timeout: time.Hour}}).Tools()[0]
	_, v := run(t, tool, `{"text":"a"}`)
	if v.Outcome != contract.OutcomeUnknown {
		t.Errorf("got %+v", v)
	}
	orphan.OnCall = ""
	s.set(orphan)
	if _, v := run(t, tool, `{"text":"b"}`); v.Outcome != contract.OutcomeDone {
		t.Errorf("the next call: %+v", v)
	}
	for _, line := range s.lines("orphan ") {
		if pid, err := strconv.Atoi(strings.TrimPrefix(line, "orphan ")); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// waits collects how long a connection says that it waits.
type waits struct {
	slog.Handler
	mu  sync.Mutex
	all []time.Duration
}

func (*waits) Enabled(context.Context, slog.Level) bool { return true }

func (w *waits) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w *waits) Handle(_ context.Context, r slog.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "next_try_in" {
			w.all = append(w.all, a.Value.Duration())
		}
		return true
	})
	return nil
}

func (w *waits) seen() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}

// T66, D05: a server that greets and dies, again and again, is started less and
// less often; one that has answered a call is started at once.
func TestBackoffGrows(t *testing.T) {
	t.Parallel()
	faint := script{Tools: oneTool("send", "Sends.", textSchema), Result: []byte(`{"content":[]}`)}
	s := newScripted(t, faint)
	log := &waits{}
	config := s.config(Options{})
	config.Logger = slog.New(log)
	c, err := Connect(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	faint.OnStart = "faint"
	s.set(faint)
	killServer(t, s)
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	eventually(t, "it was started four times", func() bool { return len(log.seen()) >= 4 })
	if got := log.seen()[:4]; !slices.Equal(got, []time.Duration{ms(100), ms(200), ms(400), ms(800)}) {
		t.Errorf("it waited %v", got)
	}
	faint.OnStart = ""
	s.set(faint)
	if _, v := run(t, c.Tools()[0], `{"text":"a"}`); v.Outcome != contract.OutcomeDone {
		t.Errorf("got %+v", v)
	}
	before := len(log.seen())
	killServer(t, s)
	eventually(t, "it is started again", func() bool { return len(log.seen()) > before })
	if got := log.seen()[before]; got != ms(100) {
		t.Errorf("after a call it waited %v", got)
	}
	var b backoff
	for range 100 {
		b.next()
	}
	if b.wait() != lastBackoff {
		t.Errorf("at most %v", b.wait())
	}
}
