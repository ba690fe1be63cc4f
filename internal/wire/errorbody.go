package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// fault is what can be read of an error body, whatever its shape.
type fault struct {
	message    string
	code       string // as text
	kind       string // the type field
	status     int    // a code that is an HTTP status
	generation string
	retryAfter time.Duration
}

// readFault reads an error body: an object with an error object, string or
// list, a message, a detail; a list of such; or no JSON at all.
func readFault(data []byte) fault {
	data = bytes.TrimSpace(data)
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var fields object
	if json.Unmarshal(data, &fields) != nil {
		var words string
		if json.Unmarshal(data, &words) == nil {
			return fault{message: words}
		}
		return fault{message: excerpt(data)}
	}
	var f fault
	f.fields(fields)
	if f.message == "" {
		f.message = excerpt(data)
	}
	return f
}

// fields reads one level; the inner levels were written closer to the cause,
// so they go first.
func (f *fault) fields(fields object) {
	for _, name := range []string{"error", "errors", "detail", "message"} {
		f.value(fields[name])
	}
	f.set(&f.code, fields["code"])
	f.set(&f.kind, fields["type"])
	f.set(&f.kind, fields["status"]) // Google: RESOURCE_EXHAUSTED
	f.set(&f.generation, fields["failed_generation"])
	if f.status == 0 {
		for _, name := range []string{"code", "status", "status_code"} {
			n, err := strconv.Atoi(scalar(fields[name]))
			if err == nil && n >= 300 && n <= 599 {
				f.status = n
				break
			}
		}
	}
	var metadata struct {
		Raw text `json:"raw"` // OpenRouter: what the upstream said
	}
	if json.Unmarshal(orNull(fields["metadata"]), &metadata) == nil && metadata.Raw != "" {
		f.message += ": " + excerpt([]byte(metadata.Raw))
	}
	var details []struct {
		RetryDelay text `json:"retryDelay"` // Google
	}
	if json.Unmarshal(orNull(fields["details"]), &details) == nil {
		for _, d := range details {
			if wait, err := time.ParseDuration(string(d.RetryDelay)); err == nil && wait > 0 {
				f.retryAfter = wait
			}
		}
	}
}

// value takes the message from a value: text, an object, or a list of these.
func (f *fault) value(raw json.RawMessage) {
	var words string
	var fields object
	var list []json.RawMessage
	switch {
	case !isPresent(raw):
	case json.Unmarshal(raw, &words) == nil:
		if f.message == "" {
			f.message = words
		}
	case json.Unmarshal(raw, &fields) == nil:
		f.fields(fields)
		f.set(&f.message, fields["msg"]) // FastAPI
	case json.Unmarshal(raw, &list) == nil:
		for _, item := range list {
			f.value(item)
		}
	}
}

func (f *fault) set(to *string, raw json.RawMessage) {
	if *to == "" {
		*to = scalar(raw)
	}
}

// scalar is a string's value, or a number as it is written.
func scalar(raw json.RawMessage) string {
	var words string
	switch {
	case !isPresent(raw):
		return ""
	case json.Unmarshal(raw, &words) == nil:
		return words
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return string(raw)
	}
	return ""
}

// requestID is the id the endpoint gave the request.
func requestID(h http.Header) string {
	for _, name := range []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "Apim-Request-Id", "Cf-Ray"} {
		if id := strings.TrimSpace(h.Get(name)); id != "" {
			return bounded(id, 200)
		}
	}
	return ""
}

// maxRetryAfter bounds what an endpoint may ask for.
const maxRetryAfter = 31 * 24 * time.Hour

// retryAfter reads retry-after-ms and Retry-After (seconds or a date).
func retryAfter(h http.Header, now time.Time) time.Duration {
	wait := time.Duration(0)
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		wait = scaled(ms, time.Millisecond)
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		wait = scaled(s, time.Second)
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}

func scaled(n float64, unit time.Duration) time.Duration {
	if !(n > 0) { // NaN too
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter)))
}
