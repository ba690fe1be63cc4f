package fold_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// history writes the events of a turn by hand.
type history struct {
	t      testing.TB
	events []*historypb.HistoryEvent
	dc     converter.DataConverter // nil: the SDK's default
}

func (h *history) payload(v any) *commonpb.Payloads {
	h.t.Helper()
	dc := h.dc
	if dc == nil {
		dc = converter.GetDefaultDataConverter()
	}
	p, err := dc.ToPayloads(v)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func (h *history) add(kind enumspb.EventType, set func(*historypb.HistoryEvent)) int64 {
	e := &historypb.HistoryEvent{EventId: int64(len(h.events) + 1), EventType: kind, EventTime: timestamppb.New(time.Unix(int64(len(h.events)), 0))}
	set(e)
	h.events = append(h.events, e)
	return e.EventId
}

func (h *history) start(in contract.TurnInput) {
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
			WorkflowType: &commonpb.WorkflowType{Name: contract.WorkflowTurn}, Input: h.payload(in), OriginalExecutionRunId: "run-1", FirstExecutionRunId: "run-1",
		}}
	})
}

func (h *history) schedule(id, kind string, in any) int64 {
	return h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
			ActivityId: id, ActivityType: &commonpb.ActivityType{Name: kind}, Input: h.payload(in),
		}}
	})
}

func (h *history) complete(scheduled int64, out any) {
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{ScheduledEventId: scheduled, Attempt: 1}}
	})
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{ScheduledEventId: scheduled, Result: h.payload(out)}}
	})
}

func (h *history) fail(scheduled int64, kind string, detail contract.ToolFailure) {
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{
			ScheduledEventId: scheduled,
			Failure: &failurepb.Failure{Message: "m", FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
				ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: kind, Details: h.payload(detail)},
			}},
		}}
	})
}

// twoSteps is a turn whose first answer asks for a call that completes, one
// that fails and one that never runs; the second model call is under way.
func twoSteps(t *testing.T) *history { return twoStepsWith(t, nil) }

func twoStepsWith(t *testing.T, dc converter.DataConverter) *history {
	h := &history{t: t, dc: dc}
	h.start(contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}})
	run := &contract.RunPlan{Class: contract.ClassKeyed, Effects: contract.EffectsExternal}
	model := h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Agent: "a", Step: 1, Ordinal: 1})
	h.complete(model, contract.CallModelResult{Content: "let me see", Calls: []contract.PlannedCall{
		{WireID: "w1", Name: "pay", Args: `{"n":9007199254740993}`, Run: run},
		{WireID: "w2", Name: "pay", Args: `{"n":2}`, Run: run},
		{WireID: "w3", Name: "nope", Raw: "{", Problem: &contract.Problem{Kind: contract.ProblemUnknownTool, Text: "no such tool"}},
	}})
	c2 := h.schedule("s1.c2", contract.ToolActivity("pay"), contract.ToolInput{Args: `{"n":2}`, Key: "key-2", Ordinal: 2})
	c1 := h.schedule("s1.c1", contract.ToolActivity("pay"), contract.ToolInput{Args: `{"n":9007199254740993}`, Key: "key-1", Ordinal: 1})
	h.fail(c2, contract.ErrToolFailed, contract.ToolFailure{Text: "error: pay failed: no", Outcome: contract.OutcomeFailed})
	h.complete(c1, contract.ToolResult{JSON: []byte(`{"id":9007199254740993,"html":"<b>&"}`)})
	h.schedule("s2", contract.ActivityCallModel, contract.CallModelInput{Agent: "a", Step: 2, Ordinal: 4, Entries: []contract.Entry{
		{Ref: "s1.c1", Outcome: contract.OutcomeDone, Key: "key-1", Note: "note: twice"},
		{Ref: "s1.c2", Outcome: contract.OutcomeFailed, Key: "key-2"},
		{Text: "no such tool", Outcome: contract.OutcomeInvalid},
	}})
	return h
}

func TestPrompt_ResolvesWhatTheWorkflowNamed(t *testing.T) {
	t.Parallel()
	run, err := fold.Build(twoSteps(t).events, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run.Prompt(run.Steps[1].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []contract.Message{
		{Role: contract.RoleUser, Content: "go"},
		{Role: contract.RoleAssistant, Content: "let me see", ToolCalls: []contract.ToolCall{
			{ID: "w1", Name: "pay", Args: `{"n":9007199254740993}`},
			{ID: "w2", Name: "pay", Args: `{"n":2}`},
			{ID: "w3", Name: "nope", Args: "{}"},
		}},
		{Role: contract.RoleTool, ToolCallID: "w1", Content: `{"id":9007199254740993,"html":"<b>&"}` + "\nnote: twice"},
		{Role: contract.RoleTool, ToolCallID: "w2", Content: "error: pay failed: no"},
		{Role: contract.RoleTool, ToolCallID: "w3", Content: "no such tool"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEffects_FollowTheWorkflowsWord(t *testing.T) {
	t.Parallel()
	run, err := fold.Build(twoSteps(t).events, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := run.Effects()
	if len(log) != 3 {
		t.Fatalf("%d effects", len(log))
	}
	for i, want := range []struct {
		key      string
		outcome  contract.Outcome
		attempts int
	}{{"key-1", contract.OutcomeDone, 1}, {"key-2", contract.OutcomeFailed, 0}, {"", contract.OutcomeInvalid, 0}} {
		if e := log[i]; e.Ordinal != i+1 || e.Key != want.key || e.Outcome != want.outcome || e.Attempts != want.attempts || e.Derived {
			t.Errorf("effect %d: %+v", i+1, e)
		}
	}
}

// A live run's last step is read from the events, and says so.
func TestEffects_DerivedWhileTheStepRuns(t *testing.T) {
	t.Parallel()
	h := twoSteps(t)
	run, err := fold.Build(h.events[:len(h.events)-3], nil) // c1 is open
	if err != nil {
		t.Fatal(err)
	}
	log := run.Effects()
	if log[0].Outcome != fold.OutcomeOpen || log[1].Outcome != contract.OutcomeFailed || !log[0].Derived {
		t.Errorf("%+v", log)
	}
}

// A prompt is never put together from half a step.
func TestPrompt_RefusesAnIncompleteStep(t *testing.T) {
	t.Parallel()
	run, err := fold.Build(twoSteps(t).events, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, entries := range [][]contract.Entry{nil, {{Ref: "s1.c1"}}, {{Ref: "s9.c9"}, {Text: "x"}, {Text: "x"}}} {
		if got, err := run.Prompt(contract.CallModelInput{Step: 2, Entries: entries}, 0); err == nil {
			t.Errorf("entries %v gave %v", entries, got)
		}
	}
}

func TestBuild_NeedsTheBeginning(t *testing.T) {
	t.Parallel()
	if _, err := fold.Build(twoSteps(t).events[1:2], nil); err == nil {
		t.Error("a history without its start was folded")
	}
}
