package tooldefs_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// T27: R20, P14: the predicate sees the typed, validated arguments; one that panics
// means that approval is needed.
func TestT27_P14_Approval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		approval any
		n        string
		want     bool
		failed   bool
	}{
		"none":            {nil, `{"n":1}`, false, false},
		"never":           {tooldefs.Never, `{"n":1}`, false, false},
		"always":          {tooldefs.Always, `{"n":1}`, true, false},
		"typed, no":       {func(in fine) bool { return in.N > 5 }, `{"n":5}`, false, false},
		"typed, yes":      {func(in fine) bool { return in.N > 5 }, `{"n":6}`, true, false},
		"text":            {func(args string) bool { return args == `{"n":1}` }, `{"n":1}`, true, false},
		"panics":          {func(fine) bool { panic("secret") }, `{"n":1}`, true, true},
		"does not decode": {func(fine) bool { return false }, `{"n":"x"}`, true, true},
	} {
		tool := tooldefs.Define(tooldefs.Spec[fine, fine]{
			Name: "x", Description: "d", Approval: c.approval, ApprovalTimeout: time.Hour, Approvers: []string{"ada"},
			Handler: func(context.Context, *tooldefs.Call, fine) (fine, error) { return fine{}, nil },
		})
		needed, reason, err := tool.ApprovalNeeded(c.n)
		if needed != c.want || (err != nil) != c.failed || (reason != "") != c.want || strings.Contains(reason, "secret") {
			t.Errorf("%s: got %v, %q, %v", name, needed, reason, err)
		}
		if tool.HasApproval() != (c.approval != nil) || tool.ApprovalTimeout() != time.Hour || !slices.Equal(tool.Approvers(), []string{"ada"}) {
			t.Errorf("%s: %v, %s, %v", name, tool.HasApproval(), tool.ApprovalTimeout(), tool.Approvers())
		}
	}
}

// T03, T27, T49, T50: The same fields of a wrapped tool take the canonical text.
func TestT03_T27_T49_T50_Wrap(t *testing.T) {
	t.Parallel()
	tool, err := tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "x", Description: "d", OnUnknown: tooldefs.AskHuman, ApprovalTimeout: time.Minute, Approvers: []string{"ada"},
		Approval: func(args string) bool { return args != "{}" },
		Invoke:   func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
		Reconcile: func(_ context.Context, call *tooldefs.Call, args json.RawMessage) (tooldefs.Reconciled[any], error) {
			return tooldefs.Happened[any](call.IdempotencyKey() + string(args)), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if needed, _, _ := tool.ApprovalNeeded(`{"a":1}`); !needed {
		t.Error("no approval")
	}
	if needed, _, _ := tool.ApprovalNeeded(`{}`); needed {
		t.Error("approval for nothing")
	}
	if tool.OnUnknown() != tooldefs.AskHuman || !tool.CanReconcile() || tool.ApprovalTimeout() != time.Minute || len(tool.Approvers()) != 1 {
		t.Errorf("%q, %v, %s, %v", tool.OnUnknown(), tool.CanReconcile(), tool.ApprovalTimeout(), tool.Approvers())
	}
	if got := tool.Reconcile(t.Context(), testCall(), `{"a":1}`); got.Text != `k{"a":1}` {
		t.Errorf("got %+v", got)
	}
	var definition *tooldefs.DefinitionError
	_, err = tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "x", Description: "d", OnUnknown: tooldefs.AskHuman, Effects: tooldefs.None,
		Invoke: func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
	})
	if !errors.As(err, &definition) || !strings.Contains(err.Error(), "AskHuman contradicts") {
		t.Errorf("got %v", err)
	}
}

// T39: an external tool that may run twice is named, unless a person guards it.
func TestT39_Warnings(t *testing.T) {
	t.Parallel()
	with := func(change func(*tooldefs.Spec[fine, fine])) []string {
		s := tooldefs.Spec[fine, fine]{
			Name: "x", Description: "d", Class: tooldefs.SafeToRetry,
			Handler: func(context.Context, *tooldefs.Call, fine) (fine, error) { return fine{}, nil },
		}
		change(&s)
		return tooldefs.Define(s).Warnings()
	}
	if got := with(func(*tooldefs.Spec[fine, fine]) {}); len(got) != 1 || !strings.Contains(got[0], "tool x has external effects") {
		t.Errorf("got %q", got)
	}
	if got := with(func(s *tooldefs.Spec[fine, fine]) { s.Approval = tooldefs.Always }); len(got) != 0 {
		t.Errorf("with an approval: %q", got)
	}
	if got := with(func(s *tooldefs.Spec[fine, fine]) { s.Effects = tooldefs.Sandbox }); len(got) != 0 {
		t.Errorf("in the sandbox: %q", got)
	}
}
