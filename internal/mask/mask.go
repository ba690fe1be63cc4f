// Package mask takes the values of secrets out of what is shown, logged or
// recorded. It is worker-side and pure; start at [New].
//
// It is the last line, not the first: what is written in another form than the
// ones known here (reversed, encrypted, cut in two) passes.
package mask

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// MinBytes is how long a value must be: shorter ones are no secrets, and taking
// them out would garble words.
const MinBytes = 6

// Mask replaces each known value by the name it goes under, in brackets. The
// zero Mask replaces nothing. It is safe for concurrent use.
type Mask struct{ replacer *strings.Replacer }

// New makes a mask of values by name. Values that differ only in white space
// around them are the same; what stands inside a URL as its password is a value
// of its own.
func New(values map[string]string) Mask {
	type pair struct{ form, name string }
	var pairs []pair
	add := func(value, name string) {
		if len(value) >= MinBytes {
			pairs = append(pairs, pair{value, "[" + name + "]"})
		}
	}
	for name, value := range values {
		for _, v := range parts(strings.TrimSpace(value)) {
			for _, form := range forms(v) {
				add(form, name)
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
	return Mask{strings.NewReplacer(flat...)}
}

// secretParameters are those of a URL whose value is a secret by itself.
var secretParameters = [...]string{"password", "sslpassword", "api_key", "token", "access_token"}

// parts are the value and what is secret inside it: a header's token after its
// scheme, a URL's password, before its host or among its parameters.
func parts(value string) []string {
	all := []string{value}
	if scheme, token, ok := strings.Cut(value, " "); ok && !strings.Contains(token, " ") && len(scheme) <= 10 {
		all = append(all, token)
	}
	u, err := url.Parse(value)
	if err != nil {
		return all
	}
	if password, ok := u.User.Password(); ok {
		all = append(all, password)
	}
	for _, name := range secretParameters {
		all = append(all, u.Query()[name]...)
	}
	return all
}

// forms are the ways in which a value may be written.
func forms(value string) []string {
	if len(value) < MinBytes {
		return nil
	}
	all := []string{
		value, url.QueryEscape(value), url.PathEscape(value),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value)),
	}
	if quoted, err := json.Marshal(value); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) == nil {
		all = append(all, strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Text is s without the values.
func (m Mask) Text(s string) string {
	if m.replacer == nil {
		return s
	}
	return m.replacer.Replace(s)
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
	masked := m.Text(quoted)
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
