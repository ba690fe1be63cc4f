package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func orderSchema() string {
	return `{"type":"object","additionalProperties":false,"required":["id","count"],"properties":{
		"id":{"type":"string","pattern":"^o_[0-9]+$"},
		"count":{"type":"integer","minimum":1,"maximum":1e20},
		"price":{"type":"number","exclusiveMinimum":0,"multipleOf":0.01},
		"unit":{"enum":["kg","pcs"],"default":"pcs"},
		"note":{"type":["string","null"],"maxLength":5},
		"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true,"maxItems":2},
		"opts":{"type":"object","properties":{"fast":{"type":"boolean","default":false},"why":{"type":"string"}}},
		"either":{"anyOf":[{"type":"integer"},{"type":"string"}]},
		"maybe":{"oneOf":[{"type":"string"},{"type":"null"}]}}}`
}

func TestAccept(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, orderSchema())
	for _, c := range []struct{ name, in, want, problems string }{
		{"T21 canonical", ` { "count" : 2, "id":"o_1" } `, `{"count":2,"id":"o_1","unit":"pcs"}`, ""},
		{"T21 no HTML escaping", `{"id":"o_1","count":1,"maybe":"<a&b>\u2028é"}`, `{"count":1,"id":"o_1","maybe":"<a&b>\u2028é","unit":"pcs"}`, ""},
		{"T21 trailing text", `{"id":"o_1","count":1} ok`, "", "the text has text after the end of the JSON value"},
		{"T21 second object", `{"id":"o_1","count":1}{}`, "", "the text has text after the end of the JSON value"},
		{"T21 scalar", `7`, "", "the arguments must be one JSON object, not a number"},
		{"T21 array", `[{}]`, "", "the arguments must be one JSON object, not an array"},
		{"T21 cut off", `{"id":"o_1"`, "", "the text is not valid JSON: unexpected end of JSON input (at byte 11)"},
		{"T21 empty", "", "", "count: is required; id: is required"},
		{"T21 blank", " \n", "", "count: is required; id: is required"},
		{"T21 null", "null", "", "count: is required; id: is required"},
		{"T21 double encoded", `"{\"id\":\"o_1\",\"count\":1}"`, `{"count":1,"id":"o_1","unit":"pcs"}`, ""},
		{"T21 double encoded, invalid", `"{\"id\":\"o_1\"}"`, "", "the arguments must be one JSON object, not a string"},
		{"T21 encoded twice", `"\"{\\\"id\\\":\\\"o_1\\\",\\\"count\\\":1}\""`, "", "the arguments must be one JSON object, not a string"},
		{"T22 optional null dropped", `{"id":"o_1","count":1,"price":null,"tags":null,"unit":null}`, `{"count":1,"id":"o_1","unit":"pcs"}`, ""},
		{"T22 nested null dropped", `{"id":"o_1","count":1,"opts":{"why":null}}`, `{"count":1,"id":"o_1","opts":{"fast":false},"unit":"pcs"}`, ""},
		{"T22 admitted null stays", `{"id":"o_1","count":1,"note":null,"maybe":null}`, `{"count":1,"id":"o_1","maybe":null,"note":null,"unit":"pcs"}`, ""},
		{"T22 required null", `{"id":null,"count":1}`, "", "id: must be a string, not null"},
		{"T23 1.0", `{"id":"o_1","count":1.0}`, `{"count":1,"id":"o_1","unit":"pcs"}`, ""},
		{"T23 1e2", `{"id":"o_1","count":1e2}`, `{"count":100,"id":"o_1","unit":"pcs"}`, ""},
		{"T23 big", `{"id":"o_1","count":9007199254740993}`, `{"count":9007199254740993,"id":"o_1","unit":"pcs"}`, ""},
		{"T23 number keeps its text", `{"id":"o_1","count":1,"price":1.50}`, `{"count":1,"id":"o_1","price":1.50,"unit":"pcs"}`, ""},
		{"T23 alternatives", `{"id":"o_1","count":1,"either":2.0}`, `{"count":1,"either":2,"id":"o_1","unit":"pcs"}`, ""},
		{"T24 several", `{"id":"x","count":0,"price":0.001,"unit":"g","note":"too long","tags":["a","a","b"],"more":1}`, "",
			`count: must be at least 1; id: must match the pattern ^o_[0-9]+$; more: is not a known property; note: must have at most 5 characters; ` +
				`price: must be a multiple of 0.01; tags: must have at most 2 items; tags: must not hold equal items (0 and 1); unit: must be one of "kg", "pcs"`},
		{"T24 types", `{"id":1,"count":1.5,"tags":[1],"opts":[],"either":true}`, "",
			`count: must be an integer, not a number; either: matches none of the allowed forms; either: must be an integer, not a boolean; ` +
				`id: must be a string, not an integer; opts: must be an object, not an array; tags.0: must be a string, not an integer`},
		{"T24 bounds", `{"id":"o_1","count":1e21,"price":0}`, "", `count: must be at most 100000000000000000000; price: must be more than 0`},
	} {
		got, problems := s.Accept(c.in)
		if got != c.want || words(problems) != c.problems {
			t.Errorf("%s: got %q, %q\nwant %q, %q", c.name, got, words(problems), c.want, c.problems)
		}
	}
}

func TestAccept_Bounds(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"additionalProperties":{"type":"integer"}}`)
	for name, in := range map[string]string{
		"depth":  strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000),
		"size":   `{"a":"` + strings.Repeat("x", maxArgsBytes) + `"}`,
		"values": `{"a":[` + strings.Repeat("1,", maxArgsValues) + `1]}`,
	} {
		if got, problems := s.Accept(in); got != "" || len(problems) != 1 || len(problems[0].Reason) > maxProblemBytes {
			t.Errorf("%s: %d bytes, %v", name, len(got), problems)
		}
	}
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprintf(`"%d%s":"x"`, i, strings.Repeat("é", 200)))
	}
	_, problems := s.Accept("{" + strings.Join(many, ",") + "}")
	if len(problems) != maxProblems+1 || problems[maxProblems].Reason != "and 480 more problems" {
		t.Errorf("%d problems, last %v", len(problems), problems[len(problems)-1])
	}
	for _, p := range problems {
		if len(p.Path) > maxPathBytes || !utf8.ValidString(p.Path) {
			t.Errorf("path of %d bytes", len(p.Path))
		}
	}
}

func TestCompile_Refuses(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`[]`, `"x"`, `{`, `{} {}`, `{"type":"strnig"}`, `{"type":[]}`, `{"properties":[]}`, `{"properties":{"a":1}}`,
		`{"enum":[]}`, `{"required":"a"}`, `{"allOf":[]}`, `{"anyOf":{}}`, `{"items":3}`, `{"minLength":-1}`, `{"minLength":1.5}`,
		`{"maximum":"3"}`, `{"multipleOf":0}`, `{"pattern":1}`, `{"format":1}`, `{"$ref":1}`, `{"$ref":"#/nothing"}`, `{"$ref":"#/a/%zz"}`,
		`{"definitions":true}`, `{"uniqueItems":1}`, `{"dependencies":[]}`, `{"dependentRequired":{"a":{}}}`, `{"type":"object","type":"object"}`,
		strings.Repeat(`{"not":`, 200) + "{}" + strings.Repeat("}", 200),
		`{"description":"` + strings.Repeat("x", maxSchemaBytes) + `"}`,
	} {
		if s, _, err := Compile([]byte(raw)); err == nil || s != nil {
			t.Errorf("Compile(%.60s) is accepted", raw)
		}
	}
	for _, raw := range []string{`{"type":"string"}`, `false`, `{"type":["string","null"]}`} {
		if _, _, err := CompileInput([]byte(raw)); err == nil {
			t.Errorf("CompileInput(%s) is accepted", raw)
		}
	}
	for raw, want := range map[string]string{
		``: `{"properties":{},"type":"object"}`, `null`: `{"properties":{},"type":"object"}`,
		`{"type":["object","null"],"properties":{"a":{}}}`: `{"properties":{"a":{}},"type":"object"}`,
	} {
		s, _, err := CompileInput([]byte(raw))
		if err != nil || s.JSON() != want {
			t.Errorf("CompileInput(%s) = %v, %v", raw, s, err)
		}
	}
}

func TestCompile_WarnsOfDefaults(t *testing.T) {
	t.Parallel()
	_, warnings, err := Compile([]byte(`{"properties":{"n":{"type":"integer","default":"x"},"m":{"default":1,"minimum":0}},"required":["z"]}`))
	if want := []string{"the default of n: must be an integer, not a string"}; err != nil || !slices.Equal(warnings, want) {
		t.Errorf("warnings = %q, %v", warnings, err)
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		` {"b":[1.0, 1e2,-0],"a":"<é\u0000>"} `: `{"a":"<é\u0000>","b":[1.0,1e2,-0]}`,
		`"x"`:                                   `"x"`, `null`: `null`, `[true,false,{}]`: `[true,false,{}]`,
	} {
		got, err := Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s) = %s, %v", in, got, err)
		}
	}
	for _, in := range []string{"", `{"a":1,"a":1}`, `[1,]`, `1 2`, `1e999`, `{a:1}`, "\xff"} {
		if got, err := Canonical([]byte(in)); err == nil {
			t.Errorf("Canonical(%q) = %s", in, got)
		}
	}
}

func TestIntegral(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1": "1", "1.0": "1", "1e2": "100", "1E+2": "100", "12.50e1": "125", "-0": "0", "-0.0": "0", "-3.00": "-3",
		"100e-2": "1", "0e5": "0", "1.5": "", "1e-1": "", "12.34e1": "", "9007199254740993.0": "9007199254740993",
	} {
		got, ok := integral(json.Number(in))
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("integral(%s) = %s, %v, want %q", in, got, ok, want)
		}
	}
}

func TestAccept_Concurrent(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, orderSchema())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, problems := s.Accept(`{"id":"o_1","count":1,"opts":{}}`); got != `{"count":1,"id":"o_1","opts":{"fast":false},"unit":"pcs"}` {
					t.Errorf("got %q, %v", got, problems)
				}
				_, _ = s.Accept(`{"id":"x"}`)
			}
		})
	}
	wg.Wait()
}

// TestMaps leaves keys of open objects alone, whatever their case.
func TestAccept_Maps(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"properties":{"headers":{"additionalProperties":{"type":"string"}}},"patternProperties":{"^n_":{"type":"integer"}}}`)
	got, problems := s.Accept(`{"headers":{"Accept":"a","accept":"b"},"n_a":1.0,"other":null}`)
	if diff := cmp.Diff(`{"headers":{"Accept":"a","accept":"b"},"n_a":1,"other":null}`, got); diff != "" {
		t.Errorf("%s %v", diff, problems)
	}
}
