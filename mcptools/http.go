package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/internal/mask"
)

const (
	// statusClientClosed is what proxies say of a client that they lost.
	statusClientClosed = 499

	// maxRefusalBytes bounds what is read of an answer that is an error.
	maxRefusalBytes = 64 << 10
)

// httpTransport adds the headers of the configuration to each request and sees
// to it that an answer is read without loss.
type httpTransport struct {
	base   *http.Transport
	header http.Header
	mask   mask.Mask
}

func newHTTPClient(header http.Header, m mask.Mask) *http.Client {
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
	}
	return &http.Client{
		Transport: &httpTransport{base: base, header: header, mask: m},
		// The credentials are for this server, not for where it points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// RoundTrip sends one request, once.
func (t *httpTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	id := requestID(r)
	r = r.Clone(r.Context())
	for name, values := range t.header {
		r.Header[sentOnce(name)] = values
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if refusal := t.refusal(r, response); refusal != nil {
		return nil, refusal
	}
	return readable(response, id)
}

// CloseIdleConnections closes those that no request uses.
func (t *httpTransport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// sentOnce is the name of a header in a form in which net/http does not take it
// for leave to send a request again when its connection breaks. To a server the
// case of a name makes no difference.
func sentOnce(name string) string {
	switch name {
	case "Idempotency-Key", "X-Idempotency-Key":
		return strings.ToLower(name)
	}
	return name
}

// requestID is the id of the request that a message is; "" for a notification.
func requestID(r *http.Request) string {
	if r.GetBody == nil {
		return ""
	}
	body, err := r.GetBody()
	if err != nil {
		return ""
	}
	defer func() { _ = body.Close() }()
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.NewDecoder(body).Decode(&m) != nil || m.Method == "" {
		return ""
	}
	return string(m.ID)
}

// readable is a response that the SDK reads without loss. What a server answers
// to a request and cannot be read becomes an error of that request: the SDK
// would end the session for it, with all other calls under way.
func readable(response *http.Response, id string) (*http.Response, error) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch ok := response.StatusCode >= 200 && response.StatusCode < 300; {
	case ok && kind == "text/event-stream":
		var e events
		response.Body = newLineReader(response.Body, e.line, e.end)
		return response, nil
	case ok && id == "":
		return response, nil
	case ok && kind == "application/json":
		data, err := bodyOf(response, maxMessageBytes)
		if err != nil {
			return nil, err
		}
		return withBody(response, answerOf(data, id)), nil
	case ok:
		_ = response.Body.Close()
		return withBody(response, failed(id, fmt.Sprintf("the server answered %s and neither JSON nor an event stream (%q)", response.Status, kind))), nil
	default:
		data, err := bodyOf(response, maxRefusalBytes)
		if err != nil {
			data = nil // the status says enough
		}
		return withBody(response, fitRefusal(data)), nil
	}
}

// bodyOf reads a body that has at most limit bytes.
func bodyOf(response *http.Response, limit int64) ([]byte, error) {
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errMessageTooLarge
	}
	return data, err
}

// withBody gives a response the JSON that is to be read of it.
func withBody(response *http.Response, data []byte) *http.Response {
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	response.Header.Del("Content-Length")
	response.Header.Set("Content-Type", "application/json")
	return response
}

// answerOf is the answer to a request among the messages of a body.
func answerOf(data []byte, id string) []byte {
	for _, m := range fitAll(data) {
		var answer struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(m, &answer) == nil && answer.Method == "" && sameID(string(answer.ID), id) {
			return m
		}
	}
	return failed(id, "the server's answer is not one to this request")
}

// fitRefusal is what a status other than those of the 200s comes with.
func fitRefusal(data []byte) []byte {
	var e map[string]json.RawMessage
	if json.Unmarshal(data, &e) != nil || !fitError(e) {
		return data
	}
	if out, err := json.Marshal(e); err == nil {
		return out
	}
	return data
}

// refusal is an answer by which the server says that it did not take a message:
// a redirect, or a status of the 400s. 404 is the end of a session, which the
// SDK knows; what speaks JSON-RPC it reads, too. 408 and 499 are said by who
// gave up waiting, and leave open what the server does.
func (t *httpTransport) refusal(r *http.Request, response *http.Response) error {
	code := response.StatusCode
	if r.Method != http.MethodPost || code < 300 || code >= 500 {
		return nil
	}
	switch code {
	case http.StatusNotFound, http.StatusRequestTimeout, statusClientClosed:
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if bytes.Contains(body, []byte(`"jsonrpc"`)) {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), response.Body), response.Body}
		return nil
	}
	_ = response.Body.Close()
	return &StatusError{
		Code: code, Status: t.shown(response.Status, 80), Body: t.shown(string(body), 300), After: t.shown(response.Header.Get("Retry-After"), 40),
	}
}

// shown is the beginning of what a server said, without secrets, on one line.
func (t *httpTransport) shown(said string, most int) string {
	text := strings.Join(strings.Fields(plainWords(t.mask.Text(said))), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
