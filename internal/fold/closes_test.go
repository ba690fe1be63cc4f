package fold_test

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

func (h *history) timeOut(scheduled int64) {
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskTimedOutEventAttributes{ActivityTaskTimedOutEventAttributes: &historypb.ActivityTaskTimedOutEventAttributes{
			ScheduledEventId: scheduled, Failure: &failurepb.Failure{Message: "activity StartToClose timeout"},
		}}
	})
}

func (h *history) cancel(scheduled int64) {
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskCanceledEventAttributes{ActivityTaskCanceledEventAttributes: &historypb.ActivityTaskCanceledEventAttributes{ScheduledEventId: scheduled}}
	})
}

func (h *history) startAttempt(scheduled int64, attempt int32) {
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskStartedEventAttributes{ActivityTaskStartedEventAttributes: &historypb.ActivityTaskStartedEventAttributes{ScheduledEventId: scheduled, Attempt: attempt}}
	})
}

// calls is a turn whose one answer asks for n calls; more adds their events.
func calls(t *testing.T, n int, more func(h *history)) *fold.Run {
	t.Helper()
	h := &history{t: t}
	h.start(contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}})
	var planned []contract.PlannedCall
	for range n {
		planned = append(planned, contract.PlannedCall{WireID: "w", Name: "pay", Args: "{}", Run: &contract.RunPlan{Class: contract.ClassKeyed}})
	}
	h.complete(h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1, Ordinal: 1}), contract.CallModelResult{Calls: planned})
	more(h)
	run, err := fold.Build(h.events, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Activities that failed, timed out or were cancelled are closed as those that
// completed are: a fold that counts only the latter waits for ever.
func TestEffects_HoweverACallCloses(t *testing.T) {
	t.Parallel()
	run := calls(t, 5, func(h *history) {
		id := func(n int) string { return contract.CallActivityID(1, n, 0) }
		var scheduled [6]int64
		for n := 1; n <= 4; n++ {
			scheduled[n] = h.schedule(id(n), contract.ToolActivity("pay"), contract.ToolInput{Ordinal: n, Key: id(n)})
		}
		h.startAttempt(scheduled[1], 3)
		h.fail(scheduled[1], contract.ErrToolFailed, contract.ToolFailure{Text: "no", Outcome: contract.OutcomeFailed})
		h.startAttempt(scheduled[2], 2)
		h.timeOut(scheduled[2])
		h.cancel(scheduled[3])
	})
	want := []struct {
		outcome  contract.Outcome
		attempts int
	}{{contract.OutcomeFailed, 3}, {contract.OutcomeUnknown, 2}, {contract.OutcomeInterrupted, 0}, {fold.OutcomeOpen, 0}, {contract.OutcomeNotStarted, 0}}
	for i, e := range run.Effects() {
		if e.Outcome != want[i].outcome || e.Attempts != want[i].attempts || !e.Derived {
			t.Errorf("call %d: %+v, want %+v", i+1, e, want[i])
		}
	}
	for id, state := range map[string]fold.State{"s1.c1": fold.StateFailed, "s1.c2": fold.StateTimedOut, "s1.c3": fold.StateCanceled, "s1.c4": fold.StateOpen} {
		if act := run.Activity(id); act.State != state || act.Closed.IsZero() != (state == fold.StateOpen) {
			t.Errorf("%s: %+v", id, act)
		}
	}
}

// A call that was scheduled again is read from its last activity: here the
// first was not executed, and the second has a result, failed, or runs.
func TestTranscript_OfCallsScheduledAgain(t *testing.T) {
	t.Parallel()
	notExecuted := contract.ToolFailure{Text: "not executed: another version", Outcome: contract.OutcomeNotExecuted}
	run := calls(t, 4, func(h *history) {
		again := func(n int) int64 {
			h.fail(h.schedule(contract.CallActivityID(1, n, 0), contract.ToolActivity("pay"), contract.ToolInput{Ordinal: n}), contract.ErrToolNotExecuted, notExecuted)
			return h.schedule(contract.CallActivityID(1, n, 1), contract.ToolActivity("pay"), contract.ToolInput{Ordinal: n})
		}
		h.complete(again(1), contract.ToolResult{Text: "paid"})
		h.fail(again(2), contract.ErrToolFailed, contract.ToolFailure{Text: "no funds", Outcome: contract.OutcomeFailed})
		again(3)
		h.fail(h.schedule(contract.CallActivityID(1, 4, 0), contract.ToolActivity("pay"), contract.ToolInput{Ordinal: 4}), contract.ErrToolNotExecuted, notExecuted)
	})
	messages, err := run.Transcript()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"paid", "no funds", "[no result yet]", "[no result yet]"} {
		if got := messages[2+i].Content; got != want {
			t.Errorf("call %d: %q, want %q", i+1, got, want)
		}
	}
	for i, want := range []string{"s1.c1.r1", "s1.c2.r1", "s1.c3.r1", "s1.c4"} {
		if got := run.Effects()[i].Activity; got != want {
			t.Errorf("call %d was last scheduled as %s, want %s", i+1, got, want)
		}
	}
}

// F08: refused arguments stay in our record and never in a later request.
func TestPrompt_RefusedArguments(t *testing.T) {
	t.Parallel()
	const raw = `{"path":"a`
	h := &history{t: t}
	h.start(contract.TurnInput{Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}})
	h.complete(h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1, Ordinal: 1}),
		contract.CallModelResult{Calls: []contract.PlannedCall{{WireID: "w1", Name: "read", Raw: raw, Problem: &contract.Problem{Text: "invalid JSON"}}}})
	h.schedule("s2", contract.ActivityCallModel, contract.CallModelInput{Step: 2, Ordinal: 2, Entries: []contract.Entry{{Text: "invalid JSON", Outcome: contract.OutcomeInvalid}}})
	run, err := fold.Build(h.events, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run.Prompt(run.Steps[1].Input, 0)
	if err != nil {
		t.Fatal(err)
	}
	if call := got[1].ToolCalls[0]; call.Args != "{}" || got[2].ToolCallID != call.ID || got[2].Content != "invalid JSON" {
		t.Errorf("%+v", got)
	}
	if kept := run.Steps[0].Answer.Calls[0].Raw; kept != raw {
		t.Errorf("our record has %q", kept)
	}
}

// A message that the client's failure converter encodes is read all the same.
func TestPrompt_EncodedFailureMessage(t *testing.T) {
	t.Parallel()
	h := &history{t: t}
	h.start(contract.TurnInput{})
	h.complete(h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1, Ordinal: 1}),
		contract.CallModelResult{Calls: []contract.PlannedCall{{WireID: "w1", Name: "read", Args: "{}"}}})
	call := h.schedule("s1.c1", contract.ToolActivity("read"), contract.ToolInput{Ordinal: 1})
	h.add(enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{
			ScheduledEventId: call, Failure: &failurepb.Failure{
				Message: "Encoded failure", EncodedAttributes: h.payload(map[string]string{"message": "no such file"}).GetPayloads()[0],
			},
		}}
	})
	h.schedule("s2", contract.ActivityCallModel, contract.CallModelInput{Step: 2, Entries: []contract.Entry{{Ref: "s1.c1"}}})
	run, err := fold.Build(h.events, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Prompt(run.Steps[1].Input, 0); err != nil || got[1].Content != "no such file" {
		t.Errorf("%v, %v", got, err)
	}
}

// A reset run begins with a copy of another one's start; it says itself which
// run it is.
func TestBuild_OfAResetRun(t *testing.T) {
	t.Parallel()
	h := twoSteps(t)
	h.add(enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowTaskFailedEventAttributes{WorkflowTaskFailedEventAttributes: &historypb.WorkflowTaskFailedEventAttributes{
			Cause: enumspb.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW, BaseRunId: "run-1", NewRunId: "run-2",
		}}
	})
	run, err := fold.Build(h.events, nil)
	if err != nil || run.RunID != "run-2" || run.FirstRunID != "run-1" {
		t.Errorf("run %s of %s, %v", run.RunID, run.FirstRunID, err)
	}
}
