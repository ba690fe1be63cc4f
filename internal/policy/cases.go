package policy

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/turnkeel/turnkeel/contract"
)

// Case is one line of a policy's table of cases.
type Case struct {
	Name string // for people; empty is the tool's name
	Call Call   // its Earlier is set by Limit

	// Limit is what every rule with a limit has counted before.
	Limit Counts

	// Invalid, if set, is why the call would not come as far as the policy.
	Invalid string

	Want contract.PolicyAction
	Rule string // that is to decide; empty is any
}

// Result is what became of a [Case].
type Result struct {
	Name     string                `json:"name"`
	Tool     string                `json:"tool"`
	Args     string                `json:"args"`
	Want     contract.PolicyAction `json:"want"`
	WantRule string                `json:"want_rule,omitempty"`
	Got      contract.PolicyAction `json:"got,omitempty"` // empty when Problem is set
	Rule     string                `json:"rule,omitempty"`
	Reason   string                `json:"reason,omitempty"`
	Problem  string                `json:"problem,omitempty"`
	Passed   bool                  `json:"passed"`
	Policy   string                `json:"policy"` // digest
}

// Try runs one case.
func (p *Policy) Try(c Case) Result {
	r := Result{Name: c.Name, Tool: c.Call.Tool, Args: c.Call.Args, Want: c.Want, WantRule: c.Rule, Policy: p.digest}
	if r.Name == "" {
		r.Name = r.Tool
	}
	if c.Invalid != "" {
		r.Problem = c.Invalid
		return r
	}
	c.Call.Earlier = func(string) Counts { return c.Limit }
	v := p.Decide(c.Call)
	r.Got, r.Rule, r.Reason = v.Action, v.Rule, v.Reason
	r.Passed = r.Got == r.Want && (c.Rule == "" || c.Rule == r.Rule)
	return r
}

// HasRule says whether a rule with that id exists, the default included.
func (p *Policy) HasRule(id string) bool {
	for _, r := range p.rules {
		if r.id == id {
			return true
		}
	}
	return id == contract.PolicyDefaultRule
}

// Failed is how many of the results did not pass.
func Failed(results []Result) int {
	n := 0
	for _, r := range results {
		if !r.Passed {
			n++
		}
	}
	return n
}

// WriteTable writes the results for people; failed cases follow with what was
// wanted.
func WriteTable(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tCASE\tTOOL\tVERDICT\tRULE")
	for _, r := range results {
		mark, got := "ok", string(r.Got)
		if !r.Passed {
			mark = "FAILED"
		}
		if r.Problem != "" {
			got = "not decided"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", mark, r.Name, r.Tool, got, r.Rule)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if !r.Passed {
			fmt.Fprintf(w, "\n%s: %s %s\n  %s\n", r.Name, r.Tool, r.Args, r.why())
		}
	}
	return nil
}

func (r Result) why() string {
	if r.Problem != "" {
		return r.Problem
	}
	text := fmt.Sprintf("want %s%s, got %s%s", r.Want, by(r.WantRule), r.Got, by(r.Rule))
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

func by(rule string) string {
	if rule == "" {
		return ""
	}
	return " by " + rule
}
