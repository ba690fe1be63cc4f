package schema

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func mustCompile(t testing.TB, raw string) *Schema {
	t.Helper()
	s, _, err := Compile([]byte(raw))
	if err != nil {
		t.Fatalf("Compile(%s): %v", raw, err)
	}
	return s
}

func words(list []Problem) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return strings.Join(out, "; ")
}

// B01: huge exponents.
func TestB01_HugeExponents(t *testing.T) {
	t.Parallel()
	for _, bound := range []string{`"maximum":10`, `"minimum":-10`, `"multipleOf":3`, `"enum":[1]`, `"const":1`} {
		for _, kind := range []string{"number", "integer"} {
			s := mustCompile(t, `{"properties":{"n":{"type":"`+kind+`",`+bound+`}}}`)
			for _, n := range []string{"1E1000001", "1E-4000000", "4E31322574", "-1e999999999999", "1e401", "1e-401", strings.Repeat("9", 500)} {
				got, problems := s.Accept(`{"n":` + n + `}`)
				if got != "" || !strings.Contains(words(problems), "number") {
					t.Errorf("%s %s: Accept(%.20s) = %q, %v", kind, bound, n, got, problems)
				}
				if problems := s.Validate([]byte(`{"n":` + n + `}`)); len(problems) == 0 {
					t.Errorf("Validate(%.20s) found nothing", n)
				}
			}
		}
	}
	if _, _, err := Compile([]byte(`{"maximum":1E1000001}`)); err == nil {
		t.Error("a schema with a huge number compiled")
	}
}

// B02: cyclic refs.
func TestB02_CyclicRefs(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"allOf":[{"$ref":"#"}]}`,
		`{"$ref":"#"}`,
		`{"not":{"$ref":"#"}}`,
		`{"if":{"$ref":"#"},"then":{}}`,
		`{"dependentSchemas":{"a":{"$ref":"#"}}}`,
		`{"properties":{"x":{"$ref":"#/definitions/n"}},"definitions":{"n":{"anyOf":[{"type":"string"},{"$ref":"#/definitions/n"}]}}}`,
		`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"oneOf":[{"$ref":"#/$defs/a"}]}}}`,
		`{"properties":{"x":{"$ref":"#/properties/x"}}}`,
	} {
		if _, _, err := Compile([]byte(raw)); err == nil || !strings.Contains(err.Error(), "back to itself") {
			t.Errorf("Compile(%s) = %v", raw, err)
		}
	}
	tree := mustCompile(t, `{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#"},"kids":{"type":"array","items":{"$ref":"#"}}},"additionalProperties":false}`)
	if got, problems := tree.Accept(`{"v":1.0,"next":{"v":2e0,"kids":[{"v":3}]}}`); got != `{"next":{"kids":[{"v":3}],"v":2},"v":1}` {
		t.Errorf("recursion through properties: %q, %v", got, problems)
	}
	if _, problems := tree.Accept(`{"next":{"kids":[{"v":"x"}]}}`); words(problems) != "next.kids.0.v: must be an integer, not a string" {
		t.Errorf("recursion: %q", words(problems))
	}
}

// B02: multiplying refs.
func TestB02_MultiplyingRefs(t *testing.T) {
	t.Parallel()
	var defs []string
	for i := range 40 {
		next := `{"$ref":"#/$defs/d` + string(rune('A'+i+1)) + `"}`
		defs = append(defs, `"d`+string(rune('A'+i))+`":{"allOf":[`+next+`,`+next+`]}`)
	}
	raw := `{"$ref":"#/$defs/dA","$defs":{` + strings.Join(defs, ",") + `,"d` + string(rune('A'+40)) + `":{}}}`
	if _, _, err := Compile([]byte(raw)); err == nil {
		t.Error("2^40 in-place schemas compiled")
	}
	// Multiplying from level to level shows only with a value.
	s := mustCompile(t, `{"anyOf":[{"properties":{"c":{"$ref":"#"}},"required":["a"]},{"properties":{"c":{"$ref":"#"}},"required":["b"]}]}`)
	begin := time.Now()
	_, problems := s.Accept(strings.Repeat(`{"c":`, 60) + "{}" + strings.Repeat("}", 60))
	if !strings.Contains(words(problems), "too complex") {
		t.Errorf("problems = %v", problems)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
}

// B02: Alternatives that the type rules out must not multiply either.
func TestB02_MultiplyingAlternatives(t *testing.T) {
	t.Parallel()
	one := `{"type":"string","properties":{"c":{"$ref":"#/properties/c"}}}`
	two := `{"not":` + one + `,"properties":{"c":{"$ref":"#/properties/c"}}}`
	for _, alternative := range []string{one, two} {
		s := mustCompile(t, `{"properties":{"c":{"anyOf":[`+alternative+`,`+alternative+`,{}]}}}`)
		begin := time.Now()
		_, _ = s.Accept(strings.Repeat(`{"c":`, 60) + "{}" + strings.Repeat("}", 60))
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("took %s", took)
		}
	}
}

// B03: What looks like a reference inside of a value is a value.
func TestB03_ReferencesInValues(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"properties":{"$ref":{"const":{"$ref":"http://127.0.0.1:1/"}},"$id":{"enum":[{"$id":"http://127.0.0.1:1/"}]},"const":{"$ref":"#/$defs/n"},
		"d":{"default":{"$ref":"file:///etc/passwd"}}},"required":["$ref"],"dependentRequired":{"$id":["$ref"]},"$defs":{"n":{"type":"integer"}}}`)
	want := `{"$id":{"$id":"http://127.0.0.1:1/"},"$ref":{"$ref":"http://127.0.0.1:1/"},"const":1,"d":{"$ref":"file:///etc/passwd"}}`
	if got, problems := s.Accept(`{"$ref":{"$ref":"http://127.0.0.1:1/"},"$id":{"$id":"http://127.0.0.1:1/"},"const":1}`); got != want {
		t.Errorf("got %q, %v", got, problems)
	}
	if _, problems := s.Accept(`{"$ref":1,"const":"x"}`); len(problems) != 2 {
		t.Errorf("problems %v", problems)
	}
}

// B03: nothing is fetched.
func TestB03_NothingIsFetched(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	there := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(there, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{}
	for _, raw := range []string{
		`{"properties":{"p":{"$ref":"` + server.URL + `/x"}}}`,
		`{"$ref":"file://` + there + `"}`,
		`{"$ref":"file:///does/not/exist"}`,
		`{"$id":"` + server.URL + `/x/","properties":{"p":{"$ref":"other.json"}}}`,
		`{"$id":"` + server.URL + `/x/","$ref":"other.json#/a"}`,
		`{"$ref":"` + server.URL + `#"}`,
		`{"$ref":"//` + strings.TrimPrefix(server.URL, "http://") + `/x"}`,
		`{"$defs":{"unused":{"$ref":"` + server.URL + `"}}}`,
	} {
		_, _, err := Compile([]byte(raw))
		if err == nil || !strings.Contains(err.Error(), "outside") {
			t.Errorf("Compile(%s) = %v", raw, err)
			continue
		}
		texts[strings.Split(err.Error(), " at ")[0]] = true
	}
	if len(texts) != 1 {
		t.Errorf("the refusals differ: %v", texts)
	}
	// An $id or $schema label on its own is not looked at.
	s := mustCompile(t, `{"$schema":"`+server.URL+`/schema","$id":"`+server.URL+`/x/","$defs":{"s":{"type":"string"}},"properties":{"p":{"$ref":"#/$defs/s"}}}`)
	if _, problems := s.Accept(`{"p":1}`); len(problems) != 1 {
		t.Errorf("problems = %v", problems)
	}
	if _, _, err := Compile([]byte(`{"properties":{"p":{"$id":"` + server.URL + `/y","$ref":"#/a"}},"a":{}}`)); err == nil {
		t.Error("a nested $id with a $ref compiled")
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests were sent", hits.Load())
	}
	if strings.Contains(s.JSON(), "$schema") {
		t.Error("the $schema label is shown")
	}
}

// B04: newer keywords.
func TestB04_NewerKeywords(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		`{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`: "unevaluatedProperties",
		`{"unevaluatedItems":false}`:                                        "unevaluatedItems",
		`{"contains":{"type":"integer"},"minContains":2}`:                   "minContains",
		`{"contains":{},"maxContains":2}`:                                   "maxContains",
		`{"$dynamicRef":"#x"}`:                                              "$dynamicRef",
		`{"$ref":"#anchor"}`:                                                "anchor",
	}
	for raw, want := range refused {
		if _, _, err := Compile([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%s) = %v, want one about %s", raw, err, want)
		}
	}
	enforced := []struct{ schema, bad, good string }{
		{`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"a":1,"evil":2}`, `{"a":1}`},
		{`{"dependentRequired":{"cc":["addr"]}}`, `{"cc":1}`, `{"cc":1,"addr":2}`},
		{`{"dependentSchemas":{"cc":{"required":["addr"]}}}`, `{"cc":1}`, `{"x":1}`},
		{`{"dependentSchemas":{"cc":false}}`, `{"cc":1}`, `{"x":1}`},
		{`{"properties":{"t":{"prefixItems":[{"type":"integer"}]}}}`, `{"t":["x"]}`, `{"t":[1,"x"]}`},
		{`{"properties":{"t":{"prefixItems":[{"type":"integer"}],"items":false}}}`, `{"t":[1,2]}`, `{"t":[1]}`},
		{`{"properties":{"t":{"items":[{"type":"integer"}],"additionalItems":{"type":"string"}}}}`, `{"t":[1,2]}`, `{"t":[1,"a"]}`},
		{`{"properties":{"t":{"contains":{"type":"integer"},"minContains":1}}}`, `{"t":["a"]}`, `{"t":["a",1]}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"k":{"const":"a"}}}`, `{"k":"b"}`, `{"k":"a"}`},
		{`{"properties":{"n":{"minimum":0,"exclusiveMinimum":true}}}`, `{"n":0}`, `{"n":1}`},
		{`{"$defs":{"s":{"type":"object","properties":{"a":{}}}},"properties":{"p":{"$ref":"#/$defs/s","required":["a"]}}}`, `{"p":{}}`, `{"p":{"a":1}}`},
		{`{"x-shared":{"s~/t":{"type":"string"}},"properties":{"p":{"$ref":"#/x-shared/s~0~1t"}}}`, `{"p":1}`, `{"p":"a"}`},
	}
	for _, c := range enforced {
		s := mustCompile(t, c.schema)
		if _, problems := s.Accept(c.bad); len(problems) == 0 {
			t.Errorf("%s accepts %s", c.schema, c.bad)
		}
		if _, problems := s.Accept(c.good); len(problems) > 0 {
			t.Errorf("%s refuses %s: %v", c.schema, c.good, problems)
		}
	}
}

// B06: patterns.
func TestB06_Patterns(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"properties":{"p":{"type":"string","pattern":"^(?!admin).*$"}}}`,
		`{"patternProperties":{"^(?!x-)":{"type":"string"}}}`,
		`{"pattern":"(a)\\1"}`,
		`{"pattern":"((a{100}){100}){100}"}`,
	} {
		if _, _, err := Compile([]byte(raw)); err == nil || !strings.Contains(err.Error(), "pattern") {
			t.Errorf("Compile(%s) = %v", raw, err)
		}
	}
}

// B08: duplicate and folded keys.
func TestB08_DuplicateAndFoldedKeys(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"properties":{"path":{"enum":["safe"]},"deep":{"anyOf":[{"properties":{"kind":{}}}]}}}`)
	for args, want := range map[string]string{
		`{"path":"safe","PATH":"/etc/passwd"}`:      "PATH: differs only in case from the property path",
		`{"PATH":"/etc/passwd"}`:                    "PATH: differs only in case from the property path",
		`{"path":"/etc/passwd","path":"safe"}`:      `the text has the key "path" twice`,
		`{"a":{"b":[{"x":1,"x":2}]}}`:               `the text has the key "x" twice at a.b.0`,
		`{"path":"safe","p\u0061th":"/etc/passwd"}`: `the text has the key "path" twice`,
		`{"deep":{"\u212Aind":1}}`:                  "deep.\u212Aind: differs only in case from the property kind",
	} {
		if got, problems := s.Accept(args); got != "" || words(problems) != want {
			t.Errorf("Accept(%s) = %q, %q, want %q", args, got, words(problems), want)
		}
	}
}

// B10: big integers.
func TestB10_BigIntegers(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"properties":{"account":{"type":"integer"},"one":{"enum":[9007199254740992]},"two":{"const":9007199254740993}}}`)
	for _, args := range []string{`{"account":9007199254740993}`, `{"account":9007199254740992}`, `{"two":9007199254740993}`, `{"account":123456789012345678901234567890}`} {
		if got, problems := s.Accept(args); got != args {
			t.Errorf("Accept(%s) = %q, %v", args, got, problems)
		}
	}
	if got, _ := s.Accept(`{"account":9007199254740993.0}`); got != `{"account":9007199254740993}` {
		t.Errorf("got %s", got)
	}
	for _, args := range []string{`{"one":9007199254740993}`, `{"two":9007199254740992}`} {
		if got, problems := s.Accept(args); len(problems) == 0 {
			t.Errorf("Accept(%s) = %q", args, got)
		}
	}
}

// B13: formats.
func TestB13_Formats(t *testing.T) {
	t.Parallel()
	_, warnings, err := Compile([]byte(`{"properties":{"d":{"format":"duration"},"u":{"format":"uri"},"n":{"nullable":true}}}`))
	if err != nil || len(warnings) != 2 || !strings.Contains(warnings[0], "duration") || !strings.Contains(warnings[1], "nullable") {
		t.Errorf("warnings = %q, %v", warnings, err)
	}
}
