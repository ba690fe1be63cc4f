package agentfile

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/policy"
)

const ruledAgent = `model: openai/x
tools: [refund, lookup_order]
approvals: {timeout: 24h, approvers: [ops, lead]}
policy:
  default: deny
  rules:
    - id: cap
      when:
        tools: [refund, "pay_*"]
        effects: [external]
        agents: [x]
        over_limit: {per_turn: 5, per_session: 20}
      then: {deny: at most five refunds a turn}
    - id: big
      when:
        tools: [refund]
        args:
          /amount: {gte: 9007199254740993, lt: 99999999999999999999}
          /currency: {one_of: [EUR, "1", 1, true, 1.50]}
          /tags: {contains: vip}
          /note: {regex: "(?i)please.*"}
          /order~1id: {equals: A<1}
          /coupon: {absent: true}
      then:
        require_approval: {approvers: [ann], timeout: 2h, message: Look at the order first.}
    - id: reads
      when: {effects: [none]}
      then: allow
    - id: rest
      when: {tools: ["*"]}
      then: require_approval
`

// R30: the keys of a policy, as they are recorded.
func TestR30_PolicyIsRead(t *testing.T) {
	t.Parallel()
	got := load(t, ruledAgent).Agent
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	yes := true
	want := &contract.Policy{Default: contract.PolicyDeny, Digest: got.Policy.Digest, Rules: []contract.PolicyRule{
		{ID: "cap", When: contract.PolicyWhen{
			Tools: []string{"refund", "pay_*"}, Effects: []contract.Effects{contract.EffectsExternal}, Agents: []string{"x"},
			OverLimit: &contract.CallLimit{PerTurn: 5, PerSession: 20},
		}, Then: contract.PolicyThen{Action: contract.PolicyDeny, Reason: "at most five refunds a turn"}},
		{ID: "big", When: contract.PolicyWhen{Tools: []string{"refund"}, Args: []contract.ArgCondition{
			{Pointer: "/amount", GTE: "9007199254740993", LT: "99999999999999999999"},
			{Pointer: "/currency", OneOf: []json.RawMessage{raw(`"EUR"`), raw(`"1"`), raw(`1`), raw(`true`), raw(`1.50`)}},
			{Pointer: "/tags", Contains: raw(`"vip"`)},
			{Pointer: "/note", Regex: "(?i)please.*"},
			{Pointer: "/order~1id", Equals: raw(`"A\u003c1"`)},
			{Pointer: "/coupon", Absent: &yes},
		}}, Then: contract.PolicyThen{
			Action: contract.PolicyRequireApproval, Approvers: []string{"ann"},
			Timeout: contract.Duration(2 * time.Hour), Message: "Look at the order first.",
		}},
		{ID: "reads", When: contract.PolicyWhen{Effects: []contract.Effects{contract.EffectsNone}}, Then: contract.PolicyThen{Action: contract.PolicyAllow}},
		{ID: "rest", When: contract.PolicyWhen{Tools: []string{"*"}}, Then: contract.PolicyThen{Action: contract.PolicyRequireApproval}},
	}}
	if diff := cmp.Diff(want, got.Policy); diff != "" {
		t.Error(diff)
	}
	if _, err := policy.New(*got.Policy); err != nil {
		t.Error(err)
	}
	if got.ApprovalTimeout.Std() != 24*time.Hour || !cmp.Equal(got.Approvers, []string{"ops", "lead"}) {
		t.Errorf("approvals: %v, %v", got.ApprovalTimeout, got.Approvers)
	}
	// The library that makes JSON of it takes a number of 20 digits for text.
	if problems := schemaProblems(t, strings.Replace(ruledAgent, "99999999999999999999", "9999999999999999999", 1)); problems != nil {
		t.Errorf("the schema refuses it: %v", problems)
	}
}

// R31: what is recorded comes back the same, digest included.
func TestR31_PolicySurvivesHistory(t *testing.T) {
	t.Parallel()
	agent := load(t, ruledAgent).Agent
	data, err := json.Marshal(agent)
	if err != nil {
		t.Fatal(err)
	}
	var back contract.Agent
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(agent, back); diff != "" {
		t.Error(diff)
	}
	if got := policy.Digest(*back.Policy); got != agent.Policy.Digest {
		t.Errorf("the digest was %s and is %s", agent.Policy.Digest, got)
	}
	if changed := load(t, strings.Replace(ruledAgent, "per_turn: 5", "per_turn: 6", 1)).Agent; changed.Policy.Digest == agent.Policy.Digest || changed.Digest == agent.Digest {
		t.Error("another policy has the same digest")
	}
}

// R30, Y01: bad rules are refused at start, with line and column. Where it can,
// the editors' schema refuses them too.
func TestR30_BadPolicies(t *testing.T) {
	t.Parallel()
	const head, ok = "model: openai/x\npolicy:\n  rules:\n", "    - {id: a, when: {tools: [a]}, then: allow}\n"
	rule := func(when, then string) string {
		return head + "    - id: a\n      when: " + when + "\n      then: " + then + "\n"
	}
	for _, tt := range []struct {
		name, in, want string
		schemaToo      bool
	}{
		{"empty policy", "model: openai/x\npolicy: {}\n", "2:9: policy is empty; give rules or default, or remove it", true},
		{"default", "model: openai/x\npolicy: {default: denny}\n", `2:19: policy.default: unknown value "denny"; did you mean "deny"?`, true},
		{"unknown key", "model: openai/x\npolicy: {defaults: deny}\n", `2:10: unknown key "defaults" in policy; did you mean "default"?`, true},
		{"rules are no list", "model: openai/x\npolicy: {rules: {a: b}}\n", "2:17: policy.rules: want a list of rules, found a mapping", true},
		{"a rule is text", head + "    - allow\n", "4:7: policy.rules[0]: want a mapping of keys to values, found text", true},
		{"unknown key in a rule", head + "    - {id: a, whne: {tools: [a]}, then: allow}\n", `4:15: unknown key "whne" in policy.rules[0]; did you mean "when"?`, true},
		{"no id", head + "    - when: {tools: [a]}\n      then: allow\n", "4:7: policy.rules[0]: id is missing; add for example: id: no_big_refunds", true},
		{"no when", head + "    - {id: a, then: allow}\n", "4:7: policy.rules[0]: when is missing; add for example: when: {tools: [refund]}", true},
		{"no then", head + "    - {id: a, when: {tools: [a]}}\n", "4:7: policy.rules[0]: then is missing; add for example: then: allow", true},
		{"same id", head + ok + ok, `5:12: policy.rules[1].id: "a" stands a second time; the first is in line 4`, false},
		{"reserved id", head + "    - {id: default, when: {tools: [a]}, then: allow}\n", "4:12: policy.rules[0].id: this id stands for the policy's default; take another", true},
		{"bad id", head + "    - {id: a b, when: {tools: [a]}, then: allow}\n", "4:12: policy.rules[0].id: want letters, digits, _, - and .,", true},
		{"empty when", rule("{}", "allow"), `5:13: policy.rules[0].when is empty, so the rule would match every call; say tools: ["*"] if that is meant`, true},
		{"unknown condition", rule("{tool: [a]}", "allow"), `5:14: unknown key "tool" in policy.rules[0].when; did you mean "tools"?`, true},
		{"tools is text", rule("{tools: a}", "allow"), "5:21: policy.rules[0].when.tools: want a list of tools' names, in which * is any text, found text", true},
		{"no tools", rule("{tools: []}", "allow"), "5:21: policy.rules[0].when.tools is empty; give a list", true},
		{"bad glob", rule(`{tools: ["a[bc]"]}`, "allow"), `5:22: policy.rules[0].when.tools[0]: want a name, in which * is any text and ? one character, found "a[bc]"`, true},
		{"effects", rule("{effects: [extern]}", "allow"), `5:24: policy.rules[0].when.effects[0]: unknown value "extern"; did you mean "external"?`, true},
		{"no args", rule("{args: {}}", "allow"), "5:20: policy.rules[0].when.args is empty; give a condition", true},
		{"pointer", rule("{args: {amount: {gt: 1}}}", "allow"), `5:21: policy.rules[0].when.args: want a JSON Pointer, like /amount or /items/0/id, found "amount"`, true},
		{"pointer's tilde", rule("{args: {/a~2: {gt: 1}}}", "allow"), `5:21: policy.rules[0].when.args: in a JSON Pointer ~ is written ~0, and / inside a key ~1, found "/a~2"`, true},
		{"empty condition", rule("{args: {/a: {}}}", "allow"), "5:25: policy.rules[0].when.args./a is empty; give a condition", true},
		{"unknown operator", rule("{args: {/a: {gtt: 1}}}", "allow"), `5:26: unknown key "gtt" in policy.rules[0].when.args./a; did you mean "gt"?`, true},
		{"comparing with text", rule(`{args: {/a: {gt: "1"}}}`, "allow"), "5:30: policy.rules[0].when.args./a.gt: want a number, found text", true},
		{"hexadecimal", rule(`{args: {/a: {gt: 0x10}}}`, "allow"), "5:30: policy.rules[0].when.args./a.gt: want a number in plain decimal, like 500 or 0.5, found 0x10", false},
		{"octal", rule(`{args: {/a: {equals: 010}}}`, "allow"), "5:34: policy.rules[0].when.args./a.equals: want a number in plain decimal, like 500 or 0.5, found 010", false},
		{"equals a list", rule(`{args: {/a: {equals: [1]}}}`, "allow"), "5:34: policy.rules[0].when.args./a.equals: want a text, a number or a boolean, found a list", true},
		{"equals nothing", rule(`{args: {/a: {equals: }}}`, "allow"), "5:26: policy.rules[0].when.args./a.equals has no value; give one or remove the key", true},
		{"none of", rule(`{args: {/a: {one_of: []}}}`, "allow"), "5:34: policy.rules[0].when.args./a.one_of is empty", true},
		{"regex", rule(`{args: {/a: {regex: "a(b"}}}`, "allow"), "5:33: policy.rules[0].when.args./a.regex: missing closing ): `a(b`, found \"a(b\"", false},
		{"regex that closes its anchors", rule(`{args: {/a: {regex: "a)|(b"}}}`, "allow"), "5:33: policy.rules[0].when.args./a.regex: unexpected )", false},
		{"costly regex", rule(`{args: {/a: {regex: "((a{100}){100}){9}"}}}`, "allow"), "5:33: policy.rules[0].when.args./a.regex: ", false},
		{"lookahead", rule(`{args: {/a: {regex: "(?!x)"}}}`, "allow"), "5:33: policy.rules[0].when.args./a.regex: invalid or unsupported Perl syntax", false},
		{"absent and more", rule(`{args: {/a: {absent: true, gt: 1}}}`, "allow"), "5:25: policy.rules[0].when.args./a: a value that is absent meets no other condition; keep one", true},
		{"absent is text", rule(`{args: {/a: {absent: yes}}}`, "allow"), "5:34: policy.rules[0].when.args./a.absent: want true or false, found text", true},
		{"no limit", rule("{over_limit: {}}", "allow"), "5:26: policy.rules[0].when.over_limit is empty; give per_turn or per_session", true},
		{"limit of zero", rule("{over_limit: {per_turn: 0}}", "allow"), "5:37: policy.rules[0].when.over_limit.per_turn: want a whole number from 1", true},
		{"deny without a reason", rule("{tools: [a]}", "deny"), "6:13: policy.rules[0].then: deny needs a reason, which the model reads", true},
		{"deny with nothing", rule("{tools: [a]}", `{deny: " "}`), "6:20: policy.rules[0].then.deny: is empty; say why", true},
		{"unknown action", rule("{tools: [a]}", "alow"), `6:13: policy.rules[0].then: unknown value "alow"; did you mean "allow"?`, true},
		{"two actions", rule("{tools: [a]}", "{deny: no, require_approval: {}}"), "6:13: policy.rules[0].then: want exactly one action", true},
		{"unknown term", rule("{tools: [a]}", "{require_approval: {aprovers: [a]}}"), `6:33: unknown key "aprovers" in policy.rules[0].then.require_approval; did you mean "approvers"?`, true},
		{"timeout", rule("{tools: [a]}", "{require_approval: {timeout: 2}}"), "6:42: policy.rules[0].then.require_approval.timeout: want a duration like 90s, 30m or 24h, found 2 without a unit", true},
		{"approvers", rule("{tools: [a]}", "{require_approval: {approvers: []}}"), "6:44: policy.rules[0].then.require_approval.approvers is empty", true},
		{"approvals", "model: openai/x\napprovals: {}\n", "2:12: approvals is empty; give timeout or approvers, or remove it", true},
		{"approver twice", "model: openai/x\napprovals: {approvers: [a, a]}\n", `2:28: approvals.approvers[1]: "a" stands a second time`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := LoadFS(one(tt.in), "agents")
			if got := errText(err); !strings.HasPrefix(got, "agents/x/agent.yaml:"+tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if refused := schemaProblems(t, tt.in) != nil; refused != tt.schemaToo {
				t.Errorf("the schema refuses it: %v", refused)
			}
		})
	}
}

// Y01: a rule with a misspelt tool would match nothing and, if it denies, deny
// nothing.
func TestY01_RuleNamesAToolThatIsNotThere(t *testing.T) {
	t.Parallel()
	def := load(t, "model: openai/x\ntools: all\npolicy: {rules: [{id: a, when: {tools: [refnud, \"x_*\", refund]}, then: {deny: no}}]}\n")
	_, err := def.Resolve(Offer{Tools: []string{"refund", "lookup_order"}})
	want := `agents/x/agent.yaml:3:41: policy.rules[0].when.tools[0]: this worker has no tool "refnud"; did you mean "refund"?`
	if got := errText(err); got != want {
		t.Errorf("got %s", got)
	}
}

// R30: all mistakes of a policy come at once.
func TestR30_AllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	_, err := LoadFS(one(`model: openai/x
policy:
  default: maybe
  rules:
    - id: a
      when: {args: {/n: {gt: x, one_of: [0x1, [], {}]}}}
      then: {deny: 1}
    - id: a
      when: {}
`), "agents")
	var lines []string
	for line := range strings.Lines(errText(err)) {
		lines = append(lines, strings.SplitN(line, ":", 4)[1])
	}
	if diff := cmp.Diff([]string{"3", "6", "6", "6", "6", "7", "8", "9", "8"}, lines); diff != "" {
		t.Error(diff + errText(err))
	}
}

// What the reader accepts can always decide.
func FuzzPolicy(f *testing.F) {
	f.Add(ruledAgent)
	f.Add("model: openai/x\npolicy: {rules: [{id: a, when: {args: {/a: {equals: 1e3, regex: '\\Qa'}}}, then: {deny: no}}]}\n")
	f.Fuzz(func(t *testing.T, yaml string) {
		defs, err := LoadFS(one(yaml), "agents")
		if err != nil || defs[0].Agent.Policy == nil {
			return
		}
		if _, err := policy.New(*defs[0].Agent.Policy); err != nil {
			t.Error(err)
		}
	})
}
