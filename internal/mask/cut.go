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
	if !m.grams.has(end) {
		return s
	}
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

// grams are the texts of MinBytes that stand in forms, as a filter that knows
// all of them and a few others: a long text may have many marks of cuts.
type grams []uint64

const gramBits = 1 << 18

func newGrams(pairs []pair) grams {
	g := make(grams, gramBits/64)
	for _, p := range pairs {
		for i := 0; i+MinBytes <= len(p.form); i++ {
			n := gram(p.form[i : i+MinBytes])
			g[n/64] |= 1 << (n % 64)
		}
	}
	return g
}

func (g grams) has(s string) bool {
	n := gram(s)
	return g[n/64]&(1<<(n%64)) != 0
}

// gram is FNV-1a, folded.
func gram(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return (h ^ h>>32) % gramBits
}
