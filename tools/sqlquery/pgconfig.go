package sqlquery

import (
	"errors"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// allowedParameters may stand in the URL. They say how to reach the server; what
// is done there is fixed.
var allowedParameters = []string{"host", "port", "user", "password", "database", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslnegotiation",
	"channel_binding", "require_auth", "target_session_attrs", "connect_timeout", "application_name", "search_path", "options"}

// unset are values that keep the driver from looking into the process's
// environment and the user's home: a tool knows what its agent declares.
var unset = map[string]string{
	"password": "", "passfile": "", "options": "", "timezone": "UTC",
	"sslmode": "prefer", "sslrootcert": "", "sslcert": "", "sslkey": "", "sslpassword": "", "sslcertmode": "allow", "sslsni": "1",
	"sslnegotiation": "postgres", "target_session_attrs": "any", "connect_timeout": "10", "application_name": "turnkeel " + Name,
	"min_protocol_version": "3.0", "max_protocol_version": "3.0", "channel_binding": "prefer", "require_auth": "",
}

// config reads the URL and nothing besides.
func (s source) config() (*pgconn.Config, error) {
	u := *s.url
	query, err := url.ParseQuery(strings.ReplaceAll(u.RawQuery, "+", "%2B")) // a + is one, here and for the driver
	if err != nil {
		return nil, errSource // its own text may hold the value
	}
	for name := range query {
		if !slices.Contains(allowedParameters, name) {
			return nil, errors.New(URLVariable + ": the parameter " + name + " is not taken")
		}
	}
	if u.User.Username() == "" && !query.Has("user") || u.Path == "" && !query.Has("database") && !query.Has("dbname") || u.Host == "" && !query.Has("host") {
		return nil, errSource
	}
	full := url.Values{}
	for name, value := range unset {
		full.Set(name, value)
	}
	if u.Port() == "" && !query.Has("port") {
		full.Set("port", "5432")
	}
	if _, has := u.User.Password(); has {
		full.Del("password")
	}
	maps.Copy(full, query)
	u.RawQuery = encode(full)
	config, err := pgconn.ParseConfig(u.String())
	if err != nil {
		config, err = withoutService(u, full)
	}
	if err != nil {
		return nil, errors.New(URLVariable + " cannot be used: check host, port, sslmode and the certificates' paths") // its text may hold the value
	}
	// Not those of a service; and none that is empty, since poolers refuse options
	// and search_path when a session begins: that is set in the transaction.
	maps.DeleteFunc(config.RuntimeParams, func(name, value string) bool { return !full.Has(name) || value == "" || name == "search_path" })
	config.KerberosSrvName, config.KerberosSpn = "", ""
	return config, nil
}

// searchPath is the URL's, as PostgreSQL writes the setting; empty if it has none.
func (s source) searchPath() string { return s.url.Query().Get("search_path") }

// encode writes a blank as %20: the driver takes a + for one.
func encode(v url.Values) string { return strings.ReplaceAll(v.Encode(), "+", "%20") }

// withoutService is for an environment with a PGSERVICE that is not there: the
// driver has no other way not to look for it than to be given another.
func withoutService(u url.URL, full url.Values) (*pgconn.Config, error) {
	file, err := os.CreateTemp("", "turnkeel-service")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.WriteString("[empty]\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	full = maps.Clone(full)
	full.Set("service", "empty")
	full.Set("servicefile", file.Name())
	u.RawQuery = encode(full)
	return pgconn.ParseConfig(u.String())
}
