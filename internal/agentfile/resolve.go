package agentfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/turnkeel/turnkeel/contract"
)

// Offer is what a worker has for one agent.
type Offer struct {
	// Tools are the names of the worker's own tools, which every agent may
	// name; `all` stands for them.
	Tools []string

	// Offered are the built-ins that an agent could ask for.
	Offered []string

	// Builtins are the names of the tools of each built-in that the agent asks
	// for, MCP those of each of its servers as the model sees them.
	Builtins map[string][]string
	MCP      map[string][]string

	// Partial says that not all of it is known, since something else is wrong:
	// a rule's name that is not found is not told of then.
	Partial bool
}

// Resolve holds the agent against what the worker offers: `all` becomes every
// tool of the worker's own, sorted; the tools of built-ins and servers follow
// in the order of the file. A name the worker lacks is a problem with its
// place, in tools or in a rule of the policy. The digest is that of the
// resolved agent.
func (d Definition) Resolve(o Offer) (contract.Agent, error) {
	agent := d.Agent
	agent.Tools = slices.Clone(d.Agent.Tools)
	var problems Errors
	if slices.Contains(d.ToolNames, AllTools) {
		agent.Tools = slices.Sorted(slices.Values(o.Tools))
	} else {
		problems = d.unknownTools(o)
	}
	known := slices.Clone(o.Tools)
	for _, name := range d.Builtins {
		agent.Tools, known = append(agent.Tools, o.Builtins[name]...), append(known, o.Builtins[name]...)
	}
	for _, s := range d.MCP {
		agent.Tools, known = append(agent.Tools, o.MCP[s.Name]...), append(known, o.MCP[s.Name]...)
	}
	if !o.Partial {
		problems = append(problems, d.unknownRuled(known)...)
	}
	if len(problems) > 0 {
		return contract.Agent{}, problems
	}
	agent.Digest = Digest(agent)
	return agent, nil
}

func (d Definition) unknownTools(o Offer) Errors {
	var problems Errors
	for i, name := range d.ToolNames {
		if slices.Contains(o.Tools, name) {
			continue
		}
		var where place
		if i < len(d.toolsAt) {
			where = d.toolsAt[i]
		}
		problems = append(problems, problem(d.File, where, "tools: %s", d.unknownTool(name, o)))
	}
	return problems
}

// unknownTool says what to do about a name in tools that is none of the worker's
// own tools: it may be one from elsewhere.
func (d Definition) unknownTool(name string, o Offer) string {
	if later := laterTool(name, "tools"); later != "" {
		return later
	}
	if slices.Contains(o.Offered, name) {
		return name + " is a built-in tool; name it in builtin_tools"
	}
	for _, s := range d.MCP {
		if slices.Contains(o.MCP[s.Name], name) {
			return name + " is a tool of mcp_servers." + s.Name + ", all of which the agent has; remove it here"
		}
	}
	return "this worker has no tool " + quote(name) + didYouMean(name, o.Tools)
}

// Digest is the hex SHA-256 of the agent's JSON without its Digest: the same
// for the same definition on every machine, whatever the layout, comments and
// key order of the file.
func Digest(agent contract.Agent) string {
	agent.Digest = ""
	data, err := json.Marshal(agent)
	if err != nil { // a NaN temperature, which the reader refuses
		panic("agentfile: cannot marshal an agent: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
