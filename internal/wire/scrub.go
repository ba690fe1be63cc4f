package wire

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/mask"
)

const (
	maxExcerpt = 300 // runes of a body that is quoted
	minKey     = 4   // shorter keys are placeholders; removing them would garble words
)

// secretShapes are what keys look like that are not ours to know.
var secretShapes = regexp.MustCompile(`(?i)\b(?:sk|pk|rk|gsk|xai|key|hf|glpat|r8)[-_][a-z0-9_*-]{8,}` +
	`|\bbearer\s+[a-z0-9._~+/*-]{8,}=*` +
	`|\bAIza[0-9a-z_-]{20,}` +
	`|\bgh[pousr]_[a-z0-9]{16,}` +
	`|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b` +
	`|\beyJ[a-z0-9_-]{8,}\.[a-z0-9_-]{8,}\.[a-z0-9_-]{8,}` + // a JWT
	`|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`)

var markup = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*>`)

// scrubber removes the API key from texts.
type scrubber struct{ forms []string }

func newScrubber(key string) scrubber {
	if len(key) < minKey {
		return scrubber{}
	}
	if forms := mask.Forms(key); len(forms) > 0 {
		return scrubber{forms: forms}
	}
	return scrubber{forms: []string{key}}
}

func (s scrubber) text(t string) string {
	for _, form := range s.forms {
		t = strings.ReplaceAll(t, form, "[key]")
		// An excerpt may have been cut in the middle of the key.
		for n := len(form) - 1; n >= minKey; n-- {
			if head, cut := strings.CutSuffix(t, form[:n]+"…"); cut {
				t = head + "[key]…"
			}
		}
	}
	return secretShapes.ReplaceAllString(t, "[key]")
}

// error makes an error fit to be shown and recorded.
func (s scrubber) error(e *Error) *Error {
	e.Message = bounded(s.text(e.Message), contract.MaxErrorText)
	e.Generation = bounded(s.text(e.Generation), contract.MaxErrorText)
	e.RequestID = s.text(e.RequestID)
	return e
}

// excerpt quotes the beginning of a body in one line; of a page, its words.
func excerpt(data []byte) string {
	if len(data) > maxErrorBody {
		data = data[:maxErrorBody]
	}
	s := string(data)
	if strings.HasPrefix(strings.TrimSpace(s), "<") {
		s = markup.ReplaceAllString(s, " ")
	}
	return bounded(strings.Join(strings.Fields(s), " "), maxExcerpt)
}

// bounded is valid UTF-8 of at most limit runes.
func bounded(s string, limit int) string {
	s = strings.ToValidUTF8(clean(s), "\uFFFD")
	runes := []rune(s)
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}

// plainURL is a URL without user, password and query.
func plainURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(unreadable URL)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
