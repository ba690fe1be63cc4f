package schema

import (
	"fmt"
	"strings"
	"testing"
)

// many are n texts, joined by commas.
func many(n int, f func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = f(i)
	}
	return strings.Join(list, ",")
}

func always(text string) func(int) string { return func(int) string { return text } }
func name(i int) string                   { return fmt.Sprintf(`"n%d"`, i) }

// T25, B02: no pair of a schema and arguments costs more than the budget, in
// time or in memory: each of these took minutes, or gigabytes, by what the
// validator does for every finding or the schema adds to every object.
func TestT25_WorkIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 400_000)
	folded := func(i int) string { // keys that differ only in case from aaaaaaaaaaaaaaaa
		text := []byte(strings.Repeat("a", 16))
		for bit := range text {
			if i>>bit&1 == 1 {
				text[bit] = 'A'
			}
		}
		return `"` + string(text) + `":1`
	}
	list := func(n int, of string) string { return `{"a":[` + many(n, always(of)) + `]}` }
	for what, c := range map[string]struct{ schema, args string }{
		"a finding for every missing name":        {`{"properties":{"a":{"items":{"required":[` + many(5_000, name) + `]}}}}`, list(5_000, `{}`)},
		"a finding for every missing dependency":  {`{"properties":{"a":{"items":{"dependentRequired":{"x":[` + many(5_000, name) + `]}}}}}`, list(5_000, `{"x":1}`)},
		"the old form of a dependency":            {`{"properties":{"a":{"items":{"dependencies":{"x":[` + many(5_000, name) + `]}}}}}`, list(5_000, `{"x":1}`)},
		"every property of every object":          {`{"properties":{"a":{"items":{"properties":{` + many(4_000, func(i int) string { return name(i) + `:{}` }) + `}}}}}`, list(15_000, `{}`)},
		"large defaults":                          {`{"properties":{"a":{"items":{"properties":{"d":{"default":"` + strings.Repeat("x", 100_000) + `"}}}}}}`, list(5_000, `{}`)},
		"defaults of many values":                 {`{"properties":{"a":{"items":{"properties":{"d":{"default":[` + many(10_000, always("1")) + `]}}}}}}`, list(5_000, `{}`)},
		"defaults of a wrapped alternative":       {`{"properties":{"a":{"items":{"allOf":[{"properties":{"d":{"default":"` + strings.Repeat("x", 100_000) + `"}}}]}}}}`, list(5_000, `{}`)},
		"findings below a long key":               {`{"additionalProperties":{"type":"array","items":{"type":"string"}}}`, `{"` + long + `":[` + many(10_000, always("1")) + `]}`},
		"missing names below a long key":          {`{"additionalProperties":{"items":{"required":["a"]}}}`, `{"` + long + `":[` + many(10_000, always("{}")) + `]}`},
		"unknown names below a long key":          {`{"additionalProperties":{"additionalProperties":false}}`, `{"` + long + `":{` + many(10_000, func(i int) string { return name(i) + ":1" }) + `}}`},
		"folded names below a long key":           {`{"additionalProperties":{"properties":{"aaaaaaaaaaaaaaaa":{}}}}`, `{"` + long + `":{` + many(10_000, func(i int) string { return folded(i + 1) }) + `}}`},
		"a long missing name":                     {`{"properties":{"a":{"items":{"required":["` + strings.Repeat("p", 200_000) + `"]}}}}`, list(10_000, `{}`)},
		"a long option, refused many times":       {`{"properties":{"a":{"items":{"enum":["` + strings.Repeat("p", 200_000) + `"]}}}}`, list(10_000, `1`)},
		"a pattern that is compiled for the text": {`{"properties":{"a":{"format":"regex"}}}`, `{"a":"` + strings.Repeat("(", 900_000) + `"}`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := mustCompile(t, c.schema)
			if got, problems := s.Accept(c.args); got != "" || words(problems) != "the arguments are too complex to check against the schema" {
				t.Errorf("%d bytes, %.200s", len(got), words(problems))
			}
		})
	}
}

// The bounds leave room for what tools are really called with.
func TestAccept_LargeButOrdinary(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"properties":{"orders":{"items":{"type":"object","additionalProperties":false,"required":["id","sku","count"],
		"properties":{"id":{"type":"string","pattern":"^o_[0-9]+$"},"sku":{"enum":["a","b"]},"count":{"type":"integer","minimum":1},
		"unit":{"type":"string","default":"pcs"},"note":{"type":"string"}}}}}}`)
	args := `{"orders":[` + many(3_000, func(i int) string { return fmt.Sprintf(`{"id":"o_%d","sku":"b","count":%d}`, i, i+1) }) + `]}`
	got, problems := s.Accept(args)
	if len(problems) > 0 || strings.Count(got, `"unit":"pcs"`) != 3_000 {
		t.Errorf("%d bytes, %s", len(got), words(problems))
	}
}
