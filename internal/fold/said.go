package fold

import (
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
)

// said is the transcript as the model reads it, of the base and of the steps
// that a later step has settled: what is recorded does not change any more.
type said struct {
	begun    bool
	chars    int // what tool results are cut to
	messages []contract.Message
	ends     []int // how many messages there are after each settled step; the base first
	bytes    int64 // of their texts
}

// upTo is the base and the first n steps; the caller does not change it.
func (s *said) upTo(n int) []contract.Message { return s.messages[:s.ends[max(0, n)]] }

func (s *said) add(messages []contract.Message) {
	for _, m := range messages {
		s.bytes += int64(len(m.Content) + len(m.Reasoning) + len(m.Extra) + len(m.ToolCallID))
		for _, c := range m.ToolCalls {
			s.bytes += int64(len(c.ID) + len(c.Name) + len(c.Args) + len(c.Extra))
		}
	}
	s.messages = append(s.messages, messages...)
	s.ends = append(s.ends, len(s.messages))
}

// firstStep is the number of the run's own first step.
func (r *Run) firstStep() int {
	if r.Input.Carried != nil {
		return r.Input.Carried.Step + 1
	}
	return 1
}

// cut bounds a tool's result to what the model reads of it; 0 is all.
func cut(text string, chars int) string {
	if chars <= 0 {
		return text
	}
	return contract.BoundText(text, chars)
}

// settle puts the base and the first n steps into r.said. The entries of each
// are in the input of the one after it.
func (r *Run) settle(n, chars int) error {
	if err := r.readBase(); err != nil {
		return err
	}
	if !r.said.begun || r.said.chars != chars {
		r.said = said{begun: true, chars: chars}
		messages := make([]contract.Message, len(r.base.messages))
		for i, m := range r.base.messages {
			if m.Role == contract.RoleTool {
				m.Content = cut(m.Content, chars)
			}
			messages[i] = m
		}
		r.said.add(messages)
	}
	for i := len(r.said.ends) - 1; i <= n; i++ {
		if want := r.firstStep() + i; r.Steps[i].Input.Step != want {
			return fmt.Errorf("step %d stands where step %d should", r.Steps[i].Input.Step, want)
		}
		if i == n { // its entries are the caller's
			break
		}
		messages, err := r.stepMessages(r.Steps[i], r.Steps[i+1].Input.Entries, chars)
		if err != nil {
			return err
		}
		r.said.add(messages)
	}
	return nil
}

// Size is about how many bytes of memory the fold holds: the payloads of its
// events, once as recorded and about once decoded, and the transcript.
func (r *Run) Size() int64 {
	var carried int64
	if p := r.packed(); p != nil {
		carried = int64(p.Bytes)
	}
	return 2*r.Bytes + r.said.bytes + carried
}
