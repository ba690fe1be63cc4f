// Package s3 runs an S3 server that nobody here wrote: Versity's gateway on a
// folder. It is for tests; start at [Start].
package s3

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/internal/child"
	"github.com/turnkeel/turnkeel/internal/toolbin"
)

// Server is a running server with one bucket.
type Server struct {
	Endpoint, AccessKey, SecretKey, Bucket string

	// Dir is the bucket's folder: keys are the names of files below it.
	Dir string
}

// Env are the variables of AWS's tools, and TURNKEEL_BLOBS for a prefix.
func (s Server) Env(prefix string) []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + s.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s.SecretKey, "AWS_REGION=eu-test-1",
		"AWS_ENDPOINT_URL_S3=" + s.Endpoint, "TURNKEEL_BLOBS=s3://" + s.Bucket + "/" + prefix,
	}
}

// Start starts a server that ends with the test.
func Start(t testing.TB) Server {
	t.Helper()
	program, err := toolbin.VersityGateway(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	s := Server{AccessKey: "turnkeel-test", SecretKey: "not-a-secret-4c1e", Bucket: "blobs"}
	s.Dir = filepath.Join(root, "data", s.Bucket)
	for _, dir := range []string{s.Dir, filepath.Join(root, "meta")} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	address := freeAddress(t)
	s.Endpoint = "http://" + address
	cmd := exec.Command(program, "--port", address, "--access", s.AccessKey, "--secret", s.SecretKey, "--region", "eu-test-1", //nolint:gosec // our own
		"posix", "--sidecar", filepath.Join(root, "meta"), filepath.Join(root, "data"))
	cmd.SysProcAttr = child.Attr(syscall.SIGKILL)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	exited, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- <-exited; close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended //nolint:errcheck // it was told to end
	})
	for {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = connection.Close()
			return s
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			t.Fatalf("the S3 server ended: %v\n%s", err, said.String())
		case <-time.After(20 * time.Millisecond): // then it is asked again
		}
	}
}

// freeAddress is one that nobody listened at a moment ago.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // its number is all that is wanted
	return listener.Addr().String()
}
