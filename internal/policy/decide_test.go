package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/policy"
)

func compile(t testing.TB, p contract.Policy) *policy.Policy {
	t.Helper()
	compiled, err := policy.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// denyWhen is a policy that denies what meets the condition and allows the
// rest.
func denyWhen(w contract.PolicyWhen) contract.Policy {
	return contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{
		{ID: "r", When: w, Then: contract.PolicyThen{Action: contract.PolicyDeny, Reason: "no"}},
	}}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func raws(texts ...string) []json.RawMessage {
	out := make([]json.RawMessage, len(texts))
	for i, s := range texts {
		out[i] = raw(s)
	}
	return out
}

// R30: what each condition on an argument holds for.
func TestR30_ArgConditions(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tt := range []struct {
		name string
		cond contract.ArgCondition
		args string
		want bool
	}{
		{"equals text", contract.ArgCondition{Equals: raw(`"EUR"`)}, `{"v":"EUR"}`, true},
		{"equals is case-sensitive", contract.ArgCondition{Equals: raw(`"EUR"`)}, `{"v":"eur"}`, false},
		{"equals does not convert", contract.ArgCondition{Equals: raw(`1`)}, `{"v":"1"}`, false},
		{"equals a number by value", contract.ArgCondition{Equals: raw(`1.50`)}, `{"v":15e-1}`, true},
		{"equals exactly", contract.ArgCondition{Equals: raw(`9007199254740992`)}, `{"v":9007199254740993}`, false},
		{"equals zero", contract.ArgCondition{Equals: raw(`0`)}, `{"v":-0.0e7}`, true},
		{"equals a boolean", contract.ArgCondition{Equals: raw(`false`)}, `{"v":false}`, true},
		{"equals null", contract.ArgCondition{Equals: raw(`null`)}, `{"v":null}`, true},
		{"equals no list", contract.ArgCondition{Equals: raw(`"a"`)}, `{"v":["a"]}`, false},
		{"one of", contract.ArgCondition{OneOf: raws(`"a"`, `2`, `true`)}, `{"v":2.0}`, true},
		{"none of", contract.ArgCondition{OneOf: raws(`"a"`, `2`, `true`)}, `{"v":"2"}`, false},
		{"contains text", contract.ArgCondition{Contains: raw(`"rm -rf"`)}, `{"v":"sudo rm -rf /"}`, true},
		{"contains an item", contract.ArgCondition{Contains: raw(`7`)}, `{"v":[1,7.0]}`, true},
		{"contains no part of an item", contract.ArgCondition{Contains: raw(`"a"`)}, `{"v":["ab"]}`, false},
		{"contains of a number", contract.ArgCondition{Contains: raw(`1`)}, `{"v":"1"}`, false},
		{"contains of an object", contract.ArgCondition{Contains: raw(`"a"`)}, `{"v":{"a":"a"}}`, false},
		{"regex", contract.ArgCondition{Regex: `.*@example\.com`}, `{"v":"a@example.com"}`, true},
		{"regex is anchored at its end", contract.ArgCondition{Regex: `.*@example\.com`}, `{"v":"a@example.com.evil.org"}`, false},
		{"regex is anchored at its beginning", contract.ArgCondition{Regex: `b`}, `{"v":"ab"}`, false},
		{"both sides of a bar are anchored", contract.ArgCondition{Regex: `a|b`}, `{"v":"xb"}`, false},
		{"a line is not the text", contract.ArgCondition{Regex: `(?m)^a$`}, `{"v":"a\nb"}`, false},
		{"a newline at the end counts", contract.ArgCondition{Regex: `a$`}, `{"v":"a\n"}`, false},
		{"an open quotation ends with the pattern", contract.ArgCondition{Regex: `\Qa.b`}, `{"v":"a.b"}`, true},
		{"flags", contract.ArgCondition{Regex: `(?i)drop table .*`}, `{"v":"DROP TABLE users"}`, true},
		{"regex of a number", contract.ArgCondition{Regex: `1`}, `{"v":1}`, false},
		{"gt", contract.ArgCondition{GT: "9007199254740992"}, `{"v":9007199254740993}`, true},
		{"not gt", contract.ArgCondition{GT: "9007199254740993"}, `{"v":9007199254740993}`, false},
		{"gte", contract.ArgCondition{GTE: "9007199254740993"}, `{"v":9007199254740993}`, true},
		{"lt", contract.ArgCondition{LT: "0.1"}, `{"v":0.09999999999999999999999}`, true},
		{"lte", contract.ArgCondition{LTE: "-5"}, `{"v":-5}`, true},
		{"not lte", contract.ArgCondition{LTE: "-5"}, `{"v":-4.9}`, false},
		{"beyond every float", contract.ArgCondition{GT: "500"}, `{"v":1e999999999999999999999}`, true},
		{"below every float", contract.ArgCondition{LT: "1e-300"}, `{"v":1e-999999999999999999999}`, true},
		{"between", contract.ArgCondition{GTE: "10", LT: "20"}, `{"v":19.99}`, true},
		{"not between", contract.ArgCondition{GTE: "10", LT: "20"}, `{"v":20}`, false},
		{"a number as text is none", contract.ArgCondition{GT: "1"}, `{"v":"2"}`, false},
		{"missing equals", contract.ArgCondition{Equals: raw(`null`)}, `{}`, false},
		{"missing lt", contract.ArgCondition{LT: "1"}, `{}`, false},
		{"missing regex", contract.ArgCondition{Regex: `.*`}, `{}`, false},
		{"absent", contract.ArgCondition{Absent: &yes}, `{}`, true},
		{"null is not absent", contract.ArgCondition{Absent: &yes}, `{"v":null}`, false},
		{"present", contract.ArgCondition{Absent: &no}, `{"v":null}`, true},
		{"not present", contract.ArgCondition{Absent: &no}, `{}`, false},
		{"present and more", contract.ArgCondition{Absent: &no, GT: "1"}, `{"v":2}`, true},
		{"into a list", contract.ArgCondition{Pointer: "/v/1/a~1b", Equals: raw(`1`)}, `{"v":[0,{"a/b":1}]}`, true},
		{"a tilde in a key", contract.ArgCondition{Pointer: "/a~01", Equals: raw(`1`)}, `{"a~1":1}`, true},
		{"beyond a list", contract.ArgCondition{Pointer: "/v/9", LT: "9"}, `{"v":[0]}`, false},
		{"the end of a list", contract.ArgCondition{Pointer: "/v/-", LT: "9"}, `{"v":[0]}`, false},
		{"an index with a zero", contract.ArgCondition{Pointer: "/v/00", LT: "9"}, `{"v":[0]}`, false},
		{"into a text", contract.ArgCondition{Pointer: "/v/0", LT: "9"}, `{"v":"0"}`, false},
		{"an empty key", contract.ArgCondition{Pointer: "/", Equals: raw(`1`)}, `{"":1}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.cond.Pointer == "" {
				tt.cond.Pointer = "/v"
			}
			p := compile(t, denyWhen(contract.PolicyWhen{Args: []contract.ArgCondition{tt.cond}}))
			v := p.Decide(policy.Call{Tool: "t", Args: tt.args})
			if got := v.Action == contract.PolicyDeny; got != tt.want {
				t.Errorf("holds: %v, want %v (%+v)", got, tt.want, v)
			}
		})
	}
}

// R30: the other parts of when; all of them must hold, and one item of each.
func TestR30_When(t *testing.T) {
	t.Parallel()
	call := policy.Call{Agent: "support", Tool: "crm_delete_user", Effects: contract.EffectsExternal, Args: `{"n":1}`}
	for _, tt := range []struct {
		name string
		when contract.PolicyWhen
		want bool
	}{
		{"name", contract.PolicyWhen{Tools: []string{"crm_delete_user"}}, true},
		{"no prefix", contract.PolicyWhen{Tools: []string{"crm_delete"}}, false},
		{"star", contract.PolicyWhen{Tools: []string{"crm_*"}}, true},
		{"stars", contract.PolicyWhen{Tools: []string{"*_delete_*"}}, true},
		{"star at the end is anchored", contract.PolicyWhen{Tools: []string{"*_delete"}}, false},
		{"question marks", contract.PolicyWhen{Tools: []string{"crm?delete?use?"}}, true},
		{"a character too few", contract.PolicyWhen{Tools: []string{"crm_delete_user?"}}, false},
		{"one of them", contract.PolicyWhen{Tools: []string{"a", "c*"}}, true},
		{"effects", contract.PolicyWhen{Effects: []contract.Effects{contract.EffectsSandbox, contract.EffectsExternal}}, true},
		{"other effects", contract.PolicyWhen{Effects: []contract.Effects{contract.EffectsNone}}, false},
		{"agent", contract.PolicyWhen{Agents: []string{"s*"}}, true},
		{"other agent", contract.PolicyWhen{Agents: []string{"billing"}}, false},
		{"all but the agent", contract.PolicyWhen{Tools: []string{"*"}, Agents: []string{"billing"}}, false},
		{"all but the arguments", contract.PolicyWhen{Tools: []string{"*"}, Args: []contract.ArgCondition{{Pointer: "/n", GT: "1"}}}, false},
		{"two arguments", contract.PolicyWhen{Args: []contract.ArgCondition{{Pointer: "/n", GTE: "1"}, {Pointer: "/m", Equals: raw("1")}}}, false},
	} {
		if v := compile(t, denyWhen(tt.when)).Decide(call); (v.Action == contract.PolicyDeny) != tt.want {
			t.Errorf("%s: %+v", tt.name, v)
		}
	}
}

func then(a contract.PolicyAction) contract.PolicyThen {
	t := contract.PolicyThen{Action: a}
	if a == contract.PolicyDeny {
		t.Reason = "no"
	}
	return t
}

// R30: the first rule that matches decides, in the order of the file; R31: the
// verdict names it and the policy's version.
func TestR30_FirstMatchWins(t *testing.T) {
	t.Parallel()
	rules := []contract.PolicyRule{
		{ID: "a", When: contract.PolicyWhen{Tools: []string{"pay"}, Args: []contract.ArgCondition{{Pointer: "/n", LT: "10"}}}, Then: then(contract.PolicyAllow)},
		{ID: "b", When: contract.PolicyWhen{Tools: []string{"p*"}}, Then: then(contract.PolicyDeny)},
		{ID: "c", When: contract.PolicyWhen{Tools: []string{"pay"}}, Then: then(contract.PolicyRequireApproval)},
	}
	for _, tt := range []struct {
		def        contract.PolicyAction
		tool, args string
		want       contract.PolicyAction
		rule       string
	}{
		{contract.PolicyDeny, "pay", `{"n":9}`, contract.PolicyAllow, "a"},
		{contract.PolicyAllow, "pay", `{"n":10}`, contract.PolicyDeny, "b"},
		{contract.PolicyAllow, "read", `{}`, contract.PolicyAllow, contract.PolicyDefaultRule},
		{contract.PolicyDeny, "read", `{}`, contract.PolicyDeny, contract.PolicyDefaultRule},
	} {
		p := contract.Policy{Default: tt.def, Rules: rules}
		v := compile(t, p).Decide(policy.Call{Tool: tt.tool, Args: tt.args})
		if v.Action != tt.want || v.Rule != tt.rule || v.Policy != policy.Digest(p) {
			t.Errorf("%s %s: %+v", tt.tool, tt.args, v)
		}
		if (v.Reason == "") == (v.Action == contract.PolicyDeny) {
			t.Errorf("the reason of %s is %q", v.Action, v.Reason)
		}
	}
}

// R30: rate limits, per turn and per session. A limited rule counts what the
// rest of it matches, whichever rule decides.
func TestR30_Limits(t *testing.T) {
	t.Parallel()
	p := compile(t, contract.Policy{Default: contract.PolicyAllow, Rules: []contract.PolicyRule{
		{ID: "small", When: contract.PolicyWhen{Args: []contract.ArgCondition{{Pointer: "/n", LT: "5"}}}, Then: then(contract.PolicyAllow)},
		{ID: "turn", When: contract.PolicyWhen{Tools: []string{"pay"}, OverLimit: &contract.CallLimit{PerTurn: 3}}, Then: then(contract.PolicyDeny)},
		{ID: "both", When: contract.PolicyWhen{Tools: []string{"pay"}, OverLimit: &contract.CallLimit{PerTurn: 2, PerSession: 10}}, Then: then(contract.PolicyRequireApproval)},
		{ID: "other", When: contract.PolicyWhen{Tools: []string{"mail"}, OverLimit: &contract.CallLimit{PerTurn: 1}}, Then: then(contract.PolicyDeny)},
	}})
	counted := []string{"turn", "both"}
	for _, tt := range []struct {
		args          string
		turn, session int
		want          string
		counted       []string
	}{
		{`{"n":7}`, 0, 0, "default", counted},
		{`{"n":7}`, 1, 8, "default", counted},
		{`{"n":7}`, 1, 9, "both", counted},
		{`{"n":7}`, 2, 0, "both", counted},
		{`{"n":7}`, 3, 0, "turn", nil}, // denied: it does not count
		{`{"n":1}`, 9, 9, "small", counted},
	} {
		v := p.Decide(policy.Call{Tool: "pay", Args: tt.args, Earlier: func(string) policy.Counts {
			return policy.Counts{Turn: tt.turn, Session: tt.session}
		}})
		if v.Rule != tt.want || !cmp.Equal(v.Counted, tt.counted) {
			t.Errorf("%+v: %+v", tt, v)
		}
	}
	if v := p.Decide(policy.Call{Tool: "pay"}); v.Rule != "default" {
		t.Errorf("without counts: %+v", v)
	}
}

// R31: what cannot be read or would cost too much is denied, whatever the
// default.
func TestR31_FailsClosed(t *testing.T) {
	t.Parallel()
	p := denyWhen(contract.PolicyWhen{Args: []contract.ArgCondition{{Pointer: "/v", Regex: `(?i)([a-z0-9]+ ?){1,90}!`}}})
	p.Rules[0].Then = contract.PolicyThen{Action: contract.PolicyAllow}
	compiled := compile(t, p)
	for _, args := range []string{`{`, `[]`, `1`, `{} {}`, `{"v":"` + strings.Repeat("ab c", 1<<20) + `"}`, strings.Repeat(`{"v":`, 20_000)} {
		if v := compiled.Decide(policy.Call{Tool: "t", Args: args}); v.Action != contract.PolicyDeny || v.Reason == "" || v.Rule != "r" {
			t.Errorf("%.20s: %+v", args, v)
		}
	}
	if v := compiled.Decide(policy.Call{Tool: "t"}); v.Action != contract.PolicyAllow {
		t.Errorf("no arguments are an empty object: %+v", v)
	}
}

// R30: mistakes are errors also where no file was read, all of them at once.
func TestR30_New_Refuses(t *testing.T) {
	t.Parallel()
	yes := true
	bad := contract.Policy{Default: "perhaps", Rules: []contract.PolicyRule{
		{ID: "a b", When: contract.PolicyWhen{}, Then: contract.PolicyThen{Action: "maybe"}},
		{ID: "x", When: contract.PolicyWhen{Tools: []string{}, Effects: []contract.Effects{"all"}, OverLimit: &contract.CallLimit{}}, Then: contract.PolicyThen{Action: contract.PolicyDeny}},
		{ID: "x", When: contract.PolicyWhen{Args: []contract.ArgCondition{
			{Pointer: "v", GT: "1"}, {Pointer: "/a"}, {Pointer: "/b", GT: "0x1", Regex: "("}, {Pointer: "/c", OneOf: raws()},
			{Pointer: "/d", Equals: raw(`[]`)}, {Pointer: "/e", Absent: &yes, LT: "1"}, {Pointer: "/f", LT: "1e9999"},
		}}, Then: contract.PolicyThen{Action: contract.PolicyRequireApproval, Timeout: -1}},
	}}
	_, err := policy.New(bad)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`default "perhaps"`, "rule 1 (a b)", "when is empty", `unknown action "maybe"`, "a list in when is empty", "all: want external", "over_limit",
		"deny needs a reason", `the id "x" stands a second time`, "want a JSON Pointer", "/a: the condition is empty", "gt: want a number",
		"regex: missing closing )", "one_of: is empty", "equals: want a text", "meets no other condition", "exponent", "timeout is negative",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not said: %s\n%v", want, err)
		}
	}
	good := denyWhen(contract.PolicyWhen{Tools: []string{"a"}})
	good.Digest = "of a later version"
	if _, err := policy.New(good); err == nil {
		t.Error("a policy with parts that were lost can decide")
	}
}

// R31: only tightens.
func TestR31_Approval(t *testing.T) {
	t.Parallel()
	agent := contract.Agent{Approvers: []string{"agent"}, ApprovalTimeout: 24}
	asks := func(th contract.PolicyThen) policy.Verdict {
		th.Action = contract.PolicyRequireApproval
		return policy.Verdict{Action: th.Action, Rule: "r", Then: th}
	}
	const why = "the policy's rule r asks for it"
	for _, tt := range []struct {
		name string
		v    policy.Verdict
		tool *contract.ApprovalPlan
		want *contract.ApprovalPlan
	}{
		{"nobody asks", policy.Verdict{Action: contract.PolicyAllow}, nil, nil},
		{"no policy, the tool asks", policy.Verdict{}, &contract.ApprovalPlan{Reason: "big"}, &contract.ApprovalPlan{Reason: "big", Approvers: []string{"agent"}, Timeout: 24}},
		{
			"an allowing policy takes nothing away", policy.Verdict{Action: contract.PolicyAllow, Rule: "a"},
			&contract.ApprovalPlan{Approvers: []string{"tool"}, Timeout: 9}, &contract.ApprovalPlan{Approvers: []string{"tool"}, Timeout: 9},
		},
		{"the policy asks", asks(contract.PolicyThen{Message: "look"}), nil, &contract.ApprovalPlan{Reason: why, Message: "look", Rule: "r", Approvers: []string{"agent"}, Timeout: 24}},
		{
			"both ask: the policy's approvers, the shorter time", asks(contract.PolicyThen{Approvers: []string{"p"}, Timeout: 7}),
			&contract.ApprovalPlan{Reason: "big", Approvers: []string{"tool"}, Timeout: 9}, &contract.ApprovalPlan{Reason: "big; " + why, Rule: "r", Approvers: []string{"p"}, Timeout: 7},
		},
		{
			"both ask: the tool's where the policy says nothing", asks(contract.PolicyThen{Timeout: 30}),
			&contract.ApprovalPlan{Approvers: []string{"tool"}, Timeout: 9}, &contract.ApprovalPlan{Reason: why, Rule: "r", Approvers: []string{"tool"}, Timeout: 9},
		},
		{"the policy's time is not the agent's", asks(contract.PolicyThen{Timeout: 30}), nil, &contract.ApprovalPlan{Reason: why, Rule: "r", Approvers: []string{"agent"}, Timeout: 30}},
	} {
		var before contract.ApprovalPlan
		if tt.tool != nil {
			before = *tt.tool
		}
		if diff := cmp.Diff(tt.want, tt.v.Approval(tt.tool, agent)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if tt.tool != nil && !cmp.Equal(before, *tt.tool) {
			t.Errorf("%s: the tool's own plan was changed", tt.name)
		}
	}
}

// fifty is a policy of 50 rules of all kinds, of which the last matches.
func fifty() contract.Policy {
	p := contract.Policy{Default: contract.PolicyDeny}
	for i := range 49 {
		w := contract.PolicyWhen{Tools: []string{fmt.Sprintf("tool_%d_*", i)}}
		switch i % 4 {
		case 1:
			w = contract.PolicyWhen{Tools: []string{"re*"}, Args: []contract.ArgCondition{{Pointer: "/amount_cents", GT: "5000000"}}}
		case 2:
			w = contract.PolicyWhen{Effects: []contract.Effects{contract.EffectsExternal}, Args: []contract.ArgCondition{{Pointer: "/note", Regex: `(?i).*(secret|password)\d+.*`}}}
		case 3:
			w = contract.PolicyWhen{Args: []contract.ArgCondition{{Pointer: "/order_id", OneOf: raws(`"A-1"`, `"A-2"`, `"A-3"`)}}}
		}
		p.Rules = append(p.Rules, contract.PolicyRule{ID: fmt.Sprintf("r%d", i), When: w, Then: then(contract.PolicyDeny)})
	}
	p.Rules = append(p.Rules, contract.PolicyRule{ID: "last", When: contract.PolicyWhen{Tools: []string{"refund"}}, Then: then(contract.PolicyAllow)})
	return p
}

const typicalArgs = `{"amount_cents":4200,"note":"The teapot arrived broken; the customer sent a picture.","order_id":"A-1001"}`

func BenchmarkDecide_50Rules(b *testing.B) {
	p := compile(b, fifty())
	call := policy.Call{Agent: "support", Tool: "refund", Effects: contract.EffectsExternal, Args: typicalArgs}
	if v := p.Decide(call); v.Rule != "last" {
		b.Fatalf("%+v", v)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Decide(call)
	}
}

func BenchmarkNew_50Rules(b *testing.B) {
	rules := fifty()
	b.ReportAllocs()
	for b.Loop() {
		compile(b, rules)
	}
}

func TestCheckID(t *testing.T) {
	t.Parallel()
	for id, ok := range map[string]bool{
		"a": true, "9.b-C_d": true, strings.Repeat("a", 64): true, "": false, "default": false, "-a": false, ".a": false,
		"a b": false, "a$b": false, "ä": false, strings.Repeat("a", 65): false,
	} {
		if err := policy.CheckID(id); (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
	}
}
