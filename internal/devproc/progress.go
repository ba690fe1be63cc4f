package devproc

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// The phases of a build, in their order; [Progress.Phase] is one of them.
const (
	PhaseWaiting     = "waiting for another process that builds the Temporal server"
	PhaseChecking    = "checking what the Temporal server needs"
	PhaseDownloading = "downloading modules"
	PhaseCompiling   = "compiling the Temporal server"
	PhaseLinking     = "linking the Temporal server"
	PhaseReady       = "Temporal server built"
	PhaseFailed      = "build of the Temporal server stopped"
)

// Progress is one report about a running [Ensure]. Reports arrive at every
// change of phase and once a second, never two at a time, and the last one is
// Final. An Ensure that finds the binary in the cache reports nothing.
type Progress struct {
	Phase   string        // one of the Phase constants
	Done    int           // modules downloaded, or packages compiled, so far
	Total   int           // of how many; 0 = not known, as for modules
	Elapsed time.Duration // since Ensure was called
	Final   bool          // the last report: PhaseReady or PhaseFailed
}

// String renders the report on one line, such as
// "compiling the Temporal server: 812 of 1778 packages (1m42s)".
func (p Progress) String() string {
	count := ""
	switch {
	case p.Total > 0:
		count = fmt.Sprintf(": %d of %d packages", p.Done, p.Total)
	case p.Done > 0:
		count = fmt.Sprintf(": %d", p.Done)
	}
	return fmt.Sprintf("%s%s (%s)", p.Phase, count, p.Elapsed.Round(time.Second))
}

// Printer returns a progress function that writes to w. On a terminal it
// rewrites one line; elsewhere it writes a line at every change of phase and
// about every ten seconds.
func Printer(w io.Writer) func(Progress) {
	if isTerminal(w) {
		return func(p Progress) {
			end := ""
			if p.Final {
				end = "\n"
			}
			fmt.Fprintf(w, "\r\x1b[K%s%s", p, end)
		}
	}
	var phase string
	var last time.Duration
	return func(p Progress) {
		if p.Phase == phase && p.Elapsed-last < 10*time.Second {
			return
		}
		phase, last = p.Phase, p.Elapsed
		fmt.Fprintln(w, p)
	}
}

// isTerminal reports whether w is a character device that understands
// cursor movement.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// tracker holds the state of a running Ensure and reports it.
type tracker struct {
	report func(Progress)
	start  time.Time
	stop   chan struct{}
	ticker sync.WaitGroup

	mu   sync.Mutex // also keeps reports from overlapping
	p    Progress
	said bool
}

// newTracker returns a tracker that calls report (nil: nobody) every second
// once a phase is set, until finish.
func newTracker(report func(Progress)) *tracker {
	if report == nil {
		report = func(Progress) {}
	}
	t := &tracker{report: report, start: time.Now(), stop: make(chan struct{})}
	t.ticker.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-t.stop:
				return
			case <-tick.C:
				t.update(func(p *Progress) bool { return p.Phase != "" })
			}
		}
	})
	return t
}

// update changes the state by f and reports it when f returns true.
func (t *tracker) update(f func(p *Progress) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f(&t.p) {
		t.said = true
		t.p.Elapsed = time.Since(t.start)
		t.report(t.p)
	}
}

// phase enters a phase with its counters.
func (t *tracker) phase(name string, total int) {
	t.update(func(p *Progress) bool {
		*p = Progress{Phase: name, Total: total}
		return true
	})
}

// finish stops the ticker and makes the final report, if there was any other.
func (t *tracker) finish(err error) {
	close(t.stop)
	t.ticker.Wait()
	if !t.said {
		return
	}
	name := PhaseReady
	if err != nil {
		name = PhaseFailed
	}
	t.update(func(p *Progress) bool {
		*p = Progress{Phase: name, Final: true}
		return true
	})
}
