package agentfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/turnkeel/turnkeel/contract"
)

// Resolve holds the agent against the names of the worker's tools: `all`
// becomes every one of them, sorted, and a name the worker lacks is a problem
// with its place, in tools or in a rule of the policy. The digest is that of the resolved agent.
func (d Definition) Resolve(tools []string) (contract.Agent, error) {
	agent := d.Agent
	var problems Errors
	if slices.Contains(d.ToolNames, AllTools) {
		agent.Tools = slices.Sorted(slices.Values(tools))
		agent.Digest = Digest(agent)
	} else {
		problems = d.unknownTools(tools)
	}
	if problems = append(problems, d.unknownRuled(tools)...); len(problems) > 0 {
		return contract.Agent{}, problems
	}
	return agent, nil
}

func (d Definition) unknownTools(tools []string) Errors {
	var problems Errors
	for i, name := range d.ToolNames {
		if slices.Contains(tools, name) {
			continue
		}
		var where place
		if i < len(d.toolsAt) {
			where = d.toolsAt[i]
		}
		problems = append(problems, problem(d.File, where, "tools: this worker has no tool %s%s", quote(name), didYouMean(name, tools)))
	}
	return problems
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
