package effectlog

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// A turn that continues as new after every step sends its model, byte for
// byte, what one sends that stays in one run. A01: also the ids of its calls,
// which the endpoint repeats.
func TestCarry_AfterEveryStep(t *testing.T) {
	t.Parallel()
	const n = 5
	o := options{tools: []*tooldefs.Tool{echo("found <it> & more")}, script: steps("look", n)}
	whole := newStack(t, o)
	if out := whole.run("go"); out.err != nil || out.result.Steps != n+1 {
		t.Fatalf("%+v, %v", out.result, out.err)
	}
	o.stepsPerRun = 1
	s := newStack(t, o)
	turn := s.start("go")
	result, err := turn.Result(t.Context())
	if err != nil || result.Steps != n+1 || result.Runs != n+1 || result.Text != "done" {
		t.Fatalf("%+v, %v", result, err)
	}
	got, want := s.model.Requests(), whole.model.Requests()
	if len(got) != len(want) {
		t.Fatalf("%d requests, want %d", len(got), len(want))
	}
	ids := map[string]bool{}
	for i := range want {
		if string(got[i].Body) != string(want[i].Body) {
			t.Errorf("request %d:\n%s\nwant\n%s", i+1, got[i].Body, want[i].Body)
		}
	}
	for _, m := range got[n].Messages {
		for _, c := range m.ToolCalls {
			ids[c.ID] = true
		}
	}
	if len(ids) != n {
		t.Errorf("%d calls have the ids %v", n, ids)
	}
	latest, err := fold.Build(s.history(turn.ID, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := latest.Input.Carried; c == nil || len(c.Transcript.Gzip) == 0 {
		t.Errorf("carried: %+v", c)
	}
	if said, err := latest.Transcript(); err != nil || len(said) != 2*n+2 || latest.ContinuedFrom == "" {
		t.Errorf("%d messages, %v, continued from %q", len(said), err, latest.ContinuedFrom)
	}
}

// A transcript over what an input may weigh goes through the blob store;
// without one the turn has to stay in its run. P19: 2 MB fail nowhere.
func TestCarry_LargeTranscript(t *testing.T) {
	t.Parallel()
	noise := tooldefs.Define(tooldefs.Spec[number, string]{
		Name: "look", Description: "Looks.", Effects: tooldefs.None,
		Handler: func(context.Context, *tooldefs.Call, number) (string, error) {
			var b strings.Builder
			for b.Len() < 700_000 { // which gzip makes hardly smaller
				b.WriteString(rand.Text())
			}
			return b.String(), nil
		},
	})
	for name, store := range map[string]blob.Store{"store": blob.Folder(t.TempDir()), "none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 4
			s := newStack(t, options{
				tools: []*tooldefs.Tool{noise}, script: steps("look", n), blobs: store, stepsPerRun: 1,
				limits: contract.Limits{MaxToolResultChars: 1_000_000},
			})
			turn := s.start("go")
			result, err := turn.Result(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if store == nil {
				if result.Runs >= n || result.Steps != n+1 || result.Status != contract.StatusCompleted {
					t.Errorf("%+v", result)
				}
				return
			}
			latest, err := fold.Build(s.history(turn.ID, ""), nil)
			if err != nil || result.Steps != n+1 || latest.BaseBlob() == "" {
				t.Fatalf("%+v, blob %q, %v", result, latest.BaseBlob(), err)
			}
			if c := latest.Input.Carried; c.Transcript.Bytes < 2<<20 {
				t.Errorf("the transcript has %d bytes", c.Transcript.Bytes)
			}
		})
	}
}
