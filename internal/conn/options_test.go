package conn

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type fakeEnv map[string]string

func (e fakeEnv) LookupEnv(name string) (string, bool) { v, ok := e[name]; return v, ok }

func (e fakeEnv) Environ() (all []string) {
	for k, v := range e {
		all = append(all, k+"="+v)
	}
	return all
}

const secret = "tmprl-planted-secret"

const profiles = `
[profile.default]
address = "file:7233"
namespace = "fromfile"
[profile.cloud]
address = "shop.a1b2c.tmprl.cloud:7233"
namespace = "shop.a1b2c"
api_key = "` + secret + `"
`

func TestOptions(t *testing.T) {
	t.Parallel()
	file := write(t, profiles)
	nothing := filepath.Join(t.TempDir(), "none.toml")
	for _, tt := range []struct {
		name string
		over Overrides
		env  fakeEnv
		want Info
	}{
		{"nothing set", Overrides{}, fakeEnv{"TEMPORAL_CONFIG_FILE": nothing}, Info{Address: "localhost:7233", Namespace: "default"}},
		{"environment", Overrides{}, fakeEnv{"TEMPORAL_CONFIG_FILE": nothing, "TEMPORAL_ADDRESS": "a:1", "TEMPORAL_NAMESPACE": "n"}, Info{Address: "a:1", Namespace: "n"}},
		{"key means tls", Overrides{}, fakeEnv{"TEMPORAL_CONFIG_FILE": nothing, "TEMPORAL_API_KEY": secret}, Info{Address: "localhost:7233", Namespace: "default", TLS: true, APIKey: true}},
		{"tls off", Overrides{}, fakeEnv{"TEMPORAL_CONFIG_FILE": nothing, "TEMPORAL_API_KEY": secret, "TEMPORAL_TLS": "false"}, Info{Address: "localhost:7233", Namespace: "default", APIKey: true}},
		{"default profile", Overrides{}, fakeEnv{"TEMPORAL_CONFIG_FILE": file}, Info{Address: "file:7233", Namespace: "fromfile"}},
		{"environment above file", Overrides{}, fakeEnv{"TEMPORAL_CONFIG_FILE": file, "TEMPORAL_NAMESPACE": "n"}, Info{Address: "file:7233", Namespace: "n"}},
		{"profile by environment", Overrides{}, fakeEnv{"TEMPORAL_CONFIG_FILE": file, "TEMPORAL_PROFILE": "cloud"}, Info{Address: "shop.a1b2c.tmprl.cloud:7233", Namespace: "shop.a1b2c", Profile: "cloud", TLS: true, APIKey: true}},
		{"overrides above all", Overrides{Address: "o:1", Namespace: "on", Profile: "cloud"}, fakeEnv{"TEMPORAL_CONFIG_FILE": file, "TEMPORAL_PROFILE": "default", "TEMPORAL_ADDRESS": "a:1"}, Info{Address: "o:1", Namespace: "on", Profile: "cloud", TLS: true, APIKey: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts, info, err := options(tt.over, tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, info); diff != "" {
				t.Error(diff)
			}
			if opts.HostPort != info.Address || opts.Namespace != info.Namespace {
				t.Errorf("options say %s %s, info %+v", opts.HostPort, opts.Namespace, info)
			}
		})
	}
}

func TestOptionsErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		over Overrides
		toml string
		env  fakeEnv
		want string
	}{
		{"no such profile", Overrides{Profile: "prod"}, profiles, nil, "prod"},
		{"bad toml near a key", Overrides{}, "[profile.default]\napi_key = " + secret, nil, "no valid TOML"},
		{"certificate without key", Overrides{}, "", fakeEnv{"TEMPORAL_TLS_CLIENT_CERT_PATH": "x.pem"}, "key path"},
		{"no such certificate", Overrides{}, "", fakeEnv{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": "/nonexistent/ca.pem"}, "/nonexistent/ca.pem"},
		{"certificate is rubbish", Overrides{}, "", fakeEnv{"TEMPORAL_TLS_SERVER_CA_CERT_DATA": secret}, "CA"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := fakeEnv{"TEMPORAL_CONFIG_FILE": write(t, tt.toml)}
			for k, v := range tt.env {
				env[k] = v
			}
			_, _, err := options(tt.over, env)
			var got *Error
			if !errors.As(err, &got) || got.Kind != KindConfig {
				t.Fatalf("got %T %v", err, err)
			}
			if text := got.Error(); !strings.Contains(text, tt.want) || strings.Contains(text, secret) || strings.Contains(text, "\n") {
				t.Errorf("got %q, want one line with %q and no key", text, tt.want)
			}
		})
	}
}

func write(t *testing.T, toml string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "temporal.toml")
	if err := os.WriteFile(file, []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
