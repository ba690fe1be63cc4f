package fold_test

import (
	"slices"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	updatepb "go.temporal.io/api/update/v1"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// update is an accepted update; after a reset it is admitted with its words
// and then accepted without.
func (h *history) update(id, name string, request any, reset bool) {
	r := &updatepb.Request{
		Meta:  &updatepb.Meta{UpdateId: id, Identity: "9@host"},
		Input: &updatepb.Input{Name: name, Args: h.payload(request)},
	}
	if reset {
		h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ADMITTED, func(e *historypb.HistoryEvent) {
			e.Attributes = &historypb.HistoryEvent_WorkflowExecutionUpdateAdmittedEventAttributes{
				WorkflowExecutionUpdateAdmittedEventAttributes: &historypb.WorkflowExecutionUpdateAdmittedEventAttributes{Request: r},
			}
		})
		r = nil
	}
	h.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, func(e *historypb.HistoryEvent) {
		e.Attributes = &historypb.HistoryEvent_WorkflowExecutionUpdateAcceptedEventAttributes{
			WorkflowExecutionUpdateAcceptedEventAttributes: &historypb.WorkflowExecutionUpdateAcceptedEventAttributes{ProtocolInstanceId: id, AcceptedRequest: r},
		}
	})
}

// R22: the effect log says who decided on a call and by which client, whether
// the update came to this run or a reset brought it along. A decision on
// another digest is none.
func TestEffects_WhoDecided(t *testing.T) {
	t.Parallel()
	for name, reset := range map[string]bool{"accepted": false, "after a reset": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &history{t: t}
			h.start(contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}})
			gated := contract.PlannedCall{WireID: "w1", Name: "pay", Args: "{}", Run: &contract.RunPlan{
				Digest: "d", Rule: "big sums", Approval: &contract.ApprovalPlan{Approvers: []string{"ann"}},
				OnUnknown: contract.OnUnknownAskHuman,
			}}
			free := contract.PlannedCall{WireID: "w2", Name: "pay", Args: "{}", Run: &contract.RunPlan{}}
			h.complete(h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1, Ordinal: 1}),
				contract.CallModelResult{Calls: []contract.PlannedCall{gated, free}})
			h.update("u1", contract.UpdateDecide, contract.DecideRequest{Key: "k", Digest: "other", Approve: true, By: "ann"}, reset)
			h.update("u2", contract.UpdateDecide, contract.DecideRequest{Key: "k", Digest: "d", Approve: true, By: "eve"}, reset)
			h.update("u3", contract.UpdateDecide, contract.DecideRequest{Key: "k", Digest: "d", Approve: true, By: "ann", Comment: "fine"}, reset)
			h.schedule(contract.CallActivityID(1, 1, 0), contract.ToolActivity("pay"), contract.ToolInput{Ordinal: 1, Key: "k"})
			h.update("u4", contract.UpdateResolve, contract.ResolveRequest{Key: "k", Verdict: contract.VerdictHappened, By: "bob"}, reset)
			run, err := fold.Build(h.events, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // reading it changes nothing
				log := run.Effects()
				a, r := log[0].Approval, log[0].Resolution
				if a == nil || a.By != "ann" || a.Verdict != fold.VerdictApproved || a.Comment != "fine" || a.Identity != "9@host" || a.At.IsZero() {
					t.Errorf("approval %+v", a)
				}
				if r == nil || r.By != "bob" || r.Verdict != string(contract.VerdictHappened) {
					t.Errorf("resolution %+v", r)
				}
				if log[0].Rule != "big sums" || log[1].Approval != nil || log[1].Resolution != nil {
					t.Errorf("%+v", log)
				}
			}
		})
	}
}

// R23, T39: a call that was asked about again, since its tool had changed, is
// told with both decisions, and as what ran; who let the second question expire
// still made the first decision.
func TestEffects_AskedAgain(t *testing.T) {
	t.Parallel()
	for _, expired := range []bool{false, true} {
		h := &history{t: t}
		h.start(contract.TurnInput{Agent: "a", Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}}})
		call := contract.PlannedCall{WireID: "w1", Name: "pay", Args: "{}", Run: &contract.RunPlan{
			Class: contract.ClassKeyed, Effects: contract.EffectsSandbox, Digest: "d1", Approval: &contract.ApprovalPlan{},
		}}
		h.complete(h.schedule("s1", contract.ActivityCallModel, contract.CallModelInput{Step: 1, Ordinal: 1}),
			contract.CallModelResult{Calls: []contract.PlannedCall{call}})
		h.update("u1", contract.UpdateDecide, contract.DecideRequest{Key: "k", Digest: "d1", Approve: true, By: "ann"}, false)
		first := h.schedule(contract.CallActivityID(1, 1, 0), contract.ToolActivity("pay"), contract.ToolInput{Ordinal: 1, Key: "k"})
		h.fail(first, contract.ErrToolNotExecuted, contract.ToolFailure{
			Text: "changed", Outcome: contract.OutcomeNotExecuted, Drift: "d2",
			Now: &contract.RunPlan{Class: contract.ClassAtMostOnce, Effects: contract.EffectsExternal, Rule: "outside"},
		})
		entry := contract.Entry{Outcome: contract.OutcomeExpired, Text: "expired", Key: "k"}
		if !expired {
			h.update("u2", contract.UpdateDecide, contract.DecideRequest{Key: "k", Digest: "d2", Approve: true, By: "bob"}, false)
			h.complete(h.schedule(contract.CallActivityID(1, 1, 1), contract.ToolActivity("pay"), contract.ToolInput{Ordinal: 1, Key: "k"}), contract.ToolResult{Text: "paid"})
			entry = contract.Entry{Ref: contract.CallActivityID(1, 1, 1), Outcome: contract.OutcomeDone, Key: "k"}
		}
		h.schedule("s2", contract.ActivityCallModel, contract.CallModelInput{Step: 2, Ordinal: 2, Entries: []contract.Entry{entry}})
		run, err := fold.Build(h.events, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := run.Effects()[0]
		var by []string
		for _, d := range e.Decisions() {
			by = append(by, d.By)
		}
		want := []string{"ann", "bob"}
		if expired {
			want = []string{"ann"}
		}
		if !slices.Equal(by, want) || e.Class != contract.ClassAtMostOnce || e.Effects != contract.EffectsExternal || e.Rule != "outside" {
			t.Errorf("expired %v: decided by %v: %+v", expired, by, e)
		}
	}
}
