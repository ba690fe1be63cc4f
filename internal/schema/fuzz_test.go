package schema

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzCompileAccept: no schema and no arguments make a panic or a hang, what
// is accepted is canonical, and accepting it again changes nothing.
func FuzzCompileAccept(f *testing.F) {
	f.Add(orderSchema(), `{"id":"o_1","count":1.0,"price":null}`)
	f.Add(`{"allOf":[{"$ref":"#"}]}`, `{}`)
	f.Add(`{"properties":{"n":{"type":"number","maximum":10}}}`, `{"n":1E1000001}`)
	f.Add(`{"$defs":{"n":{"properties":{"c":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`, `{"c":{"c":{}}}`)
	f.Add(`{"properties":{"t":{"prefixItems":[{"const":1}],"items":false}},"dependentRequired":{"a":["b"]}}`, `{"t":[1],"a":1}`)
	f.Add(`{"patternProperties":{"^a":{"enum":[1,"x",null]}},"propertyNames":{"maxLength":3}}`, `"{\"a\":1}"`)
	f.Add(`{"if":{"required":["a"]},"then":{"required":["b"]},"else":false}`, `{"A":1,"a":2}`)
	f.Add(`true`, ` `)
	f.Fuzz(func(t *testing.T, raw, args string) {
		s, warnings, err := Compile([]byte(raw))
		if err != nil {
			if s != nil || warnings != nil || !utf8.ValidString(err.Error()) {
				t.Fatalf("a refusal with %v %v %q", s, warnings, err)
			}
			return
		}
		if again, err := Canonical([]byte(s.JSON())); err != nil || string(again) != s.JSON() {
			t.Fatalf("JSON is not canonical: %s", s.JSON())
		}
		got, problems := s.Accept(args)
		if (got == "") == (len(problems) == 0) {
			t.Fatalf("got %q with %v", got, problems)
		}
		for _, p := range problems {
			if p.Reason == "" || len(p.Reason) > maxProblemBytes || !utf8.ValidString(p.String()) || strings.ContainsAny(p.String(), "\n\x00") {
				t.Fatalf("problem %q", p)
			}
			if strings.Contains(p.Reason, "cannot be checked") {
				t.Fatalf("the validator panicked on %s with %s", raw, args)
			}
		}
		if got == "" {
			return
		}
		if !json.Valid([]byte(got)) || !strings.HasPrefix(got, "{") {
			t.Fatalf("accepted %q", got)
		}
		if again, problems := s.Accept(got); again != got {
			t.Fatalf("accepting %q again gives %q, %v", got, again, problems)
		}
		if problems := s.Validate([]byte(got)); len(problems) > 0 {
			t.Fatalf("%q does not validate: %v", got, problems)
		}
	})
}

// FuzzCanonical: canonical text is a fixed point and says the same.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1.0,1e2,"\u2028<&>"]}`, `"\ud800"`, "\"\xff\"", `[]`, `-0`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := Canonical([]byte(raw))
		if err != nil {
			return
		}
		if !json.Valid(got) || !utf8.Valid(got) {
			t.Fatalf("%q", got)
		}
		if again, err := Canonical(got); err != nil || string(again) != string(got) {
			t.Fatalf("%q is not a fixed point: %q, %v", got, again, err)
		}
	})
}

// FuzzFold: what encoding/json would match to a field, foldKey maps alike.
func FuzzFold(f *testing.F) {
	f.Add("path", "PATH")
	f.Add("kind", "\u212aind")
	f.Add("s", "\u017f")
	f.Fuzz(func(t *testing.T, a, b string) {
		if utf8.ValidString(a) && utf8.ValidString(b) && strings.EqualFold(a, b) && foldKey(a) != foldKey(b) {
			t.Fatalf("%q and %q fold to %q and %q", a, b, foldKey(a), foldKey(b))
		}
	})
}

// BenchmarkAccept10 is a typical call: ten fields. Wanted: under 50 µs.
func BenchmarkAccept10(b *testing.B) {
	s := mustCompile(b, `{"type":"object","additionalProperties":false,"required":["a","b","c"],"properties":{
		"a":{"type":"string"},"b":{"type":"integer","minimum":0},"c":{"type":"string","pattern":"^[a-z]+$"},"d":{"type":"boolean"},
		"e":{"type":"number"},"f":{"type":"array","items":{"type":"string"}},"g":{"type":"object","properties":{"x":{"type":"integer"}}},
		"h":{"enum":["one","two"]},"i":{"type":"string","maxLength":100},"j":{"type":"integer","default":7}}}`)
	args := `{"a":"some text","b":12,"c":"abc","d":true,"e":1.5,"f":["x","y"],"g":{"x":1},"h":"two","i":"more text","j":3}`
	b.ReportAllocs()
	for b.Loop() {
		if got, problems := s.Accept(args); got == "" {
			b.Fatal(problems)
		}
	}
}

// FuzzParse: our parser and the standard decoder read the same tree.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"x\n\"\\",true,false,null,{}],"":"é\ud83d\ude00"}`, ` [ ] `, `"\ud800"`, "\"\xff\"", `0`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := Parse([]byte(raw))
		if err != nil {
			return
		}
		var want any
		dec := json.NewDecoder(strings.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatalf("we accept %q: %v", raw, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
