package mask

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// Y02: a value is found inside a longer text that was encoded as a whole, and
// in the forms that other programs write.
func TestText_Encoded(t *testing.T) {
	t.Parallel()
	nested := func(v string, times int) string {
		for range times {
			data, _ := json.Marshal(map[string]string{"k": v})
			v = string(data)
		}
		return v
	}
	for _, value := range []string{"tvly-dev-0123456789abcdef", planted, "päss wörd/+?=", `c:\new\"x"\`} {
		m := New(map[string]string{"KEY": value})
		for name, text := range map[string]string{
			"hex": hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
			"lower-case escapes": lowerEscapes(url.QueryEscape(value)), "user": url.UserPassword("me", value).String(),
			"JSON": nested(value, 1), "JSON in JSON": nested(value, 2), "JSON in JSON in JSON": nested(value, 3),
			"JSON in a query": url.QueryEscape(nested(value, 1)),
		} {
			if got := m.Text(text); !strings.Contains(got, "[KEY]") {
				t.Errorf("%q as %s: %s", value, name, got)
			}
		}
		for _, before := range []string{"", "a", "ab", "Bearer "} {
			for _, after := range []string{"", "\n", "zz"} {
				for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
					if got := m.Text(e.EncodeToString([]byte(before + value + after))); !strings.Contains(got, "[KEY]") {
						t.Errorf("%q after %q in base64: %s", value, before, got)
					}
				}
			}
		}
	}
}

// Y02: what basic authentication says is a secret in plain text, too.
func TestText_Basic(t *testing.T) {
	t.Parallel()
	m := New(map[string]string{"HEADER": "Basic " + base64.StdEncoding.EncodeToString([]byte("robot:b4sic-pw:x"))})
	if got := m.Text("password b4sic-pw:x of robot refused"); got != "password [HEADER] of robot refused" {
		t.Error(got)
	}
}

// Y02: of values that begin alike each is told by its own name, and the longer
// one leaves no rest.
func TestText_Prefixes(t *testing.T) {
	t.Parallel()
	m := New(map[string]string{"A": "secret", "B": "secret-one", "C": "secret-one-two"})
	if got := m.Text("secret secret-one secret-one-two secret-"); got != "[A] [B] [C] [A]-" {
		t.Error(got)
	}
	if long := strings.Repeat("long-value ", 100_000); New(map[string]string{"LONG": long}).Text("x "+strings.TrimSpace(long)+" y") != "x [LONG] y" {
		t.Error("a long value stays")
	}
}
