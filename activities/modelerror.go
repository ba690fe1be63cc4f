package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire"
)

// maxRetryAfter is the longest an endpoint's Retry-After is honoured; beyond
// it the turn ends and says when to come back.
const maxRetryAfter = 10 * time.Minute

// wireError gives an endpoint's failure its type and its next attempt's time.
// asked is how often the model was asked in this attempt. The table of kinds
// stands in docs/models.md.
func wireError(ctx context.Context, err error, asked int) error {
	if ctx.Err() != nil {
		if shuttingDown(ctx) {
			return modelError(contract.ErrModelUnavailable, errors.New("the worker was stopped during the model call"))
		}
		return ctx.Err()
	}
	var w *wire.Error
	if !errors.As(err, &w) {
		return modelError(contract.ErrModelUnavailable, err)
	}
	detail := contract.ModelFailure{
		Kind: string(w.Kind), Status: w.Status, RequestID: w.RequestID,
		Asked: asked, RetryAfter: contract.Duration(w.RetryAfter),
	}
	kind, message := modelErrorType(w), w.Error()
	switch {
	case kind == contract.ErrModelUnavailable && w.RetryAfter > maxRetryAfter:
		return modelFailure(contract.ErrModelQuota, message+comeBack(w.RetryAfter), detail, 0)
	case kind == contract.ErrModelBadGeneration:
		message = fmt.Sprintf("asked %d times, in vain: %s", asked, message)
	}
	return modelFailure(kind, message, detail, w.RetryAfter)
}

// withKeyHint says of a refused key where it was read, or that there was none.
func (a *Activities) withKeyHint(failed *wire.Error, agent contract.Agent) *wire.Error {
	p, _ := providerOf(agent)
	variable := keyVariable(agent, p)
	if failed.Kind != wire.KindAuth || variable == "" {
		return failed
	}
	told := *failed
	if a.keyIn(agent, variable) == "" {
		told.Message += "; " + variable + " is not set on the worker"
	} else {
		told.Message += "; the key is that of " + variable + " on the worker"
	}
	return &told
}

// modelFailure is an error of a model call with its detail. Only an
// unavailable endpoint is asked again, after the given time, or after
// Temporal's backoff where that is 0.
func modelFailure(kind, message string, detail contract.ModelFailure, after time.Duration) error {
	options := temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{detail}}
	if kind == contract.ErrModelUnavailable {
		options.NonRetryable, options.NextRetryDelay = false, after
	}
	return temporal.NewApplicationErrorWithOptions(contract.BoundText(message, contract.MaxErrorText), kind, options)
}

// modelErrorType is the recorded type of an endpoint's failure. Only
// [contract.ErrModelUnavailable] is retried.
func modelErrorType(e *wire.Error) string {
	kind := kindType(e.Kind)
	switch action := e.Action(); {
	case action == wire.ActionRetry:
		return contract.ErrModelUnavailable
	case kind == contract.ErrModelUnavailable:
		return contract.ErrModelBadRequest // the endpoint itself says not to repeat it
	}
	return kind
}

func kindType(kind wire.Kind) string {
	switch kind {
	case wire.KindAuth:
		return contract.ErrModelAuth
	case wire.KindQuota:
		return contract.ErrModelQuota
	case wire.KindBadRequest, wire.KindNotAnEndpoint:
		return contract.ErrModelBadRequest
	case wire.KindContextTooLong:
		return contract.ErrModelContextTooLong
	case wire.KindRefused:
		return contract.ErrModelRefused
	case wire.KindTooLarge:
		return contract.ErrAnswerTooLarge
	case wire.KindBadGeneration:
		return contract.ErrModelBadGeneration
	case wire.KindRateLimited, wire.KindOverloaded, wire.KindUnavailable, wire.KindInterrupted:
	}
	return contract.ErrModelUnavailable
}
