package activities

import (
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire"
)

// modelErrorType is the recorded type of an endpoint's failure. Only
// [contract.ErrModelUnavailable] is retried.
func modelErrorType(e *wire.Error) string {
	switch e.Kind {
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
	default:
		return contract.ErrModelUnavailable
	}
}

// finalKind is the type of a failure that the endpoint itself says not to
// repeat, whatever it looks like.
func finalKind(kind string) string {
	if kind == contract.ErrModelUnavailable {
		return contract.ErrModelBadRequest
	}
	return kind
}
