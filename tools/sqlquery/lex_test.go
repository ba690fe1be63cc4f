package sqlquery

import (
	"strings"
	"testing"
)

// Y21: what is called is found as the server finds it.
func TestY21_Calls(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ query, want string }{
		{`SELECT f(1), "G" (2), a . "b""c" /* x */ (3)`, `f G a.b"c`},
		{`SELECT F(f(1))`, `f`},
		{`SELECT 'f(1)', E'\'f(1)', $$f(1)$$, $a$ $$f(1) $a$, B'1', x'ff', N'f(1)', U&'f(1)', "f(1)"`, ``},
		{`SELECT 1 -- f(1)` + "\n" + `/* f(1) /* f(1) */ f(1) */, 2`, ``},
		{`SELECT a$$f(1)`, `a$$f`},
		{`SELECT 1e5f(1)`, `e5f`},
		{`SELECT $1 f(1)`, `f`},
		{`SELECT é(1), ÉÉ(2)`, `é ÉÉ`},
		{`SELECT "` + strings.Repeat("x", 70) + `"(1)`, strings.Repeat("x", 70)},
		{`SELECT x IN (1)`, `in`},
		{`SELECT a.b.c(1)`, `->b b.c`},
		{`SELECT o.f, (o) . "G", o.*, 1.5 FROM public.orders o`, `->f =>G ->orders`},
		{`SELECT ('x').f, (x[1])."g".h, y[1].i, g.j, a.k, q.l, m.n FROM m(1), o(2) AS g, p a, (q) "q"`, `select =>f =>g =>h =>i =>j ->k =>l =>n m o`},
		{`SELECT 'a' 'b', f(1)`, `f`},
		{`SELECT 'a\', f(1), 'b'`, `f`},
		{`SELECT e'a' , f(1)`, `f`},
		{`SELECT E'a'`, ``},
	} {
		tokens, err := lex(tt.query)
		found := calls(tokens)
		var names []string
		for _, c := range found {
			name := strings.TrimPrefix(c.schema+"."+c.name, ".")
			if c.field == ofRow {
				name = "->" + name
			} else if c.field != "" {
				name = "=>" + name
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.query, got, err, tt.want)
		}
	}
	for _, query := range []string{`'a`, `"a`, `/* /* */`, `$$a$`, `E'a\'`, `U&"a"`, "E'a'\n'b'", "E'a' --\n'b'", "E'a''b' \t\n --x\n 'c'"} {
		if found, err := lex(query); err == nil {
			t.Errorf("%s: got %v", query, found)
		}
	}
}

// Y21: any text is split or refused, wholly and without end.
func FuzzLex(f *testing.F) {
	for _, seed := range []string{`SELECT f(1)`, `E'\'`, `$a$b$a$`, `/* /* */`, "\xff", `U&"`, `"`, `''`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if readable(query) != nil {
			return
		}
		tokens, err := lex(query)
		if err == nil && len(tokens) > len(query) {
			t.Errorf("%d tokens", len(tokens))
		}
	})
}
