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

// T06, T21, T24: check.
func TestT06_T21_T24_Check(t *testing.T) {
	t.Parallel()
	tool := echo[orderIn]("order")
	for _, c := range []struct{ name, in, want, problem string }{
		{"defaults", `{"id":"1"}`, `{"count":3,"id":"1"}`, ""},
		{"null for optional", `{"id":"1","kind":null,"note":null}`, `{"count":3,"id":"1","note":null}`, ""},
		{"integral", `{"id":"1","count":2.0,"exact":1e2}`, `{"count":2,"exact":100,"id":"1"}`, ""},
		{"double encoded", `"{\"id\":\"1\"}"`, `{"count":3,"id":"1"}`, ""},
		{"empty", ``, "", "error: order was not executed: invalid arguments\n- id: is required"},
		{"two", `{"id":"1"}{}`, "", "error: order was not executed: invalid arguments\n- the text has text after the end of the JSON value"},
		{"sorted", `{"count":11,"kind":"c"}`, "", "error: order was not executed: invalid arguments\n- count: must be at most 10\n- id: is required\n- kind: must be one of \"a\", \"b\""},
		{"date for a time", `{"id":"1","when":"2024-01-01"}`, "", "error: order was not executed: invalid arguments\n- when: parsing time"},
		{"duration", `{"id":"1","wait":"soon"}`, "", "error: order was not executed: invalid arguments\n- wait: duration \"soon\""},
		{"case", `{"id":"1","ID":"2"}`, "", "error: order was not executed: invalid arguments\n- ID: differs only in case from the property id"},
	} {
		got := tool.Check(c.in)
		if got.Canonical != c.want || !strings.HasPrefix(got.Problem, c.problem) || (c.problem == "") != (got.Problem == "") {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

type narrow struct {
	N int8 `json:"n"`
}

// T06: arguments that do not fit go.
func TestT06_ArgumentsThatDoNotFitGo(t *testing.T) {
	t.Parallel()
	got := echo[narrow]("x").Check(`{"n":300}`)
	if want := "error: x was not executed: invalid arguments\n- n: number 300 is not possible here"; got.Problem != want {
		t.Errorf("got %q", got.Problem)
	}
}

// T06, T23, T24: what a Go type would take for another value than the recorded
// one is refused, with its path.
func TestT06_OtherThanRecorded(t *testing.T) {
	t.Parallel()
	type in struct {
		Float  float64     `json:"float,omitempty"`
		Single float32     `json:"single,omitempty"`
		Byte   []byte      `json:"byte,omitempty"`
		Whole  map[int]int `json:"whole,omitempty"`
		List   []struct {
			When time.Time `json:"when"`
		} `json:"list,omitempty"`
		Text map[string]string `json:"text,omitempty"`
	}
	tool := echo[in]("x")
	for args, want := range map[string]string{
		`{"float":9007199254740993}`:      "the integer 9007199254740993 has more digits",
		`{"float":9007199254740992}`:      "",
		`{"float":123456789012345678e3}`:  "has more digits",
		`{"float":0.1234567890123456789}`: "",
		`{"float":1e300}`:                 "",
		`{"single":16777217}`:             "has more digits",
		`{"single":16777216}`:             "",
		`{"single":1e39}`:                 "single: number 1e39 is not possible here",
		`{"byte":"a"}`:                    "- byte: illegal base64",
		`{"list":[{"when":"2024-01-01T00:00:00Z"},{"when":"2024-01-01"}]}`: "- list.1.when: parsing time",
		`{"whole":{"1":1,"01":2}}`:                     "01: is not written as a plain integer",
		`{"whole":{"0":1,"10":2}}`:                     "",
		`{"text":{"a":"\ud800"}}`:                      "the text has a string that is not valid Unicode",
		`{"text":{"a":"\ud800\ud800"}}`:                "not valid Unicode",
		`{"text":{"a":"\udc00\ud800"}}`:                "not valid Unicode",
		`{"text":{"\ud83d":"a"}}`:                      "not valid Unicode",
		"{\"text\":{\"a\":\"\xff\"}}":                  "not valid Unicode",
		`{"text":{"a":"\ud83d\ude00 \ufffd \\ud800"}}`: "",
	} {
		if got := tool.Check(args); !strings.Contains(got.Problem, want) || (got.Problem == "") != (want == "") {
			t.Errorf("%q: %+v, want %q", args, got, want)
		}
	}
}

// open is a type whose schema says less than its fields, so that only the
// decoder stands between a folded key and a field.
type open struct {
	Path string `json:"path"`
}

func (open) JSONSchemaAlias() any { return map[string]any{} }

type openIn struct {
	Open open `json:"open"`
}

// B08: folded key is not decoded.
func TestB08_FoldedKeyIsNotDecoded(t *testing.T) {
	t.Parallel()
	got := echo[openIn]("x").Check(`{"open":{"path":"safe","PATH":"/etc/passwd"}}`)
	if !strings.Contains(got.Problem, "PATH: differs only in case") {
		t.Errorf("got %+v", got)
	}
	got = echo[openIn]("x").Check(`{"open":{"path":"safe","other":1}}`)
	if got.Canonical != `{"open":{"other":1,"path":"safe"}}` {
		t.Errorf("got %+v", got)
	}
}

// T23: big integers reach the handler.
func TestT23_BigIntegersReachTheHandler(t *testing.T) {
	t.Parallel()
	type in struct {
		ID   int64          `json:"id"`
		Any  any            `json:"any"`
		Rest map[string]any `json:"rest"`
	}
	tool := echo[in]("x")
	args := `{"any":[9007199254740993],"id":9007199254740993,"rest":{"a":9007199254740995}}`
	checked := tool.Check(args)
	if checked.Canonical != args {
		t.Fatalf("got %+v", checked)
	}
	result, err := tool.Invoke(context.Background(), testCall(), checked.Canonical)
	if err != nil || string(result.JSON) != args {
		t.Errorf("got %s, %v", result.JSON, err)
	}
}

// T03: transform args and to result.
func TestT03_TransformArgsAndToResult(t *testing.T) {
	t.Parallel()
	got := ""
	tool, err := tooldefs.Wrap(tooldefs.WrapSpec{
		Name: "w", Description: "d",
		Schema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"},"limit":{"type":"integer","default":5}},"required":["q"],"additionalProperties":false}`),
		TransformArgs: func(args string) (string, error) {
			switch {
			case strings.Contains(args, "panic"):
				panic("no")
			case strings.Contains(args, "refuse"):
				return "", errors.New("not today")
			}
			return strings.ReplaceAll(args, "query", "q"), nil
		},
		Invoke: func(_ context.Context, _ *tooldefs.Call, args json.RawMessage) (any, error) {
			got = string(args)
			return map[string]any{"n": 1}, nil
		},
		ToResult: func(v any) (any, error) { return v.(map[string]any)["n"], nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := tool.Check(`{"query":"a"}`)
	if checked.Canonical != `{"limit":5,"q":"a"}` {
		t.Fatalf("checked %+v", checked)
	}
	result, err := tool.Invoke(context.Background(), testCall(), checked.Canonical)
	if err != nil || string(result.JSON) != "1" || got != checked.Canonical {
		t.Errorf("result %+v, %v; invoked with %s", result, err, got)
	}
	for in, want := range map[string]string{
		`{"query":"panic"}`: "internal error: no", `{"query":"refuse"}`: "not today", `[]`: "one JSON object", `{"a":1,"a":2}`: "twice",
	} {
		if got := tool.Check(in); !strings.Contains(got.Problem, want) {
			t.Errorf("Check(%s) = %+v", in, got)
		}
	}
}

// T03: what ToResult gives is what is recorded; where it fails the call has run,
// and Invoke's own error does not come to it.
func TestT03_ToResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		toResult func(any) (any, error)
		err      error
		want     string
		outcome  contract.Outcome
	}{
		"mapped":        {func(v any) (any, error) { return []any{v}, nil }, nil, `["raw"]`, ""},
		"refuses":       {func(any) (any, error) { return nil, errors.New("not a result") }, nil, "", contract.OutcomeUnknown},
		"panics":        {func(any) (any, error) { panic("no") }, nil, "", contract.OutcomeUnknown},
		"not asked":     {func(any) (any, error) { t.Error("ToResult is asked of an error"); return nil, nil }, errors.New("down"), "", contract.OutcomeFailed},
		"not JSON":      {func(any) (any, error) { return func() {}, nil }, nil, "", contract.OutcomeUnknown},
		"not as wanted": {func(any) (any, error) { return "text", nil }, nil, "", contract.OutcomeUnknown},
	} {
		tool, err := tooldefs.Wrap(tooldefs.WrapSpec{
			Name: "w", Description: "d", Output: json.RawMessage(`{"type":"array"}`), ToResult: c.toResult,
			Invoke: func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return "raw", c.err },
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := tool.Invoke(t.Context(), testCall(), `{}`)
		if string(got.JSON) != c.want || (err == nil) != (c.outcome == "") || err != nil && tool.Judge(err).Outcome != c.outcome {
			t.Errorf("%s: %s, %v", name, got.JSON, err)
		}
	}
}

// T03, T25: wrap refuses.
func TestT03_T25_WrapRefuses(t *testing.T) {
	t.Parallel()
	invoke := func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return nil, nil }
	for want, s := range map[string]tooldefs.WrapSpec{
		"no name":        {Description: "d", Invoke: invoke},
		"no Invoke":      {Name: "x", Description: "d"},
		"back to itself": {Name: "x", Description: "d", Invoke: invoke, Schema: json.RawMessage(`{"type":"object","allOf":[{"$ref":"#"}]}`)},
		"not allowed":    {Name: "x", Description: "d", Invoke: invoke, Schema: json.RawMessage(`{"$ref":"http://127.0.0.1:1/"}`)},
		"describe an":    {Name: "x", Description: "d", Invoke: invoke, Schema: json.RawMessage(`{"type":"string"}`)},
		"output:":        {Name: "x", Description: "d", Invoke: invoke, Output: json.RawMessage(`{"$ref":"file:///etc/passwd"}`)},
		"MaxAttempts":    {Name: "x", Description: "d", Invoke: invoke, MaxAttempts: 2},
	} {
		tool, err := tooldefs.Wrap(s)
		if tool != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// T31: parallel safe.
func TestT31_ParallelSafe(t *testing.T) {
	t.Parallel()
	with := func(p func(string) bool) *tooldefs.Tool {
		return tooldefs.Define(tooldefs.Spec[fine, fine]{
			Name: "x", Description: "d", ParallelSafe: p,
			Handler: func(context.Context, *tooldefs.Call, fine) (fine, error) { return fine{}, nil },
		})
	}
	if with(nil).ParallelSafe("{}") || !with(tooldefs.Always).ParallelSafe("not even JSON") {
		t.Error("nil is not serial, or Always is not parallel")
	}
	if with(func(string) bool { panic("no") }).ParallelSafe("{}") {
		t.Error("a panic does not fail closed")
	}
	raw := ""
	with(func(s string) bool { raw = s; return true }).ParallelSafe(" {raw")
	if raw != " {raw" {
		t.Errorf("the predicate saw %q", raw)
	}
}

// T47, T48: override key.
func TestT47_T48_OverrideKey(t *testing.T) {
	t.Parallel()
	with := func(key func(fine) string) *tooldefs.Tool {
		return tooldefs.Define(tooldefs.Spec[fine, fine]{
			Name: "x", Description: "d", IdempotencyKey: key,
			Handler: func(context.Context, *tooldefs.Call, fine) (fine, error) { return fine{}, nil },
		})
	}
	for name, c := range map[string]struct {
		key  func(fine) string
		want string
		ok   bool
		err  bool
	}{
		"none":  {nil, "", false, false},
		"own":   {func(in fine) string { return "n" + string(rune('0'+in.N)) }, "n7", true, false},
		"empty": {func(fine) string { return "" }, "", false, false},
		"panic": {func(fine) string { panic("no") }, "", false, true},
	} {
		key, ok, err := with(c.key).OverrideKey(`{"n":7}`)
		if key != c.want || ok != c.ok || (err != nil) != c.err {
			t.Errorf("%s: got %q, %v, %v", name, key, ok, err)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	with := func(f func(fine) string) *tooldefs.Tool {
		return tooldefs.Define(tooldefs.Spec[fine, fine]{
			Name: "x", Description: "d", Summary: f,
			Handler: func(context.Context, *tooldefs.Call, fine) (fine, error) { return fine{}, nil },
		})
	}
	for want, f := range map[string]func(fine) string{
		`x {"n":7}`: nil, "seven lines": func(fine) string { return "seven\nlines" },
		`x {"n":7} `: func(fine) string { panic("no") },
	} {
		if got := with(f).Summary(`{"n":7}`); got != strings.TrimSpace(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	long := with(func(fine) string { return strings.Repeat("é", 300) + "\xff" }).Summary(`{"n":7}`)
	if len(long) > 200 || !utf8.ValidString(long) {
		t.Errorf("%d bytes", len(long))
	}
}

// FuzzCheck: whatever a model writes, there is a canonical text or a problem,
// never both, and the text is good for the handler.
func FuzzCheck(f *testing.F) {
	tool := echo[orderIn]("order")
	for _, s := range []string{`{"id":"1"}`, `{"id":"1","count":1e400}`, `"{}"`, ``, `{"id":"1","where":{"city":"x","zip":"12345"},"labels":{"a":1}}`, `{"Id":1}`, `{"id":"\ud800"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := tool.Check(raw)
		if (got.Canonical == "") == (got.Problem == "") {
			t.Fatalf("got %+v", got)
		}
		if !utf8.ValidString(got.Problem) || utf8.RuneCountInString(got.Problem) > 2_200 {
			t.Fatalf("problem of %d bytes", len(got.Problem))
		}
		if got.Canonical == "" {
			return
		}
		if again := tool.Check(got.Canonical); again != got {
			t.Fatalf("%+v checks to %+v", got, again)
		}
		if _, err := tool.Invoke(context.Background(), testCall(), got.Canonical); err != nil {
			t.Fatalf("Invoke(%s): %v", got.Canonical, err)
		}
	})
}
