package turnkeel

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/secrets"
)

// refuseRecordedSecrets finds agents whose instructions or settings hold the
// value of a variable: the first step of each turn records them whole.
func (a *assembly) refuseRecordedSecrets() {
	own := credentials(a.host.credentialNames(), os.Getenv)
	for _, agent := range a.options.Agents {
		a.report(recordedSecret("agent "+agent.Name, agent, own))
	}
	for _, d := range a.host.definitions {
		values := maps.Clone(own)
		maps.Copy(values, secretsOf(d))
		a.report(recordedSecret(d.File, d.Agent, values))
	}
}

// recordedSecret is an error where a value stands in what is recorded of an
// agent; where says which one.
func recordedSecret(where string, agent contract.Agent, values map[string]string) error {
	instructions := agent.Instructions
	agent.Name, agent.Model, agent.Instructions, agent.Tools = "", "", "", nil
	settings, err := json.Marshal(agent)
	if err != nil {
		return nil // what cannot be written is told of elsewhere
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := strings.TrimSpace(values[name])
		written, err := json.Marshal(value)
		if err != nil || len(value) < secrets.MinBytes {
			continue
		}
		part := ""
		switch {
		case strings.Contains(instructions, value):
			part = "instructions hold"
		case strings.Contains(string(settings), string(written[1:len(written)-1])):
			part = "settings hold"
		default:
			continue
		}
		return fmt.Errorf("%s: the agent's %s the value of the environment variable %s, and would be recorded with each turn: "+
			"take it out; a tool gets it by declaring the variable, and what is no secret can stand in env.optional as the default", where, part, name)
	}
	return nil
}
