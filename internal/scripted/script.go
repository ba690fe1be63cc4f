package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// Script is what a scripted model says. Its YAML is shown in the doc of package agenttest.
type Script struct {
	// Model is the name the server answers with and lists. If empty, it
	// answers with the name it was asked for and lists "scripted".
	Model string `yaml:"model,omitempty"`

	// Message is what a person says in a demo of the script. The server does
	// not look at it.
	Message string `yaml:"message,omitempty"`

	// Steps are the answers to each user message, in order: the first to the
	// message itself, the second to the results of the first's calls, and so
	// on. Required, unless there are Turns or a Hook.
	Steps []Step `yaml:"steps,omitempty"`

	// Turns are steps for particular user messages. The first whose When is
	// part of the latest user message is played; if none is, Steps are.
	Turns []ScriptTurn `yaml:"turns,omitempty"`

	// Hook, if not nil, is asked before the script. It may answer by itself,
	// or return nil for the script's step. It is called from several
	// goroutines and may block: ctx ends with the request.
	Hook func(ctx context.Context, r Request) *Step `yaml:"-"`
}

// ScriptTurn is a list of steps for some user messages.
type ScriptTurn struct {
	When  string `yaml:"when"` // required
	Steps []Step `yaml:"steps,omitempty"`
}

// Step is one answer of a scripted model.
type Step struct {
	Text      string       `yaml:"text,omitempty"`
	Reasoning string       `yaml:"reasoning,omitempty"` // sent as reasoning_content
	Calls     []ScriptCall `yaml:"calls,omitempty"`

	// Usage is what the answer reports. If zero, a rough count of four bytes a
	// token.
	Usage StepUsage `yaml:"usage,omitempty"`

	Delay      contract.Duration `yaml:"delay,omitempty"`       // before the first chunk
	ChunkDelay contract.Duration `yaml:"chunk_delay,omitempty"` // before each further chunk

	// Finish is the finish_reason. If empty, tool_calls or stop.
	Finish string `yaml:"finish,omitempty"`

	// Frames is the answer as it goes over the wire, in place of what stands
	// above: the frames of a stream, each followed by an empty line. One that
	// begins with { or [ gets the "data: " that it lacks. End them with [DONE],
	// if the server shall.
	Frames []string `yaml:"frames,omitempty"`

	// Body is a whole body as it goes over the wire, in place of a stream.
	Body string `yaml:"body,omitempty"`

	// Headers are set on the answer, for example Content-Type.
	Headers map[string]string `yaml:"headers,omitempty"`

	// Failures are played first, one for each time that the same request
	// comes; then the step is.
	Failures []StepFailure `yaml:"failures,omitempty"`
}

// ScriptCall is a tool call. At most one of Args and Raw is set; neither
// means an empty object.
type ScriptCall struct {
	ID   string         `yaml:"id,omitempty"` // if empty, call_<step>_<place>
	Name string         `yaml:"name"`
	Args map[string]any `yaml:"args,omitempty"`
	Raw  string         `yaml:"raw,omitempty"` // the arguments as they go over the wire
}

// StepUsage counts tokens.
type StepUsage struct {
	Prompt     int `yaml:"prompt,omitempty"`
	Completion int `yaml:"completion,omitempty"`
	Cached     int `yaml:"cached,omitempty"`
	Reasoning  int `yaml:"reasoning,omitempty"`
}

// StepFailure is a request that goes wrong. What is not said is as in the
// step's own answer.
type StepFailure struct {
	Status  int               `yaml:"status,omitempty"`  // answer with this HTTP status
	Message string            `yaml:"message,omitempty"` // of the error; if empty, the status text
	Code    string            `yaml:"code,omitempty"`    // of the error, for example insufficient_quota
	Headers map[string]string `yaml:"headers,omitempty"` // for example Retry-After

	// Body is the body as it goes over the wire, in place of an error in
	// OpenAI's shape. Without a Status, the status is 200.
	Body string `yaml:"body,omitempty"`

	// Frames are sent in place of the step's: see [Step.Frames].
	Frames []string `yaml:"frames,omitempty"`

	// Delay is waited before the first byte, and ChunkDelay before each further
	// chunk or frame.
	Delay      contract.Duration `yaml:"delay,omitempty"`
	ChunkDelay contract.Duration `yaml:"chunk_delay,omitempty"`

	// Cut ends the answer after this many chunks or frames, and CutBytes after
	// this many bytes of the body: at most one of them. The connection breaks
	// there, unless Clean or Hang says otherwise.
	Cut      int `yaml:"cut,omitempty"`
	CutBytes int `yaml:"cut_bytes,omitempty"`

	// Clean lets the cut body end as if it were whole.
	Clean bool `yaml:"clean,omitempty"`

	// Hang sends nothing more, until the client leaves: at the cut, at the end
	// of Frames or, with neither, from the start.
	Hang bool `yaml:"hang,omitempty"`
}

// Load reads a script from a file. Its errors name file, line and column.
func Load(path string) (Script, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Script{}, err
	}
	return Parse(path, data)
}

// arguments is the text of the call's arguments.
func (c ScriptCall) arguments() (string, error) {
	switch {
	case c.Raw != "":
		return c.Raw, nil
	case len(c.Args) == 0:
		return "{}", nil
	}
	text, err := json.Marshal(c.Args)
	if err != nil {
		return "", fmt.Errorf("args of %s: %w", c.Name, err)
	}
	return string(text), nil
}

// usage is the step's usage, or a rough count.
func (s Step) usage(promptBytes int) StepUsage {
	if s.Usage != (StepUsage{}) {
		return s.Usage
	}
	said := len(s.Text) + len(s.Reasoning)
	for _, c := range s.Calls {
		args, _ := c.arguments()
		said += len(c.Name) + len(args)
	}
	return StepUsage{Prompt: promptBytes/4 + 1, Completion: said/4 + 1}
}

// FinishReason is Finish, or what goes without saying.
func (s Step) FinishReason() string {
	switch {
	case s.Finish != "":
		return s.Finish
	case len(s.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d contract.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d.Std())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
