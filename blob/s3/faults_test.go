package s3_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/blob/s3"
)

// secrets are what no error may hold.
var secrets = []string{"AKIAEXAMPLE7", "s3cret-9f2c", "token-77aa", "pa55w0rd"}

func secretEnv(changes ...string) func(string) string {
	return env([]string{"AWS_ACCESS_KEY_ID=AKIAEXAMPLE7", "AWS_SECRET_ACCESS_KEY=s3cret-9f2c", "AWS_SESSION_TOKEN=token-77aa", "AWS_REGION=eu-west-1"}, changes...)
}

func tells(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %q", name, err, want)
		return
	}
	for _, secret := range secrets {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: a secret is shown: %v", name, err)
		}
	}
}

// T45: whatever a server says instead of keeping or giving a blob is an error
// that says what to do, is no blob that is missing, and holds no key.
func TestStore_Faults(t *testing.T) {
	t.Parallel()
	refuse := func(status int, code, message, more string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message>%s</Error>", code, message, more)
		}
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"503", refuse(503, "SlowDown", "Please reduce your request rate.", ""), "may be asked again"},
		{"403", refuse(403, "AccessDenied", "Access Denied", ""), "need s3:GetObject and s3:PutObject on bucket"},
		{"403 that repeats the keys", refuse(403, "SignatureDoesNotMatch", "AKIAEXAMPLE7 s3cret-9f2c token-77aa", ""), "AWS_SECRET_ACCESS_KEY does not belong"},
		{"another clock", refuse(403, "RequestTimeTooSkewed", "The difference is too large.", ""), "set this machine's clock"},
		{"expired", refuse(400, "ExpiredToken", "The provided token has expired.", ""), "AWS_SESSION_TOKEN anew and start again"},
		{"another region in the text", refuse(400, "AuthorizationHeaderMalformed", "wrong", "<Region>us-east-2</Region>"), `the bucket's region is "us-east-2": set AWS_REGION`},
		{"another region in the head", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amz-Bucket-Region", "us-east-2")
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusMovedPermanently)
		}, `the bucket's region is "us-east-2"`},
		{"a page that is missing", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, "no answer of S3: check AWS_ENDPOINT_URL_S3"},
		{"a bucket that is missing", refuse(404, "NoSuchBucket", "no", ""), "the bucket bucket does not exist"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Header().Set("ETag", `"x"`)
			_, _ = w.Write([]byte("half"))
			panic(http.ErrAbortHandler)
		}, "EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.answer)
			t.Cleanup(server.Close)
			store := open(t, "s3://bucket/p", secretEnv("AWS_ENDPOINT_URL_S3="+server.URL))
			if tt.name != "cut off" { // what follows the head of an answer to PUT does not matter
				_, err := store.Put(t.Context(), []byte("x"))
				tells(t, "put", err, tt.want)
			}
			_, err := store.Get(t.Context(), blob.Ref([]byte("x")))
			tells(t, "get", err, tt.want)
			if errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrCorrupt) {
				t.Errorf("it may pass, and is told as final: %v", err)
			}
		})
	}
}

// T45: a server that answers everything with 200 has kept nothing.
func TestStore_NoS3Server(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>Welcome")) }))
	t.Cleanup(server.Close)
	store := open(t, "s3://bucket/p", secretEnv("AWS_ENDPOINT_URL_S3="+server.URL))
	ref, err := store.Put(t.Context(), []byte("x"))
	if tells(t, "put", err, "no S3 server and kept nothing"); ref != "" {
		t.Errorf("it gives %s", ref)
	}
	if _, err := store.Get(t.Context(), blob.Ref([]byte("x"))); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("get: %v", err)
	}
}

// Keys that stand where they do not belong are not shown.
func TestFromEnv_ShowsNoKeys(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ address, change, want string }{
		{"s3://bucket", "AWS_ENDPOINT_URL_S3=http://AKIAEXAMPLE7:pa55w0rd@h:9000", "is not the address of a server"},
		{"s3://bucket", "AWS_ENDPOINT_URL_S3=http://AKIAEXAMPLE7:pa55%zzw0rd@h:9000", "is not the address of a server"},
		{"s3://AKIAEXAMPLE7:pa55w0rd@bucket/p", "", "is not a bucket's name"},
		{"s3://AKIAEXAMPLE7:pa55w0rd@bucket/p", "AWS_SECRET_ACCESS_KEY=", "set AWS_ACCESS_KEY_ID"},
		{"s3://bucket", "AWS_SECRET_ACCESS_KEY=s3cret-9f2c\n", "AWS_SECRET_ACCESS_KEY has a space"},
		{"s3://bucket", "AWS_ACCESS_KEY_ID=AKIAEXAMPLE7\r", "AWS_ACCESS_KEY_ID has a space"},
		{"s3://bucket", "AWS_SESSION_TOKEN= token-77aa", "AWS_SESSION_TOKEN has a space"},
	} {
		_, err := s3.FromEnv(tt.address, secretEnv(tt.change))
		tells(t, tt.address+" "+tt.change, err, tt.want)
	}
}

// proxied makes this test's binary a program that keeps one blob: the variables
// of proxies and of authorities are read once in a process.
const proxied = "TURNKEEL_TEST_KEEPS"

func TestMain(m *testing.M) {
	if os.Getenv(proxied) == "" {
		os.Exit(m.Run())
	}
	store, err := s3.FromEnv("s3://bucket/p", os.Getenv)
	if err == nil {
		_, err = store.Put(context.Background(), []byte("x"))
	}
	fmt.Println(err)
}

// A proxy is used and its password not told; a private authority is named by
// SSL_CERT_FILE, and its lack says so.
func TestStore_ProxyAndAuthority(t *testing.T) {
	t.Parallel()
	keeps := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("ETag", `"x"`) })
	secure, proxy := httptest.NewTLSServer(keeps), httptest.NewServer(keeps)
	t.Cleanup(secure.Close)
	t.Cleanup(proxy.Close)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, endpoint string
		env            []string
		want           string
	}{
		{"a private authority", secure.URL, nil, "set SSL_CERT_FILE"},
		{"a private authority that is named", secure.URL, []string{"SSL_CERT_FILE=" + authority}, "<nil>"},
		{"no TLS", "https://" + strings.TrimPrefix(proxy.URL, "http://"), nil, "does its address begin with http:// ?"},
		{"a proxy", "http://minio.invalid", []string{"HTTP_PROXY=" + proxy.URL}, "<nil>"},
		{"a proxy that is away", "http://minio.invalid", []string{"HTTP_PROXY=http://AKIAEXAMPLE7:pa55w0rd@127.0.0.1:1"}, "the proxy variables"},
		{"a proxy with an odd password", "http://minio.invalid", []string{"HTTP_PROXY=http://AKIAEXAMPLE7:pa55w0rd%zz@127.0.0.1:1"}, "the proxy variables"},
	} {
		cmd := exec.CommandContext(t.Context(), self) //nolint:gosec // this test
		cmd.Env = append([]string{proxied + "=1", "AWS_ACCESS_KEY_ID=AKIAEXAMPLE7", "AWS_SECRET_ACCESS_KEY=s3cret-9f2c", "AWS_ENDPOINT_URL_S3=" + tt.endpoint}, tt.env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Error(err)
		}
		tells(t, tt.name, errors.New(string(out)), tt.want)
	}
}
