package s3_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/blob/blobtest"
	"github.com/turnkeel/turnkeel/blob/s3"
	s3server "github.com/turnkeel/turnkeel/tests/s3"
)

// env is an environment of "NAME=value", with changes.
func env(base []string, changes ...string) func(string) string {
	values := map[string]string{}
	for _, line := range append(append([]string{}, base...), changes...) {
		name, value, _ := strings.Cut(line, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

func open(t *testing.T, address string, getenv func(string) string) *s3.Store {
	t.Helper()
	store, err := s3.FromEnv(address, getenv)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// T45: the rules of a store, held against a real server.
func TestStore(t *testing.T) {
	t.Parallel()
	server := s3server.Start(t)
	for _, prefix := range []string{"", "team-a/turnkeel"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			t.Parallel()
			blobtest.Run(t, blobtest.Options{
				Open: func(t *testing.T) blob.Store {
					return open(t, "s3://blobs/"+prefix, env(server.Env("")))
				},
				Damage: func(t *testing.T, ref string) {
					t.Helper()
					digest, err := blob.Digest(ref)
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(server.Dir, prefix, digest[:2], digest), []byte("cut"), 0o600); err != nil {
						t.Fatal(err)
					}
				},
			})
		})
	}
}

// What a server refuses is an error that says why and holds no credential; a
// bucket that is missing is no blob that is missing.
func TestStore_Refused(t *testing.T) {
	t.Parallel()
	server := s3server.Start(t)
	for _, tt := range []struct{ name, address, change, want string }{
		{"no such bucket", "s3://absent/x", "", "the bucket absent does not exist"},
		{"a wrong secret", "s3://blobs", "AWS_SECRET_ACCESS_KEY=wrong-secret", "SignatureDoesNotMatch"},
		{"a wrong key", "s3://blobs", "AWS_ACCESS_KEY_ID=nobody", "access key"},
		{"nobody there", "s3://blobs", "AWS_ENDPOINT_URL_S3=http://127.0.0.1:1", "connection refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := open(t, tt.address, env(server.Env(""), tt.change))
			_, putErr := store.Put(t.Context(), []byte("x"))
			_, getErr := store.Get(t.Context(), blob.Ref([]byte("x")))
			for _, err := range []error{putErr, getErr} {
				if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, blob.ErrNotFound) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				if err != nil && (strings.Contains(err.Error(), server.SecretKey) || strings.Contains(err.Error(), "wrong-secret")) {
					t.Errorf("the secret is shown: %v", err)
				}
			}
		})
	}
}

func TestFromEnv(t *testing.T) {
	t.Parallel()
	keys := []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b"}
	for _, tt := range []struct {
		address, change, want string // an address, or an error
	}{
		{"s3://bucket/a/b/", "AWS_REGION=eu-west-1", "https://bucket.s3.eu-west-1.amazonaws.com/a/b"},
		{"s3://bucket", "AWS_DEFAULT_REGION=eu-west-1", "https://bucket.s3.eu-west-1.amazonaws.com"},
		{"s3://my.bucket/p", "AWS_REGION=eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.bucket/p"},
		{"s3://bucket/p", "AWS_ENDPOINT_URL=http://minio:9000", "http://minio:9000/bucket/p"},
		{"s3://bucket/p", "AWS_ENDPOINT_URL_S3=https://h/path/", "https://h/path/bucket/p"},
		{"s3://bucket", "", "set AWS_REGION"},
		{"s3://bucket", "AWS_SECRET_ACCESS_KEY=", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{"s3://", "AWS_REGION=r", "not a bucket's name"},
		{"s3://Bucket", "AWS_REGION=r", "not a bucket's name"},
		{"s3://bucket/a//b", "AWS_REGION=r", "the prefix"},
		{"s3://bucket/ü", "AWS_REGION=r", "the prefix"},
		{"s3://bucket", "AWS_ENDPOINT_URL_S3=minio:9000", "is not the address of a server"},
		{"s3://bucket", "AWS_ENDPOINT_URL_S3=ftp://minio", "is not the address of a server"},
	} {
		got := ""
		store, err := s3.FromEnv(tt.address, env(keys, tt.change))
		if err != nil {
			got = err.Error()
		} else {
			got = store.Address()
		}
		if !strings.Contains(got, tt.want) || err == nil && got != tt.want {
			t.Errorf("%s with %s: got %q, want %q", tt.address, tt.change, got, tt.want)
		}
	}
}

func ExampleFromEnv() {
	getenv := func(name string) string {
		return map[string]string{
			"AWS_ACCESS_KEY_ID": "turnkeel", "AWS_SECRET_ACCESS_KEY": "…", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9000",
		}[name]
	}
	store, err := s3.FromEnv("s3://blobs/turnkeel", getenv) // outside of an example: os.Getenv
	if err != nil {
		panic(err)
	}
	fmt.Println(store.Address())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = store.Put(ctx, []byte("hello"))
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// http://127.0.0.1:9000/blobs/turnkeel
	// true
}
