package websearch

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// maxAnswerBytes bounds what is read of an answer: ten results of Tavily's are
// some 20 KB.
const maxAnswerBytes = 1 << 20

// endpoint is where to search, and by whose leave.
type endpoint struct{ base, key string }

// request is Tavily's request, as far as it is used.
type request struct {
	Query         string `json:"query"`
	MaxResults    int    `json:"max_results"`
	IncludeAnswer bool   `json:"include_answer"`
}

// newClient follows no redirect: the key is for the endpoint and nobody else.
func newClient() *http.Client {
	return &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// search asks once. Whether it is asked again is Temporal's business.
func search(ctx context.Context, client *http.Client, to endpoint, in Query) (Found, error) {
	req, err := to.request(ctx, in)
	if err != nil {
		return Found{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return Found{}, to.unreachable(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // what it held was read
	if resp.StatusCode != http.StatusOK {
		return Found{}, to.refusal(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return Found{}, to.unreachable(ctx, err)
	}
	if len(body) > maxAnswerBytes {
		return Found{}, fmt.Errorf("the search service's answer is larger than %d bytes; it was not used", maxAnswerBytes)
	}
	return to.read(body, in.MaxResults)
}

func (to endpoint) request(ctx context.Context, in Query) (*http.Request, error) {
	base, err := url.Parse(strings.TrimSpace(to.base))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil {
		return nil, fmt.Errorf("%s is no address of a search service: want one like %s, without a user in it", URLVariable, DefaultURL)
	}
	body, err := json.Marshal(request{Query: in.Query, MaxResults: in.MaxResults, IncludeAnswer: true})
	if err != nil {
		return nil, fmt.Errorf("writing the search request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath("search").String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making the search request: %w", err)
	}
	if strings.ContainsFunc(to.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("%s holds a character that no key has; was it copied with something around it?", KeyVariable)
	}
	req.Header.Set("Authorization", "Bearer "+to.key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// unreachable is a question that got no whole answer. Asking again may help,
// unless it is the call's own time that is over.
func (to endpoint) unreachable(ctx context.Context, err error) error {
	if ended := context.Cause(ctx); ended != nil {
		return fmt.Errorf("searching the web: %w", ended)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // its address may be one that only the worker should know
	}
	said := to.clean(err.Error(), maxExcerpt)
	if isMisplaced(err) {
		return fmt.Errorf("the search service cannot be reached, see %s: %s", URLVariable, said)
	}
	return tooldefs.Transient(fmt.Errorf("the search service cannot be reached: %s", said), 0)
}

// isMisplaced says that it is the address that is wrong, or who answers there:
// asking again would not help.
func isMisplaced(err error) bool {
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, header := errors.AsType[tls.RecordHeaderError](err)
	_, address := errors.AsType[*net.AddrError](err)
	return certificate || header || address || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") // net/http has no type for it
}
