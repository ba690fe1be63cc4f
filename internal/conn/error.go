package conn

import (
	"fmt"
	"strings"
)

// Kind says what stands between us and the server.
type Kind string

// The kinds of [Error].
const (
	KindConfig      Kind = "config"      // the environment or temporal.toml is wrong
	KindUnreachable Kind = "unreachable" // nobody answers at the address
	KindTLS         Kind = "tls"         // one side speaks TLS and the other does not, or a certificate is refused
	KindNamespace   Kind = "namespace"   // the server has no such namespace
	KindDenied      Kind = "denied"      // the server refuses the key or certificate
)

// Error is why there is no usable connection. A program exits with code 3.
type Error struct {
	Kind Kind
	Info Info   // what was tried
	Text string // one line: what is wrong and what to do
	Err  error  // the cause; nil for KindConfig, whose cause may quote a key
}

func (e *Error) Error() string { return e.Text }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

func newError(kind Kind, info Info, cause error, format string, args ...any) *Error {
	text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	return &Error{Kind: kind, Info: info, Text: text, Err: cause}
}

// configError keeps the cause's words out where they may quote the file: a
// syntax error in temporal.toml can show the line an api_key stands in.
func configError(info Info, file string, cause error) *Error {
	text := cause.Error()
	if strings.HasPrefix(text, "failed parsing config") {
		text = "it is no valid TOML; `temporal config list` shows where"
		return newError(KindConfig, info, nil, "cannot read the Temporal configuration %s: %s", file, text)
	}
	if file != "" {
		return newError(KindConfig, info, nil, "the Temporal configuration (%s and the TEMPORAL_* variables) cannot be used: %s", file, text)
	}
	return newError(KindConfig, info, nil, "the Temporal configuration (the TEMPORAL_* variables; there is no temporal.toml) cannot be used: %s", text)
}
