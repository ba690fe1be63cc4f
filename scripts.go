package turnkeel

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/scripted"
)

// scripts gives what plays the scripted models of the agents' folders.
func (a *assembly) scripts() func(agent, file string) *http.Client {
	players := map[[2]string]*http.Client{}
	for _, d := range a.host.definitions {
		if d.Script != nil {
			file := strings.TrimPrefix(d.Agent.Model, scripted.Prefix)
			players[[2]string{d.Agent.Name, file}] = scripted.NewClient(scripted.NewModel(d.ScriptFile, *d.Script))
		}
	}
	return func(agent, file string) *http.Client { return players[[2]string{agent, file}] }
}

// scriptedInCode finds agents in code whose model is a script: they have no
// folder that it could be in.
func scriptedInCode(agents []contract.Agent) error {
	var problems []error
	for _, agent := range agents {
		if strings.HasPrefix(agent.Model, scripted.Prefix) {
			problems = append(problems, fmt.Errorf(
				"agent %q: the model %s is a file of the agent's folder, which an agent in code has not; give it a folder with an agent.yaml, or name another model", agent.Name, agent.Model))
		}
	}
	return errors.Join(problems...)
}
