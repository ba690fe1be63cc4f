package mask

import "strings"

// cuts are what those write who cut a text.
var cuts = [...]string{"…", "..."}

// cut takes out the beginning of a value that a tool cut before it was
// recognised: before a mark of a cut, and at the end of the text where most of
// the value is left.
func (m Mask) cut(s string) string {
	for _, mark := range cuts {
		if strings.Contains(s, mark) {
			pieces := strings.Split(s, mark)
			for i, piece := range pieces[:len(pieces)-1] {
				pieces[i] = m.beginning(piece, func(string) int { return MinBytes })
			}
			s = strings.Join(pieces, mark)
		}
	}
	return m.beginning(s, func(form string) int { return max(MinBytes, len(form)*2/3) })
}

// beginning is s without the beginning of a form at its end, if that has at
// least so many bytes.
func (m Mask) beginning(s string, least func(form string) int) string {
	if len(s) < MinBytes {
		return s
	}
	end := s[len(s)-MinBytes:]
	for _, p := range m.pairs {
		for form := p.form; ; {
			at := strings.LastIndex(form, end)
			if at < 0 {
				break
			}
			if n := at + MinBytes; n >= least(p.form) && strings.HasSuffix(s, p.form[:n]) {
				return s[:len(s)-n] + p.name
			}
			form = form[:at+MinBytes-1]
		}
	}
	return s
}
