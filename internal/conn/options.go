// Package conn makes Temporal clients by Temporal's own conventions: the
// TEMPORAL_* environment variables and the profiles of temporal.toml, as every
// Temporal tool reads them. It is worker-side (and CLI-side); start at [Dial].
//
// Its errors are one line that says what to do, and never show a key.
package conn

import (
	"cmp"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Overrides stand above the environment, which stands above temporal.toml.
// An empty field overrides nothing.
type Overrides struct {
	Address   string // host:port
	Namespace string
	Profile   string // of temporal.toml; one that does not exist is an error
}

// Info says where a client connects to, for people to read. It holds no key.
type Info struct {
	Address   string
	Namespace string
	Profile   string // empty: the default profile, which need not exist
	TLS       bool
	APIKey    bool // one is sent
}

// Options gives the client options that the environment and temporal.toml
// describe. It opens no connection. Its error is an [*Error] of [KindConfig].
func Options(o Overrides) (client.Options, Info, error) {
	return options(o, nil)
}

// options is [Options] with another environment, for tests; nil is the
// process's.
func options(o Overrides, env envconfig.EnvLookup) (client.Options, Info, error) {
	if env == nil {
		env = envconfig.EnvLookupOS
	}
	profile, info, err := profileOf(o, env)
	if err != nil {
		return client.Options{}, info, err
	}
	opts, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return client.Options{}, info, configError(info, configFile(env), err)
	}
	info.TLS = opts.ConnectionOptions.TLS != nil && !opts.ConnectionOptions.TLSDisabled
	return opts, info, nil
}

// profileOf reads the profile that is asked for, with its defaults filled in.
func profileOf(o Overrides, env envconfig.EnvLookup) (envconfig.ClientConfigProfile, Info, error) {
	named, _ := env.LookupEnv("TEMPORAL_PROFILE")
	info := Info{Profile: cmp.Or(o.Profile, named)}
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		ConfigFileProfile: o.Profile,
		EnvLookup:         env,
	})
	if err != nil {
		return profile, info, configError(info, configFile(env), err)
	}
	profile.Address = cmp.Or(o.Address, profile.Address, client.DefaultHostPort)
	profile.Namespace = cmp.Or(o.Namespace, profile.Namespace, client.DefaultNamespace)
	info.Address, info.Namespace, info.APIKey = profile.Address, profile.Namespace, profile.APIKey != ""
	return profile, info, nil
}

// configFile is the file the configuration came from, or empty when there is
// none.
func configFile(env envconfig.EnvLookup) string {
	file, _ := env.LookupEnv("TEMPORAL_CONFIG_FILE")
	if file = cmp.Or(file, envconfig.DefaultConfigFilePath()); file == "" {
		return ""
	}
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}
