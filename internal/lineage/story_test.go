package lineage

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/turnkeel/turnkeel/contract"
)

// story writes the events of runs by hand.
type story struct {
	t      *testing.T
	events []*historypb.HistoryEvent
}

func (s *story) add(e *historypb.HistoryEvent) int64 {
	e.EventId = int64(len(s.events) + 1)
	e.EventTime = timestamppb.New(time.Unix(e.EventId, 0))
	s.events = append(s.events, e)
	return e.EventId
}

func (s *story) payload(v any) *commonpb.Payloads {
	p, err := converter.GetDefaultDataConverter().ToPayloads(v)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *story) schedule(id, kind string, in any) int64 {
	return s.add(&historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
		Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
			ActivityId: id, ActivityType: &commonpb.ActivityType{Name: kind}, Input: s.payload(in),
		}},
	})
}

func (s *story) complete(scheduled int64, out any) {
	s.add(&historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
		Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{
			ScheduledEventId: scheduled, Result: s.payload(out),
		}},
	})
}

func (s *story) pay(ordinal int) {
	id := contract.CallActivityID(1, ordinal, 0)
	s.complete(s.schedule(id, contract.ToolActivity("pay"), contract.ToolInput{Key: id, Ordinal: ordinal}), contract.ToolResult{Text: "paid"})
}

func (s *story) close(tail []contract.Entry) {
	s.add(&historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{
			Result: s.payload(contract.TurnResult{Status: contract.StatusCompleted, Tail: tail}),
		}},
	})
}

// reset is the beginning of a run that a reset made: all events up to one, and
// the reset's own, some time later.
func (s *story) reset(upTo int64, run string) *story {
	r := &story{s.t, slices.Clone(s.events[:upTo])}
	id := r.add(&historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskFailedEventAttributes{WorkflowTaskFailedEventAttributes: &historypb.WorkflowTaskFailedEventAttributes{
			Cause: enumspb.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW, BaseRunId: "A", NewRunId: run,
		}},
	})
	r.events[id-1].EventTime = timestamppb.New(time.Unix(1000, 0))
	return r
}

func (s *story) run() *Run {
	r, err := FromHistory(s.events, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// R08: of a call that nothing was scheduled for, too, the effect log says in
// which run it became what it is, and whether a reset left that behind.
func TestRows_CallsThatDidNotRun(t *testing.T) {
	t.Parallel()
	a := &story{t: t}
	a.add(&historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
			WorkflowType: &commonpb.WorkflowType{Name: contract.WorkflowTurn}, OriginalExecutionRunId: "A", FirstExecutionRunId: "A",
			Input: a.payload(contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}}),
		}},
	})
	pay := contract.PlannedCall{Name: "pay", Args: "{}", Run: &contract.RunPlan{Class: contract.ClassKeyed}}
	bad := contract.PlannedCall{Name: "bad", Args: "{}", Problem: &contract.Problem{Kind: contract.ProblemUnknownTool, Text: "no such tool"}}
	a.complete(a.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1, Ordinal: 1}),
		contract.CallModelResult{Calls: []contract.PlannedCall{pay, pay, bad}})
	a.pay(1)
	paid := int64(len(a.events)) // the second one waits for a person, who does not come
	told := a.schedule("s2", contract.ActivityCallModel, contract.CallModelInput{Step: 2, Ordinal: 4, Entries: []contract.Entry{
		{Ref: contract.CallActivityID(1, 1, 0), Outcome: contract.OutcomeDone},
		{Text: "expired", Outcome: contract.OutcomeExpired}, {Text: "no such tool", Outcome: contract.OutcomeInvalid},
	}})
	a.complete(told, contract.CallModelResult{})
	a.close(nil)

	b := a.reset(paid, "B") // the person has come
	b.pay(2)
	c := a.reset(told, "C") // that it expired stands
	c.close(nil)

	type line struct {
		Run       string
		Ordinal   int
		Outcome   contract.Outcome
		Abandoned bool
	}
	const done, expired, invalid = contract.OutcomeDone, contract.OutcomeExpired, contract.OutcomeInvalid
	for _, test := range []struct {
		name  string
		again *story
		want  []line
	}{
		{"before it became known", b, []line{{"A", 1, done, false}, {"A", 2, expired, true}, {"A", 3, invalid, false}, {"B", 2, done, false}}},
		{"after it", c, []line{{"A", 1, done, false}, {"A", 2, expired, false}, {"A", 3, invalid, false}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := &Lineage{Runs: []*Run{a.run(), test.again.run()}}
			var got []line
			for _, r := range l.Rows() {
				got = append(got, line{r.RunID, r.Ordinal, r.Outcome, r.Abandoned})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
