package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"testing"
)

// forms are the ways in which a value may be written.
func forms(value string) map[string]string {
	value = strings.TrimSpace(value)
	quoted, _ := json.Marshal(value)
	all := map[string]string{
		"as it is": value, "escaped for JSON": string(quoted[1 : len(quoted)-1]), "escaped for URLs": url.QueryEscape(value),
		"in base64": base64.StdEncoding.EncodeToString([]byte(value)), "in hex": hex.EncodeToString([]byte(value)),
		"escaped for HTML": html.EscapeString(value),
	}
	for before := range 3 { // inside a longer text that was encoded
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value))
		all["in base64, within "+string(rune('0'+before))] = text[(before*8+5)/6 : len(text)-2]
	}
	if u, err := url.Parse(value); err == nil && u.User != nil {
		all["its password"], _ = u.User.Password()
	}
	return all
}

// secretsIn tells of each value that stands in one of the places, in any form.
func secretsIn(t *testing.T, places map[string][]byte, values map[string]string) {
	t.Helper()
	for place, data := range places {
		for name, value := range values {
			for form, text := range forms(value) {
				if i := bytes.Index(data, []byte(text)); i >= 0 {
					t.Errorf("%s has %s, %s: …%q…", place, name, form, data[max(0, i-200):min(len(data), i+80)])
				}
			}
		}
	}
}
