package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"
)

// sharedTransport is the transport of all clients that are given none, so that
// a client made for one call uses the connections of those before it.
var sharedTransport = sync.OnceValue(func() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport // a program replaced it: its choice
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = 64
	t.DisableCompression = true // proxies hold a compressed stream back
	return t
})

// httpClient is a copy of base, or a client of our own. A redirect that would
// turn our POST into a GET is not followed: what comes back would be a page.
func httpClient(base *http.Client) *http.Client {
	var c http.Client
	if base != nil {
		c = *base
	} else {
		c.Transport = sharedTransport()
	}
	if c.CheckRedirect == nil {
		c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
			if req.Method != http.MethodPost || len(via) >= 5 {
				return http.ErrUseLastResponse
			}
			return nil
		}
	}
	return &c
}

// transportError is a call that failed below HTTP, or in our own hands before
// it was sent. cause is why the call's context ended, if it did.
func (c *Client) transportError(x *exchange, cause, err error) *Error {
	where := plainURL(c.endpoint.BaseURL)
	var idle *idleError
	var total *totalError
	var netErr net.Error
	var urlErr *url.Error
	switch {
	case errors.As(cause, &total):
		return &Error{Kind: KindInterrupted, Message: "the answer of " + where + " was not complete after " + round(total.after)}
	case errors.As(cause, &idle) && x.body == nil:
		return &Error{Kind: KindUnavailable, Message: where + " sent nothing for " + round(idle.after) + "; is it overloaded, or still loading the model?"}
	case errors.As(cause, &idle):
		return &Error{Kind: KindInterrupted, Message: where + " sent nothing for " + round(idle.after) + " in the middle of the answer"}
	case x.body != nil:
		return &Error{Kind: KindInterrupted, Message: "the connection to " + where + " broke in the middle of the answer: " + reason(err)}
	case isAny(err, io.ErrUnexpectedEOF, io.EOF, syscall.ECONNRESET):
		return &Error{Kind: KindUnavailable, Message: where + " closed the connection without an answer: " + reason(err)}
	case errors.As(err, &tls.RecordHeaderError{}), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return &Error{Kind: KindNotAnEndpoint, Message: where + " does not speak TLS; does its base_url begin with http:// ?"}
	case strings.Contains(err.Error(), "unsupported protocol scheme"), errors.As(err, &urlErr) && urlErr.Op == "parse":
		return &Error{Kind: KindNotAnEndpoint, Message: "base_url " + where + " is not an http or https URL"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Error{Kind: KindUnavailable, Message: "nothing listens at " + where + " (connection refused): is the model server running, and is base_url right?"}
	case errors.As(err, new(*net.DNSError)):
		return &Error{Kind: KindUnavailable, Message: "cannot find the host of " + where + ": check base_url and the network: " + reason(err)}
	case errors.As(err, &urlErr), errors.As(err, &netErr):
		return &Error{Kind: KindUnavailable, Message: "cannot reach " + where + ": check base_url, proxy and network: " + reason(err)}
	}
	return &Error{Kind: KindBadRequest, Message: reason(err)} // go-openai refused it
}

// reason is an error's text without the URL that net/http puts before it.
func reason(err error) string {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	return bounded(err.Error(), maxExcerpt)
}

func isAny(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

func round(d time.Duration) string { return d.Round(time.Millisecond).String() }

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
