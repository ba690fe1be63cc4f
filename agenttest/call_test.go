package agenttest_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type greetIn struct {
	Name string `json:"name" jsonschema:"minLength=1"`
}

// greet shows all that a call gives.
func greet() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[greetIn, string]{
		Name: "greet", Description: "Greets somebody.", Env: []string{"GREETING"},
		Handler: func(_ context.Context, call *tooldefs.Call, in greetIn) (string, error) {
			call.Progress(map[string]int{"percent": 50})
			call.Logger().With("a", 1).WithGroup("g").Warn("greeting", "name", in.Name)
			return call.Env("GREETING") + " " + in.Name + " under " + call.IdempotencyKey(), nil
		},
		Reconcile: func(_ context.Context, call *tooldefs.Call, in greetIn) (tooldefs.Reconciled[string], error) {
			return tooldefs.Happened(in.Name + " was greeted under " + call.IdempotencyKey()), nil
		},
	})
}

// T12: a tool is tested in ten lines, through its gates and without a server.
func TestT12_NewCall(t *testing.T) {
	t.Parallel()
	call := agenttest.NewCall(t, agenttest.CallOptions{Key: "k1", Env: map[string]string{"GREETING": "Hello"}})
	got, err := call.Run(greet(), `{"name": "Ada"}`)
	if err != nil || got.Text != "Hello Ada under k1" {
		t.Errorf("got %+v, %v", got, err)
	}
	if p := call.Progress(); !slices.Equal(p, []string{`{"percent":50}`}) {
		t.Errorf("progress %q", p)
	}
	want := []agenttest.LogLine{{Level: slog.LevelWarn, Message: "greeting", Attrs: map[string]any{"a": int64(1), "g.name": "Ada"}}}
	if diff := cmp.Diff(want, call.Log()); diff != "" {
		t.Error(diff)
	}
	var refused *tooldefs.ArgumentsError
	if _, err := call.Run(greet(), `{"name": ""}`); !errors.As(err, &refused) {
		t.Errorf("bad arguments: %v", err)
	}
	if got := call.Reconcile(greet(), `{"name":"Ada"}`); got.Verdict != contract.VerdictHappened || got.Text != "Ada was greeted under k1" {
		t.Errorf("T49: got %+v", got)
	}
}

// T12: the defaults, and the fake with a set and with a bare handler.
func TestT12_NewCallDefaults(t *testing.T) {
	t.Parallel()
	fake := agenttest.NewCall(t, agenttest.CallOptions{})
	c := fake.Call
	if c.IdempotencyKey() != agenttest.DefaultCallKey || c.TurnID() != agenttest.DefaultCallTurn || c.SessionID() != "" || c.Ordinal() != 1 || c.Attempt() != 1 {
		t.Errorf("got %s, %s, %q, %d, %d", c.IdempotencyKey(), c.TurnID(), c.SessionID(), c.Ordinal(), c.Attempt())
	}
	if c.Env("UNSET") != "" {
		t.Error("an unset variable")
	}
	set, err := tooldefs.NewSet(greet())
	if err != nil {
		t.Fatal(err)
	}
	got, err := set.CallWith(t.Context(), fake.Info, "greet", `{"name":"Ada"}`)
	if err != nil || !strings.HasSuffix(got.Text, "under "+agenttest.DefaultCallKey) || len(fake.Log()) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}
