package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// shape is a turn that is measured: a model call that asks for tools, the
// tools at once, and a model call that answers.
type shape struct {
	Name string
	What string

	Tools   int // parallel-safe calls of the first answer
	Payload int // bytes of each call's argument and of each result
	Timed   bool
}

// shapes are what the report has a row for. Eight calls are the default width
// of a step, so that no call waits for another's slot.
var shapes = []shape{
	{Name: "one-tool", What: "2 model calls, 1 tool", Tools: 1, Payload: 40, Timed: true},
	{Name: "eight-tools", What: "2 model calls, 8 parallel tools", Tools: 8, Payload: 40, Timed: true},
	{Name: "8-KB", What: "2 model calls, 1 tool, 8 KB argument and result", Tools: 1, Payload: 8 << 10},
	{Name: "8-KB-eight", What: "2 model calls, 8 parallel tools, 8 KB each", Tools: 8, Payload: 8 << 10},
}

const (
	agentName  = "bench"
	toolName   = "look"
	secondText = "All of it was looked up: nothing is missing, and nothing was changed."
	firstText  = "Let me look."
)

// models is how many model calls every shape has.
const models = 2

// batches is how many batches of tool calls every shape has.
const batches = 1

// message is the user's message; it names the shape for the scripted model.
func (s shape) message() string { return "Look it up, please. [" + s.Name + "]" }

func (s shape) input() contract.TurnInput {
	return contract.TurnInput{
		Agent:    agentName,
		Messages: []contract.Message{{Role: contract.RoleUser, Content: s.message()}},
	}
}

// floor is the least number of events that Temporal records for the shape's
// activities when each of them and each batch takes one workflow task.
func (s shape) floor() int { return 5 + 6*models + 3*batches + 3*s.Tools }

// content is what a history of the turn cannot do without, in bytes: the
// user's message and the model's texts once, each argument twice (the model
// says it, the tool is handed it), each result once.
func (s shape) content() int {
	n := len(s.message()) + len(firstText) + len(secondText)
	for i := range s.Tools {
		n += 2*len(s.args(i)) + s.Payload
	}
	return n
}

// args are the canonical arguments of a call; they differ, as real ones do.
func (s shape) args(i int) string {
	return fmt.Sprintf(`{"query":"%d%s"}`, i, strings.Repeat("q", s.Payload-len(`{"query":"0"}`)))
}

// script is one model for all shapes. It answers without delay: whatever the
// model takes in life would only hide the difference.
func script(all []shape) agenttest.Script {
	var script agenttest.Script
	for _, s := range all {
		var calls []agenttest.ScriptCall
		for i := range s.Tools {
			calls = append(calls, agenttest.ScriptCall{Name: toolName, Raw: s.args(i)})
		}
		script.Turns = append(script.Turns, agenttest.ScriptTurn{When: "[" + s.Name + "]", Steps: []agenttest.Step{
			{Text: firstText, Calls: calls}, {Text: secondText},
		}})
	}
	return script
}

// query is the tool's input.
type query struct {
	Query string `json:"query"`
}

// look returns at once with as many bytes as it was given.
func look() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[query, string]{
		Name:         toolName,
		Description:  "Looks something up.",
		Effects:      tooldefs.None,
		ParallelSafe: tooldefs.Always,
		Summary:      func(query) string { return "look something up" },
		Handler: func(_ context.Context, _ *tooldefs.Call, in query) (string, error) {
			return strings.Repeat("r", len(in.Query)+len(`{"query":""}`)), nil
		},
	})
}
