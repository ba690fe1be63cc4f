package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

const (
	sessionID     = "bench-session"
	sessionWords  = 25 // of a message, and of an answer
	sessionWindow = 20 // turns whose latency makes one row
)

// SessionReport is the outcome of --session.
type SessionReport struct {
	Date    string       `json:"date"`
	Machine Machine      `json:"machine"`
	Rows    []SessionRow `json:"rows"`
	Worker  reading      `json:"worker_after"`
}

// SessionRow is how a session stands after so many turns.
type SessionRow struct {
	Turn       int     `json:"turn"`
	Said       int     `json:"said_bytes"`          // messages and answers so far
	TurnBytes  int64   `json:"turn_history_bytes"`  // of this turn
	TurnEvents int64   `json:"turn_history_events"` //
	Bytes      int64   `json:"session_history_bytes"`
	Events     int64   `json:"session_history_events"`
	Runs       int     `json:"session_runs"`
	LatencyMS  float64 `json:"latency_ms"` // median of the turns around, from send to the turn's end
	Window     int     `json:"latency_turns"`
}

// session runs many short turns of one conversation, one after the other.
func session(ctx context.Context, o settings, stdout, stderr io.Writer) error {
	model := talkModel()
	defer model.Close()
	r, err := startRig(ctx, stderr, model.URL+"/v1", turnkeel.DefaultCacheSize)
	if err != nil {
		return err
	}
	defer r.stop()
	report := SessionReport{Date: time.Now().UTC().Format(time.DateTime), Machine: thisMachine()}
	tell, words := progress(stderr, "session"), rand.New(rand.NewPCG(1, 2)) //nolint:gosec // any words do
	var ms []float64
	said := 0
	for n := 1; n <= o.session; n++ {
		text := talk(words)
		took, turn, err := r.exchange(ctx, n, text)
		if err != nil {
			return err
		}
		ms = append(ms, took)
		said += len(text) + len(answerTo(text))
		tell(n, o.session)
		if reported(n, o.session) {
			row := SessionRow{Turn: n, Said: said}
			if err := r.weighSession(ctx, turn, &row); err != nil {
				return err
			}
			report.Rows = append(report.Rows, row)
		}
	}
	for i := range report.Rows {
		around := around(ms, report.Rows[i].Turn)
		report.Rows[i].LatencyMS, report.Rows[i].Window = median(around), len(around)
	}
	if report.Worker, err = r.measure(); err != nil {
		return err
	}
	return writeReport(report, o, stdout, report.print)
}

// reported says which turns have a row.
func reported(n, last int) bool {
	switch n {
	case 1, 10, 100, 250, 500, 750, last:
		return true
	}
	return false
}

// around are the values of the turns up to a turn, or the first ones.
func around(ms []float64, turn int) []float64 {
	end := min(max(turn, sessionWindow), len(ms))
	return ms[max(0, end-sessionWindow):end]
}

// exchange sends a message and waits for its turn's end. The time is from the
// send to the end that the server recorded, in milliseconds.
func (r *rig) exchange(ctx context.Context, n int, text string) (float64, *turnkeel.Turn, error) {
	began := time.Now()
	sent, err := r.turns.Send(ctx, turnkeel.Message{Session: sessionID, Agent: agentName, Text: text, MessageID: "m" + strconv.Itoa(n)})
	if err != nil {
		return 0, nil, err
	}
	turn, err := r.turns.Sent(ctx, sent.TurnID)
	if err != nil {
		return 0, nil, err
	}
	result, err := turn.Result(ctx)
	if err != nil || result.Status != contract.StatusCompleted || result.Text != answerTo(text) {
		return 0, nil, fmt.Errorf("turn %d did not do its work: %+v: %w", n, result, err)
	}
	closed, err := r.client.DescribeWorkflow(ctx, turn.ID, turn.RunID)
	if err != nil {
		return 0, nil, err
	}
	return float64(closed.WorkflowCloseTime.Sub(began)) / float64(time.Millisecond), turn, nil
}

// weighSession reads what the histories of a turn and of all runs of the
// session weigh, as the server counts.
func (r *rig) weighSession(ctx context.Context, turn *turnkeel.Turn, row *SessionRow) error {
	one, err := r.client.DescribeWorkflow(ctx, turn.ID, turn.RunID)
	if err != nil {
		return err
	}
	info := one.RawResponse.GetWorkflowExecutionInfo()
	row.TurnBytes, row.TurnEvents = info.GetHistorySizeBytes(), info.GetHistoryLength()
	list, err := r.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: r.server.Namespace, Query: "WorkflowId = '" + sessionID + "'",
	})
	if err != nil {
		return err
	}
	for _, e := range list.GetExecutions() {
		run, err := r.client.DescribeWorkflow(ctx, sessionID, e.GetExecution().GetRunId())
		if err != nil {
			return err
		}
		info := run.RawResponse.GetWorkflowExecutionInfo()
		row.Bytes, row.Events, row.Runs = row.Bytes+info.GetHistorySizeBytes(), row.Events+info.GetHistoryLength(), row.Runs+1
	}
	return nil
}

// talk is a message of words that compress as badly as any.
func talk(words *rand.Rand) string {
	var b strings.Builder
	for i := range sessionWords {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatUint(words.Uint64()>>24, 36))
	}
	return b.String()
}

// answerTo is what the model says to a message: the message backwards, so that
// an answer can be told from any other.
func answerTo(text string) string {
	words := strings.Fields(text)
	for i, j := 0, len(words)-1; i < j; i, j = i+1, j-1 {
		words[i], words[j] = words[j], words[i]
	}
	return strings.Join(words, " ")
}

// talkModel answers each message at once. It keeps no request: those of a
// thousand turns come to a few hundred megabytes.
func talkModel() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := lastMessage(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", textFrame(answerTo(text), "stop"))
	}))
}

func (r SessionReport) print(w io.Writer) {
	fmt.Fprintf(w, "session %s · %s/%s, %d CPUs, %s · one conversation, %d words a message and an answer, a model that answers at once\n\n",
		r.Date, r.Machine.OS, r.Machine.Arch, r.Machine.CPUs, r.Machine.Go, sessionWords)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "turn\tsaid, bytes\tlatency p50, ms\tturn: events\tbytes\t× said\tsession: runs\tevents\tbytes\t× said")
	for _, row := range r.Rows {
		fmt.Fprintf(tw, "%d\t%d\t%.1f\t%d\t%d\t%.2f\t%d\t%d\t%d\t%.2f\n", row.Turn, row.Said, row.LatencyMS, row.TurnEvents,
			row.TurnBytes, float64(row.TurnBytes)/float64(row.Said), row.Runs, row.Events, row.Bytes, float64(row.Bytes)/float64(row.Said))
	}
	_ = tw.Flush()
	fmt.Fprintf(w, "\nworker at the end: %.1f MB resident, %d goroutines\n", mb(r.Worker.RSS), r.Worker.Goroutines)
}
