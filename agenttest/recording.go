package agenttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/turnkeel/turnkeel/internal/wire"
)

// recording is what a [Recorder] has taken down.
type recording struct {
	turns []recordedTurn // by user message, in the order they came
	err   error
}

type recordedTurn struct {
	user    string // as it was sent
	secrets []string
	steps   []Step // by place; one that never came is the zero step
	done    []bool // has its answer
}

// taken is one request with its answer.
type taken struct {
	request ModelRequest
	status  int
	header  http.Header
	body    []byte
	cut     bool // the connection broke
	frames  bool
	secrets []string
}

// add takes down an answer. Failures count up to the first answer of a step;
// what comes after that says the same again.
func (l *recording) add(t taken) {
	turn := l.turn(t)
	n := t.request.Step - 1
	for len(turn.steps) <= n {
		turn.steps, turn.done = append(turn.steps, Step{}), append(turn.done, false)
	}
	if turn.done[n] {
		return
	}
	step, failure := t.read()
	if failure != nil {
		turn.steps[n].Failures = append(turn.steps[n].Failures, *failure)
		return
	}
	step.Failures = turn.steps[n].Failures
	turn.steps[n], turn.done[n] = step, true
}

func (l *recording) turn(t taken) *recordedTurn {
	for i := range l.turns {
		if l.turns[i].user == t.request.User {
			return &l.turns[i]
		}
	}
	l.turns = append(l.turns, recordedTurn{user: t.request.User, secrets: t.secrets})
	return &l.turns[len(l.turns)-1]
}

// script is the recording as a script. With one user message its steps answer
// any; with several each has its own, the longest first, since a shorter one
// may be a part of it.
func (l *recording) script() Script {
	if len(l.turns) == 1 {
		return Script{Steps: l.turns[0].played()}
	}
	turns := slices.Clone(l.turns)
	slices.SortStableFunc(turns, func(a, b recordedTurn) int { return len(b.user) - len(a.user) })
	var s Script
	for _, t := range turns {
		when := t.when()
		if when == "" {
			s.Steps = t.played()
			continue
		}
		s.Turns = append(s.Turns, ScriptTurn{When: when, Steps: t.played()})
	}
	return s
}

// when is the user's message, or its longest part without a secret.
func (t recordedTurn) when() string {
	longest := ""
	for part := range strings.SplitSeq(wire.Scrub(t.user, t.secrets), "[key]") {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// played are the steps, with a word where none was recorded.
func (t recordedTurn) played() []Step {
	steps := slices.Clone(t.steps)
	for i, s := range steps {
		if !t.done[i] && len(s.Failures) == 0 {
			steps[i].Text = "(this step was not recorded)"
		}
	}
	return steps
}

// read turns an answer into a step, or into a failure.
func (t taken) read() (Step, *StepFailure) {
	answer, err := wire.ReadAnswer(&http.Response{
		StatusCode: t.status, Status: http.StatusText(t.status), Header: t.header, Body: io.NopCloser(bytes.NewReader(t.body)),
	})
	if err != nil || t.cut {
		return Step{}, t.failure()
	}
	step := t.said(answer)
	if raw, ok := t.raw(); ok && t.frames {
		return raw, nil
	}
	return step, nil
}

// said is an answer in a script's own words.
func (t taken) said(a wire.Answer) Step {
	s := Step{
		Text: t.scrub(a.Text), Reasoning: t.scrub(a.Reasoning), Finish: a.FinishReason,
		Usage: StepUsage{
			Prompt: a.Usage.PromptTokens, Completion: a.Usage.CompletionTokens,
			Cached: a.Usage.CachedTokens, Reasoning: a.Usage.ReasoningTokens,
		},
	}
	if s.Text == "" {
		s.Text = t.scrub(a.Refusal)
	}
	for _, c := range a.Calls {
		call := ScriptCall{ID: t.scrub(c.ID), Name: c.Name}
		args := t.scrub(c.Args)
		if call.Args = plainArgs(args); call.Args == nil {
			call.Raw = args
		}
		s.Calls = append(s.Calls, call)
	}
	if natural := (Step{Calls: s.Calls}).FinishReason(); s.Finish == natural && (s.Text != "" || len(s.Calls) > 0) {
		s.Finish = ""
	}
	return s
}

// plainArgs are arguments that come back the same from a script's mapping;
// nil if they would not.
func plainArgs(args string) map[string]any {
	var v map[string]any
	if json.Unmarshal([]byte(args), &v) != nil || len(v) == 0 {
		return nil
	}
	again, err := json.Marshal(v)
	if err != nil || string(again) != args {
		return nil
	}
	return v
}

// raw is the answer as it came, unless a secret hides between its frames.
func (t taken) raw() (Step, bool) {
	headers := map[string]string{}
	if !strings.HasPrefix(t.header.Get("Content-Type"), "text/event-stream") {
		if ct := t.header.Get("Content-Type"); ct != "" {
			headers["Content-Type"] = ct
		}
		return Step{Body: t.scrub(string(t.body)), Headers: headers}, true
	}
	answer, err := wire.ReadAnswer(&http.Response{StatusCode: t.status, Header: t.header, Body: io.NopCloser(strings.NewReader(t.scrub(string(t.body))))})
	if err != nil {
		return Step{}, false
	}
	whole := answer.Text + "\n" + answer.Reasoning
	for _, c := range answer.Calls {
		whole += "\n" + c.Args
	}
	if t.scrub(whole) != whole {
		return Step{}, false
	}
	return Step{Frames: t.split()}, true
}

// split are the frames of a stream, without secrets.
func (t taken) split() []string {
	var frames []string
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(t.scrub(string(t.body)))
	for frame := range strings.SplitSeq(text, "\n\n") {
		if frame = strings.Trim(frame, "\n"); frame != "" {
			if data, ok := strings.CutPrefix(frame, "data: "); ok && !strings.Contains(frame, "\n") && (strings.HasPrefix(data, "{") || data == "[DONE]") {
				frame = data
			}
			frames = append(frames, frame)
		}
	}
	return frames
}

// failure is an answer that was none.
func (t taken) failure() *StepFailure {
	f := StepFailure{Headers: map[string]string{}}
	for _, name := range []string{"Retry-After", "Retry-After-Ms", "X-Should-Retry", "Content-Type"} {
		if v := t.header.Get(name); v != "" && v != "application/json" {
			f.Headers[name] = t.scrub(v)
		}
	}
	if len(f.Headers) == 0 {
		f.Headers = nil
	}
	if t.status != http.StatusOK {
		f.Status, f.Body = t.status, t.scrub(string(t.body))
		return &f
	}
	switch body := t.scrub(string(t.body)); {
	case body == "":
		f.Body = "\n" // an empty body
	case strings.HasPrefix(t.header.Get("Content-Type"), "text/event-stream"):
		f.Frames = t.split()
	default:
		f.Body = body
	}
	if t.cut {
		f.Cut = len(f.Frames)
		if f.Cut == 0 {
			f.CutBytes = max(1, len(f.Body))
		}
	}
	return &f
}

func (t taken) scrub(text string) string { return wire.Scrub(text, t.secrets) }
