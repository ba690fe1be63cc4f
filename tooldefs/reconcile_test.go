package tooldefs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type reconcileFunc = func(context.Context, *tooldefs.Call, fine) (tooldefs.Reconciled[fine], error)

func reconciling(f reconcileFunc) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[fine, fine]{
		Name: "x", Description: "d", Timeout: 10 * time.Second, Output: tooldefs.OutputSchema(`{"properties":{"n":{"maximum":5}}}`),
		Handler: func(context.Context, *tooldefs.Call, fine) (fine, error) { return fine{}, nil }, Reconcile: f,
	})
}

// T49: reconcile.
func TestT49_Reconcile(t *testing.T) {
	t.Parallel()
	answers := func(r tooldefs.Reconciled[fine], err error) reconcileFunc {
		return func(context.Context, *tooldefs.Call, fine) (tooldefs.Reconciled[fine], error) { return r, err }
	}
	for name, c := range map[string]struct {
		f       reconcileFunc
		verdict contract.Verdict
		note    string
	}{
		"happened":       {answers(tooldefs.Happened(fine{3}), nil), contract.VerdictHappened, ""},
		"did not happen": {answers(tooldefs.DidNotHappen[fine](), nil), contract.VerdictDidNotHappen, ""},
		"cannot tell":    {answers(tooldefs.CannotTell[fine]("the log is gone"), nil), contract.VerdictCannotTell, "the log is gone"},
		"zero":           {answers(tooldefs.Reconciled[fine]{}, nil), contract.VerdictCannotTell, ""},
		"error":          {answers(tooldefs.Happened(fine{3}), errors.New("down\xff"+strings.Repeat("é", 9_000))), contract.VerdictCannotTell, "down"},
		"public":         {answers(tooldefs.Happened(fine{3}), tooldefs.Public("later", errors.New("password"))), contract.VerdictCannotTell, "later"},
		"invalid value":  {answers(tooldefs.Happened(fine{9}), nil), contract.VerdictCannotTell, "n: must be at most 5"},
		"panic":          {func(context.Context, *tooldefs.Call, fine) (tooldefs.Reconciled[fine], error) { panic("password") }, contract.VerdictCannotTell, "internal error"},
		"none":           {nil, contract.VerdictCannotTell, "no way"},
	} {
		got := reconciling(c.f).Reconcile(t.Context(), testCall(), `{"n":1}`)
		if got.Verdict != c.verdict || !strings.Contains(got.Note, c.note) || strings.Contains(got.Note, "password") || len([]rune(got.Note)) > contract.MaxErrorText {
			t.Errorf("%s: got %+v", name, got)
		}
		if happened := c.verdict == contract.VerdictHappened; (string(got.JSON) == `{"n":3}`) != happened || (len(got.Digest) == 16) != happened {
			t.Errorf("%s: value %s, digest %q", name, got.JSON, got.Digest)
		}
	}
	tool := reconciling(answers(tooldefs.Happened(fine{1}), nil))
	if got := tool.Reconcile(t.Context(), nil, `{"n":1}`); got.Verdict != contract.VerdictCannotTell || !strings.Contains(got.Note, "outside a running turn") {
		t.Errorf("without a call: %+v", got)
	}
	if got := tool.Reconcile(t.Context(), testCall(), `{"n":"x"}`); got.Verdict != contract.VerdictCannotTell {
		t.Errorf("arguments of another version: %+v", got)
	}
	if !tool.CanReconcile() || reconciling(nil).CanReconcile() {
		t.Error("CanReconcile")
	}
}

// T49: it is handed the key and the arguments of the call in question, and a
// panic's stack goes to the log only.
func TestT49_ReconcileIsHandedTheCall(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	call := tooldefs.NewCall(tooldefs.CallInfo{Key: "key-7", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	tool := reconciling(func(_ context.Context, call *tooldefs.Call, in fine) (tooldefs.Reconciled[fine], error) {
		if call.IdempotencyKey() == "key-7" && in.N == 4 {
			return tooldefs.Happened(in), nil
		}
		panic("another call")
	})
	if got := tool.Reconcile(t.Context(), call, `{"n":4}`); string(got.JSON) != `{"n":4}` {
		t.Errorf("got %+v", got)
	}
	tool.Reconcile(t.Context(), call, `{"n":5}`)
	if !strings.Contains(log.String(), "another call") || !strings.Contains(log.String(), "reconcile_test.go") {
		t.Errorf("log %s", log.String())
	}
}

// T49: running out of time is "cannot tell", whatever the function does.
func TestT49_ReconcileIsBounded(t *testing.T) {
	t.Parallel()
	for name, deadline := range map[string]time.Duration{"the tool's": 0, "the caller's": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tool := reconciling(func(context.Context, *tooldefs.Call, fine) (tooldefs.Reconciled[fine], error) {
					time.Sleep(time.Minute) // deaf to ctx
					return tooldefs.Happened(fine{}), nil
				})
				ctx, want := t.Context(), 10*time.Second
				if deadline > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, deadline)
					defer cancel()
					want = deadline
				}
				begin := time.Now()
				got := tool.Reconcile(ctx, testCall(), `{"n":1}`)
				if took := time.Since(begin); took != want || got.Verdict != contract.VerdictCannotTell || !strings.Contains(got.Note, "in time") {
					t.Errorf("took %s: %+v", took, got)
				}
				time.Sleep(time.Hour) // let it end
			})
		})
	}
}
