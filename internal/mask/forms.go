package mask

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

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
	all = append(all, strings.ToUpper(value), strings.ToLower(value)) // the name of a host, a header or a variable
	for _, escaped := range []string{
		url.QueryEscape(value), url.PathEscape(value), url.UserPassword("", value).String()[1:], url.QueryEscape(url.QueryEscape(value)),
	} {
		all = append(all, escaped, lowerEscapes(escaped))
	}
	all = append(all, markup(value)...)
	for _, quoted := range []string{quoted(value, true), quoted(value, false), ascii(quoted(value, false))} {
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

// markup are the ways of HTML, XML, SQL and shells to write a text's quotes.
func markup(value string) []string {
	all := []string{strings.ReplaceAll(value, "'", "''"), strings.ReplaceAll(value, "'", `\'`), strings.ReplaceAll(value, "'", `'\''`)}
	for _, double := range []string{`"`, "&#34;", "&quot;"} {
		for _, single := range []string{"'", "&#39;", "&apos;", "&#x27;"} {
			all = append(all, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, double, "'", single).Replace(value))
		}
	}
	return all
}

// ascii writes what is no ASCII of a JSON string as its escapes.
func ascii(quoted string) string {
	var b strings.Builder
	for _, r := range quoted {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
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
