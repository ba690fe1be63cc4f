package mcptools

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/internal/mask"
)

// statusClientClosed is what proxies say of a client that they lost.
const statusClientClosed = 499

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
	r = r.Clone(r.Context())
	for name, values := range t.header {
		r.Header[name] = values
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if refusal := t.refusal(r, response); refusal != nil {
		return nil, refusal
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		response.Body = newLineReader(response.Body, eventLine)
	case "application/json":
		data, err := io.ReadAll(io.LimitReader(response.Body, maxMessageBytes+1))
		_ = response.Body.Close()
		switch {
		case err != nil:
			return nil, err
		case len(data) > maxMessageBytes:
			return nil, errMessageTooLarge
		}
		data = readableBody(data)
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		response.Header.Del("Content-Length")
	}
	return response, nil
}

// readableBody is an answer of JSON in a form that the SDK reads without loss.
// A result that names no request of ours becomes unreadable: the SDK would
// take it for the server's refusal, though the call was made.
func readableBody(data []byte) []byte {
	if m, ok := fit(data); ok {
		return m
	}
	var e map[string]json.RawMessage
	if json.Unmarshal(data, &e) == nil && e["result"] != nil {
		return []byte("{")
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
	text := strings.Join(strings.Fields(strings.ToValidUTF8(t.mask.Text(string(body)), "")), " ")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return &StatusError{Code: code, Status: response.Status, Body: text}
}
