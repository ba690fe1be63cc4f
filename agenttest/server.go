package agenttest

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/internal/conn"
	"github.com/turnkeel/turnkeel/internal/devproc"
)

// Server is a Temporal server for tests.
type Server struct {
	Address   string
	Namespace string
	UI        string // empty for a server named by TEMPORAL_ADDRESS
}

// StartServer gives a real Temporal server: the one that TEMPORAL_ADDRESS
// names, else a development server of its own that ends with the test. The
// first use on a machine builds it, which takes minutes and is said on
// standard error; a plain go test needs a -timeout that allows for it.
func StartServer(t testing.TB) Server {
	t.Helper()
	server, stop, err := startServer(t.Context())
	if err != nil {
		t.Fatalf("a Temporal server for the test: %v", err)
	}
	t.Cleanup(stop)
	return server
}

// MainServer is [StartServer] for a TestMain: one server for a whole package.
func MainServer(ctx context.Context) (_ Server, stop func(), err error) {
	return startServer(ctx)
}

// RunMain is the body of a TestMain that needs no more than one server for its
// package: it runs the tests with it and gives the exit code.
func RunMain(m *testing.M, server *Server) int {
	found, stop, err := startServer(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, "a Temporal server for the tests:", err)
		return 1
	}
	defer stop()
	*server = found
	return m.Run()
}

func startServer(ctx context.Context) (Server, func(), error) {
	if os.Getenv("TEMPORAL_ADDRESS") != "" {
		_, info, err := conn.Options(conn.Overrides{})
		return Server{Address: info.Address, Namespace: info.Namespace}, func() {}, err
	}
	bin, err := devproc.Ensure(ctx, devproc.Printer(os.Stderr))
	if err != nil {
		return Server{}, nil, err
	}
	s, err := devproc.Start(ctx, bin, devproc.Options{Stderr: io.Discard})
	if err != nil {
		return Server{}, nil, err
	}
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = s.Stop(ctx)
	}
	return Server{Address: s.Address, Namespace: s.Namespace, UI: s.UI}, stop, nil
}

// Dial connects to the server; the client is closed with the test.
func (s Server) Dial(t testing.TB) sdkclient.Client {
	t.Helper()
	options, info, err := s.options()
	if err != nil {
		t.Fatal(err)
	}
	client, err := conn.DialOptions(t.Context(), options, info)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// options are a client's for this server: with TEMPORAL_ADDRESS set, with the
// TLS and keys that belong to it.
func (s Server) options() (sdkclient.Options, conn.Info, error) {
	if os.Getenv("TEMPORAL_ADDRESS") == "" {
		options := sdkclient.Options{HostPort: s.Address, Namespace: s.Namespace, Logger: quiet{}}
		return options, conn.Info{Address: s.Address, Namespace: s.Namespace}, nil
	}
	options, info, err := conn.Options(conn.Overrides{Address: s.Address, Namespace: s.Namespace})
	options.Logger = quiet{}
	return options, info, err
}

// quiet drops the SDK's log: what matters in a test is asserted.
type quiet struct{}

// Debug implements the SDK's logger, as do the other three.
func (quiet) Debug(string, ...any) {}

// Info drops the message.
func (quiet) Info(string, ...any) {}

// Warn drops the message.
func (quiet) Warn(string, ...any) {}

// Error drops the message.
func (quiet) Error(string, ...any) {}
