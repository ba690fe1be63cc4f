package turnkeel

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// Description is what a worker would serve, as its commands check and tools
// print it. It holds names of variables and no values.
type Description struct {
	Agents   []AgentDescription `json:"agents"`
	Warnings []string           `json:"warnings,omitempty"`
	Problems []Problem          `json:"problems,omitempty"` // then there are no agents
}

// AgentDescription is one agent with the tools that its model is shown, in the
// order in which it is.
type AgentDescription struct {
	Name         string            `json:"name"`
	File         string            `json:"file,omitempty"` // empty for one in code
	Model        string            `json:"model"`
	Instructions string            `json:"instructions,omitempty"`
	Env          []string          `json:"env,omitempty"` // declared variables, sorted
	Tools        []ToolDescription `json:"tools"`
	Digest       string            `json:"digest,omitempty"`
}

// ToolDescription is one tool: the first three are what a model is shown.
type ToolDescription struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema
	Class       tooldefs.Class  `json:"class"`
	Effects     string          `json:"effects"`
	Origin      string          `json:"origin"` // the built-in or MCP server it is of, or where it is defined
}

// Problem is one thing that keeps a worker from starting.
type Problem struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`   // from 1; 0 when it is not of a place
	Column int    `json:"column,omitempty"` // from 1; 0 like Line
	Text   string `json:"text"`
}

// Describe says what the host serves.
func (h *Host) Describe() Description {
	d := Description{Agents: []AgentDescription{}, Warnings: slices.Clone(h.warnings)}
	warned := map[string]bool{}
	for _, agent := range h.agents {
		a := AgentDescription{
			Name: agent.Name, Model: agent.Model, Instructions: agent.Instructions, Digest: agent.Digest, Tools: []ToolDescription{},
		}
		for _, def := range h.definitions {
			if def.Agent.Name == agent.Name {
				a.File, a.Env = def.File, def.Env.Names()
			}
		}
		for _, name := range agent.Tools {
			tool, ok := h.set.Lookup(name)
			if !ok {
				continue // activities.New has refused it
			}
			a.Tools = append(a.Tools, h.describe(tool))
			if !warned[name] {
				warned[name] = true
				d.Warnings = append(d.Warnings, tool.Warnings()...)
			}
		}
		d.Agents = append(d.Agents, a)
	}
	return d
}

func (h *Host) describe(t *tooldefs.Tool) ToolDescription {
	origin, ok := h.origins[t.Name()]
	if !ok {
		origin = t.Origin()
	}
	return ToolDescription{
		Name: t.Name(), Description: t.Description(), Parameters: json.RawMessage(t.InputSchema()),
		Class: t.Class(), Effects: string(t.Effects()), Origin: origin,
	}
}

// problemsOf takes the error of [Open] apart.
func problemsOf(err error) []Problem {
	var files agentfile.Errors
	var several interface{ Unwrap() []error }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &several):
		var all []Problem
		for _, part := range several.Unwrap() {
			all = append(all, problemsOf(part)...)
		}
		return all
	case errors.As(err, &files):
		var all []Problem
		for _, p := range files {
			all = append(all, Problem{p.File, p.Line, p.Column, p.Text})
		}
		return all
	}
	return []Problem{{Text: err.Error()}}
}
