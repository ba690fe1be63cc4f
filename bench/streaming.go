package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

const (
	streamChunks = 150
	streamEvery  = 40 * time.Millisecond // between two chunks: 25 tokens a second
	streamRuns   = 5
	mustDelay    = 300 // ms, in the median
)

// StreamingReport is the outcome of --streaming.
type StreamingReport struct {
	Date    string  `json:"date"`
	Machine Machine `json:"machine"`

	Delay   Delay   `json:"delay_ms"` // from the chunk's flush to its text on the terminal
	Verdict verdict `json:"verdict"`

	WatchedBeats float64 `json:"watched_heartbeats_per_minute"` // of one running model call
	QuietBeats   float64 `json:"quiet_heartbeats_per_minute"`
}

// streaming follows turns on a terminal, and counts what it takes.
func streaming(ctx context.Context, o settings, stdout, stderr io.Writer) error {
	model := newChunkModel()
	defer model.Close()
	r, err := startRig(ctx, stderr, model.URL+"/v1", turnkeel.DefaultCacheSize)
	if err != nil {
		return err
	}
	defer r.stop()
	starter, cleanup, err := buildStarter(ctx)
	if err != nil {
		return err
	}
	defer cleanup()
	report := StreamingReport{Date: time.Now().UTC().Format(time.DateTime), Machine: thisMachine()}
	report.WatchedBeats, err = r.beatsOf(func() error {
		for n := range streamRuns {
			fmt.Fprintf(stderr, "streaming: %d of %d\n", n, streamRuns)
			if err := r.watch(ctx, starter, model, n); err != nil {
				return err
			}
		}
		return nil
	}, streamRuns)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "streaming: a turn that nobody watches")
	report.QuietBeats, err = r.beatsOf(func() error {
		turn, err := r.turns.Start(ctx, turnkeel.TurnRequest{Input: contract.TurnInput{
			Agent: agentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: "Say it."}},
		}})
		if err == nil {
			_, err = turn.Result(ctx)
		}
		return err
	}, 1)
	if err != nil {
		return err
	}
	report.Delay = delayOf(model.delays())
	report.Verdict = atMost(report.Delay.P50, mustDelay, mustDelay)
	return writeReport(report, o, stdout, report.print)
}

// beatsOf counts the heartbeats for each minute of an answer's time.
func (r *rig) beatsOf(run func() error, answers int) (float64, error) {
	before, err := r.measure()
	if err != nil {
		return 0, err
	}
	if err := run(); err != nil {
		return 0, err
	}
	after, err := r.measure()
	return float64(after.Beats-before.Beats) / (float64(answers) * (streamChunks * streamEvery).Minutes()), err
}

// watch runs `starter run` on a terminal of its own and notes when each chunk
// appears there.
func (r *rig) watch(ctx context.Context, starter string, model *chunkModel, n int) error {
	user, terminal, err := openTerminal()
	if err != nil {
		return err
	}
	defer user.Close()                                                                                                                                    //nolint:errcheck // nothing is written to it
	cmd := exec.CommandContext(ctx, starter, "run", "--agent", agentName, "--task-queue", workerQueue, "--turn-id", "stream-"+strconv.Itoa(n), "Say it.") //nolint:gosec // built here
	cmd.Env = append(os.Environ(), "TEMPORAL_ADDRESS="+r.server.Address, "TEMPORAL_NAMESPACE="+r.server.Namespace, "TEMPORAL_CONFIG_FILE="+os.DevNull, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	err = cmd.Start()
	_ = terminal.Close()
	if err != nil {
		return err
	}
	said := model.follow(user) // until the terminal's other side closes
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("starter run: %w\n%s", err, said)
	}
	return model.take(said)
}

// chunkModel streams numbered words and remembers when each one left.
type chunkModel struct {
	*httptest.Server
	mu    sync.Mutex
	sent  [streamChunks]time.Time
	shown map[int]time.Time
	ms    []float64
}

var numbered = regexp.MustCompile(`w(\d{4})\.`)

func newChunkModel() *chunkModel {
	m := &chunkModel{shown: map[int]time.Time{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(streamEvery)
		defer tick.Stop()
		for i := range streamChunks {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", textFrame(fmt.Sprintf("w%04d. ", i), ""))
			_ = http.NewResponseController(w).Flush()
			m.mu.Lock()
			m.sent[i] = time.Now()
			m.mu.Unlock()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", textFrame("", "stop"))
	}))
	return m
}

// follow reads what appears on a terminal and notes when each word is there
// first.
func (m *chunkModel) follow(terminal io.Reader) string {
	var said []byte
	buffer := make([]byte, 4096)
	for {
		n, err := terminal.Read(buffer)
		now := time.Now()
		from := max(0, len(said)-len("w0000"))
		said = append(said, buffer[:n]...)
		for _, word := range numbered.FindAllSubmatch(said[from:], -1) {
			if i, _ := strconv.Atoi(string(word[1])); m.shown[i].IsZero() {
				m.shown[i] = now
			}
		}
		if err != nil {
			return string(said)
		}
	}
}

// take ends a run: each word must have come.
func (m *chunkModel) take(said string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, sent := range m.sent {
		if m.shown[i].IsZero() {
			return fmt.Errorf("word %d never appeared on the terminal:\n%s", i, said)
		}
		m.ms = append(m.ms, float64(m.shown[i].Sub(sent))/float64(time.Millisecond))
	}
	clear(m.shown)
	return nil
}

func (m *chunkModel) delays() []float64 { return m.ms }

// buildStarter builds the starter as a user does.
func buildStarter(ctx context.Context) (path string, cleanup func(), err error) {
	dir, err := os.MkdirTemp("", "turnkeel-bench")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	path = filepath.Join(dir, "starter")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/turnkeel/turnkeel/starter") //nolint:gosec // spelled out
	if out, err := build.CombinedOutput(); err != nil {
		cleanup()
		return "", nil, errors.Join(fmt.Errorf("build the starter (run this inside the checkout): %w", err), errors.New(string(out)))
	}
	return path, cleanup, nil
}

func (r StreamingReport) print(w io.Writer) {
	fmt.Fprintf(w, "streaming %s · %s/%s, %d CPUs, %s · %d turns of %d chunks, one each %s, followed by `starter run` on a terminal\n\n",
		r.Date, r.Machine.OS, r.Machine.Arch, r.Machine.CPUs, r.Machine.Go, streamRuns, streamChunks, streamEvery)
	fmt.Fprintf(w, "from the model's chunk to the terminal, ms: p50 %.0f, p95 %.0f, p99 %.0f, max %.0f (%d chunks; must: p50 < %d) %s\n",
		r.Delay.P50, r.Delay.P95, r.Delay.P99, r.Delay.Max, r.Delay.N, mustDelay, r.Verdict)
	fmt.Fprintf(w, "heartbeats of a model call, for each minute it runs: %.0f when streamed, %.0f when not\n", r.WatchedBeats, r.QuietBeats)
}
