// Package mask takes the values of secrets out of what is shown, logged or
// recorded. It is worker-side and pure; start at [New].
//
// It is the last line, not the first: what is written in another form than the
// ones known here (reversed, encrypted, cut in two) passes.
package mask

import (
	"encoding/base64"
	"encoding/hex"
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
		if strings.EqualFold(scheme, "Basic") {
			all = append(all, basic(token)...)
		}
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

// basic are the user with the password, and the password, of basic
// authentication.
func basic(token string) []string {
	plain, err := base64.StdEncoding.DecodeString(token)
	_, password, ok := strings.Cut(string(plain), ":")
	if err != nil || !ok {
		return nil
	}
	return []string{string(plain), password}
}

// Forms are the ways in which a value may be written, the longest first; none
// of one that is too short to be a secret.
func Forms(value string) []string {
	all := forms(value)
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// forms are those ways in no order that matters.
func forms(value string) []string {
	if len(value) < MinBytes {
		return nil
	}
	data := []byte(value)
	all := []string{value, hex.EncodeToString(data), strings.ToUpper(hex.EncodeToString(data))}
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value), url.UserPassword("", value).String()[1:]} {
		all = append(all, escaped, lowerEscapes(escaped))
	}
	for _, quoted := range []string{quoted(value, true), quoted(value, false)} {
		all = append(all, quoted, url.QueryEscape(quoted))
		all = append(all, inner64([]byte(quoted))...)
		for range maxQuoting - 1 { // JSON as a text inside JSON
			quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(quoted)
			all = append(all, quoted)
		}
	}
	all = append(all, base64.StdEncoding.EncodeToString(data), base64.URLEncoding.EncodeToString(data), base64.RawURLEncoding.EncodeToString(data))
	all = append(all, inner64(data)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// maxQuoting is how often a value is looked for as JSON inside JSON.
const maxQuoting = 3

// quoted is the inside of a JSON string, with or without HTML's characters
// escaped.
func quoted(value string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(value) != nil {
		return value
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	out := []byte(s)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(out)
}

// inner64 is what base64 makes of data inside a longer text: where it begins in
// a group of three bytes is not known, and the digits at its ends have bits of
// its neighbours.
func inner64(data []byte) []string {
	var all []string
	for before := range 3 {
		padded := append(make([]byte, before), data...)
		first, last := (before*8+5)/6, len(padded)*8/6
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			all = append(all, encoding.EncodeToString(padded)[first:last])
		}
	}
	return all
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
