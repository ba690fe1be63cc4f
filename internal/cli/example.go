package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnkeel/turnkeel"
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
	plays          string   // its model, if that is a script by its agent.yaml
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
	if d.Script != nil {
		file, e.plays = d.ScriptFile, d.Agent.Model
	}
	data, err := os.ReadFile(file) //nolint:gosec // the user's own
	switch {
	case errors.Is(err, fs.ErrNotExist) && e.agent == support.AgentName:
		data, e.message = support.DemoScript(), support.DemoMessage
	case errors.Is(err, fs.ErrNotExist):
		return example{}, notFoundError{fmt.Errorf("the agent %s has no %s, which says what to ask it and what a model without a key answers; write one, or: starter dev --agents %s",
			e.agent, file, filepath.Dir(filepath.Dir(d.File)))}
	case err != nil:
		return example{}, err
	}
	if e.script, err = agenttest.ParseScript(data); err != nil {
		return example{}, fmt.Errorf("%s: %w", file, err)
	}
	if e.script.Message != "" {
		e.message = e.script.Message
	}
	if e.message == "" {
		return example{}, fmt.Errorf("%s: message is missing: what a person asks the agent", file)
	}
	return e, nil
}

// devScript is what plays the model for "starter dev": the script of the agents'
// folder, or of the example of this repository.
func devScript(dir string) (agenttest.Script, error) {
	if dir != turnkeel.DefaultAgentsDir {
		if e, err := findExample(dir, ""); err == nil {
			return e.script, nil
		}
	}
	return agenttest.ParseScript(support.DemoScript())
}
