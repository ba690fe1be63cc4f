package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
)

// DefaultIdleTimeout is how long an endpoint may send nothing.
const DefaultIdleTimeout = 60 * time.Second

// afterFinish is how long we wait, once the answer is complete, for the
// usage and the [DONE] that some servers never send.
const afterFinish = 5 * time.Second

// Endpoint is where and how a model is called.
type Endpoint struct {
	// BaseURL is the root that /chat/completions is appended to; for most
	// servers it ends in /v1. If empty, https://api.openai.com/v1.
	BaseURL string

	// APIKey is sent as a bearer token; if empty, no header is sent. It never
	// appears in an error.
	APIKey string

	// Organization is sent as OpenAI-Organization, if not empty.
	Organization string

	// HTTPClient is the client to use. If nil, one of our own without an
	// overall timeout, whose connections all clients share. It is not modified.
	HTTPClient *http.Client

	// IdleTimeout is how long the endpoint may send no byte once it has begun
	// to answer. If zero, [DefaultIdleTimeout].
	IdleTimeout time.Duration

	// FirstByteTimeout is how long the endpoint may take until the first byte
	// of its answer: a server that loads a model, or one that reasons before
	// it streams, may need minutes. If zero, IdleTimeout.
	FirstByteTimeout time.Duration

	// TotalTimeout is how long the whole call may take: a server that sends
	// keep-alives for ever is never idle. If zero, there is no bound.
	TotalTimeout time.Duration

	// APIVersion is sent as the query parameter api-version, if not empty.
	APIVersion string

	// ParallelToolCalls is "true" or "false" to send the option of that name,
	// where there are tools and the endpoint takes it.
	ParallelToolCalls string

	// Origin names the endpoint: reasoning text and private fields are sent only
	// with messages of the same origin.
	Origin string

	// Settings are the quirks. The zero value is an endpoint without any.
	Settings providers.Settings
}

// Tool is a tool as the model is shown it.
type Tool struct {
	Name        string
	Description string
	Schema      string // JSON Schema of the arguments; empty means an object without properties
}

// Request is one model call.
type Request struct {
	Model    string // as the endpoint names it, without our provider prefix
	Messages []contract.Message
	Tools    []Tool // none: no key of the request mentions tools

	Temperature     *float64 // nil: the endpoint's default; 0 is sent
	MaxOutputTokens int      // 0: no bound
	ReasoningEffort string   // "": the endpoint's default

	// Plain leaves all private fields out; echo, if not "", goes before the
	// endpoint's echo_reasoning. Both are set by [Client.Repair].
	Plain bool
	echo  string
}

// Answer is a complete answer of a model.
type Answer struct {
	Text      string
	Reasoning string
	Refusal   string // the model's own refusal, where it has a field of its own

	// Calls are in source order. Args is the text as the model wrote it: it
	// may be empty, no JSON at all or no object. ID may be empty or repeat.
	Calls []contract.ToolCall

	// Extra is provider-private JSON of the message: see [contract.Message.Extra].
	Extra string

	Usage        contract.Usage
	Estimate     int    `json:"-"` // our own count of the prompt's tokens: a rough one, rather too small
	FinishReason string // as the endpoint wrote it; calls count whatever it says
	Model        string // as the endpoint names it
	RequestID    string

	// Truncated says that the output limit cut the answer: the last call may
	// be incomplete even where its arguments parse.
	Truncated bool
}

// Client calls one endpoint. It is safe for concurrent use.
type Client struct {
	endpoint Endpoint
	http     *http.Client
	scrub    scrubber
}

// New makes a client; it is cheap enough for each call to make its own.
// Nothing is sent; a wrong URL shows at the first call.
func New(e Endpoint) *Client {
	e.BaseURL = strings.TrimRight(strings.TrimSpace(e.BaseURL), "/")
	if e.BaseURL == "" {
		e.BaseURL = "https://api.openai.com/v1"
	}
	e.APIKey = strings.TrimSpace(e.APIKey)
	if e.IdleTimeout <= 0 {
		e.IdleTimeout = DefaultIdleTimeout
	}
	if e.FirstByteTimeout <= 0 {
		e.FirstByteTimeout = e.IdleTimeout
	}
	return &Client{endpoint: e, http: httpClient(e.HTTPClient), scrub: newScrubber(e.APIKey)}
}

// Origin is the endpoint's: what the messages of its answers are marked with.
func (c *Client) Origin() string { return c.endpoint.Origin }

// Complete asks the model once, streaming, and returns the answer when it
// has ended properly: a finish_reason was seen, or [DONE] with arguments that
// parse. Everything else is an [*Error]; the answer is then empty and nothing
// of it may be executed.
//
// onDelta, if not nil, is called with each piece of text as it arrives, from
// the calling goroutine. What it was given is void when Complete fails.
//
// When ctx ends, the connection is closed at once and the error wraps the
// cause of ctx, unless the answer was already complete.
func (c *Client) Complete(ctx context.Context, r Request, onDelta func(text string)) (Answer, error) {
	request, patch, err := c.encode(r)
	if err != nil {
		return Answer{}, err
	}
	callCtx, idle := watchIdle(ctx, c.endpoint.FirstByteTimeout, c.endpoint.IdleTimeout, c.endpoint.TotalTimeout)
	defer idle.stop()

	x := &exchange{client: c, patch: patch.apply, idle: idle}
	config := openai.DefaultConfig(c.endpoint.APIKey)
	config.BaseURL = c.endpoint.BaseURL
	config.OrgID = c.endpoint.Organization
	config.HTTPClient = x
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(callCtx, request)
	if err != nil {
		return Answer{}, c.failure(ctx, callCtx, x, err)
	}
	defer func() { _ = stream.Close() }()

	a := &assembly{}
	for err == nil {
		var raw []byte
		if raw, err = stream.RecvRaw(); err != nil {
			break
		}
		var text string
		if text, err = a.add(raw); text != "" && onDelta != nil {
			onDelta(text)
		}
		if a.finish != "" {
			idle.narrow(afterFinish)
		}
	}
	if err = x.ended(a, err); err != nil {
		err = c.failure(ctx, callCtx, x, err)
		if failed := (*Error)(nil); errors.As(err, &failed) {
			failed.Usage = a.usage
		}
		return Answer{}, err
	}
	answer := a.answer(r.MaxOutputTokens)
	answer.Estimate = patch.estimate()
	if x.requestID != "" {
		answer.RequestID = x.requestID
	}
	return answer, nil
}

// ended decides whether the stream that ended with err holds an answer.
func (x *exchange) ended(a *assembly, err error) error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return err
	case a.finish != "":
		return a.finishError()
	case !errors.Is(err, io.EOF):
		return err
	case x.body.done && a.balanced():
		return nil
	case a.empty():
		return &Error{Kind: KindInterrupted, Message: "the stream ended before the answer began"}
	}
	return &Error{Kind: KindInterrupted, Message: "the stream ended in the middle of the answer"}
}

// failure makes the error that Complete returns.
func (c *Client) failure(ctx, callCtx context.Context, x *exchange, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		if ctx.Err() != nil {
			return &canceledError{cause: context.Cause(ctx)}
		}
		e = c.transportError(x, context.Cause(callCtx), err)
	}
	if e.RequestID == "" {
		e.RequestID = x.requestID
	}
	return c.scrub.error(e)
}

// canceledError is a call whose context ended.
type canceledError struct{ cause error }

func (e *canceledError) Error() string { return "model call: " + e.cause.Error() }
func (e *canceledError) Unwrap() error { return e.cause }
