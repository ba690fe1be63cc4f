package effectlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// charge is a tool with an effect: each run of it counts.
func charge(runs *atomic.Int32, result func() (any, error)) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[number, any]{
		Name: "charge", Description: "Charges.", Class: tooldefs.Keyed,
		Handler: func(context.Context, *tooldefs.Call, number) (any, error) {
			runs.Add(1)
			return result()
		},
	})
}

// T45, C01: a result too large for a payload is one effect and one result:
// kept whole in the blob store, or recorded cut, and marked so.
func TestLargeResult(t *testing.T) {
	t.Parallel()
	rows := []map[string]string{{"text": strings.Repeat("row <&> ", 400_000)}}
	for name, result := range map[string]any{
		"3 MiB of text":                  strings.Repeat("x", 3<<20),
		"5 MiB of text":                  strings.Repeat("y", 5<<20),
		"1 MiB that JSON writes sixfold": strings.Repeat("<", 1<<20),
		"3 MiB of JSON":                  rows,
	} {
		for _, store := range []blob.Store{nil, blob.Folder(t.TempDir())} {
			title := name + ", recorded cut"
			if store != nil {
				title = name + ", kept in a store"
			}
			t.Run(title, func(t *testing.T) {
				t.Parallel()
				var runs atomic.Int32
				s := newStack(t, options{
					tools: []*tooldefs.Tool{charge(&runs, func() (any, error) { return result, nil })}, script: steps("charge", 1), blobs: store,
				})
				out := s.run("go")
				if out.err != nil || out.result.Status != contract.StatusCompleted || out.result.Effects.Done != 1 || runs.Load() != 1 {
					t.Fatalf("%d runs, %+v, %v", runs.Load(), out.result, out.err)
				}
				got, err := out.run.ToolResult(out.run.Activity("s1.c1"))
				if err != nil {
					t.Fatal(err)
				}
				if !got.Truncated || len(got.Text) > 1<<20 || got.Bytes < 1<<20 || (got.Blob != "") != (store != nil) {
					t.Fatalf("truncated %v, %d bytes of %d, blob %q", got.Truncated, len(got.Text), got.Bytes, got.Blob)
				}
				if e := out.run.Effects()[0]; e.Outcome != contract.OutcomeDone || e.Attempts != 1 {
					t.Errorf("%+v", e)
				}
				if store != nil {
					wholeIs(t, store, got, result)
				}
				if last := s.model.Requests()[1].Messages[2].Content; !strings.Contains(last, "characters in all") || len(last) > 200_000 {
					t.Errorf("the model was shown %d bytes: %.300s", len(last), last)
				}
			})
		}
	}
}

// wholeIs compares what the store keeps with what the handler returned.
func wholeIs(t *testing.T, store blob.Store, got contract.ToolResult, want any) {
	t.Helper()
	data, err := store.Get(t.Context(), got.Blob)
	if err != nil || len(data) != got.Bytes {
		t.Fatalf("%d bytes, %v; want %d", len(data), err, got.Bytes)
	}
	text, ok := want.(string)
	if ok && string(data) != text {
		t.Error("the store has another text than the handler returned")
	}
	var rows []map[string]string
	if !ok && (json.Unmarshal(data, &rows) != nil || rows[0]["text"] != want.([]map[string]string)[0]["text"]) {
		t.Errorf("the store has %.100s", data)
	}
}

// T45: a store that cannot be written to loses the whole, never the effect.
func TestLargeResult_TheStoreFails(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	s := newStack(t, options{
		tools:  []*tooldefs.Tool{charge(&runs, func() (any, error) { return strings.Repeat("x", 3<<20), nil })},
		script: steps("charge", 1), blobs: blob.Folder("/dev/null/blobs"),
	})
	out := s.run("go")
	got, err := out.run.ToolResult(out.run.Activity("s1.c1"))
	if err != nil || !got.Truncated || got.Blob != "" || out.result.Effects.Done != 1 || runs.Load() != 1 {
		t.Errorf("%d runs, blob %q, %+v, %v", runs.Load(), got.Blob, out.result, err)
	}
}

// C01: a failure's message is bounded, legal text, and the call one effect.
func TestLargeFailure(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("no \xff<", 1<<20)
	for name, c := range map[string]struct {
		result  func() (any, error)
		outcome contract.Outcome
	}{
		"error":     {func() (any, error) { return nil, errors.New(long) }, contract.OutcomeFailed},
		"unknown":   {func() (any, error) { return nil, tooldefs.Unknown(errors.New(long)) }, contract.OutcomeUnknown},
		"panic":     {func() (any, error) { panic(long) }, contract.OutcomeUnknown},
		"transient": {func() (any, error) { return nil, tooldefs.Transient(errors.New(long), time.Millisecond) }, contract.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs atomic.Int32
			s := newStack(t, options{tools: []*tooldefs.Tool{charge(&runs, c.result)}, script: steps("charge", 1)})
			out := s.run("go")
			want := int32(1)
			if name == "transient" {
				want = 3 // a Keyed call's own attempts
			}
			e := out.run.Effects()[0]
			if out.err != nil || e.Outcome != c.outcome || runs.Load() != want {
				t.Errorf("%d runs, %+v, %v", runs.Load(), e, out.err)
			}
			if text := s.model.Requests()[1].Messages[2].Content; len(text) > 20_000 {
				t.Errorf("the model was shown %d bytes", len(text))
			}
		})
	}
}

// C01: progress that is too large for a heartbeat is replaced by a note, and
// the call goes on.
func TestLargeProgress(t *testing.T) {
	t.Parallel()
	seen := make(chan struct{})
	var runs atomic.Int32
	tool := tooldefs.Define(tooldefs.Spec[number, string]{
		Name: "charge", Description: "Charges.", Timeout: time.Minute,
		Handler: func(ctx context.Context, c *tooldefs.Call, _ number) (string, error) {
			runs.Add(1)
			c.Progress(strings.Repeat("x", 3<<20))
			select {
			case <-seen:
				return "charged", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		},
	})
	s := newStack(t, options{tools: []*tooldefs.Tool{tool}, script: steps("charge", 1), stream: true})
	turn := s.start("go")
	for note := ""; !strings.Contains(note, `"progress_bytes":3145730`); {
		description, err := s.client.DescribeWorkflow(t.Context(), turn.ID, turn.RunID)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range description.RawResponse.GetPendingActivities() {
			if text := converter.GetDefaultDataConverter().ToStrings(a.GetHeartbeatDetails()); len(text) > 0 {
				note = text[0]
			}
		}
	}
	close(seen)
	out := s.wait(turn)
	if out.err != nil || out.result.Effects.Done != 1 || runs.Load() != 1 {
		t.Errorf("%d runs, %+v, %v", runs.Load(), out.result, out.err)
	}
}

// C01: a model's answer that fits no payload is asked for once and ends the
// turn with an error that says so; one whose text alone is long is cut.
func TestLargeAnswer(t *testing.T) {
	t.Parallel()
	type call = map[string]any
	var calls []call
	for i := range 9 {
		calls = append(calls, call{"index": i, "id": "c" + strconv.Itoa(i), "type": "function", "function": call{
			"name": "look", "arguments": `{"n":1,"note":"` + strings.Repeat("x", 250<<10) + `"}`,
		}})
	}
	for _, c := range []struct {
		name  string
		delta map[string]any
		kind  string // of the error; "" for none
	}{
		{"2.1 MiB of arguments", map[string]any{"tool_calls": calls}, contract.ErrAnswerTooLarge},
		{"text that JSON writes sixfold", map[string]any{"content": strings.Repeat("<", 380_000)}, contract.ErrAnswerTooLarge},
		{"2.1 MiB of text", map[string]any{"content": strings.Repeat("x", 2200<<10)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := newStack(t, options{tools: []*tooldefs.Tool{echo("found")}, endpoint: oneAnswer(t, &asked, c.delta)})
			out := s.run("go")
			if n := asked.Load(); n != 1 {
				t.Errorf("the model was asked %d times", n)
			}
			if c.kind == "" {
				if out.err != nil || !strings.Contains(out.result.Text, "characters in all") {
					t.Errorf("%.200s, %v", out.result.Text, out.err)
				}
				return
			}
			var app *temporal.ApplicationError
			if !errors.As(out.err, &app) || app.Type() != contract.ErrTurnFailed || !strings.Contains(out.result.Reason, "at most") {
				t.Errorf("%+v, %v", out.result, out.err)
			}
			if f := out.run.Steps[0].Model.Failure.GetApplicationFailureInfo(); f.GetType() != c.kind {
				t.Errorf("type %s, want %s", f.GetType(), c.kind)
			}
		})
	}
}

// oneAnswer is a model that says the same in one frame, whatever it is asked.
func oneAnswer(t *testing.T, asked *atomic.Int32, delta map[string]any) string {
	t.Helper()
	frame, err := json.Marshal(map[string]any{"id": "a", "object": "chat.completion.chunk", "model": "m", "choices": []map[string]any{
		{"index": 0, "delta": delta, "finish_reason": "stop"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", frame)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}
