package wire

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// Kind says what kind of failure it is. A reader must accept one that it does
// not know.
type Kind string

// The kinds.
const (
	KindAuth           Kind = "auth"             // key missing, wrong or not allowed
	KindQuota          Kind = "quota"            // paid-for budget used up: waiting does not help
	KindBadRequest     Kind = "bad_request"      // the endpoint will refuse this request again
	KindContextTooLong Kind = "context_too_long" // the transcript does not fit
	KindRefused        Kind = "refused"          // stopped by the provider's content filter
	KindNotAnEndpoint  Kind = "not_an_endpoint"  // something else lives at the base URL
	KindTooLarge       Kind = "too_large"        // the answer passes our bounds

	KindRateLimited   Kind = "rate_limited"
	KindOverloaded    Kind = "overloaded"
	KindUnavailable   Kind = "unavailable"    // not reachable, or failing
	KindInterrupted   Kind = "interrupted"    // the answer began and did not end properly
	KindBadGeneration Kind = "bad_generation" // the endpoint could not read its own model's tool call
)

// Error is a model call that failed. Its message is valid UTF-8, bounded, and
// free of the API key.
type Error struct {
	Kind    Kind
	Status  int    // HTTP status, or the one that an error inside a stream names; 0 if none
	Message string // what the endpoint said, or what we saw

	// RetryAfter is how long the endpoint asks to wait; 0 if it does not say.
	RetryAfter time.Duration
	RequestID  string

	// Generation is what the model wrote, of a [KindBadGeneration].
	Generation string

	// Usage is what the failed answer cost, as far as the endpoint says.
	Usage contract.Usage `json:",omitzero"`

	should *bool // the endpoint's own x-should-retry
}

// Action is what follows a failure.
type Action string

// The actions.
const (
	ActionRetry  Action = "retry"   // the same request again, after Temporal's backoff or as long as the endpoint asks
	ActionReask  Action = "re-ask"  // the model is told what was wrong and asked again, a few times
	ActionGiveUp Action = "give up" // the same request will fail again
)

// Kinds lists all kinds with what follows each.
func Kinds() []KindRule {
	return []KindRule{
		{KindRateLimited, ActionRetry},
		{KindOverloaded, ActionRetry},
		{KindUnavailable, ActionRetry},
		{KindInterrupted, ActionRetry},
		{KindBadGeneration, ActionReask},
		{KindAuth, ActionGiveUp},
		{KindQuota, ActionGiveUp},
		{KindContextTooLong, ActionGiveUp},
		{KindRefused, ActionGiveUp},
		{KindBadRequest, ActionGiveUp},
		{KindNotAnEndpoint, ActionGiveUp},
		{KindTooLarge, ActionGiveUp},
	}
}

// KindRule is a kind and what follows it.
type KindRule struct {
	Kind   Kind
	Action Action
}

// Action says what follows. The endpoint's own word (x-should-retry) decides
// between a retry and giving up, but cannot make a missing key, an empty
// account or a transcript that does not fit pass.
func (e *Error) Action() Action {
	action := ActionGiveUp
	for _, r := range Kinds() {
		if r.Kind == e.Kind {
			action = r.Action
		}
	}
	switch {
	case e.should == nil || action == ActionReask:
	case !*e.should:
		return ActionGiveUp
	case e.Kind == KindBadRequest:
		return ActionRetry
	}
	return action
}

// Retryable says whether the same request may succeed later.
func (e *Error) Retryable() bool { return e.Action() != ActionGiveUp }

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("model endpoint: " + string(e.Kind))
	if e.Status != 0 {
		fmt.Fprintf(&b, " (%d)", e.Status)
	}
	b.WriteString(": " + e.Message)
	if e.RequestID != "" {
		b.WriteString(" [request " + e.RequestID + "]")
	}
	return b.String()
}
