package conn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// frontend is a Temporal frontend as far as Dial looks at it.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
	systemInfo error
	describe   error
}

func (f frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, toWire(f.systemInfo)
}

func (f frontend) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, toWire(f.describe)
}

func toWire(err error) error {
	if err == nil {
		return nil
	}
	return serviceerror.ToStatus(err).Err()
}

func serve(t *testing.T, f frontend, options ...grpc.ServerOption) (address string) {
	t.Helper()
	listener := listen(t)
	server := grpc.NewServer(options...)
	workflowservice.RegisterWorkflowServiceServer(server, f)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// testCertificate borrows httptest's, which is for 127.0.0.1.
func testCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(nil)
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server.TLS.Certificates[0], pool
}

func TestDialOptions(t *testing.T) {
	t.Parallel()
	certificate, pool := testCertificate(t)
	secure := grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{certificate}}))
	picky := grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert,
	}))
	// A port that was free a moment ago may be another test's by now; nobody
	// listens on this one, and only root could.
	const nobody = "127.0.0.1:1"
	deaf := listen(t) // accepts by its backlog and never says a word

	trusting := &tls.Config{RootCAs: pool}
	for _, tt := range []struct {
		name    string
		address string
		tls     *tls.Config
		apiKey  bool
		want    Kind // empty: connects
		text    string
	}{
		{name: "plain", address: serve(t, frontend{})},
		{name: "tls", address: serve(t, frontend{}, secure), tls: trusting},
		{name: "nobody there", address: nobody, want: KindUnreachable, text: "go run ./starter dev"},
		{name: "nobody there, tls", address: nobody, tls: trusting, want: KindUnreachable, text: "connection refused"},
		{name: "unknown host", address: "nowhere.invalid:7233", want: KindUnreachable, text: "no Temporal server at nowhere.invalid:7233"},
		{name: "deaf", address: deaf.Addr().String(), want: KindUnreachable, text: "did not answer"},
		{name: "deaf, tls", address: deaf.Addr().String(), tls: trusting, want: KindUnreachable, text: "did not answer"},
		{name: "client plain, server tls", address: serve(t, frontend{}, secure), want: KindTLS, text: "set TEMPORAL_TLS=true"},
		{name: "client plain, server wants a certificate", address: serve(t, frontend{}, picky), want: KindTLS, text: "set TEMPORAL_TLS=true"},
		{name: "client tls, server plain", address: serve(t, frontend{}), tls: trusting, want: KindTLS, text: "this client speaks TLS"},
		{name: "untrusted", address: serve(t, frontend{}, secure), tls: &tls.Config{}, want: KindTLS, text: "unknown authority"},
		{name: "wrong host", address: serve(t, frontend{}, secure), tls: &tls.Config{RootCAs: pool, ServerName: "other.invalid"}, want: KindTLS, text: "TEMPORAL_TLS_SERVER_NAME"},
		{name: "no client certificate", address: serve(t, frontend{}, picky), tls: trusting, want: KindTLS, text: "certificate"},
		{name: "no namespace", address: serve(t, frontend{describe: serviceerror.NewNamespaceNotFound("shop")}), want: KindNamespace, text: `no namespace "shop"; create it`},
		{name: "denied", address: serve(t, frontend{describe: serviceerror.NewPermissionDenied("no", "")}), want: KindDenied, text: "set TEMPORAL_API_KEY"},
		{name: "denied with key", address: serve(t, frontend{describe: serviceerror.NewPermissionDenied("no", "")}), apiKey: true, want: KindDenied, text: "check TEMPORAL_API_KEY"},
		{name: "unauthenticated at once", address: serve(t, frontend{systemInfo: status.Error(codes.Unauthenticated, "who?")}), want: KindDenied, text: "refuses access"},
		{name: "cannot describe", address: serve(t, frontend{describe: serviceerror.NewUnimplemented("no")})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			info := Info{Address: tt.address, Namespace: "shop", APIKey: tt.apiKey, TLS: tt.tls != nil}
			opts := client.Options{HostPort: tt.address, Namespace: "shop", Logger: silent{}}
			opts.ConnectionOptions.TLS = tt.tls
			c, err := DialOptions(t.Context(), opts, info)
			if c != nil {
				defer c.Close()
			}
			if tt.want == "" {
				if err != nil {
					t.Fatalf("got %v", err)
				}
				return
			}
			var got *Error
			if !errors.As(err, &got) {
				t.Fatalf("got %T %v, want an *Error", err, err)
			}
			if got.Kind != tt.want || !strings.Contains(got.Error(), tt.text) || strings.Contains(got.Error(), "\n") {
				t.Errorf("got %s: %s\nwant %s with %q (cause: %v)", got.Kind, got, tt.want, tt.text, got.Err)
			}
			if got.Info != info {
				t.Errorf("got info %+v", got.Info)
			}
		})
	}
}

func TestDialOptionsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := DialOptions(ctx, client.Options{HostPort: listen(t).Addr().String(), Logger: silent{}}, Info{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

type silent struct{}

var _ log.Logger = silent{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
