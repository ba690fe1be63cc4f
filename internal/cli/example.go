package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/examples/support"
	"github.com/turnkeel/turnkeel/internal/agentfile"
)

// demoFile is the script beside an agent.yaml: what a model says in a demo of
// the agent, and the message that it answers.
const demoFile = "demo.yaml"

// example is an agent with what it is shown by.
type example struct {
	agent, message string
	script         agenttest.Script
	plays          string   // its model, where no variable of ours changes that
	servers        []string // its MCP servers, "name (command or address)"
}

// findExample is the agent to show: the one that is named, or the folder's only
// one, or the example of this repository.
func findExample(dir, name string) (example, error) {
	definitions, err := agentfile.Load(dir)
	if err != nil {
		return example{}, err
	}
	var found *agentfile.Definition
	var names []string
	for i, d := range definitions {
		names = append(names, d.Agent.Name)
		if d.Agent.Name == name || name == "" && (len(definitions) == 1 || d.Agent.Name == support.AgentName) {
			found = &definitions[i]
		}
	}
	switch {
	case found == nil && name == "":
		return example{}, usageError{fmt.Errorf("%s has several agents; name one with --agent: %s", dir, strings.Join(names, ", "))}
	case found == nil:
		return example{}, notFoundError{fmt.Errorf("%s has no agent %q; it has: %s", dir, name, strings.Join(names, ", "))}
	}
	return exampleOf(*found)
}

func exampleOf(d agentfile.Definition) (example, error) {
	e := example{agent: d.Agent.Name}
	for _, s := range d.MCP {
		at := s.URL
		if len(s.Command) > 0 {
			at = strings.Join(s.Command, " ")
		}
		e.servers = append(e.servers, fmt.Sprintf("%s (%s)", s.Name, at))
	}
	file := filepath.Join(filepath.Dir(d.File), demoFile)
	if e.plays = ownModel(d); d.Script != nil {
		file = d.ScriptFile
	}
	script, found, err := offlineScript(d)
	switch {
	case err != nil:
		return example{}, err
	case !found:
		agents := filepath.Dir(filepath.Dir(d.File))
		return example{}, notFoundError{fmt.Errorf("the agent %s has no %s, which says what to ask it and what a model without a key answers; write one (docs/agents.md shows one), or talk with it: starter dev --agents %s, and in a second terminal: starter chat --agent %s",
			e.agent, file, agents, e.agent)}
	}
	e.script, e.message = script, script.Message
	if e.message == "" && e.agent == support.AgentName {
		e.message = support.DemoMessage
	}
	if e.message == "" {
		return example{}, fmt.Errorf("%s: message is missing: what a person asks the agent", file)
	}
	return e, nil
}
