package tooldefs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// T05: duplicate names.
func TestT05_DuplicateNames(t *testing.T) {
	t.Parallel()
	_, err := tooldefs.NewSet(echo[fine]("a"), echo[fine]("b"), tooldefs.Define(tooldefs.Spec[fine, fine]{
		Name: "a", Description: "Another one.",
		Handler: func(context.Context, *tooldefs.Call, fine) (fine, error) { return fine{}, nil },
	}))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`named "a"`, "define_test.go:", "Gives back", "set_test.go:", "Another one."} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if _, err := tooldefs.NewSet(nil); err == nil {
		t.Error("a nil tool is accepted")
	}
}

// T05: model tools.
func TestT05_ModelTools(t *testing.T) {
	t.Parallel()
	b := echo[fine]("b")
	set, err := tooldefs.NewSet(b, echo[fine]("a"))
	if err != nil {
		t.Fatal(err)
	}
	want := tooldefs.ModelTool{Name: "b", Description: "Gives back what it got.", Schema: b.InputSchema()}
	if got := set.ModelTools(); len(got) != 2 || got[0] != want || !slices.Equal(set.Names(), []string{"b", "a"}) {
		t.Errorf("got %+v", got)
	}
}

// T20: lookup.
func TestT20_Lookup(t *testing.T) {
	t.Parallel()
	set, err := tooldefs.NewSet(echo[fine]("read_file"), echo[fine]("functions"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"read_file": "read_file", "functions.read_file": "read_file", "read_file:0": "read_file", "functions.read_file:12": "read_file",
		"functions": "functions",
		"Read_File": "", "readfile": "", "read-file": "", "read_file:": "", "read_file:x": "", "read_file:-1": "", "read_file:0:0": "",
		"functions.functions.read_file": "", "tools.read_file": "", "": "", "functions.": "",
	} {
		tool, ok := set.Lookup(name)
		if ok != (want != "") || ok && tool.Name() != want {
			t.Errorf("Lookup(%q) = %v", name, ok)
		}
	}
}

// T12: set call.
func TestT12_SetCall(t *testing.T) {
	t.Parallel()
	set, err := tooldefs.NewSet(echo[orderIn]("order"), tooldefs.Define(tooldefs.Spec[fine, string]{
		Name: "key", Description: "d", IdempotencyKey: func(in fine) string {
			if in.N == 9 {
				panic("no")
			}
			return "same"
		},
		Handler: func(_ context.Context, call *tooldefs.Call, _ fine) (string, error) {
			return call.IdempotencyKey(), nil
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if got, err := set.Call(ctx, "functions.order", `{"id":"1"}`); err != nil || string(got.JSON) == "" {
		t.Errorf("got %+v, %v", got, err)
	}
	var unknown *tooldefs.UnknownToolError
	if _, err := set.Call(ctx, "nope", `{}`); !errors.As(err, &unknown) || err.Error() != `unknown tool "nope"; valid tools: order, key` {
		t.Errorf("got %v", err)
	}
	var arguments *tooldefs.ArgumentsError
	if _, err := set.Call(ctx, "order", `{}`); !errors.As(err, &arguments) || !strings.Contains(err.Error(), "id: is required") {
		t.Errorf("got %v", err)
	}
	if _, err := set.Call(ctx, "key", `{"n":9}`); !tooldefs.IsNotExecuted(err) {
		t.Errorf("T47: got %v", err)
	}
	one, _ := set.Call(ctx, "key", `{"n":1}`)
	two, _ := set.Call(ctx, "key", `{"n":2}`)
	own, _ := set.CallWith(ctx, tooldefs.CallInfo{Key: "mine"}, "key", `{"n":1}`)
	if one.Text == "" || one.Text != two.Text || own.Text != "mine" {
		t.Errorf("keys %q, %q, %q", one.Text, two.Text, own.Text)
	}
}
