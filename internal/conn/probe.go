package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// probed is what a look at the server's socket found.
type probed int

const (
	probeUnclear probed = iota
	probeNoServer
	probeWantsTLS
	probeNoTLS
	probeBadCertificate
)

// probe looks at why a dial failed, with one connection of its own: gRPC gives
// all of these the same code and tells them apart by text only. The cause is
// in a few words, without the address.
func probe(ctx context.Context, address string, options client.ConnectionOptions) (probed, string) {
	target := address[strings.LastIndex(address, "/")+1:] // dns:///host:port
	socket, err := (&net.Dialer{}).DialContext(ctx, "tcp", target)
	if err != nil {
		return probeNoServer, cause(err)
	}
	defer func() { _ = socket.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = socket.SetDeadline(deadline) // a handshake with a deaf peer ends with it
	}
	if options.TLS == nil || options.TLSDisabled {
		asked := tls.Client(socket, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // nothing is sent; only whether TLS is spoken
		if err := asked.HandshakeContext(ctx); err == nil || isAlert(err) {
			return probeWantsTLS, ""
		}
		return probeUnclear, ""
	}
	return probeTLS(ctx, socket, target, options.TLS)
}

func probeTLS(ctx context.Context, socket net.Conn, target string, config *tls.Config) (probed, string) {
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(target)
	}
	secured := tls.Client(socket, config)
	err := secured.HandshakeContext(ctx)
	var header tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &header), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return probeNoTLS, ""
	case errors.As(err, &certificate):
		return probeBadCertificate, certificate.Err.Error()
	case isAlert(err):
		return probeBadCertificate, err.Error()
	case err != nil:
		return probeUnclear, ""
	}
	// TLS 1.3 tells of a refused client certificate with the first read.
	if _, err := secured.Read(make([]byte, 1)); isAlert(err) {
		return probeBadCertificate, err.Error()
	}
	return probeUnclear, ""
}

func isAlert(err error) bool {
	var sent tls.AlertError // what the QUIC side gets
	var op *net.OpError     // what a plain connection gets: Op is "remote error"
	return errors.As(err, &sent) || (errors.As(err, &op) && op.Op == "remote error")
}

// cause is the innermost reason of a failed dial.
func cause(err error) string {
	var dns *net.DNSError
	var errno syscall.Errno
	switch {
	case errors.As(err, &dns):
		return "unknown host"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	case errors.As(err, &errno):
		return errno.Error()
	}
	return err.Error()
}

// isUnauthenticated: the API has no error type of its own for this code, and
// gRPC's packages are no direct dependency of this one.
func isUnauthenticated(err error) bool {
	return serviceerror.ToStatus(err).Code().String() == "Unauthenticated"
}
