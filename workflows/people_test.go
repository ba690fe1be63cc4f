package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/turnkeel/turnkeel/contract"
)

type toolFunc = func(context.Context, contract.ToolInput) (contract.ToolResult, error)

func gated(a contract.ApprovalPlan) func(*contract.RunPlan) {
	return func(r *contract.RunPlan) { r.Approval, r.Digest = &a, "digest-1" }
}

func (b *bench) status() contract.StatusReply {
	b.t.Helper()
	var reply contract.StatusReply
	value, err := b.env.QueryWorkflow(contract.QueryStatus)
	if err == nil {
		err = value.Get(&reply)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return reply
}

// update sends an update; want is part of its refusal, empty when it is to be
// let in. It is checked when the turn has ended: updates are answered later.
func (b *bench) update(name string, request any, want string) {
	b.sent++
	id, answered := fmt.Sprint("update-", b.sent), false
	check := func(err error) {
		answered = true
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			b.t.Errorf("%s %+v: %v, want a refusal with %q", name, request, err, want)
		}
	}
	b.t.Cleanup(func() {
		if !answered {
			b.t.Errorf("%s %+v was never answered", name, request)
		}
	})
	b.env.UpdateWorkflow(name, id, &testsuite.TestUpdateCallback{
		OnAccept: func() {}, OnReject: check, OnComplete: func(_ any, err error) { check(err) },
	}, request)
}

func (b *bench) decide(p contract.Pending, approve bool, by, want string) {
	b.update(contract.UpdateDecide, contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: approve, By: by, Comment: "because"}, want)
}

func (b *bench) after(d time.Duration, do func()) { b.env.RegisterDelayedCallback(do, d) }

// P01, P02, P03, R21, R22, R24: all gated calls of a step are asked at once,
// each is decided on its own, and every call gets its entry.
func TestApproval_EachOnItsOwn(t *testing.T) {
	t.Parallel()
	gate := gated(contract.ApprovalPlan{})
	b := newBench(t, []contract.CallModelResult{
		asks(plan("pay", `{"n":1}`, gate), plan("pay", `{"n":1}`, gate), plan("pay", `{"n":2}`, gate), plan("free", `{}`)),
		asks(plan("pay", `{"n":2}`, gate)),
		says("done"),
	}, map[string]toolFunc{"pay": echo, "free": echo})
	b.after(time.Hour, func() {
		s := b.status()
		if s.Status != contract.StatusWaiting || len(s.Pending) != 3 || s.Pending[0].Key == s.Pending[1].Key {
			t.Errorf("pending: %+v", s)
		}
		b.decide(s.Pending[2], false, "ann", "")
		b.decide(s.Pending[1], true, "bob", "")
		b.decide(s.Pending[1], true, "bob", "")
		b.decide(s.Pending[1], false, "eve", "first decision stands") // P13
	})
	b.after(2*time.Hour, func() {
		b.decide(b.status().Pending[0], true, "ann", "")
	})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	e := b.inputs[1].Entries
	if e[0].Outcome != contract.OutcomeDone || e[1].Outcome != contract.OutcomeDone || e[0].Key == e[1].Key ||
		e[2].Outcome != contract.OutcomeDenied || !strings.Contains(e[2].Text, "ann") || e[3].Outcome != contract.OutcomeDone {
		t.Errorf("%+v", e)
	}
	if len(b.tools) != 3 {
		t.Errorf("%d executions, want 3", len(b.tools))
	}
	if e := b.inputs[2].Entries; e[0].Outcome != contract.OutcomeDenied || !strings.Contains(e[0].Text, "before") {
		t.Errorf("R24: a denied call was asked again: %+v", e)
	}
}

// R22: what does not fit the waiting call is refused, with the reason; what is
// not planned yet is held, for that call alone.
func TestApproval_Refusals(t *testing.T) {
	t.Parallel()
	gate := gated(contract.ApprovalPlan{Approvers: []string{"ann"}, Timeout: contract.Duration(24 * time.Hour)})
	b := newBench(t, []contract.CallModelResult{asks(plan("pay", `{"n":1}`, gate)), asks(plan("pay", `{"n":9}`, gate)), says("done")},
		map[string]toolFunc{"pay": echo})
	b.after(time.Hour, func() {
		p := b.status().Pending[0]
		other := p
		other.Digest = "digest-0"
		b.decide(other, true, "ann", "digest")
		b.decide(p, true, "eve", "approvers")
		b.decide(p, true, "", "by is required")
		for range contract.MaxHeldDecisions {
			other.Key += "x"
			b.decide(other, true, "ann", "")
		}
		other.Key += "x"
		b.decide(other, true, "ann", "held already")
		b.decide(p, true, "ann", "")
	})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if len(b.tools) != 1 {
		t.Errorf("%d executions, want 1", len(b.tools))
	}
	if e := b.inputs[2].Entries; e[0].Outcome != contract.OutcomeExpired {
		t.Errorf("R24: nobody decided: %+v", e)
	}
}

// F02: another id of the model's for the same call is the same question.
func TestApproval_CallIDsDoNotCount(t *testing.T) {
	t.Parallel()
	var asked []contract.Pending
	for _, id := range []string{"call_1", "toolu_9"} {
		call := plan("pay", `{"n":1}`, gated(contract.ApprovalPlan{}))
		call.WireID = id
		b := newBench(t, []contract.CallModelResult{asks(call), says("done")}, map[string]toolFunc{"pay": echo})
		b.after(time.Hour, func() {
			p := b.status().Pending[0]
			asked = append(asked, p)
			b.decide(p, true, "ann", "")
		})
		if _, err := b.run(nil); err != nil {
			t.Fatal(err)
		}
	}
	if asked[0].Key != asked[1].Key || asked[0].Digest != asked[1].Digest {
		t.Errorf("%+v\n%+v", asked[0], asked[1])
	}
}

// R22, R23: a decision that came early applies to its call only, and one
// whose tool has changed meanwhile is asked again.
func TestApproval_HeldAndDrifted(t *testing.T) {
	t.Parallel()
	gate := gated(contract.ApprovalPlan{})
	starts := 0
	b := newBench(t, []contract.CallModelResult{asks(plan("slow", `{}`)), asks(plan("pay", `{"n":1}`, gate)), says("done")},
		map[string]toolFunc{"slow": echo, "pay": func(_ context.Context, in contract.ToolInput) (contract.ToolResult, error) {
			if starts++; in.Digest == "digest-1" {
				return contract.ToolResult{}, temporal.NewNonRetryableApplicationError("changed", contract.ErrToolNotExecuted, nil,
					contract.ToolFailure{Text: "changed", Outcome: contract.OutcomeNotExecuted, Drift: "digest-2"})
			}
			return contract.ToolResult{Text: "paid"}, nil
		}})
	b.after(time.Hour, func() {
		p := b.status().Pending[0]
		if p.Digest != "digest-1" {
			t.Errorf("%+v", p)
		}
		b.decide(p, true, "ann", "")
	})
	b.after(2*time.Hour, func() {
		p := b.status().Pending
		if len(p) != 1 || p[0].Digest != "digest-2" {
			t.Fatalf("not asked again: %+v", p)
		}
		b.decide(p[0], true, "ann", "")
	})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if e := b.inputs[2].Entries; e[0].Outcome != contract.OutcomeDone || starts != 2 {
		t.Errorf("%+v after %d starts", e, starts)
	}
}

func unknownOnce(after toolFunc) toolFunc {
	n := 0
	return func(ctx context.Context, in contract.ToolInput) (contract.ToolResult, error) {
		if n++; n == 1 {
			return contract.ToolResult{}, temporal.NewNonRetryableApplicationError("lost", contract.ErrToolUnknown, nil,
				contract.ToolFailure{Text: "lost", Outcome: contract.OutcomeUnknown})
		}
		return after(ctx, in)
	}
}

// T49: an unknown outcome is looked for outside, once more run if it certainly
// did not happen, and stays unknown when that cannot be told.
func TestReconcile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdict contract.Verdict
		want    contract.Outcome
		starts  int
	}{
		{contract.VerdictHappened, contract.OutcomeDone, 1},
		{contract.VerdictDidNotHappen, contract.OutcomeDone, 2},
		{contract.VerdictCannotTell, contract.OutcomeUnknown, 1},
	} {
		b := newBench(t, []contract.CallModelResult{asks(plan("pay", `{}`, func(r *contract.RunPlan) { r.Reconcile = true })), says("done")},
			map[string]toolFunc{"pay": unknownOnce(echo)})
		b.env.RegisterActivityWithOptions(func(_ context.Context, in contract.ReconcileInput) (contract.ReconcileResult, error) {
			if in.Key != b.tools[0].Key {
				t.Errorf("asked for %s", in.Key)
			}
			return contract.ReconcileResult{Verdict: c.verdict, Text: "found"}, nil
		}, sdkactivity.RegisterOptions{Name: contract.ReconcileActivity("pay")})
		if _, err := b.run(nil); err != nil {
			t.Fatal(err)
		}
		e := b.inputs[1].Entries[0]
		if e.Outcome != c.want || len(b.tools) != c.starts {
			t.Errorf("%s: %+v after %d starts", c.verdict, e, len(b.tools))
		}
		if c.verdict == contract.VerdictHappened && (e.Ref != "s1.c1.q0" || e.How != "reconciled") {
			t.Errorf("%+v", e)
		}
		if c.starts == 2 && (b.tools[0].Key != b.tools[1].Key || b.tools[1].Cleared != "reconcile") {
			t.Errorf("the second start: %+v", b.tools[1])
		}
	}
}

// T50: a person settles an unknown outcome; nobody answering leaves it so.
func TestAskHuman(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verdict contract.Verdict // empty: nobody answers
		want    contract.Outcome
		starts  int // the model repeats the call
	}{
		{contract.VerdictHappened, contract.OutcomeDone, 2},
		{contract.VerdictDidNotHappen, contract.OutcomeNotExecuted, 2},
		{contract.VerdictCannotTell, contract.OutcomeUnknown, 1},
		{"", contract.OutcomeUnknown, 1},
	} {
		call := plan("pay", `{}`, func(r *contract.RunPlan) {
			r.OnUnknown, r.AskTimeout = contract.OnUnknownAskHuman, contract.Duration(48*time.Hour)
		})
		b := newBench(t, []contract.CallModelResult{asks(call), asks(call), says("done")}, map[string]toolFunc{"pay": unknownOnce(echo)})
		b.after(time.Hour, func() {
			p := b.status().Pending
			if len(p) != 1 || p[0].Kind != contract.PendingUnknown || !strings.Contains(p[0].Reason, "lost") {
				t.Fatalf("pending %+v", p)
			}
			if c.verdict == "" {
				return
			}
			b.update(contract.UpdateResolve, contract.ResolveRequest{Key: p[0].Key, Verdict: c.verdict, Value: "receipt 7", By: "ann"}, "")
		})
		if _, err := b.run(nil); err != nil {
			t.Fatal(err)
		}
		e := b.inputs[1].Entries[0]
		if e.Outcome != c.want || len(b.tools) != c.starts {
			t.Errorf("%q: %+v after %d starts", c.verdict, e, len(b.tools))
		}
		if c.verdict == contract.VerdictHappened && !strings.Contains(e.Text, "receipt 7") {
			t.Errorf("%+v", e)
		}
		if c.verdict == contract.VerdictDidNotHappen && b.tools[0].Key != b.tools[1].Key {
			t.Errorf("the key moved")
		}
	}
}

// R40, F05: an interrupt cuts what may be cut; what had not started says so.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	var running atomic.Bool
	b := newBench(t, []contract.CallModelResult{asks(plan("quick", `{}`), plan("slow", `{}`), plan("slow", `{"n":2}`)), says("never")},
		map[string]toolFunc{"quick": echo, "slow": func(ctx context.Context, _ contract.ToolInput) (contract.ToolResult, error) {
			running.Store(true)
			<-ctx.Done()
			return contract.ToolResult{}, ctx.Err()
		}})
	var look func()
	look = func() {
		if !running.Load() {
			b.after(10*time.Millisecond, look)
			return
		}
		b.update(contract.UpdateInterrupt, contract.InterruptRequest{By: "ann", Reason: "enough"}, "")
	}
	b.after(0, look)
	got, err := b.run(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != contract.StatusInterrupted || !strings.Contains(got.Reason, "enough") || len(got.Tail) != 3 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []contract.Outcome{contract.OutcomeDone, contract.OutcomeInterrupted, contract.OutcomeNotStarted} {
		if got.Tail[i].Outcome != want {
			t.Errorf("call %d: %+v, want %s", i, got.Tail[i], want)
		}
	}
}

// R03: time spent waiting for a person need not count.
func TestWallClock_Parked(t *testing.T) {
	t.Parallel()
	for _, counts := range []bool{true, false} {
		answer := asks(plan("pay", `{}`, gated(contract.ApprovalPlan{})))
		answer.Agent = &contract.Agent{Limits: contract.Limits{CountParked: &counts}}
		b := newBench(t, []contract.CallModelResult{answer, says("done")}, map[string]toolFunc{"pay": echo})
		b.after(30*24*time.Hour, func() {
			if p := b.status().Pending; len(p) == 1 {
				b.decide(p[0], true, "ann", "")
			}
		})
		limits := &contract.Limits{MaxWallClock: contract.Duration(time.Hour)}
		got, err := b.run(limits)
		if err != nil {
			t.Fatal(err)
		}
		want := contract.StatusCompleted
		if counts {
			want = contract.StatusTimedOut
		}
		if got.Status != want {
			t.Errorf("count_parked %v: %s", counts, got.Status)
		}
	}
}

// R22: a call that is asked about again, under the key it had, is another
// question: the approval of the first is not one of the second.
func TestApproval_AskedAgainUnderTheSameKey(t *testing.T) {
	t.Parallel()
	call := plan("pay", `{}`, gated(contract.ApprovalPlan{}), class(contract.ClassKeyed, 1))
	b := newBench(t, []contract.CallModelResult{asks(call), asks(call), says("done")}, map[string]toolFunc{"pay": unknownOnce(echo)})
	var first contract.Pending
	b.after(time.Hour, func() {
		first = b.status().Pending[0]
		b.decide(first, true, "ann", "")
	})
	b.after(2*time.Hour, func() {
		again := b.status().Pending
		if len(again) != 1 || again[0].Key != first.Key || again[0].Digest == first.Digest {
			t.Fatalf("asked again as %+v, first as %+v", again, first)
		}
		b.decide(first, true, "ann", "does not match")
		b.decide(again[0], true, "ann", "")
	})
	if _, err := b.run(nil); err != nil {
		t.Fatal(err)
	}
	if len(b.tools) != 2 || b.inputs[2].Entries[0].Outcome != contract.OutcomeDone {
		t.Errorf("%d starts, %+v", len(b.tools), b.inputs[2].Entries)
	}
}
