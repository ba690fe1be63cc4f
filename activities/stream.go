package activities

import (
	"encoding/json"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/mask"
)

// progressShown is how long a heartbeat goes on to carry a tool's last progress:
// long enough for every reader, who looks each 100 ms. When a worker is lost for
// good, Temporal copies the last heartbeat into the history, so what is no longer
// news does not stay in it.
const progressShown = 2 * time.Second

// stream is what a running call shows of itself while it runs: a window on the
// model's text, or a tool's latest progress. Safe for concurrent use.
type stream struct {
	mu      sync.Mutex
	frame   contract.Frame
	changed bool
	shown   time.Time // when the last progress was sent first
}

// streamOf is a turn's stream when its start asked for one, else nil: then
// nothing is shown.
func streamOf(asked bool) *stream {
	if !asked {
		return nil
	}
	return &stream{}
}

// onDelta takes the model's text as it comes, and shows it without the values;
// nil when nothing is shown.
func (s *stream) onDelta(m mask.Mask) func(text string) {
	if s == nil {
		return nil
	}
	masked := m.Stream()
	return func(text string) { s.say(masked.Add(text)) }
}

// restart drops what was said: the call says it anew.
func (s *stream) restart() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frame.Restarts++
	s.frame.Offset, s.frame.Text, s.changed = 0, "", true
}

// say adds text that the model has just said.
func (s *stream) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	window := s.frame.Text + text
	cut := max(0, len(window)-contract.MaxFrameText)
	for cut < len(window) && cut > 0 && !utf8.RuneStart(window[cut]) {
		cut++
	}
	s.frame.Offset += cut
	s.frame.Text, s.changed = window[cut:], true
}

// show replaces the tool's progress. A value too large for a heartbeat is
// replaced by its size.
func (s *stream) show(progress json.RawMessage) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(progress) > contract.MaxFrameProgress {
		progress, _ = json.Marshal(map[string]int{"progress_bytes": len(progress)})
	}
	s.frame.Seq++
	s.frame.Progress, s.changed = progress, true
}

// take is the frame to send, and whether it is news: something new to show, or
// nothing any more.
func (s *stream) take(attempt int32) (contract.Frame, bool) {
	if s == nil {
		return contract.Frame{Attempt: attempt}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.changed
	switch {
	case s.changed:
		s.changed, s.shown = false, time.Now()
	case s.frame.Progress != nil && time.Since(s.shown) >= progressShown:
		s.frame.Progress, news = nil, true // its number stays
	}
	f := s.frame
	f.Attempt = attempt
	return f, news
}
