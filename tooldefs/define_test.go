package tooldefs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

type address struct {
	City string `json:"city" jsonschema:"minLength=1"`
	Zip  string `json:"zip,omitempty" jsonschema:"pattern=^[0-9]{5\\,6}$"`
}

type orderIn struct {
	ID      string            `json:"id" jsonschema:"description=The order\\, as printed"`
	Count   int64             `json:"count" jsonschema:"minimum=1,maximum=10,default=3"`
	Kind    string            `json:"kind,omitempty" jsonschema:"enum=a,enum=b"`
	Where   address           `json:"where,omitzero"`
	Tags    []string          `json:"tags,omitempty" jsonschema:"maxItems=2"`
	Labels  map[string]int    `json:"labels,omitempty"`
	Note    *string           `json:"note,omitempty" jsonschema:"nullable"`
	When    time.Time         `json:"when,omitzero"`
	Wait    contract.Duration `json:"wait,omitempty"`
	Any     any               `json:"any,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Exact   *big.Int          `json:"exact,omitempty"`
	private chan int
}

// echo gives back what the handler got.
func echo[In any](name string) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[In, In]{
		Name: name, Description: "Gives back what it got.", Effects: tooldefs.None,
		Handler: func(_ context.Context, _ *tooldefs.Call, in In) (In, error) { return in, nil },
	})
}

func testCall() *tooldefs.Call { return tooldefs.NewCall(tooldefs.CallInfo{Turn: "t", Key: "k"}) }

// T01: inferred schema.
func TestT01_InferredSchema(t *testing.T) {
	t.Parallel()
	_ = orderIn{}.private
	var got, want any
	if err := json.Unmarshal([]byte(echo[orderIn]("order").InputSchema()), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"type":"object","additionalProperties":false,"required":["id"],"properties":{
		"id":{"type":"string","description":"The order, as printed"},
		"count":{"type":"integer","minimum":1,"maximum":10,"default":3},
		"kind":{"type":"string","enum":["a","b"]},
		"where":{"type":"object","additionalProperties":false,"required":["city"],"properties":{
			"city":{"type":"string","minLength":1},"zip":{"type":"string","pattern":"^[0-9]{5,6}$"}}},
		"tags":{"type":"array","items":{"type":"string"},"maxItems":2},
		"labels":{"type":"object","additionalProperties":{"type":"integer"}},
		"note":{"oneOf":[{"type":"string"},{"type":"null"}]},
		"when":{"type":"string","format":"date-time"},
		"wait":{"type":"string"},
		"any":true,"raw":true,
		"exact":{"type":"integer"}}}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

type treeIn struct {
	Value int       `json:"value"`
	Kids  []*treeIn `json:"kids,omitempty"`
}

// T01: recursive type.
func TestT01_RecursiveType(t *testing.T) {
	t.Parallel()
	tool := echo[treeIn]("tree")
	if !strings.Contains(tool.InputSchema(), `"type":"object"`) {
		t.Errorf("the root does not say it is an object: %s", tool.InputSchema())
	}
	if got := tool.Check(`{"value":1.0,"kids":[{"value":2}]}`); got.Canonical != `{"kids":[{"value":2}],"value":1}` {
		t.Errorf("got %+v", got)
	}
	if got := tool.Check(`{"value":1,"kids":[{"value":"x"}]}`); !strings.Contains(got.Problem, "kids.0.value: must be an integer") {
		t.Errorf("got %+v", got)
	}
}

func mistake(define func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	define()
	return nil
}

type fine struct {
	N int `json:"n"`
}

func spec[In, Out any](name string, change func(*tooldefs.Spec[In, Out])) func() {
	s := tooldefs.Spec[In, Out]{Name: name, Description: "d", Handler: func(context.Context, *tooldefs.Call, In) (out Out, err error) { return out, nil }}
	if change != nil {
		change(&s)
	}
	return func() { tooldefs.Define(s) }
}

// nest and list reach themselves without a struct between.
type (
	nest map[string]nest
	list []list
)

// twinOne and twinTwo have a field of the same name.
type (
	twinOne struct{ N int }
	twinTwo struct{ N int }
)

func cannotTell(context.Context, *tooldefs.Call, fine) (tooldefs.Reconciled[fine], error) {
	return tooldefs.Reconciled[fine]{}, nil
}

// T02: T34, T36, T49, T50: settings that contradict each other are mistakes too.
func TestT02_Mistakes(t *testing.T) {
	t.Parallel()
	type s = tooldefs.Spec[fine, fine]
	for want, define := range map[string]func(){
		`"": it has no name`:           spec[fine, fine]("", nil),
		`"a b": the name must match`:   spec[fine, fine]("a b", nil),
		`"` + strings.Repeat("x", 65):  spec[fine, fine](strings.Repeat("x", 65), nil),
		`"a\n": the name must match`:   spec[fine, fine]("a\n", nil),
		`"x1": it has no description`:  spec("x1", func(s *s) { s.Description = " " }),
		`"x2": it has no handler`:      spec("x2", func(s *s) { s.Handler = nil }),
		`"x3": unknown effects`:        spec("x3", func(s *s) { s.Effects = "some" }),
		`"x4": unknown class`:          spec("x4", func(s *s) { s.Class = "twice" }),
		`"x5": MaxAttempts above 1`:    spec("x5", func(s *s) { s.MaxAttempts = 2 }),
		`"x6": NoReplay needs`:         spec("x6", func(s *s) { s.NoReplay = true }),
		`"x7": a KeyScope beyond`:      spec("x7", func(s *s) { s.KeyScope = tooldefs.KeyScopeSession }),
		`"x8": Timeout is negative`:    spec("x8", func(s *s) { s.Timeout = -1 }),
		`"a1": unknown OnUnknown`:      spec("a1", func(s *s) { s.OnUnknown = "shrug" }),
		`"a2": OnUnknown AskHuman`:     spec("a2", func(s *s) { s.OnUnknown, s.Class = tooldefs.AskHuman, tooldefs.SafeToRetry }),
		`"a3": OnUnknown AskHuman`:     spec("a3", func(s *s) { s.OnUnknown, s.Effects = tooldefs.AskHuman, tooldefs.None }),
		`"a4": Reconcile contradicts`:  spec("a4", func(s *s) { s.Reconcile, s.Effects = cannotTell, tooldefs.None }),
		`"a5": ApprovalTimeout is neg`: spec("a5", func(s *s) { s.ApprovalTimeout = -1 }),
		`"a6": one of the Approvers`:   spec("a6", func(s *s) { s.Approvers = []string{"ada", " "} }),
		`"a7": the Approval is func(int) bool; want Always, Never or a func(tooldefs_test.fine) bool`: spec("a7", func(s *s) { s.Approval = func(int) bool { return false } }),
		`"a8": the Approval is a nil`:                                          spec("a8", func(s *s) { s.Approval = (func(fine) bool)(nil) }),
		`"x9": output tooldefs_test.f`:                                         spec("x9", func(s *s) { s.Output = tooldefs.OutputSchema(`{"type":`) }),
		`"y1": input int: it must be`:                                          spec[int, fine]("y1", nil),
		`"y2": input struct { C chan`:                                          spec[struct{ C chan int }, fine]("y2", nil),
		`"y5": input tooldefs_test.nest: it has no schema: it contains itself`: spec[nest, fine]("y5", nil),
		`"y6": input struct { L []tooldefs_test.list }: it has no schema`:      spec[struct{ L []list }, fine]("y6", nil),
		`"y3": output func()`:                                                  spec[fine, func()]("y3", nil),
		`in field a`: spec[fine, struct {
			A map[string]chan int `json:"a"`
		}]("y4", nil),
		`field N: the jsonschema tag "min=3" has no effect`: spec[struct {
			N int `jsonschema:"min=3"`
		}, fine]("z1", nil),
		`field N: the jsonschema tag "minimum=x" has no effect`: spec[struct {
			N int `jsonschema:"minimum=x"`
		}, fine]("z2", nil),
		`field N: the jsonschema tag " b" means nothing`: spec[struct {
			N int `jsonschema:"description=a, b"`
		}, fine]("z3", nil),
		`field A.N: the jsonschema tag "pattern=x" has no effect`: spec[struct {
			A []struct {
				N int `jsonschema:"pattern=x"`
			}
		}, fine]("z4", nil),
		`field in.s: JSON cannot be decoded into the interface fmt.Stringer`: spec[struct {
			In struct {
				S fmt.Stringer `json:"s"`
			} `json:"in"`
		}, fine]("z7", nil),
		`field error: JSON cannot be`: spec[struct{ error }, fine]("z8", nil),
		`has two fields of the JSON name "N"`: spec[struct {
			twinOne
			twinTwo
		}, fine]("w1", nil),
		`RE2 syntax`: spec[struct {
			S string `jsonschema:"pattern=(?!x)"`
		}, fine]("z5", nil),
		`the default of N: must be at least 1`: spec[struct {
			N int `jsonschema:"minimum=1,default=0"`
		}, fine]("z6", nil),
	} {
		err := mistake(define)
		var definition *tooldefs.DefinitionError
		if !errors.As(err, &definition) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	if err := mistake(spec("ok", func(s *s) { s.Class, s.KeyScope, s.MaxAttempts = tooldefs.Keyed, tooldefs.KeyScopeNamespace, 9 })); err != nil {
		t.Error(err)
	}
}

// T34, T36, T39: defaults.
func TestT34_T36_T39_Defaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		effects  tooldefs.Effects
		class    tooldefs.Class
		want     tooldefs.Class
		attempts int
		warnings int
	}{
		{"", "", tooldefs.AtMostOnce, 1, 0},
		{tooldefs.Sandbox, "", tooldefs.AtMostOnce, 1, 0},
		{tooldefs.None, "", tooldefs.SafeToRetry, 5, 0},
		{tooldefs.External, tooldefs.Keyed, tooldefs.Keyed, 3, 0},
		{tooldefs.External, tooldefs.SafeToRetry, tooldefs.SafeToRetry, 5, 1},
	} {
		tool := tooldefs.Define(tooldefs.Spec[fine, fine]{
			Name: "x", Description: "d", Effects: c.effects, Class: c.class,
			Handler: func(context.Context, *tooldefs.Call, fine) (fine, error) { return fine{}, nil },
		})
		if tool.Class() != c.want || tool.MaxAttempts() != c.attempts || tool.Timeout() != time.Minute || len(tool.Warnings()) != c.warnings {
			t.Errorf("%+v: got %s, %d, %s, %q", c, tool.Class(), tool.MaxAttempts(), tool.Timeout(), tool.Warnings())
		}
	}
}

func TestDigests(t *testing.T) {
	t.Parallel()
	base := tooldefs.WrapSpec{
		Name: "x", Description: "d", Schema: json.RawMessage(`{"properties":{"a":{}}}`),
		Invoke: func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
	}
	digests := func(change func(*tooldefs.WrapSpec)) (string, string) {
		s := base
		change(&s)
		tool, err := tooldefs.Wrap(s)
		if err != nil {
			t.Fatal(err)
		}
		return tool.DefinitionDigest(), tool.ExecutionDigest()
	}
	def, exec := digests(func(*tooldefs.WrapSpec) {})
	if len(def) != 16 || len(exec) != 16 || def == exec {
		t.Errorf("digests %q, %q", def, exec)
	}
	for name, c := range map[string]struct {
		change    func(*tooldefs.WrapSpec)
		def, exec bool
	}{
		"same": {func(s *tooldefs.WrapSpec) {
			s.Schema = json.RawMessage(` {"properties": {"a": {}}, "type": "object"} `)
		}, false, false},
		"name":        {func(s *tooldefs.WrapSpec) { s.Name = "y" }, true, true},
		"description": {func(s *tooldefs.WrapSpec) { s.Description = "e" }, true, false},
		"schema":      {func(s *tooldefs.WrapSpec) { s.Schema = nil }, true, true},
		"class":       {func(s *tooldefs.WrapSpec) { s.Class = tooldefs.Keyed }, false, true},
		"effects":     {func(s *tooldefs.WrapSpec) { s.Effects = tooldefs.Sandbox }, false, true},
	} {
		d, e := digests(c.change)
		if (d != def) != c.def || (e != exec) != c.exec {
			t.Errorf("%s: definition changed %v, execution changed %v", name, d != def, e != exec)
		}
	}
}
