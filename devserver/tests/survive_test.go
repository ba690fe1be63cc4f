package tests

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	sdkclient "go.temporal.io/sdk/client"
)

// history reads all events of a workflow's latest run.
func history(t testing.TB, c sdkclient.Client, id string) []*historypb.HistoryEvent {
	t.Helper()
	var events []*historypb.HistoryEvent
	iter := c.GetWorkflowHistory(within(t, 30*time.Second), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for iter.HasNext() {
		event, err := iter.Next()
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// A server that was stopped finds everything again, also on other ports: finished histories, what is running, and
// the timers of what is running.
func TestRestartKeepsEverything(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	first := start(t, db)
	c := first.client()
	w := newWorker(c)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	if err := run(t, c, "finished", chain, 3).Get(within(t, 30*time.Second), nil); err != nil {
		t.Fatal(err)
	}
	run(t, c, "asleep", sleeper, 4*time.Second)
	eventually(t, 30*time.Second, func() error { return hasEvent(t, c, "asleep", enumspb.EVENT_TYPE_TIMER_STARTED) })
	before := history(t, c, "finished")
	w.Stop()
	first.stop()

	second := start(t, db)
	c = second.client()
	if after := history(t, c, "finished"); len(after) != len(before) {
		t.Errorf("the finished workflow has %d events after the restart, %d before", len(after), len(before))
	}
	work(t, c)
	var said string
	if err := c.GetWorkflow(t.Context(), "asleep", "").Get(within(t, 30*time.Second), &said); err != nil || said != "woken" {
		t.Errorf("the workflow with a timer: %q, %v", said, err)
	}
}

// What the server acknowledged before it was killed is there after: that is what the write-ahead log is for.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	p := start(t, db)
	c := p.client()
	run(t, c, "signalled", signals, 1<<20)

	// Signal as fast as it goes, and kill the server in the middle of it.
	var acknowledged atomic.Int64
	enough := make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			ctx := t.Context()
			if err := c.SignalWorkflow(ctx, "signalled", "", "tick", i); err != nil {
				return
			}
			if acknowledged.Add(1) == 200 {
				close(enough)
			}
		}
	}()
	select {
	case <-enough:
	case <-time.After(30 * time.Second):
		t.Fatalf("only %d signals within 30 s", acknowledged.Load())
	}
	p.kill()
	want := acknowledged.Load()

	c = start(t, db).client()
	var got int64
	for _, event := range history(t, c, "signalled") {
		if event.EventType == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
			got++
		}
	}
	// One more may have been recorded whose answer the kill cut off.
	if got < want || got > want+1 {
		t.Errorf("%d signals are recorded, %d were acknowledged", got, want)
	}
	// And the workflow goes on.
	work(t, c)
	if err := c.SignalWorkflow(within(t, 10*time.Second), "signalled", "", "tick", int(got)); err != nil {
		t.Fatal(err)
	}
	eventually(t, 30*time.Second, func() error { return hasEvent(t, c, "signalled", enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED) })
}

// Killed at any moment of the first start, it starts the next time.
func TestKilledDuringFirstStart(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{50, 150, 400} {
		db := newDB(t)
		p := launch(t, "--port", "0", "--db", db)
		select {
		case <-time.After(after * time.Millisecond):
		case <-p.done:
			t.Fatalf("ended on its own: %s", p.errors())
		}
		p.kill()
		p = start(t, db)
		if _, err := listOurs(t, p.client(), ""); err != nil {
			t.Errorf("killed after %d ms: %v", after, err)
		}
		p.kill()
	}
}

// A clean stop takes a moment, needs no write-ahead log afterwards, and leaves no port or lock behind.
func TestStopsCleanly(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		db := newDB(t)
		p := start(t, db)
		work(t, p.client()) // with somebody polling
		p.signal(signal)
		if code := p.ends(10 * time.Second); code != 0 {
			t.Errorf("%s: exit code %d: %s", signal, code, p.errors())
		}
		if said := p.errors(); said != "" {
			t.Errorf("%s: says on standard error: %s", signal, said)
		}
		if wal := size(t, db+"-wal"); wal != 0 {
			t.Errorf("%s: the write-ahead log has %d bytes", signal, wal)
		}
	}
}

// Whoever sends a second signal means it.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, newDB(t))
	p.signal(syscall.SIGTERM)
	time.Sleep(100 * time.Millisecond) // two at once may be taken for one
	p.signal(syscall.SIGTERM)
	if code := p.ends(5 * time.Second); code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
}

func TestStopsWhileStarting(t *testing.T) {
	t.Parallel()
	p := launch(t, "--port", "0", "--db", newDB(t))
	eventually(t, 30*time.Second, func() error { return exists(p.db() + ".lock") })
	p.signal(syscall.SIGTERM)
	if code := p.ends(10 * time.Second); code != 0 || p.errors() != "" {
		t.Errorf("exit code %d: %s", code, p.errors())
	}
}

// The lifeline is what keeps a server from outliving a parent that was killed.
func TestLifeline(t *testing.T) {
	t.Parallel()
	p := start(t, newDB(t), "--stdin-lifeline")
	_ = p.stdin.Close()
	if code := p.ends(10 * time.Second); code != 0 {
		t.Errorf("exit code %d: %s", code, p.errors())
	}
	p = start(t, newDB(t))
	_ = p.stdin.Close()
	select {
	case <-p.done:
		t.Error("without --stdin-lifeline it ended with standard input")
	case <-time.After(time.Second):
	}
}

func hasEvent(t testing.TB, c sdkclient.Client, id string, kind enumspb.EventType) error {
	t.Helper()
	for _, event := range history(t, c, id) {
		if event.EventType == kind {
			return nil
		}
	}
	return fmt.Errorf("%s has no %s", id, kind)
}

// db is where a process that is not ready yet has its database.
func (p *process) db() string {
	for i, arg := range p.cmd.Args {
		if arg == "--db" {
			return filepath.Clean(p.cmd.Args[i+1])
		}
	}
	return ""
}
