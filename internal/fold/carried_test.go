package fold_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// pack is a transcript as an input carries it.
func pack(t *testing.T, p contract.PackedTranscript) contract.Packed {
	t.Helper()
	packed, n, err := fold.Pack(p)
	if err != nil {
		t.Fatal(err)
	}
	return contract.Packed{Gzip: packed, Bytes: n}
}

// carriedTranscript is what twoSteps has said up to its first step.
func carriedTranscript(t *testing.T) contract.PackedTranscript {
	t.Helper()
	run, err := fold.Build(twoSteps(t).events, nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := run.Prompt(run.Steps[1].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	return contract.PackedTranscript{Agent: &contract.Agent{Name: "a", Model: "m", Limits: contract.Limits{MaxSteps: 7}}, Messages: messages}
}

// continued is a run that goes on after twoSteps' first step.
func continued(t *testing.T, transcript contract.Packed) *history {
	h := &history{t: t}
	h.start(contract.TurnInput{
		Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
		Carried: &contract.Carried{Transcript: transcript, Runs: 1, Step: 1, Calls: contract.CarriedTools{Ordinal: 3}},
	})
	model := h.schedule("s2", contract.ActivityCallModel, contract.CallModelInput{Agent: "a", Step: 2, Ordinal: 4})
	h.complete(model, contract.CallModelResult{Content: "one more", Calls: []contract.PlannedCall{
		{WireID: "w4", Name: "pay", Args: `{"n":4}`, Run: &contract.RunPlan{Class: contract.ClassKeyed}},
	}})
	h.complete(h.schedule("s2.c4", contract.ToolActivity("pay"), contract.ToolInput{Ordinal: 4, Key: "key-4"}), contract.ToolResult{Text: "paid"})
	h.schedule("s3", contract.ActivityCallModel, contract.CallModelInput{Agent: "a", Step: 3, Ordinal: 5, Entries: []contract.Entry{
		{Ref: "s2.c4", Outcome: contract.OutcomeDone, Key: "key-4"},
	}})
	return h
}

// A continued run's prompt is what the turn would have had in one run.
func TestPrompt_OfAContinuedRun(t *testing.T) {
	t.Parallel()
	before := carriedTranscript(t)
	run, err := fold.Build(continued(t, pack(t, before)).events, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := run.Prompt(run.Steps[0].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Messages, first); diff != "" {
		t.Error(diff)
	}
	got, err := run.Prompt(run.Steps[1].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := append(append([]contract.Message{}, before.Messages...),
		contract.Message{Role: contract.RoleAssistant, Content: "one more", ToolCalls: []contract.ToolCall{{ID: "w4", Name: "pay", Args: `{"n":4}`}}},
		contract.Message{Role: contract.RoleTool, ToolCallID: "w4", Content: "paid"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before.Agent, run.Agent()); diff != "" {
		t.Error(diff)
	}
	transcript, err := run.Transcript()
	if err != nil || len(transcript) != len(want) {
		t.Errorf("%d messages, %v; want %d", len(transcript), err, len(want))
	}
	if _, err := run.Prompt(contract.CallModelInput{Step: 1}, 0); err == nil {
		t.Error("a step of an earlier run has a prompt")
	}
	if e := run.Effects(); len(e) != 1 || e[0].Ordinal != 4 || e[0].Key != "key-4" || e[0].Activity != "s2.c4" {
		t.Errorf("%+v", e)
	}
}

// A01: an id that the endpoint used in an earlier turn or run is used.
func TestUsedWireID(t *testing.T) {
	t.Parallel()
	base := []contract.Message{{Role: contract.RoleAssistant, ToolCalls: []contract.ToolCall{{ID: "old"}}}, {Role: contract.RoleTool, ToolCallID: "old"}}
	packed := pack(t, contract.PackedTranscript{Messages: base})
	for name, in := range map[string]contract.TurnInput{
		"base":        {Base: base},
		"packed base": {BasePacked: &packed},
		"carried":     {Carried: &contract.Carried{Transcript: packed}},
	} {
		h := &history{t: t}
		h.start(in)
		h.complete(h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1}),
			contract.CallModelResult{Calls: []contract.PlannedCall{{WireID: "new", Name: "x"}}})
		run, err := fold.Build(h.events, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !run.UsedWireID("old") || !run.UsedWireID("new") || run.UsedWireID("other") {
			t.Errorf("%s: old %v, new %v, other %v", name, run.UsedWireID("old"), run.UsedWireID("new"), run.UsedWireID("other"))
		}
	}
}

// A packed base stands before the user's messages, and has no agent to give.
func TestPrompt_OfAPackedBase(t *testing.T) {
	t.Parallel()
	before := carriedTranscript(t)
	packed := pack(t, before)
	h := &history{t: t}
	h.start(contract.TurnInput{Agent: "a", BasePacked: &packed, Messages: []contract.Message{{Role: contract.RoleUser, Content: "again"}}})
	h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1})
	run, err := fold.Build(h.events, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run.Prompt(run.Steps[0].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := append(append([]contract.Message{}, before.Messages...), contract.Message{Role: contract.RoleUser, Content: "again"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if run.Agent() != nil {
		t.Error("a base decides about the agent")
	}
}

// The tool results a run begins with are cut as its own are.
func TestPrompt_CutsTheBase(t *testing.T) {
	t.Parallel()
	h := &history{t: t}
	h.start(contract.TurnInput{Base: []contract.Message{
		{Role: contract.RoleTool, Content: strings.Repeat("x", 900)}, {Role: contract.RoleUser, Content: strings.Repeat("y", 900)},
	}})
	h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1})
	run, err := fold.Build(h.events, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run.Prompt(run.Steps[0].Input, 200)
	if err != nil || len(got[0].Content) > 210 || len(got[1].Content) != 900 {
		t.Errorf("%v, %v", got, err)
	}
}

// A transcript in a blob is the caller's to fetch; without it there is no
// prompt, and the effect log does not need it.
func TestBaseBlob(t *testing.T) {
	t.Parallel()
	packed, n, err := fold.Pack(carriedTranscript(t))
	if err != nil {
		t.Fatal(err)
	}
	h := continued(t, contract.Packed{Blob: blob.Ref(packed), Bytes: n})
	run, err := fold.Build(h.events, nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.BaseBlob() != blob.Ref(packed) || len(run.Effects()) != 1 || run.Agent() != nil {
		t.Errorf("blob %q, %d effects, agent %v", run.BaseBlob(), len(run.Effects()), run.Agent())
	}
	if _, err := run.Prompt(run.Steps[0].Input, 0); err == nil || !strings.Contains(err.Error(), "sha256:") {
		t.Errorf("a prompt without its beginning: %v", err)
	}
	if err := run.SetBase(packed[:10]); !errors.Is(err, fold.ErrUnpack) {
		t.Errorf("a cut blob: %v", err)
	}
	if err := run.SetBase(packed); err != nil {
		t.Fatal(err)
	}
	if got, err := run.Prompt(run.Steps[0].Input, 0); err != nil || len(got) != 5 || run.BaseBlob() != "" || run.Agent() == nil {
		t.Errorf("%v, %v", got, err)
	}
	empty, err := fold.Build(continued(t, contract.Packed{}).events, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := empty.Prompt(empty.Steps[0].Input, 0); err == nil {
		t.Errorf("nothing was carried, and the prompt is %v", got)
	}
}

// C01: a few bytes that unpack to gigabytes are refused, and so is what is no
// gzip or no transcript.
func TestUnpack_Refuses(t *testing.T) {
	t.Parallel()
	squeeze := func(text []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	bomb := squeeze(bytes.Repeat([]byte(" "), fold.MaxUnpackedBytes+1))
	good := squeeze([]byte(`{"messages":[{"role":"user","content":"x"}]}`))
	for name, packed := range map[string][]byte{
		"bomb": bomb, "empty": nil, "no gzip": []byte("hello"), "cut": good[:len(good)-9], "no JSON": squeeze([]byte("{")), "a list": squeeze([]byte("[]")),
	} {
		if got, err := fold.Unpack(packed); !errors.Is(err, fold.ErrUnpack) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := fold.Unpack(good); err != nil || len(got.Messages) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, _, err := fold.Pack(contract.PackedTranscript{Messages: []contract.Message{{Content: strings.Repeat("x", fold.MaxUnpackedBytes)}}}); !errors.Is(err, fold.ErrUnpack) {
		t.Errorf("what cannot be unpacked was packed: %v", err)
	}
}

// A run that continued as new says so; its last step's outcomes are in what
// was packed for the next run.
func TestEffects_OfARunThatWasContinued(t *testing.T) {
	t.Parallel()
	h := continued(t, pack(t, carriedTranscript(t)))
	h.events = h.events[:len(h.events)-1] // without s3
	h.complete(h.schedule("s2.carry", contract.ActivityCarry, contract.CarryInput{Step: 2, Entries: []contract.Entry{
		{Ref: "s2.c4", Outcome: contract.OutcomeDone, Key: "key-4"},
	}}), contract.CarryResult{})
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
			WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{
				NewExecutionRunId: "run-3", WorkflowType: &commonpb.WorkflowType{Name: contract.WorkflowTurn},
			}}
	})
	run, err := fold.Build(h.events, nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.ContinuedAs != "run-3" || run.Status != contract.StatusRunning || run.Closed.IsZero() {
		t.Errorf("continued as %q, %s, closed %v", run.ContinuedAs, run.Status, run.Closed)
	}
	if e := run.Effects(); len(e) != 1 || e[0].Derived || e[0].Outcome != contract.OutcomeDone || e[0].Text != "paid" {
		t.Errorf("%+v", e)
	}
}
