package policy_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/policy"
)

// R30: numbers compare as exact fractions do.
func TestR30_NumbersAreExact(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's own
	for range 3_000 {
		a, b := number(r), number(r)
		if r.IntN(4) == 0 {
			b = a + "0"
			if !strings.ContainsAny(a, ".") || strings.ContainsAny(a, "eE") {
				b = a
			}
		}
		x, ok := new(big.Rat).SetString(a)
		y, ok2 := new(big.Rat).SetString(b)
		if !ok || !ok2 {
			t.Fatalf("%s, %s", a, b)
		}
		want := x.Cmp(y)
		for _, tt := range []struct {
			cond contract.ArgCondition
			want bool
		}{
			{contract.ArgCondition{Pointer: "/n", GT: json.Number(b)}, want > 0},
			{contract.ArgCondition{Pointer: "/n", LTE: json.Number(b)}, want <= 0},
			{contract.ArgCondition{Pointer: "/n", Equals: json.RawMessage(b)}, want == 0},
		} {
			p := compile(t, denyWhen(contract.PolicyWhen{Args: []contract.ArgCondition{tt.cond}}))
			if v := p.Decide(policy.Call{Args: `{"n":` + a + `}`}); (v.Action == contract.PolicyDeny) != tt.want {
				t.Fatalf("%s against %+v: %v", a, tt.cond, v.Action)
			}
		}
	}
}

func number(r *rand.Rand) string {
	s := ""
	if r.IntN(3) == 0 {
		s = "-"
	}
	whole := fmt.Sprint(r.IntN(1000))
	if r.IntN(3) == 0 {
		whole = fmt.Sprint(9007199254740990 + r.IntN(6))
	}
	s += whole
	if r.IntN(2) == 0 {
		s += fmt.Sprintf(".%0*d", 1+r.IntN(4), r.IntN(10))
	}
	if r.IntN(3) == 0 {
		s += fmt.Sprintf("e%+d", r.IntN(30)-15)
	}
	return s
}

// Evaluation never panics, and always comes to one of the three verdicts,
// whatever the policy that New accepts and whatever the arguments.
func FuzzDecide(f *testing.F) {
	seed, err := json.Marshal(fifty())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(seed), "refund", typicalArgs, 3)
	f.Add(`{"default":"allow","rules":[{"id":"a","when":{"args":[{"pointer":"/a/0/~01","regex":"\\Qa(|b","lt":"1e3"}],"over_limit":{"per_turn":1}},"then":{"action":"deny","reason":"x"}}]}`, "t", `{"a":[{"~1":1E5}]}`, 1)
	f.Add(`{"default":"deny","rules":[{"id":"a","when":{"tools":["*?*"]},"then":{"action":"require_approval"}}]}`, "", `[`, 0)
	f.Fuzz(func(t *testing.T, text, tool, args string, earlier int) {
		var p contract.Policy
		if json.Unmarshal([]byte(text), &p) != nil {
			return
		}
		p.Digest = ""
		compiled, err := policy.New(p)
		if err != nil {
			return
		}
		call := policy.Call{Agent: tool, Tool: tool, Effects: contract.EffectsExternal, Args: args, Earlier: func(string) policy.Counts {
			return policy.Counts{Turn: earlier, Session: earlier}
		}}
		v := compiled.Decide(call)
		switch v.Action {
		case contract.PolicyAllow, contract.PolicyDeny, contract.PolicyRequireApproval:
		default:
			t.Errorf("%+v", v)
		}
		if !compiled.HasRule(v.Rule) || v.Policy != policy.Digest(p) || (v.Action == contract.PolicyDeny) != (v.Reason != "") {
			t.Errorf("%+v", v)
		}
	})
}

// A rule's glob is the obvious regular expression.
func FuzzGlob(f *testing.F) {
	f.Add("a*b?c*", "axxbyc")
	f.Add("**", "")
	f.Fuzz(func(t *testing.T, glob, name string) {
		if policy.CheckGlob(glob) != nil || policy.CheckGlob(name) != nil || strings.ContainsAny(name, "*?") {
			return
		}
		re := regexp.MustCompile(`\A` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(glob)) + `\z`)
		v := compile(t, denyWhen(contract.PolicyWhen{Tools: []string{glob}})).Decide(policy.Call{Tool: name})
		if got, want := v.Action == contract.PolicyDeny, re.MatchString(name); got != want {
			t.Errorf("%q matches %q: %v, want %v", glob, name, got, want)
		}
	})
}
