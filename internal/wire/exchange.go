package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
)

const (
	maxErrorBody = 64 << 10 // of an error that we read
	maxJSONBody  = 32 << 20 // of an answer that is not streamed
)

// exchange is one request and its response. It stands between go-openai and
// the network: it patches what goes out, turns every failure into an [*Error]
// and hands on a stream that holds nothing but data frames.
type exchange struct {
	client *Client
	patch  func([]byte) ([]byte, error)
	idle   *idleWatch

	requestID string
	body      *frames
}

// Do implements go-openai's HTTPDoer.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	if err := x.rewrite(req); err != nil {
		return nil, &Error{Kind: KindBadRequest, Message: err.Error()}
	}
	x.client.endpoint.address(req)
	resp, err := x.client.http.Do(req)
	if err != nil {
		return nil, err
	}
	x.requestID = requestID(resp.Header)
	body := watched{resp.Body, x.idle}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer func() { _ = body.Close() }()
		data, _, readErr := readBounded(body, maxErrorBody)
		if readErr != nil && req.Context().Err() != nil {
			return nil, readErr
		}
		return nil, statusError(resp, data, x.client.endpoint.BaseURL)
	}
	if err := x.open(resp, body); err != nil {
		_ = body.Close()
		return nil, err
	}
	resp.Body = x.body
	return resp, nil
}

// rewrite replaces the request's body by the patched one.
func (x *exchange) rewrite(req *http.Request) error {
	old, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	_ = req.Body.Close()
	data, err := x.patch(old)
	if err != nil {
		return err
	}
	req.ContentLength = int64(len(data))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	req.Body, err = req.GetBody()
	return err
}

// address puts on the request what go-openai's configuration has no place for.
func (e Endpoint) address(req *http.Request) {
	if e.Settings.Auth == "api_key_header" && e.APIKey != "" {
		req.Header.Del("Authorization")
		req.Header.Set("Api-Key", e.APIKey)
	}
	if e.APIVersion != "" {
		query := req.URL.Query()
		query.Set("api-version", e.APIVersion)
		req.URL.RawQuery = query.Encode()
	}
	if e.Settings.Stream == "off" {
		req.Header.Set("Accept", "application/json")
	}
}

// open looks at what a 2xx response holds. Servers mislabel, so the first
// bytes decide and the content type only helps.
func (x *exchange) open(resp *http.Response, body io.ReadCloser) error {
	r := bufio.NewReaderSize(body, 32<<10)
	first, err := firstBytes(r)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	contentType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case isSSE(first), contentType == "text/event-stream" && !bytes.ContainsAny(first[:min(1, len(first))], "{[<"):
		x.body = newFrames(r, body, x.idle)
		return nil
	case bytes.HasPrefix(first, []byte("{")), bytes.HasPrefix(first, []byte("[")):
		return x.openJSON(r, body)
	case len(first) == 0:
		return &Error{Kind: KindInterrupted, Message: "the endpoint answered " + resp.Status + " with an empty body"}
	}
	data, _, _ := readBounded(r, maxErrorBody)
	return &Error{
		Kind: KindNotAnEndpoint, Status: resp.StatusCode,
		Message: "the answer of " + plainURL(x.client.endpoint.BaseURL) + " is not a chat completion but " +
			orElse(contentType, "untyped text") + "; check base_url (for most servers it ends in /v1): " + excerpt(data),
	}
}

// openJSON reads an answer that was not streamed although we asked for it.
func (x *exchange) openJSON(r io.Reader, body io.ReadCloser) error {
	data, more, err := readBounded(r, maxJSONBody)
	switch {
	case err != nil:
		return err
	case more:
		return &Error{Kind: KindTooLarge, Message: "the answer is larger than 32 MiB"}
	}
	var compact bytes.Buffer
	if json.Compact(&compact, data) != nil {
		return &Error{Kind: KindInterrupted, Message: "the endpoint's JSON is cut or broken: " + excerpt(data)}
	}
	if e := frameError(compact.Bytes(), false); e != nil {
		return e
	}
	if !bytes.Contains(data, []byte(`"choices"`)) {
		return &Error{Kind: KindNotAnEndpoint, Message: "the answer has no choices: " + excerpt(data)}
	}
	frame := "data: " + compact.String() + "\n\ndata: [DONE]\n\n"
	x.body = newFrames(bufio.NewReader(strings.NewReader(frame)), body, x.idle)
	return nil
}

// firstBytes peeks at the first bytes that are not white space; a byte order
// mark is skipped. It waits for at least one.
func firstBytes(r *bufio.Reader) ([]byte, error) {
	for {
		head, err := r.Peek(1)
		if err != nil {
			return nil, err
		}
		switch head[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = r.Discard(1)
		case 0xEF:
			if bom, _ := r.Peek(3); string(bom) != "\xEF\xBB\xBF" {
				return head, nil
			}
			_, _ = r.Discard(3)
		case ':', '{', '[', '<':
			return head, nil
		default:
			head, _ = r.Peek(len("retry:"))
			return head, nil
		}
	}
}

func isSSE(first []byte) bool {
	for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
		if strings.HasPrefix(string(first), field) {
			return true
		}
	}
	return false
}
