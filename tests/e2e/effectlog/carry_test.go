package effectlog

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/stub"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// carryingTurn is a turn that continues as new after every step, with nothing
// else to it: what is tested are the activities around it.
func carryingTurn(ctx workflow.Context, in contract.TurnInput) (contract.TurnResult, error) {
	at := contract.Carried{}
	if in.Carried != nil {
		at = *in.Carried
	}
	options := func(id string) workflow.Context {
		return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{ActivityID: id, StartToCloseTimeout: time.Minute})
	}
	at.Step, at.Runs = at.Step+1, at.Runs+1
	result := contract.TurnResult{Status: contract.StatusCompleted, Steps: at.Step, Runs: at.Runs}
	answer, err := stub.CallModel.Start(options(contract.ModelActivityID(at.Step)),
		contract.CallModelInput{Agent: in.Agent, Step: at.Step, Ordinal: at.Ordinal + 1}).Result(ctx)
	if err != nil || len(answer.Calls) == 0 {
		result.Text = answer.Content
		return result, err
	}
	carry := contract.CarryInput{Step: at.Step}
	for _, c := range answer.Calls {
		at.Ordinal++
		id := contract.CallActivityID(at.Step, at.Ordinal, 0)
		_, err := stub.Tool(c.Name).Start(options(id), contract.ToolInput{
			Args: c.Args, Key: id, Ordinal: at.Ordinal, Class: c.Run.Class, Timeout: c.Run.Timeout, Agent: in.Agent,
			RunID: workflow.GetInfo(ctx).WorkflowExecution.RunID,
		}).Result(ctx)
		if err != nil {
			return result, err
		}
		carry.Entries = append(carry.Entries, contract.Entry{Ref: id, Outcome: contract.OutcomeDone, Key: id})
	}
	carry.Shared = carry.Entries
	carried, err := stub.Carry.Start(options(contract.CarryActivityID(at.Step)), carry).Result(ctx)
	switch {
	case err != nil:
		return result, err
	case carried.TooLarge:
		result.Reason = "too large"
		return result, nil
	}
	at.Transcript = carried.Transcript
	at.Shared = nil
	for i, text := range carried.Shared {
		at.Shared = append(at.Shared, contract.CarriedShared{Key: carry.Entries[i].Key, Text: text})
	}
	in.Carried = &at
	return result, workflow.NewContinueAsNewError(ctx, contract.WorkflowTurn, in)
}

// inPlaceOf registers another workflow under the turn's name.
type inPlaceOf struct {
	turnkeel.Registry
	turn any
}

func (r inPlaceOf) RegisterWorkflowWithOptions(_ any, o workflow.RegisterOptions) {
	r.Registry.RegisterWorkflowWithOptions(r.turn, o)
}

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
	o.workflow = carryingTurn
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
	if c := latest.Input.Carried; c == nil || len(c.Transcript.Gzip) == 0 || c.Shared[0].Text != "found <it> & more" {
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
				tools: []*tooldefs.Tool{noise}, script: steps("look", n), blobs: store, workflow: carryingTurn,
				limits: contract.Limits{MaxToolResultChars: 1_000_000},
			})
			turn := s.start("go")
			result, err := turn.Result(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if store == nil {
				if result.Reason != "too large" || result.Steps >= n {
					t.Errorf("%+v", result)
				}
				return
			}
			latest, err := fold.Build(s.history(turn.ID, ""), nil)
			if err != nil || result.Steps != n+1 || latest.BaseBlob() == "" {
				t.Fatalf("%+v, blob %q, %v", result, latest.BaseBlob(), err)
			}
			if c := latest.Input.Carried; len(c.Shared[0].Text) > 100_000 || c.Transcript.Bytes < 2<<20 {
				t.Errorf("shared %d bytes, transcript %d", len(c.Shared[0].Text), c.Transcript.Bytes)
			}
		})
	}
}
