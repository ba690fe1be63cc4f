package mask

import "strings"

// Stream masks a text that comes in pieces: what may be the beginning of a value
// is held back until more has come. It is not safe for concurrent use.
type Stream struct {
	mask Mask
	held string
}

// Stream begins a text.
func (m Mask) Stream() *Stream { return &Stream{mask: m} }

// Add is what may be shown, now that the piece has come. What is still held
// back at the end of the text stands in [Mask.Text] of the whole.
func (s *Stream) Add(piece string) (shown string) {
	if s.mask.replacer == nil {
		return piece
	}
	text := s.held + piece
	at := len(text) - s.mask.openEnd(text)
	shown, s.held = s.mask.replacer.Replace(text[:at]), text[at:]
	if whole := s.mask.replacer.Replace(text); whole != shown+s.mask.replacer.Replace(s.held) { // a value reaches over the cut
		shown, s.held = whole, ""
	}
	return shown
}

// openEnd is how long the longest end of text is that a form begins with.
func (m Mask) openEnd(text string) int {
	longest := 0
	for _, p := range m.pairs {
		for n := min(len(p.form)-1, len(text)); n > longest; n-- {
			if strings.HasSuffix(text, p.form[:n]) {
				longest = n
			}
		}
	}
	return longest
}
