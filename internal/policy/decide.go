package policy

import (
	"github.com/turnkeel/turnkeel/contract"
)

// maxWork bounds the regex work of one call, in instructions times bytes: some
// seconds at the worst. Usual rules and arguments stay a thousand times below.
const maxWork = 1 << 28

// Call is what a policy decides about.
type Call struct {
	Agent   string
	Tool    string
	Effects contract.Effects
	Args    string // the canonical arguments: a JSON object; empty is {}

	// Earlier gives what a rule with a limit has counted before this call. If
	// nil, nothing.
	Earlier func(rule string) Counts
}

// Counts are earlier calls that a rule counted.
type Counts struct {
	Turn    int // in this turn
	Session int // in the session's earlier turns
}

// Verdict is what a policy says of a call.
type Verdict struct {
	// Action is PolicyAllow, PolicyDeny or PolicyRequireApproval.
	Action contract.PolicyAction

	Rule   string // that decided; [contract.PolicyDefaultRule] where none matched
	Policy string // the policy's digest
	Reason string // why it is denied, for the model

	// Then are the terms of an approval that is required.
	Then contract.PolicyThen

	// Counted are the rules with a limit that count this call, if it runs.
	Counted []string
}

// The reasons of denials that no rule words.
const (
	reasonDefault    = "no rule of the policy allows it"
	reasonUnreadable = "the policy cannot read its arguments"
	reasonCostly     = "its arguments are too large for the policy's rules"
)

// Decide tries the rules in order; the first that matches decides. A rule with
// a limit counts every call that matches the rest of it, whichever rule
// decides about the call in the end.
func (p *Policy) Decide(c Call) Verdict {
	e := evaluation{call: c, budget: maxWork}
	v := Verdict{Policy: p.digest}
	decided := false
	for _, r := range p.rules {
		if decided && r.when.OverLimit == nil || !e.matches(r) {
			if e.failed != "" {
				return Verdict{Action: contract.PolicyDeny, Rule: r.id, Policy: p.digest, Reason: e.failed}
			}
			continue
		}
		if r.when.OverLimit != nil {
			v.Counted = append(v.Counted, r.id)
			if !e.over(r) {
				continue
			}
		}
		if !decided {
			decided = true
			v.by(r)
		}
	}
	if !decided {
		v.byDefault(p.allow)
	}
	if v.Action == contract.PolicyDeny {
		v.Counted = nil // it does not run
	}
	return v
}

func (v *Verdict) by(r rule) {
	v.Action, v.Rule = r.then.Action, r.id
	switch r.then.Action {
	case contract.PolicyRequireApproval:
		v.Then = r.then
	case contract.PolicyDeny:
		v.Reason = r.then.Reason
	}
}

func (v *Verdict) byDefault(allow bool) {
	v.Action, v.Rule = contract.PolicyAllow, contract.PolicyDefaultRule
	if !allow {
		v.Action, v.Reason = contract.PolicyDeny, reasonDefault
	}
}

// evaluation is the work on one call.
type evaluation struct {
	call   Call
	budget int

	parsed bool // args is set; most rules need no arguments
	args   any
	failed string // why the call has to be denied
}

// matches says whether all of a rule holds, its limit aside.
func (e *evaluation) matches(r rule) bool {
	w := r.when
	if w.Tools != nil && !anyGlob(w.Tools, e.call.Tool) || w.Agents != nil && !anyGlob(w.Agents, e.call.Agent) {
		return false
	}
	if w.Effects != nil && !hasEffects(w.Effects, e.call.Effects) {
		return false
	}
	if len(r.conditions) == 0 {
		return true
	}
	if !e.parse() {
		return false
	}
	for _, c := range r.conditions {
		if !c.met(e.args, &e.budget) {
			if e.budget < 0 {
				e.failed = reasonCostly
			}
			return false
		}
	}
	return true
}

func hasEffects(list []contract.Effects, effects contract.Effects) bool {
	for _, e := range list {
		if e == effects {
			return true
		}
	}
	return false
}

func (e *evaluation) parse() bool {
	if e.parsed {
		return true
	}
	text := e.call.Args
	if text == "" {
		text = "{}"
	}
	v, err := decode(text)
	if _, isObject := v.(map[string]any); err != nil || !isObject {
		e.failed = reasonUnreadable
		return false
	}
	e.args, e.parsed = v, true
	return true
}

// over says whether a call that a rule counts is beyond its limit.
func (e *evaluation) over(r rule) bool {
	if e.call.Earlier == nil {
		return false
	}
	n, limit := e.call.Earlier(r.id), r.when.OverLimit
	return limit.PerTurn > 0 && n.Turn >= limit.PerTurn ||
		limit.PerSession > 0 && n.Turn+n.Session >= limit.PerSession
}
