package websearch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/tooldefs"
)

const (
	// maxRefusalBytes bounds what is read of an error's body.
	maxRefusalBytes = 16 << 10

	// maxWait is the longest Retry-After that is waited for. The turn stands
	// still meanwhile; beyond this the model is told instead.
	maxWait = 2 * time.Minute
)

// Tavily's own statuses: the plan's credits and the spending limit are used up.
const (
	statusPlanLimit  = 432
	statusSpendLimit = 433
)

// refusal is the error of an answer that is not 200. Only what may pass by
// itself is transient.
func (to endpoint) refusal(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusalBytes)) // as far as it comes
	said := detail(body)
	if said == "" {
		said = string(body)
	}
	err := fmt.Errorf("%s (status %d): %s", meaning(resp.StatusCode), resp.StatusCode, to.clean(said, maxExcerpt))
	switch {
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusRequestTimeout, resp.StatusCode >= 500:
		wait := retryAfter(resp.Header.Get("Retry-After"), time.Now())
		if wait > maxWait {
			return fmt.Errorf("%w; it asks to come back in %s", err, wait.Round(time.Second))
		}
		return tooldefs.Transient(err, wait)
	}
	return err
}

// meaning says in words what a status is about, and what to do.
func meaning(status int) string {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "the search service refuses the key in " + KeyVariable
	case status == http.StatusTooManyRequests:
		return "the search service is asked too often"
	case status == statusPlanLimit || status == statusSpendLimit:
		return "the search account's limit is used up; its owner can raise it"
	case status >= 500:
		return "the search service has a fault"
	case status >= 300 && status < 400:
		return "the search service points elsewhere, which is not followed; set " + URLVariable
	case status == http.StatusNotFound:
		return "there is no search service at " + URLVariable + ", to which /search is added"
	case status < 300:
		return "the search service gives no answer of Tavily's"
	}
	return "the search service refuses the request"
}

// retryAfter reads seconds or a date; zero when there is neither.
func retryAfter(header string, now time.Time) time.Duration {
	const most = 365 * 24 * 3600 // seconds; beyond it the duration overflows
	if s, err := strconv.ParseFloat(strings.TrimSpace(header), 64); err == nil && s > 0 {
		return time.Duration(min(s, most) * float64(time.Second))
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// maxDepth bounds how deep a message is looked for in an error's body. Each
// level is read anew, and a body may be nothing but levels.
const maxDepth = 4

// faultFields are those in which a body says that it is an error's.
var faultFields = [...]string{"detail", "error", "errors", "fault", "message", "msg", "error_message", "error_description"}

// fault is what an answer without pages says of an error, as text or as the
// field's JSON; "" when it says that there was none.
func fault(body []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return ""
	}
	for _, name := range faultFields {
		switch value := string(fields[name]); value {
		case "", "null", "false", `""`, "0", "[]", "{}":
		default:
			if said := message(fields[name], maxDepth-1); said != "" {
				return said
			}
			return name + ": " + value
		}
	}
	return failed(fields)
}

// failed is the field in which a body says only that it failed: success or ok, a
// status or a code like HTTP's, or a status in a word.
func failed(fields map[string]json.RawMessage) string {
	for _, name := range []string{"success", "ok", "status", "code"} {
		value := strings.ToLower(strings.Trim(string(fields[name]), `"`))
		number, err := strconv.ParseFloat(value, 64)
		if value == "false" || value == "error" || value == "fail" || value == "failed" || value == "failure" || err == nil && number >= 400 {
			return name + ": " + value
		}
	}
	return ""
}

// detail finds the message in an error's body: Tavily's {"detail": {"error":
// "…"}}, its validation's {"detail": [{"loc": […], "msg": "…"}]}, and what
// gateways send, {"error": "…"}, {"error": {"message": "…"}} or {"errors": […]}.
func detail(body []byte) string { return within(body, maxDepth) }

// within looks for the message in an object.
func within(body []byte, depth int) string {
	var fields map[string]json.RawMessage
	if depth == 0 || json.Unmarshal(body, &fields) != nil {
		return ""
	}
	for _, name := range []string{"detail", "error", "errors", "message", "msg"} {
		if said := message(fields[name], depth-1); said != "" {
			return said
		}
	}
	return ""
}

// message is a field's text, or the first one in its object or list.
func message(value json.RawMessage, depth int) string {
	var text string
	if json.Unmarshal(value, &text) == nil && text != "" {
		return text
	}
	if inner := within(value, depth); inner != "" {
		return inner
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || len(list) == 0 || depth == 0 {
		return ""
	}
	return message(list[0], depth-1)
}
