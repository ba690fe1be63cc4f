package tooldefs_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// T21, B08: what is not one JSON object never reaches the handler.
func TestT21_B08_OneObject(t *testing.T) {
	t.Parallel()
	ran := 0
	tool := tooldefs.Define(tooldefs.Spec[optional, string]{
		Name: "x", Description: "d", Effects: tooldefs.None,
		Handler: func(_ context.Context, _ *tooldefs.Call, in optional) (string, error) { ran++; return in.Path, nil },
	})
	set, err := tooldefs.NewSet(tool)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{} trailing`: "after the end", `{}{}`: "after the end", `7`: "one JSON object", `"text"`: "one JSON object",
		`[]`: "one JSON object", `true`: "one JSON object", `{`: "not valid JSON",
		`{"path":"a","path":"b"}`:                    `the key "path" twice`,
		`{"deep":[{"k":{"a":1,"a":2}}]}`:             `the key "a" twice at deep.0.k`,
		`{"path":"safe","PATH":"evil"}`:              "differs only in case from the property path",
		`{"PATH":"evil"}`:                            "differs only in case from the property path",
		`"{\"path\":7}"`:                             "one JSON object",
		`"\"{\\\"path\\\":\\\"twice\\\"}\""`:         "one JSON object",
		`{"path":"a","deep":[{"k":1}],"unknown":{}}`: "unknown: is not a known property",
	} {
		var refused *tooldefs.ArgumentsError
		if _, err := set.Call(t.Context(), "x", in); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", in, err)
		}
	}
	if ran != 0 {
		t.Errorf("the handler ran %d times", ran)
	}
	for _, in := range []string{"", " \n\t", "null", " null ", "{}"} {
		if got := tool.Check(in); got.Canonical != "{}" {
			t.Errorf("%q: got %+v", in, got)
		}
	}
	if got := tool.Check(`"{\"path\":\"a\"}"`); got.Canonical != `{"path":"a"}` {
		t.Errorf("double encoded: %+v", got)
	}
}

type optional struct {
	Path string `json:"path,omitempty"`
	Deep []any  `json:"deep,omitempty"`
}

// T22: a null is dropped where the property is optional and does not admit it.
func TestT22_Nulls(t *testing.T) {
	t.Parallel()
	tool := echo[struct {
		Must  string  `json:"must"`
		May   int     `json:"may,omitempty"`
		Def   int     `json:"def,omitempty" jsonschema:"default=4"`
		Empty *string `json:"empty" jsonschema:"nullable"`
	}]("x")
	for in, want := range map[string]string{
		`{"must":"a","may":null,"empty":null}`:            `{"def":4,"empty":null,"must":"a"}`,
		`{"must":"a","may":null,"def":null,"empty":null}`: `{"def":4,"empty":null,"must":"a"}`,
		`{"must":null,"empty":null}`:                      "",
	} {
		got := tool.Check(in)
		if got.Canonical != want || want == "" && !strings.Contains(got.Problem, "must: must be a string, not null") {
			t.Errorf("%s: got %+v", in, got)
		}
	}
}

// T23, B10: integers keep every digit on the way to the handler.
func TestT23_B10_Integers(t *testing.T) {
	t.Parallel()
	type in struct {
		Account int64 `json:"account"`
	}
	keys := map[string]bool{}
	tool := tooldefs.Define(tooldefs.Spec[in, int64]{
		Name: "x", Description: "d",
		Handler: func(_ context.Context, call *tooldefs.Call, in in) (int64, error) {
			keys[call.IdempotencyKey()] = true
			return in.Account, nil
		},
	})
	set, err := tooldefs.NewSet(tool)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"account":9007199254740993}`: "9007199254740993", `{"account":9007199254740992}`: "9007199254740992",
		`{"account":1.0}`: "1", `{"account":1e2}`: "100", `{"account":-0.0}`: "0", `{"account":9007199254740995.00}`: "9007199254740995",
	} {
		if got, err := set.Call(t.Context(), "x", args); err != nil || string(got.JSON) != want {
			t.Errorf("%s: got %s, %v", args, got.JSON, err)
		}
	}
	if len(keys) != 6 {
		t.Errorf("%d keys for 6 accounts", len(keys))
	}
}

// T24: each path with its reason, sorted, bounded.
func TestT24_Violations(t *testing.T) {
	t.Parallel()
	tool := echo[orderIn]("order")
	got := tool.Check(`{"id":7,"count":0,"tags":["a","b","c"],"where":{"zip":"x"}}`).Problem
	want := "error: order was not executed: invalid arguments\n- count: must be at least 1\n- id: must be a string, not an integer\n" +
		"- tags: must have at most 2 items\n- where.city: is required\n- where.zip: must match the pattern ^[0-9]{5,6}$"
	if got != want {
		t.Errorf("got %s", got)
	}
	long := strings.Repeat("é", 5_000)
	got = tool.Check(`{"id":"1","kind":"` + long + `","` + long + `":1}`).Problem
	if n := utf8.RuneCountInString(got); n > 2_200 || !utf8.ValidString(got) {
		t.Errorf("%d runes", n)
	}
}

// T25, B01, B02, B03, B04, B06: an unsafe schema disables that one tool, with a
// reason that names it; the others work. No arguments make a panic or a hang.
func TestT25_OneBadSchemaDisablesOneTool(t *testing.T) {
	t.Parallel()
	invoke := func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return "ran", nil }
	var good []*tooldefs.Tool
	refused := map[string]string{}
	for name, raw := range map[string]string{
		"B02": `{"allOf":[{"$ref":"#"}]}`,
		"B03": `{"properties":{"p":{"$ref":"http://127.0.0.1:1/latest/meta-data"}}}`,
		"B04": `{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`,
		"B06": `{"properties":{"p":{"type":"string","pattern":"^(?!admin).*$"}}}`,
		"B01": `{"properties":{"n":{"type":"number","maximum":10}}}`,
		"ok":  `{"properties":{"n":{"type":"integer"}}}`,
	} {
		tool, err := tooldefs.Wrap(tooldefs.WrapSpec{Name: name, Description: "d", Schema: json.RawMessage(raw), Invoke: invoke})
		if err != nil {
			refused[name] = err.Error()
			continue
		}
		good = append(good, tool)
	}
	for name, want := range map[string]string{"B02": "back to itself", "B03": "outside", "B04": "unevaluatedProperties", "B06": "pattern"} {
		if !strings.Contains(refused[name], want) || !strings.Contains(refused[name], `"`+name+`"`) {
			t.Errorf("%s: got %q", name, refused[name])
		}
	}
	set, err := tooldefs.NewSet(good...)
	if err != nil || len(good) != 2 {
		t.Fatalf("%d tools, %v", len(good), err)
	}
	for _, args := range []string{`{"n":1E1000001}`, `{"n":1E-4000000}`, `{"n":4E31322574}`, strings.Repeat(`{"n":`, 50_000)} {
		if _, err := set.Call(t.Context(), "B01", args); err == nil {
			t.Errorf("%.20s is accepted", args)
		}
	}
	if got, err := set.Call(t.Context(), "ok", `{"n":1}`); err != nil || got.Text != "ran" {
		t.Errorf("the other tool: %+v, %v", got, err)
	}
}

// B13: a format that is not enforced is said at registration.
func TestB13_FormatsAreReported(t *testing.T) {
	t.Parallel()
	tool, err := tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "x", Description: "d", Effects: tooldefs.None,
		Schema: json.RawMessage(`{"properties":{"d":{"type":"string","format":"duration"}}}`),
		Invoke: func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if w := tool.Warnings(); len(w) != 1 || !strings.Contains(w[0], "duration") {
		t.Errorf("warnings %q", w)
	}
}

// P07: a tool that calls another tool runs: no gate is held while it does.
func TestP07_AToolCallsAnotherTool(t *testing.T) {
	t.Parallel()
	var set *tooldefs.Set
	inner := echo[fine]("inner")
	outer := tooldefs.Define(tooldefs.Spec[fine, string]{
		Name: "outer", Description: "d", Timeout: time.Minute,
		Handler: func(ctx context.Context, _ *tooldefs.Call, in fine) (string, error) {
			name := "inner"
			if in.N > 1 {
				name = "outer" // itself, once more
			}
			got, err := set.Call(ctx, name, string(mustJSON(fine{in.N - 1})))
			return got.Text + string(got.JSON), err
		},
	})
	var err error
	if set, err = tooldefs.NewSet(inner, outer); err != nil {
		t.Fatal(err)
	}
	got, err := set.Call(t.Context(), "outer", `{"n":3}`)
	if err != nil || got.Text != `{"n":0}` {
		t.Errorf("got %+v, %v", got, err)
	}
}

// P07: a tool that calls itself without end is refused, and its turn goes on.
func TestP07_EndlessCalls(t *testing.T) {
	t.Parallel()
	var set *tooldefs.Set
	starts := 0
	outer := tooldefs.Define(tooldefs.Spec[fine, any]{
		Name: "outer", Description: "d",
		Handler: func(ctx context.Context, _ *tooldefs.Call, in fine) (any, error) {
			starts++
			return set.Call(ctx, "outer", `{"n":1}`)
		},
	})
	var err error
	if set, err = tooldefs.NewSet(outer); err != nil {
		t.Fatal(err)
	}
	_, err = outer.Invoke(t.Context(), testCall(), `{"n":1}`)
	if v := outer.Judge(err); starts != 33 || v.Outcome != contract.OutcomeFailed || !strings.Contains(v.Text, "more than 32 deep") {
		t.Errorf("%d starts, %+v", starts, v)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := set.Call(ended, "outer", `{"n":1}`); starts != 33 || !errors.Is(err, context.Canceled) || !tooldefs.IsNotExecuted(err) {
		t.Errorf("with a ctx that has ended: %d starts, %v", starts, err)
	}
}

// P07: what an inner tool's error says of the inner call it does not say of the
// handler that passes it on: that one ran, and may have acted before.
func TestP07_ErrorsOfAnInnerTool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inner error // nil: bad arguments
		mark  func(error) error
		want  contract.Outcome
		retry bool
	}{
		"bad arguments":     {nil, nil, contract.OutcomeFailed, false},
		"not executed":      {tooldefs.NotExecuted(errors.New("no")), nil, contract.OutcomeFailed, false},
		"transient":         {tooldefs.Transient(errors.New("no"), 0), nil, contract.OutcomeFailed, false},
		"plain":             {errors.New("no"), nil, contract.OutcomeFailed, false},
		"unknown":           {tooldefs.Unknown(errors.New("no")), nil, contract.OutcomeUnknown, false},
		"timeout":           {context.DeadlineExceeded, nil, contract.OutcomeUnknown, false},
		"its own timeout":   {&tooldefs.ToolTimeoutError{Tool: "inner"}, nil, contract.OutcomeUnknown, false},
		"marked by outer":   {errors.New("no"), tooldefs.NotExecuted, contract.OutcomeNotExecuted, false},
		"retried by outer":  {errors.New("no"), func(err error) error { return tooldefs.Transient(err, 0) }, contract.OutcomeFailed, true},
		"wrapped and mixed": {tooldefs.NotExecuted(errors.New("no")), func(err error) error { return errors.Join(errors.New("and"), err) }, contract.OutcomeFailed, false},
	} {
		for _, innerName := range []string{"inner", "outer"} { // outer calls itself
			var set *tooldefs.Set
			inner := func(context.Context, *tooldefs.Call, fine) (any, error) { return nil, c.inner }
			outer := tooldefs.Define(tooldefs.Spec[fine, any]{
				Name: "outer", Description: "d", Class: tooldefs.Keyed,
				Handler: func(ctx context.Context, call *tooldefs.Call, in fine) (any, error) {
					if in.N == 0 {
						return inner(ctx, call, in)
					}
					args := `{"n":0}`
					if c.inner == nil {
						args = `{}`
					}
					_, err := set.Call(ctx, innerName, args)
					if c.mark != nil {
						err = c.mark(err)
					}
					return nil, err
				},
			})
			var err error
			set, err = tooldefs.NewSet(outer, tooldefs.Define(tooldefs.Spec[fine, any]{Name: "inner", Description: "d", Handler: inner}))
			if err != nil {
				t.Fatal(err)
			}
			_, err = outer.Invoke(t.Context(), testCall(), `{"n":1}`)
			if v := outer.Judge(err); v.Outcome != c.want || v.Retry != c.retry || v.Text == "" {
				t.Errorf("%s by %s: %v gives %+v", name, innerName, err, v)
			}
		}
	}
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
