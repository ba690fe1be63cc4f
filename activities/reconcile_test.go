package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type found = tooldefs.Reconciled[any]

func reconciles(f func(context.Context, *tooldefs.Call, payInput) (found, error)) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[payInput, any]{
		Name: "pay", Description: "Pays.", Env: []string{"TOKEN"}, Reconcile: f,
		Handler: func(context.Context, *tooldefs.Call, payInput) (any, error) { return nil, nil },
	})
}

func reconcile(t *testing.T, tool *tooldefs.Tool, timeout time.Duration) (contract.ReconcileResult, error) {
	t.Helper()
	env := serving(t, nil, []contract.Agent{{Name: "a", Tools: []string{"pay"}}}, tool)
	value, err := env.ExecuteActivity(contract.ReconcileActivity("pay"), contract.ReconcileInput{
		Args: `{"amount":9007199254740993}`, Key: "key-1", Ordinal: 4, Agent: "a", Session: "s", Timeout: contract.Duration(timeout),
	})
	var result contract.ReconcileResult
	if err == nil {
		err = value.Get(&result)
	}
	return result, err
}

// T49: it is handed the key, the arguments and the environment of the call in
// question; its answer is recorded in the shape of the call's result.
func TestT49_ReconcileActivity(t *testing.T) {
	t.Parallel()
	got, err := reconcile(t, reconciles(func(_ context.Context, call *tooldefs.Call, in payInput) (found, error) {
		return tooldefs.Happened[any](map[string]any{
			"key": call.IdempotencyKey(), "n": in.Amount, "ordinal": call.Ordinal(), "session": call.SessionID(), "env": call.Env("TOKEN"),
		}), nil
	}), time.Minute)
	want := `{"env":"a's TOKEN","key":"key-1","n":9007199254740993,"ordinal":4,"session":"s"}`
	if err != nil || got.Verdict != contract.VerdictHappened || string(got.JSON) != want || got.Digest == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = reconcile(t, reconciles(func(context.Context, *tooldefs.Call, payInput) (found, error) {
		return tooldefs.DidNotHappen[any](), nil
	}), 0)
	if err != nil || got.Verdict != contract.VerdictDidNotHappen {
		t.Errorf("got %+v, %v", got, err)
	}
}

// T49: an error, a panic and running out of time are "cannot tell", never an
// error of the activity; a large value is cut.
func TestT49_ReconcileCannotTell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		f    func(context.Context, *tooldefs.Call, payInput) (found, error)
		note string
	}{
		"error":   {func(context.Context, *tooldefs.Call, payInput) (found, error) { return found{}, errors.New("down") }, "down"},
		"panic":   {func(context.Context, *tooldefs.Call, payInput) (found, error) { panic("secret") }, "internal error"},
		"timeout": {func(context.Context, *tooldefs.Call, payInput) (found, error) { select {} }, "no answer in time"},
	} {
		got, err := reconcile(t, reconciles(c.f), 50*time.Millisecond)
		if err != nil || got.Verdict != contract.VerdictCannotTell || !strings.Contains(got.Note, c.note) || strings.Contains(got.Note, "secret") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	got, err := reconcile(t, reconciles(func(context.Context, *tooldefs.Call, payInput) (found, error) {
		return tooldefs.Happened[any](strings.Repeat("\u0001ü", 2<<20)), nil
	}), time.Minute)
	if err != nil || got.Verdict != contract.VerdictHappened || len(got.Text) > 1<<20 || !strings.Contains(got.Text, "characters in all") {
		t.Errorf("T45: %d bytes, %v", len(got.Text), err)
	}
}

// T39, P22: warnings are logged once, at start; each tool has an activity type
// of its own, and a second one only if it can reconcile.
func TestT39_P22_Register(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zapcore.WarnLevel)
	nothing := func(context.Context, *tooldefs.Call, payInput) (any, error) { return nil, nil }
	risky := func(name string, approval any) *tooldefs.Tool {
		return tooldefs.Define(tooldefs.Spec[payInput, any]{
			Name: name, Description: "d", Class: tooldefs.SafeToRetry, Approval: approval, Handler: nothing,
		})
	}
	pays := reconciles(func(context.Context, *tooldefs.Call, payInput) (found, error) { return found{}, nil })
	env := serving(t, zap.New(core), []contract.Agent{{Name: "a", Tools: []string{"pay"}}}, pays, risky("resend", nil), risky("guarded", tooldefs.Always))
	warned := logs.All()
	if len(warned) != 1 || !strings.Contains(warned[0].Message, "tool resend has external effects") || warned[0].ContextMap()["tool"] != "resend" {
		t.Errorf("warnings %v", warned)
	}
	for _, name := range []string{"tool.pay", "tool.resend", "tool.guarded", "reconcile.pay"} {
		if _, err := env.ExecuteActivity(name, struct{}{}); err != nil && strings.Contains(err.Error(), "unable to find") {
			t.Errorf("%s is not registered", name)
		}
	}
	if _, err := env.ExecuteActivity("reconcile.resend", contract.ReconcileInput{}); err == nil {
		t.Error("a tool without Reconcile has its activity")
	}
}
