package mask

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R==\n-----END PRIVATE KEY-----\n"

// Y02: what is secret inside of a value is found by itself.
func TestText_Parts(t *testing.T) {
	t.Parallel()
	account, _ := json.Marshal(map[string]string{"type": "service_account", "private_key": pem, "client_email": "robot@x.example"})
	for _, tt := range []struct{ value, said, want string }{
		{"postgres://u:pa%ssw0rd@h/db", "password pa%ssw0rd refused", "password [V] refused"},
		{"postgres://u:first1@second/third3@h/db", "lookup second: no such host, database third3@h", "lookup [V]: no such host, database [V]@h"},
		{"postgres://u:pa#ssw0rd@h/db", "invalid port: pa#ssw0rd, or ssw0rd", "invalid port: [V], or [V]"},
		{"mongodb://u:passw0rd@h1:1,h2:2/db", "passw0rd", "[V]"},
		{"host=db user=me password='pass w0rd' dbname=x", "with pass w0rd at db", "with [V] at db"},
		{"Server=db;User Id=me;Password=passw0rd;", "me, passw0rd", "me, [V]"},
		{"jdbc:postgresql://h/db?user=me&password=passw0rd", "passw0rd", "[V]"},
		{"DefaultEndpointsProtocol=https;AccountName=n;AccountKey=a2V5a2V5==;EndpointSuffix=x", "key a2V5a2V5== of n", "key [V] of n"},
		{string(account), "type service_account, key MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "type service_account, key [V]"},
		{pem, "  1 MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\r\n  2 BKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj", "  1 [V]\r\n  2 [V]"},
		{pem, "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"},
		{"https://registry.example:443/packages/team@1", "the packages of a team", "the packages of a team"},
	} {
		if got := New(map[string]string{"V": tt.value}).Text(tt.said); got != tt.want {
			t.Errorf("of %.40s: got %q, want %q", tt.value, got, tt.want)
		}
	}
}

// Y02: a value that was cut before it could be recognised leaves no beginning,
// in any of its forms, also inside of JSON.
func TestText_Cut(t *testing.T) {
	t.Parallel()
	const key = "tvly-dev-0123456789abcdef"
	m := New(map[string]string{"KEY": key})
	for _, form := range []string{key, base64.StdEncoding.EncodeToString([]byte("x:" + key)), strings.ToUpper(key)} {
		for n := MinBytes + 4; n < len(form); n++ {
			for _, mark := range []string{"…", "...", "…, and more…"} {
				if got := m.Text("a " + form[:n] + mark); !strings.Contains(got, "[KEY]"+mark) {
					t.Errorf("%q", got)
				}
			}
		}
	}
	if got := string(m.JSON([]byte(`{"a":"key ` + key[:20] + `","b":"key ` + key[:9] + `…"}`))); got != `{"a":"key [KEY]","b":"key [KEY]…"}` {
		t.Error(got)
	}
	if got := m.Text("a tvly-d and tvly-dev-0123"); got != "a tvly-d and tvly-dev-0123" {
		t.Errorf("an everyday end is taken for a secret: %s", got)
	}
}

// Y02: other programs write a value in their own way.
func TestText_OtherWriters(t *testing.T) {
	t.Parallel()
	m := New(map[string]string{"KEY": `pä"s's<w>&0`})
	for _, text := range []string{
		`pä&quot;s&#39;s&lt;w&gt;&amp;0`, `pä&#34;s&#x27;s&lt;w&gt;&amp;0`, `pä"s's&lt;w&gt;&amp;0`, `pä"s''s<w>&0`,
		`p\u00e4\"s's<w>&0`, `PÄ"S'S<W>&0`, "p%25C3%25A4%2522s%2527s%253Cw%253E%25260", `pä&quot;s's&lt;w&gt;&amp;0`,
	} {
		if got := m.Text("x " + text + " y"); got != "x [KEY] y" {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Y02: where everyday words must stay, a password that may be one does.
func TestSure(t *testing.T) {
	t.Parallel()
	m := Sure(map[string]string{"A": "postgres://postgres:postgres@h/db", "B": "postgres://me:f00-b4r-5ecret@h/db", "C": "ollama", "D": "sk-12345"})
	const said = "postgres, ollama and postgres://postgres:postgres@h/db, f00-b4r-5ecret, sk-12345"
	if got := m.Text(said); got != "postgres, ollama and [A], [B], [D]" {
		t.Error(got)
	}
}

// Y02: a value that comes in pieces is not shown, however it is cut.
func TestStream(t *testing.T) {
	t.Parallel()
	m := Sure(map[string]string{"A": "sk-secret", "B": "sk-secret-two", "C": "ababab"})
	for _, text := range []string{"a sk-secret b", "sk-secret-two, sk-secretive", "x ababab y", "abababab ab", "sk-sk-secret sk-", "no secret"} {
		for size := 1; size < len(text); size++ {
			s, shown := m.Stream(), ""
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				shown, rest = shown+s.Add(rest[:n]), rest[n:]
			}
			if whole := m.Text(text); !strings.HasPrefix(whole, shown) || len(whole)-len(shown) > len("sk-secret-tw") {
				t.Errorf("%q in pieces of %d: %q, whole %q", text, size, shown, whole)
			}
		}
	}
}
