package conn

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
)

// DialTimeout is how long [Dial] waits for a server and its namespace.
const DialTimeout = 5 * time.Second

// probeTimeout bounds the look at why a dial failed.
const probeTimeout = 2 * time.Second

// Dial connects, and checks that the server answers and has the namespace, so
// that a worker or a command fails at once and in plain words rather than
// later. It waits at most [DialTimeout], or until ctx ends. The
// caller closes the client. logger may be nil, which is the SDK's default.
//
// Its error is an [*Error], or that of ctx when ctx ended.
func Dial(ctx context.Context, o Overrides, logger log.Logger) (client.Client, Info, error) {
	opts, info, err := Options(o)
	if err != nil {
		return nil, info, err
	}
	opts.Logger = logger
	c, err := DialOptions(ctx, opts, info)
	return c, info, err
}

// DialOptions is [Dial] for a caller that has added to what [Options] gave, a
// data converter or an interceptor for example.
func DialOptions(ctx context.Context, opts client.Options, info Info) (client.Client, error) {
	waitCtx, cancel := context.WithTimeout(ctx, DialTimeout)
	defer cancel()
	c, err := client.DialContext(waitCtx, opts)
	if err == nil {
		if err = describeNamespace(waitCtx, c, info.Namespace); err == nil {
			return c, nil
		}
		c.Close()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, explain(ctx, opts, info, err)
}

func describeNamespace(ctx context.Context, c client.Client, namespace string) error {
	_, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	var unimplemented *serviceerror.Unimplemented
	if errors.As(err, &unimplemented) {
		return nil // a proxy that does not offer it; the first real call will tell
	}
	return err
}

// explain turns what the SDK says into what to do about it. What the server
// answered is told by its type; when it did not answer, a look at the socket
// tells why.
func explain(ctx context.Context, opts client.Options, info Info, err error) error {
	var (
		noNamespace  *serviceerror.NamespaceNotFound
		notFound     *serviceerror.NotFound
		denied       *serviceerror.PermissionDenied
		badNamespace *serviceerror.InvalidArgument
	)
	switch {
	case errors.As(err, &noNamespace), errors.As(err, &notFound), errors.As(err, &badNamespace):
		return newError(KindNamespace, info, err,
			"the server at %s has no namespace %q; create it (temporal operator namespace create -n %s) or set TEMPORAL_NAMESPACE",
			info.Address, info.Namespace, info.Namespace)
	case errors.As(err, &denied), isUnauthenticated(err):
		return newError(KindDenied, info, err, "the server at %s refuses access to namespace %q%s",
			info.Address, info.Namespace, deniedAdvice(info))
	}
	probeCtx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	switch found, cause := probe(probeCtx, info.Address, opts.ConnectionOptions); found {
	case probeNoServer:
		return newError(KindUnreachable, info, err,
			"no Temporal server at %s (%s); start one with `go run ./starter dev`, or set TEMPORAL_ADDRESS", info.Address, cause)
	case probeWantsTLS:
		return newError(KindTLS, info, err,
			"the server at %s speaks TLS and this client does not; set TEMPORAL_TLS=true (an API key or a client certificate sets it too)", info.Address)
	case probeNoTLS:
		return newError(KindTLS, info, err,
			"this client speaks TLS and the server at %s does not; set TEMPORAL_TLS=false and unset TEMPORAL_API_KEY, or correct TEMPORAL_ADDRESS", info.Address)
	case probeBadCertificate:
		return newError(KindTLS, info, err,
			"the TLS handshake with %s failed (%s); check TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_SERVER_NAME and the client certificate", info.Address, cause)
	}
	return newError(KindUnreachable, info, err,
		"what listens at %s did not answer as a Temporal server within %s; check TEMPORAL_ADDRESS (the gRPC port, usually 7233, not the Web UI's)", info.Address, DialTimeout)
}

func deniedAdvice(info Info) string {
	if info.APIKey {
		return "; check TEMPORAL_API_KEY: whether it is complete, has expired, and may use this namespace"
	}
	return "; set TEMPORAL_API_KEY, or TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH"
}
