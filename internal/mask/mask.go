// Package mask takes the values of secrets out of what is shown, logged or
// recorded. It is worker-side and pure; start at [New].
//
// It is the last line, not the first: what is written in another form than the
// ones known here (reversed, encrypted, cut in two, the bytes as numbers) passes.
package mask

import (
	"encoding/json"
	"slices"
	"strings"
)

// MinBytes is how long a value must be: shorter ones are no secrets, and taking
// them out would garble words.
const MinBytes = 6

// Mask replaces each known value by the name it goes under, in brackets. The
// zero Mask replaces nothing. It is safe for concurrent use.
type Mask struct {
	replacer *strings.Replacer
	pairs    []pair
	grams    grams
}

// pair is a way in which a value may be written, and what replaces it.
type pair struct{ form, name string }

// New makes a mask of values by name. Values that differ only in white space
// around them are the same; what is secret inside of one (the password of a URL,
// the lines of a key) is a value of its own.
func New(values map[string]string) Mask { return of(values, parts) }

// Sure is [New] for a text in which everyday words must stay: without values
// and parts that are so short that they may be one.
func Sure(values map[string]string) Mask {
	return of(values, func(value string) []string {
		all := parts(value)
		return slices.DeleteFunc(all, func(v string) bool { return len(v) < minSurePart && (v != value || len(v) < minSure) })
	})
}

const (
	minSure     = 8
	minSurePart = 12 // a database's password is often a word where it is tried out
)

func of(values map[string]string, parts func(string) []string) Mask {
	var pairs []pair
	for name, value := range values {
		for _, v := range parts(strings.TrimSpace(value)) {
			for _, form := range forms(v) {
				if len(form) >= MinBytes {
					pairs = append(pairs, pair{form, "[" + name + "]"})
				}
			}
		}
	}
	if len(pairs) == 0 {
		return Mask{}
	}
	slices.SortFunc(pairs, func(a, b pair) int { // the longest first: one may hold another
		if d := len(b.form) - len(a.form); d != 0 {
			return d
		}
		return strings.Compare(a.form+a.name, b.form+b.name)
	})
	var flat []string
	for _, p := range pairs {
		flat = append(flat, p.form, p.name)
	}
	return Mask{strings.NewReplacer(flat...), pairs, newGrams(pairs)}
}

// Text is s without the values.
func (m Mask) Text(s string) string {
	if m.replacer == nil {
		return s
	}
	return m.cut(m.replacer.Replace(s))
}

// Empty says that the mask replaces nothing.
func (m Mask) Empty() bool { return m.replacer == nil }

// JSON is a JSON text without the values: inside strings and keys only, so that
// it stays valid and its numbers keep every digit.
func (m Mask) JSON(data []byte) []byte {
	if m.replacer == nil {
		return data
	}
	var out strings.Builder
	for rest := string(data); rest != ""; {
		start := strings.IndexByte(rest, '"')
		if start < 0 {
			out.WriteString(rest)
			break
		}
		end := endOfString(rest, start)
		out.WriteString(rest[:start])
		out.WriteString(m.jsonString(rest[start:end]))
		rest = rest[end:]
	}
	return []byte(out.String())
}

// jsonString masks one quoted string, in its written form and in its meaning:
// an escape may hide a value.
func (m Mask) jsonString(quoted string) string {
	inside, closed := strings.CutSuffix(quoted[1:], `"`)
	masked := `"` + m.Text(inside)
	if closed {
		masked += `"`
	}
	if masked != quoted || !strings.Contains(quoted, `\`) {
		return masked
	}
	var meaning string
	if json.Unmarshal([]byte(quoted), &meaning) != nil {
		return masked
	}
	hidden := m.Text(meaning)
	if hidden == meaning {
		return masked
	}
	written, err := json.Marshal(hidden)
	if err != nil {
		return `""`
	}
	return string(written)
}

// endOfString is the index after the quote that ends the string at start.
func endOfString(s string, start int) int {
	for i := start + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}
