package agentfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml/ast"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/policy"
)

// PolicyCasesName is the file beside an agent.yaml that holds the cases of its
// policy.
const PolicyCasesName = "policy_test.yaml"

// ToolFacts are what a case needs of a tool: what it touches, and the gate
// that the arguments pass before the policy sees them.
type ToolFacts struct {
	Effects contract.Effects
	Check   func(raw string) (canonical, problem string)
}

// TestPolicy runs a file of cases against the agent's policy; an empty file is
// [PolicyCasesName] beside the agent. facts gives the tools that are known
// here; the arguments for others are taken as they stand. The error is that
// of a file that is not there ([os.ErrNotExist]) or an [Errors].
func (d Definition) TestPolicy(file string, facts func(tool string) (ToolFacts, bool)) ([]policy.Result, error) {
	if d.Agent.Policy == nil {
		return nil, Errors{problem(d.File, place{}, "agent %s has no policy to test", d.Agent.Name)}
	}
	p, err := policy.New(*d.Agent.Policy)
	if err != nil {
		return nil, fmt.Errorf("agent %s: policy: %w", d.Agent.Name, err)
	}
	if file == "" {
		file = filepath.Join(filepath.Dir(d.File), PolicyCasesName)
	}
	data, err := readCases(file)
	if err != nil {
		return nil, fmt.Errorf("cases of the policy of agent %s: %w", d.Agent.Name, err)
	}
	r := &reader{file: file}
	if len(data) > maxCasesBytes {
		return nil, Errors{problem(file, place{}, "is longer than %d bytes; split it", maxCasesBytes)}
	}
	cases := r.policyCases(data, p)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	results := make([]policy.Result, len(cases))
	for i, c := range cases {
		c.Call.Agent = d.Agent.Name
		completeCase(&c, facts)
		results[i] = p.Try(c)
	}
	return results, nil
}

// maxCasesBytes bounds a file of cases, which may be a pipe.
const maxCasesBytes = 4 << 20

func readCases(file string) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // the user's own
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(f, maxCasesBytes+1))
}

// completeCase passes the arguments through the tool's own gate, so that the
// policy sees what it sees in a turn: defaults applied, text canonical.
func completeCase(c *policy.Case, facts func(tool string) (ToolFacts, bool)) {
	tool, known := facts(c.Call.Tool)
	if c.Call.Effects == "" {
		c.Call.Effects = contract.EffectsExternal
		if known {
			c.Call.Effects = tool.Effects
		}
	}
	if !known {
		return
	}
	canonical, problem := tool.Check(c.Call.Args)
	if problem != "" {
		c.Invalid = "its arguments never reach the policy: " + problem
		return
	}
	c.Call.Args = canonical
}

func (r *reader) policyCases(data []byte, p *policy.Policy) []policy.Case {
	root := r.parse(data)
	if root == nil {
		return nil
	}
	var cases []policy.Case
	r.mapping(root, "", []field{{"cases", func(n ast.Node) {
		for i, item := range r.filled(n, "cases", "a list of cases") {
			cases = append(cases, r.policyCase(item, fmt.Sprintf("cases[%d]", i), p))
		}
	}}})
	if len(cases) == 0 && len(r.problems) == 0 {
		r.report(place{}, "has no cases")
	}
	return cases
}

func (r *reader) policyCase(n ast.Node, what string, p *policy.Policy) policy.Case {
	c := policy.Case{Call: policy.Call{Args: "{}"}}
	seen := r.mapping(n, what, []field{
		{"name", func(n ast.Node) { c.Name, _ = r.text(n, what+".name") }},
		{"tool", func(n ast.Node) { c.Call.Tool, _ = r.text(n, what+".tool") }},
		{"effects", func(n ast.Node) {
			c.Call.Effects = contract.Effects(r.oneOf(n, what+".effects", "external", "sandbox", "none"))
		}},
		{"args", func(n ast.Node) { c.Call.Args = r.object(n, what+".args") }},
		{"earlier", func(n ast.Node) {
			r.mapping(n, what+".earlier", []field{
				{"in_turn", func(n ast.Node) { c.Limit.Turn = r.count(n, what+".earlier.in_turn") }},
				{"in_session", func(n ast.Node) { c.Limit.Session = r.count(n, what+".earlier.in_session") }},
			})
		}},
		{"want", func(n ast.Node) {
			c.Want = contract.PolicyAction(r.oneOf(n, what+".want", string(contract.PolicyAllow), string(contract.PolicyDeny), string(contract.PolicyRequireApproval)))
		}},
		{"rule", func(n ast.Node) {
			if c.Rule, _ = r.text(n, what+".rule"); c.Rule != "" && !p.HasRule(c.Rule) {
				r.report(at(n), "%s.rule: the policy has no rule %s", what, quote(c.Rule))
			}
		}},
	})
	for _, key := range []string{"tool", "want"} {
		if !seen[key] {
			r.report(at(n), "%s: %s is missing", what, key)
		}
	}
	return c
}

// object reads a mapping as JSON, every digit of a number kept.
func (r *reader) object(n ast.Node, what string) string {
	var out bytes.Buffer
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		r.writeJSON(&out, n, what)
	default:
		r.wrongType(n, what, "a mapping of arguments")
	}
	return out.String()
}

func (r *reader) writeJSON(out *bytes.Buffer, n ast.Node, what string) {
	switch v := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		separator := "{"
		r.entries(n, what, func(key string, _ place, value ast.Node) {
			name, _ := json.Marshal(key) // a text always can be written
			out.WriteString(separator + string(name) + ":")
			r.writeJSON(out, value, what+"."+bound(key, 80))
			separator = ","
		})
		if separator == "{" {
			out.WriteString("{")
		}
		out.WriteString("}")
	case *ast.SequenceNode:
		out.WriteString("[")
		for i, item := range v.Values {
			if i > 0 {
				out.WriteString(",")
			}
			r.writeJSON(out, item, fmt.Sprintf("%s[%d]", what, i))
		}
		out.WriteString("]")
	case *ast.NullNode:
		out.WriteString("null")
	default:
		out.Write(r.scalar(n, what))
	}
}
