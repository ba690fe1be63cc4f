package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
)

// Policy is a policy that can decide. It does not change and is safe for
// concurrent use.
type Policy struct {
	rules  []rule
	allow  bool // what the default is
	digest string
}

type rule struct {
	id         string
	when       contract.PolicyWhen
	conditions []condition
	then       contract.PolicyThen
}

// New makes a policy ready to decide. The error has every mistake in it; what
// an agent file says has been checked with its places before. A policy with
// another digest than what is read of it comes out as an error too: its rules
// say more than this version of the program understands.
func New(p contract.Policy) (*Policy, error) {
	if p.Digest != "" && p.Digest != Digest(p) {
		return nil, fmt.Errorf("the policy %s has parts that this version does not know", p.Digest)
	}
	var problems []error
	if p.Default != contract.PolicyAllow && p.Default != contract.PolicyDeny {
		problems = append(problems, fmt.Errorf("default %q: want allow or deny", p.Default))
	}
	if err := CheckSize(p); err != nil {
		problems = append(problems, err)
	}
	if len(p.Rules) > MaxRules {
		problems = append(problems, fmt.Errorf("%d rules: at most %d are allowed", len(p.Rules), MaxRules))
	}
	out := &Policy{allow: p.Default == contract.PolicyAllow, digest: Digest(p)}
	ids := map[string]bool{}
	for i, r := range p.Rules {
		if ids[r.ID] {
			problems = append(problems, fmt.Errorf("rule %d: the id %q stands a second time", i+1, r.ID))
		}
		ids[r.ID] = true
		compiled, err := newRule(r)
		if err != nil {
			problems = append(problems, fmt.Errorf("rule %d (%s): %w", i+1, r.ID, err))
		}
		out.rules = append(out.rules, compiled)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return out, nil
}

// Digest names a version of a policy; the policy's own Digest does not count.
func Digest(p contract.Policy) string {
	p.Digest = ""
	data, err := json.Marshal(p)
	if err != nil { // an operand that is no JSON: New refuses it too
		data = []byte("not to be written: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16]
}

// CheckSize says whether a policy is too large to be recorded.
func CheckSize(p contract.Policy) error {
	data, err := json.Marshal(p)
	if err == nil && len(data) > MaxBytes {
		return fmt.Errorf("%d bytes as JSON, at most %d are allowed: it is recorded in every turn", len(data), MaxBytes)
	}
	return nil // what cannot be written is reported where it stands
}

func newRule(r contract.PolicyRule) (rule, error) {
	w := r.When
	problems := []error{CheckID(r.ID), checkThen(r.Then)}
	if len(w.Tools)+len(w.Effects)+len(w.Agents)+len(w.Args) == 0 && w.OverLimit == nil {
		problems = append(problems, errors.New("when is empty"))
	}
	if w.Tools != nil && len(w.Tools) == 0 || w.Effects != nil && len(w.Effects) == 0 || w.Agents != nil && len(w.Agents) == 0 {
		// Written into a history it would be gone, and the rule match more.
		problems = append(problems, errors.New("a list in when is empty"))
	}
	for _, g := range append(append([]string{}, w.Tools...), w.Agents...) {
		problems = append(problems, in(g, CheckGlob(g)))
	}
	for _, e := range w.Effects {
		problems = append(problems, in(string(e), CheckEffects(e)))
	}
	if l := w.OverLimit; l != nil && (l.PerTurn < 0 || l.PerSession < 0 || l.PerTurn+l.PerSession == 0) {
		problems = append(problems, errors.New("over_limit: want a number of at least 1"))
	}
	out := rule{id: r.ID, when: w, then: r.Then}
	for _, a := range w.Args {
		c, err := newCondition(a)
		problems = append(problems, in(a.Pointer, err))
		out.conditions = append(out.conditions, c)
	}
	return out, errors.Join(problems...)
}

func checkThen(t contract.PolicyThen) error {
	for _, text := range []string{t.Reason, t.Message} {
		if utf8.RuneCountInString(text) > MaxText {
			return fmt.Errorf("a reason or message has at most %d characters", MaxText)
		}
	}
	switch {
	case t.Action == contract.PolicyDeny && t.Reason == "":
		return errors.New("deny needs a reason, for the model")
	case t.Timeout < 0:
		return errors.New("timeout is negative")
	case t.Action == contract.PolicyAllow, t.Action == contract.PolicyDeny, t.Action == contract.PolicyRequireApproval:
		return nil
	}
	return fmt.Errorf("unknown action %q", t.Action)
}

// in says what an error is about; nil stays nil.
func in(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
