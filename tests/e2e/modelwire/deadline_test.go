package modelwire

import (
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// A canceled call has at least this many keep-alives to notice it, 50 ms apart:
// they come all the time, so no idle deadline ends it.
const keepAlives = 400

// C06, R41: TestCancellationClosesTheConnection: of a person's interrupt and of a cancel,
// in the middle of an answer and before its first byte.
func TestCancellationClosesTheConnection(t *testing.T) {
	t.Parallel()
	interrupt := func(t *testing.T, b *agenttest.Bench, turn string) error {
		return b.Turns.Interrupt(t.Context(), turn, contract.InterruptRequest{By: "ann"})
	}
	cancel := func(t *testing.T, b *agenttest.Bench, turn string) error {
		return b.Turns.Cancel(t.Context(), turn)
	}
	for _, c := range []struct {
		name   string
		silent bool // until the first byte
		stop   func(*testing.T, *agenttest.Bench, string) error
	}{
		{"interrupted while it streams", false, interrupt},
		{"canceled while it streams", false, cancel},
		{"interrupted before the first byte", true, interrupt},
		{"canceled before the first byte", true, cancel},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			asked, closed := make(chan struct{}), make(chan time.Time, 1)
			b := benchAt(t, contract.Agent{}, func(s *said, _ int) {
				defer close(closed)
				if !c.silent {
					s.text("I am")
				}
				close(asked) // once: a canceled call is not repeated
				for range keepAlives {
					select {
					case <-s.r.Context().Done():
						closed <- time.Now()
						return
					case <-time.After(50 * time.Millisecond):
					}
					if !c.silent {
						s.frame(": keep-alive")
					}
				}
				s.text(" still here")
				s.finish("stop")
			})
			turn := start(t, b)
			<-asked
			began := time.Now()
			if err := c.stop(t, b, turn.ID); err != nil {
				t.Fatal(err)
			}
			out := b.Wait(turn)
			at, ok := <-closed
			if !ok {
				t.Fatal("the endpoint came to the end of its answer")
			}
			t.Logf("closed %s after the request", at.Sub(began).Round(time.Millisecond))
			for _, e := range out.History.GetEvents() {
				if e.GetActivityTaskCompletedEventAttributes() != nil {
					t.Errorf("the call went on to its end: %+v", out.Result)
				}
			}
		})
	}
}

// TestIdleDeadline: a silent endpoint's connection is closed, and the call is
// asked again with the cause on record.
func TestIdleDeadline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		endpoint contract.Endpoint
		silent   bool // from the start
		cause    string
	}{
		{"in the middle", contract.Endpoint{IdleTimeout: contract.Duration(500 * time.Millisecond)}, false, "sent nothing for 500ms in the middle of the answer"},
		{"before the first byte", contract.Endpoint{FirstByteTimeout: contract.Duration(500 * time.Millisecond)}, true, "sent nothing for 500ms; is it overloaded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			closed := make(chan struct{})
			b := benchAt(t, contract.Agent{Endpoint: c.endpoint}, func(s *said, asks int) {
				if asks > 1 {
					s.text("done")
					s.finish("stop")
					return
				}
				if !c.silent {
					s.text("I am")
				}
				<-s.r.Context().Done() // the client leaves by itself, or never
				close(closed)
			})
			out := b.Wait(start(t, b))
			if out.Err != nil || out.Result.Text != "done" {
				t.Fatalf("%+v %v", out.Result, out.Err)
			}
			<-closed
			cause := ""
			for _, e := range out.History.GetEvents() {
				if a := e.GetActivityTaskStartedEventAttributes(); a.GetAttempt() == 2 {
					cause = a.GetLastFailure().GetMessage()
				}
			}
			if !strings.Contains(cause, c.cause) {
				t.Errorf("the cause is %q, want %q", cause, c.cause)
			}
		})
	}
}
