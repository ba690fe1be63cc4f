package mcptools

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// DriftError is a tool that the server defines otherwise than when it was
// listed, or no longer has. It was not called.
type DriftError struct {
	Server, Tool string
	Gone         bool
}

func (e *DriftError) Error() string {
	if e.Gone {
		return fmt.Sprintf("it was not called: %s no longer has a tool %q", e.Server, e.Tool)
	}
	return fmt.Sprintf("it was not called: %s now defines %q otherwise than when this worker started (its description or schema changed); a worker that is restarted takes the new definition", e.Server, e.Tool)
}

// StatusError is a request that an HTTP server refused before it did anything.
type StatusError struct {
	Code   int
	Status string // like "401 Unauthorized"
	Body   string // the beginning of what it said, bounded
	After  string // Retry-After: how long it wants to be left alone, as it said it
}

func (e *StatusError) Error() string {
	text := "the server answered " + e.Status
	if e.Code >= 300 && e.Code < 400 {
		return text + "; redirects are not followed, since the credentials would go along"
	}
	if e.After != "" {
		text += " (Retry-After: " + e.After + ")"
	}
	if e.Body != "" {
		text += ": " + e.Body
	}
	return text
}

// aboutUs says that the server takes nothing from us now, whatever the session:
// another one would be refused as well.
func (e *StatusError) aboutUs() bool {
	switch e.Code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return true
	}
	return false
}

// onTheWay says that an error's code is of who carries messages: the SDK gives
// lost connections and statuses of the 500s the last three of the first line,
// other SDKs and proxies say "connection closed" and "request timed out" by the
// first two, or by the number of the HTTP status, and -32800 that a request was
// cancelled. They leave open what the server did.
func onTheWay(code int64) bool {
	switch code {
	case -32000, -32001, -32003, -32004, -32005,
		-32800, http.StatusRequestTimeout, statusClientClosed, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// callError says what an error of a call means for its outcome. The server's
// own word, and a refusal before anything was done, are definite; what broke on
// the way is not.
func callError(err error) error {
	var server *jsonrpc.Error
	var drift *DriftError
	var status *StatusError
	switch {
	case tooldefs.IsUnknown(err), tooldefs.IsNotExecuted(err):
		return err
	case errors.As(err, &drift):
		return drift
	case errors.As(err, &status) && status.Code == http.StatusSeeOther:
		return tooldefs.Unknown(status) // what was asked for is done, and its answer elsewhere
	case errors.As(err, &status):
		return status
	case errors.As(err, &server) && !onTheWay(server.Code):
		return fmt.Errorf("the server refused the call: %s (code %d)", server.Message, server.Code)
	default:
		return tooldefs.Unknown(fmt.Errorf("the connection to the server broke before it answered: %w", err))
	}
}
