package mask

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

const planted = `pa"ss<w0rd>&x`

// Y02: a value is taken out in every form in which it may be written.
func TestText(t *testing.T) {
	t.Parallel()
	m := New(map[string]string{
		"KEY": planted, "LONGER": planted + "-and-more", "SHORT": "abc", "EMPTY": "",
		"DSN": "postgres://me:s3cr3tpw@db/x", "HEADER": "Bearer tok-123456\n",
		"SOCKET": "postgres:///db?host=/run/sock&user=agent_user&password=qu%26ry-pw&sslmode=verify-full",
	})
	for in, want := range map[string]string{
		"a " + planted + " b":                    "a [KEY] b",
		planted + "-and-more":                    "[LONGER]",
		`{"k":"pa\"ss<w0rd>&x"}`:                 `{"k":"[KEY]"}`,
		`pa\"ss\u003cw0rd\u003e\u0026x`:          "[KEY]",
		"?k=pa%22ss%3Cw0rd%3E%26x":               "?k=[KEY]",
		"cGEic3M8dzByZD4meA==":                   "[KEY]",
		"abc is no secret":                       "abc is no secret",
		"postgres://me:s3cr3tpw@db/x":            "[DSN]",
		"password s3cr3tpw refused":              "password [DSN] refused",
		"Authorization: Bearer tok-123456 wrong": "Authorization: [HEADER] wrong",
		"password qu&ry-pw refused":              "password [SOCKET] refused",
		"verify-full, agent_user, /run/sock":     "verify-full, agent_user, /run/sock",
		"the token tok-123456":                   "the token [HEADER]",
	} {
		if got := m.Text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if (Mask{}).Text(planted) != planted || !New(nil).Empty() {
		t.Error("an empty mask masks")
	}
}

// Y02: JSON stays JSON, its numbers stay, and an escape hides nothing.
func TestJSON(t *testing.T) {
	t.Parallel()
	m := New(map[string]string{"KEY": "12345678", "WORD": "swordfish"})
	for in, want := range map[string]string{
		`{"n":12345678,"s":"x12345678y"}`: `{"n":12345678,"s":"x[KEY]y"}`,
		`{"12345678":[1,"\"","a"]}`:       `{"[KEY]":[1,"\"","a"]}`,
		`["\u0073wordfish","\u00e9"]`:     `["[WORD]","\u00e9"]`,
		`"swordfish`:                      `"[WORD]`,
		`9007199254740993`:                `9007199254740993`,
	} {
		if got := string(m.JSON([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// Y02: a log has no value, wherever in a record it stands.
func TestHandler(t *testing.T) {
	t.Parallel()
	const secret = "swordfish-9"
	var out bytes.Buffer
	type inner struct{ Key *string }
	value := secret
	m := New(map[string]string{"KEY": secret})
	log := slog.New(m.Handler(slog.NewJSONHandler(&out, nil)))
	log.With("with", secret).WithGroup("g").Info("message "+secret,
		"text", secret, "error", errors.New("wrapped: "+secret), "bytes", []byte(secret), "pointer", inner{&value},
		slog.Group("deep", "k", secret), "number", 7, secret, "key")
	if strings.Contains(out.String(), secret) || !strings.Contains(out.String(), `"number":7`) || strings.Count(out.String(), "[KEY]") < 7 {
		t.Errorf("logged %s", out.String())
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a":"swordfish"}`)
	m := New(map[string]string{"K": "swordfish"})
	f.Fuzz(func(t *testing.T, in string) {
		out := string(m.JSON([]byte(in)))
		if !strings.Contains(in, "swordfish") && !strings.Contains(in, `\`) && out != in {
			t.Errorf("%q became %q", in, out)
		}
	})
}
