package tooldefs

import (
	"context"
	"encoding/json"
	"runtime/debug"

	"github.com/turnkeel/turnkeel/contract"
)

// Reconciled is what a tool's Reconcile found out about a call whose outcome
// is unknown. It is made by [Happened], [DidNotHappen] or [CannotTell]; the
// zero value cannot tell.
type Reconciled[Out any] struct {
	verdict contract.Verdict
	value   Out
	why     string
}

// Happened says that the call took effect, and what its result is.
func Happened[Out any](value Out) Reconciled[Out] {
	return Reconciled[Out]{verdict: contract.VerdictHappened, value: value}
}

// DidNotHappen says that the call took no effect and will not take it later:
// it may run once more.
func DidNotHappen[Out any]() Reconciled[Out] {
	return Reconciled[Out]{verdict: contract.VerdictDidNotHappen}
}

// CannotTell leaves the outcome unknown; why is for people and is recorded.
func CannotTell[Out any](why string) Reconciled[Out] {
	return Reconciled[Out]{verdict: contract.VerdictCannotTell, why: why}
}

// finding is a Reconciled without its type.
type finding struct {
	verdict contract.Verdict
	value   any
	why     string
}

func (r Reconciled[Out]) finding() finding { return finding{r.verdict, r.value, r.why} }

// CanReconcile says that the tool can look up what became of a call.
func (t *Tool) CanReconcile() bool { return t.reconcile != nil }

// Reconcile looks up what became of a call. It never fails: an error, a panic,
// a value that cannot be recorded and the end of ctx all mean that it cannot
// tell. It returns when ctx ends, whatever the tool does; a ctx without a
// deadline gets the tool's Timeout.
func (t *Tool) Reconcile(ctx context.Context, call *Call, canonicalArgs string) contract.ReconcileResult {
	if t.reconcile == nil {
		return cannotTell("the tool has no way to find out")
	}
	running, err := call.bind(t)
	if err != nil {
		return cannotTell(err.Error())
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.set.timeout)
		defer cancel()
	}
	done := make(chan contract.ReconcileResult, 1)
	go func() {
		result := cannotTell("internal error")
		defer func() { running.end(); done <- result }()
		result = t.reconcileGuarded(ctx, running, canonicalArgs)
	}()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
	}
	select {
	case result := <-done: // it was ready as well
		return result
	default:
		return cannotTell("no answer in time: " + context.Cause(ctx).Error())
	}
}

// reconcileGuarded runs the tool's function and makes the recorded form. The
// words of an error are as public as a handler's.
func (t *Tool) reconcileGuarded(ctx context.Context, call *Call, args string) (result contract.ReconcileResult) {
	defer func() {
		if r := recover(); r != nil {
			call.Logger().Error("Reconcile panicked", "tool", t.set.name, "panic", panicText(r), "stack", string(debug.Stack()))
			result = cannotTell("internal error")
		}
	}()
	found, err := t.reconcile(ctx, call, args)
	if err != nil {
		return cannotTell(modelText(t.readable(err)))
	}
	switch found.verdict {
	case contract.VerdictHappened:
		recorded, err := t.record(found.value)
		if err != nil {
			return cannotTell("it happened, but the value is not valid: " + invalidResult(err))
		}
		return contract.ReconcileResult{
			Verdict: contract.VerdictHappened, Text: recorded.Text, JSON: recorded.JSON, Digest: recorded.Digest,
		}
	case contract.VerdictDidNotHappen:
		return contract.ReconcileResult{Verdict: contract.VerdictDidNotHappen}
	default:
		return cannotTell(found.why)
	}
}

func cannotTell(why string) contract.ReconcileResult {
	return contract.ReconcileResult{
		Verdict: contract.VerdictCannotTell, Note: contract.BoundText(why, contract.MaxErrorText),
	}
}

// reconciler is the untyped form of a spec's Reconcile.
func reconciler[In, Out any](f func(context.Context, *Call, In) (Reconciled[Out], error), decode func(args string) (In, error)) func(context.Context, *Call, string) (finding, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, call *Call, args string) (finding, error) {
		in, err := decode(args)
		if err != nil {
			return finding{}, err
		}
		found, err := f(ctx, call, in)
		return found.finding(), err
	}
}

// wrapReconciler is [reconciler] for a tool whose functions take text.
func wrapReconciler(f func(context.Context, *Call, json.RawMessage) (Reconciled[any], error)) func(context.Context, *Call, string) (finding, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, call *Call, args string) (finding, error) {
		found, err := f(ctx, call, json.RawMessage(args))
		return found.finding(), err
	}
}
