package scripted

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"

	"github.com/turnkeel/turnkeel/internal/yamlbound"
)

// fault is a fault of a script and the YAML path where it is.
type fault struct {
	path string // "$.steps[0].calls[1]"
	text string
}

// Problem is one thing wrong with the text of a script.
type Problem struct {
	Line, Column int // from 1; 0 when it has no place
	Text         string
}

// Parse reads a script. Unknown fields, wrong types and steps that make no
// sense are errors that name line and column after name.
func Parse(name string, data []byte) (Script, error) {
	s, problems := Read(data)
	var all []error
	for _, p := range problems {
		if p.Line == 0 {
			all = append(all, fmt.Errorf("%s: %s", name, p.Text))
			continue
		}
		all = append(all, fmt.Errorf("%s:%d:%d: %s", name, p.Line, p.Column, p.Text))
	}
	return s, errors.Join(all...)
}

// Read is [Parse] for a caller that tells of the problems itself.
func Read(data []byte) (s Script, problems []Problem) {
	defer func() {
		if v := recover(); v != nil { // a fault of the YAML reader must not end the process without a place
			s, problems = Script{}, []Problem{{Text: fmt.Sprintf("cannot be parsed as YAML (%v)", v)}}
		}
	}()
	if at, problem := yamlbound.Check(lexer.Tokenize(string(data))); problem != "" {
		return Script{}, []Problem{{Line: at.Position.Line, Column: at.Position.Column, Text: problem}}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	switch err := dec.Decode(&s); {
	case errors.Is(err, io.EOF):
		return Script{}, []Problem{{Text: "the script is empty"}}
	case err != nil:
		return Script{}, []Problem{yamlProblem(err)}
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Script{}, []Problem{{Text: "a script is one YAML document, not several"}}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return Script{}, []Problem{yamlProblem(err)}
	}
	for _, f := range s.faults() {
		p := position(file, f.path)
		p.Text = strings.TrimPrefix(f.path, "$.") + ": " + f.text
		problems = append(problems, p)
	}
	return s, problems
}

// Check says what is wrong with a script that was not read from YAML.
func (s Script) Check() error {
	var all []error
	for _, f := range s.faults() {
		all = append(all, fmt.Errorf("script: %s: %s", strings.TrimPrefix(f.path, "$."), f.text))
	}
	return errors.Join(all...)
}

func (s Script) faults() []fault {
	var all []fault
	if len(s.Steps) == 0 && len(s.Turns) == 0 && s.Hook == nil {
		all = append(all, fault{"$", "there are no steps"})
	}
	all = append(all, stepFaults("$.steps", s.Steps)...)
	for i, t := range s.Turns {
		path := fmt.Sprintf("$.turns[%d]", i)
		if t.When == "" {
			all = append(all, fault{path, "when is missing: a part of the user message it answers"})
		}
		if len(t.Steps) == 0 {
			all = append(all, fault{path, "there are no steps"})
		}
		all = append(all, stepFaults(path+".steps", t.Steps)...)
	}
	return all
}

func stepFaults(path string, steps []Step) []fault {
	var all []fault
	for i, s := range steps {
		at := fmt.Sprintf("%s[%d]", path, i)
		all = append(all, s.faults(at)...)
	}
	return all
}

func (s Step) faults(at string) []fault {
	var all []fault
	add := func(path, format string, args ...any) {
		all = append(all, fault{path, fmt.Sprintf(format, args...)})
	}
	raw := s.Body != "" || len(s.Frames) > 0
	if s.Text == "" && len(s.Calls) == 0 && s.Finish == "" && len(s.Failures) == 0 && !raw {
		add(at, "a step needs text, calls, frames, a body, a finish or failures")
	}
	if s.Body != "" && len(s.Frames) > 0 || raw && (s.Text != "" || s.Reasoning != "" || len(s.Calls) > 0 || s.Finish != "") {
		add(at, "frames and body each stand alone: they are the whole answer")
	}
	if s.Delay < 0 || s.ChunkDelay < 0 {
		add(at, "a delay is negative")
	}
	for i, c := range s.Calls {
		path := fmt.Sprintf("%s.calls[%d]", at, i)
		if c.Name == "" {
			add(path, "name is missing")
		}
		if c.Raw != "" && c.Args != nil {
			add(path, "args and raw exclude each other")
		}
		if _, err := c.arguments(); err != nil {
			add(path, "%v", err)
		}
	}
	for i, f := range s.Failures {
		if text := f.fault(); text != "" {
			add(fmt.Sprintf("%s.failures[%d]", at, i), "%s", text)
		}
	}
	return all
}

// fault says what is wrong with a failure, or "".
func (f StepFailure) fault() string {
	cuts := f.Cut != 0 || f.CutBytes != 0
	switch {
	case f.Status == 0 && f.Body == "" && len(f.Frames) == 0 && !cuts && !f.Hang && f.Delay == 0 && f.ChunkDelay == 0:
		return "a failure needs status, body, frames, cut, cut_bytes, hang or a delay"
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return "status is 200 to 599"
	case f.Cut < 0, f.CutBytes < 0, f.Delay < 0, f.ChunkDelay < 0:
		return "cut, cut_bytes and delays are not negative"
	case f.Cut != 0 && f.CutBytes != 0:
		return "cut and cut_bytes exclude each other"
	case f.Clean && (!cuts || f.Hang):
		return "clean says how a cut ends, and excludes hang"
	case f.Body != "" && len(f.Frames) > 0:
		return "body and frames exclude each other"
	case f.Cut != 0 && (f.Status != 0 || f.Body != ""):
		return "cut counts chunks of a stream: for a body take cut_bytes"
	case f.Status != 0 && len(f.Frames) > 0:
		return "frames are sent with status 200"
	case f.Status == 0 && f.Body == "" && (f.Message != "" || f.Code != ""):
		return "message and code are of an error: give its status"
	}
	return ""
}

// yamlProblem is an error of goccy/go-yaml with its place.
func yamlProblem(err error) Problem {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		return Problem{Text: err.Error()}
	}
	p := y.GetToken().Position
	return Problem{Line: p.Line, Column: p.Column, Text: y.GetMessage()}
}

// position is the place of a path, or none if it cannot be told.
func position(file *ast.File, path string) Problem {
	p, err := yaml.PathString(path)
	if err != nil {
		return Problem{}
	}
	node, err := p.FilterFile(file)
	if err != nil || node.GetToken() == nil {
		return Problem{}
	}
	token := node.GetToken()
	// The token of a mapping is its first colon; its key stands before it.
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		token = m.Values[0].Key.GetToken()
	} else if v, ok := node.(*ast.MappingValueNode); ok {
		token = v.Key.GetToken()
	}
	return Problem{Line: token.Position.Line, Column: token.Position.Column}
}
