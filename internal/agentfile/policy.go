package agentfile

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/policy"
)

// ruled is a tool that a rule names in full. A misspelt name there would make
// the rule match nothing, so it is held against the worker's tools.
type ruled struct {
	name string
	what string
	at   place
}

// unknownRuled are the tools that rules name and the worker lacks. A pattern
// may match nothing yet: it can be meant for tools to come.
func (d Definition) unknownRuled(tools []string) Errors {
	var problems Errors
	for _, u := range d.ruled {
		if !slices.Contains(tools, u.name) {
			problems = append(problems, problem(d.File, u.at, "%s: this worker has no tool %s%s", u.what, quote(u.name), didYouMean(u.name, tools)))
		}
	}
	return problems
}

// approvals reads what holds where neither a tool nor the policy says.
func (r *reader) approvals(n ast.Node, a *contract.Agent) {
	r.mapping(n, "approvals", []field{
		{"timeout", func(n ast.Node) { a.ApprovalTimeout = contract.Duration(r.duration(n, "approvals.timeout")) }},
		{"approvers", func(n ast.Node) { a.Approvers = r.people(n, "approvals.approvers") }},
	})
	if emptyMapping(n) {
		r.report(at(n), "approvals is empty; give timeout or approvers, or remove it")
	}
}

func (r *reader) policy(n ast.Node, def *Definition) {
	p := contract.Policy{Default: contract.PolicyAllow}
	r.mapping(n, "policy", []field{
		{"default", func(n ast.Node) {
			p.Default = contract.PolicyAction(r.oneOf(n, "policy.default", string(contract.PolicyAllow), string(contract.PolicyDeny)))
		}},
		{"rules", func(n ast.Node) { p.Rules = r.rules(n, def) }},
	})
	if emptyMapping(n) {
		r.report(at(n), "policy is empty; give rules or default, or remove it")
	}
	if err := policy.CheckSize(p); err != nil {
		r.report(at(n), "policy: %v", err)
	}
	p.Digest = policy.Digest(p)
	def.Agent.Policy = &p
}

func (r *reader) rules(n ast.Node, def *Definition) []contract.PolicyRule {
	items := r.list(n, "policy.rules", "a list of rules")
	if len(items) > policy.MaxRules {
		r.report(at(n), "policy.rules: %d rules, at most %d are allowed", len(items), policy.MaxRules)
		return nil
	}
	rules := make([]contract.PolicyRule, len(items))
	ids := map[string]place{}
	for i, item := range items {
		rules[i] = r.rule(item, fmt.Sprintf("policy.rules[%d]", i), ids, def)
	}
	return rules
}

func (r *reader) rule(n ast.Node, what string, ids map[string]place, def *Definition) contract.PolicyRule {
	var rule contract.PolicyRule
	before := len(r.problems)
	seen := r.mapping(n, what, []field{
		{"id", func(n ast.Node) { rule.ID = r.ruleID(n, what+".id", ids) }},
		{"when", func(n ast.Node) { rule.When = r.when(n, what+".when", def) }},
		{"then", func(n ast.Node) { rule.Then = r.then(n, what+".then") }},
	})
	if len(seen) == 0 && len(r.problems) > before {
		return rule // no mapping: said already
	}
	for _, key := range []struct{ name, example string }{
		{"id", "id: no_big_refunds"}, {"when", "when: {tools: [refund]}"}, {"then", "then: allow"},
	} {
		if !seen[key.name] {
			r.report(at(n), "%s: %s is missing; add for example: %s", what, key.name, key.example)
		}
	}
	return rule
}

func (r *reader) ruleID(n ast.Node, what string, ids map[string]place) string {
	id, ok := r.text(n, what)
	if !ok {
		return ""
	}
	if err := policy.CheckID(id); err != nil {
		r.report(at(n), "%s: %v, found %s", what, err, quote(id))
	}
	if first, twice := ids[id]; twice {
		r.report(at(n), "%s: %s stands a second time; the first is in line %d", what, quote(id), first.line)
		return id
	}
	ids[id] = at(n)
	return id
}

func (r *reader) when(n ast.Node, what string, def *Definition) contract.PolicyWhen {
	var w contract.PolicyWhen
	r.mapping(n, what, []field{
		{"tools", func(n ast.Node) { w.Tools = r.ruledTools(n, what+".tools", def) }},
		{"effects", func(n ast.Node) {
			for i, item := range r.filled(n, what+".effects", "a list of effects, like [external]") {
				w.Effects = append(w.Effects, contract.Effects(r.oneOf(item, fmt.Sprintf("%s.effects[%d]", what, i), "external", "sandbox", "none")))
			}
		}},
		{"agents", func(n ast.Node) {
			w.Agents = r.globs(n, what+".agents", "a list of agents' names, in which * is any text", nil)
		}},
		{"args", func(n ast.Node) { w.Args = r.args(n, what+".args") }},
		{"over_limit", func(n ast.Node) { w.OverLimit = r.overLimit(n, what+".over_limit") }},
	})
	if emptyMapping(n) {
		r.report(at(n), `%s is empty, so the rule would match every call; say tools: ["*"] if that is meant`, what)
	}
	return w
}

func (r *reader) ruledTools(n ast.Node, what string, def *Definition) []string {
	return r.globs(n, what, "a list of tools' names, in which * is any text", func(name, what string, at place) {
		if !strings.ContainsAny(name, "*?") {
			def.ruled = append(def.ruled, ruled{name, what, at})
		}
	})
}

// globs reads a list of patterns; each that is good is given to found, too.
func (r *reader) globs(n ast.Node, what, want string, found func(name, what string, at place)) []string {
	var globs []string
	for i, item := range r.filled(n, what, want) {
		inItem := fmt.Sprintf("%s[%d]", what, i)
		glob, ok := r.text(item, inItem)
		if !ok {
			continue
		}
		if err := policy.CheckGlob(glob); err != nil {
			r.report(at(item), "%s: %v, found %s", inItem, err, quote(glob))
			continue
		}
		globs = append(globs, glob)
		if found != nil {
			found(glob, inItem, at(item))
		}
	}
	return globs
}

func (r *reader) overLimit(n ast.Node, what string) *contract.CallLimit {
	var l contract.CallLimit
	r.mapping(n, what, []field{
		{"per_turn", func(n ast.Node) { l.PerTurn = r.count(n, what+".per_turn") }},
		{"per_session", func(n ast.Node) { l.PerSession = r.count(n, what+".per_session") }},
	})
	if emptyMapping(n) {
		r.report(at(n), "%s is empty; give per_turn or per_session", what)
	}
	return &l
}

// then is a word, or a mapping with the one action that has terms.
func (r *reader) then(n ast.Node, what string) contract.PolicyThen {
	if _, ok := textOf(n); ok {
		action := contract.PolicyAction(r.oneOf(n, what, string(contract.PolicyAllow), string(contract.PolicyDeny), string(contract.PolicyRequireApproval)))
		if action == contract.PolicyDeny {
			r.report(at(n), "%s: deny needs a reason, which the model reads; write: then: {deny: refunds above 500 are made by people}", what)
		}
		return contract.PolicyThen{Action: action}
	}
	var t contract.PolicyThen
	r.mapping(n, what, []field{
		{"deny", func(n ast.Node) {
			t.Action = contract.PolicyDeny
			t.Reason = r.words(n, what+".deny")
		}},
		{"require_approval", func(n ast.Node) {
			t.Action = contract.PolicyRequireApproval
			r.mapping(n, what+".require_approval", []field{
				{"approvers", func(n ast.Node) { t.Approvers = r.people(n, what+".require_approval.approvers") }},
				{"timeout", func(n ast.Node) { t.Timeout = contract.Duration(r.duration(n, what+".require_approval.timeout")) }},
				{"message", func(n ast.Node) { t.Message = r.words(n, what+".require_approval.message") }},
			})
		}},
	})
	if m, isMapping := n.(*ast.MappingNode); isMapping && len(m.Values) != 1 {
		r.report(at(n), "%s: want exactly one action: allow, {deny: <reason>} or {require_approval: {…}}", what)
	}
	return t
}

// words reads a sentence for the model or for a person.
func (r *reader) words(n ast.Node, what string) string {
	text, ok := r.text(n, what)
	if text = strings.TrimSpace(text); ok && text == "" {
		r.report(at(n), "%s: is empty; say why", what)
	}
	if utf8.RuneCountInString(text) > policy.MaxText {
		r.report(at(n), "%s: at most %d characters", what, policy.MaxText)
	}
	return text
}

// people reads the names of those who may decide.
func (r *reader) people(n ast.Node, what string) []string {
	var names []string
	for i, item := range r.filled(n, what, "a list of names, like [ops]") {
		inItem := fmt.Sprintf("%s[%d]", what, i)
		name, ok := r.text(item, inItem)
		switch {
		case !ok:
		case strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > 200:
			r.report(at(item), "%s: want a name of at most 200 characters, found %s", inItem, quote(name))
		case slices.Contains(names, name):
			r.report(at(item), "%s: %s stands a second time", inItem, quote(name))
		default:
			names = append(names, name)
		}
	}
	return names
}

// filled is a list that has items: an empty one would match nothing.
func (r *reader) filled(n ast.Node, what, want string) []ast.Node {
	items := r.list(n, what, want)
	if _, isList := n.(*ast.SequenceNode); isList && len(items) == 0 {
		r.report(at(n), "%s is empty; give %s, or remove it", what, want)
	}
	return items
}

func emptyMapping(n ast.Node) bool {
	m, ok := n.(*ast.MappingNode)
	return ok && len(m.Values) == 0
}
