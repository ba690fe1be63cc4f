package sqlquery

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
)

// source is a database: an SQLite file, or a PostgreSQL URL.
type source struct {
	file string
	url  *url.URL
}

// errSource never quotes the value: it may hold a password.
var errSource = errors.New(URLVariable + " is neither postgres://user:password@host:5432/database nor sqlite: and the path of a file")

// parseSource reads SQL_DATABASE_URL.
func parseSource(value string) (source, error) {
	value = strings.TrimSpace(value)
	if value == "" {
		return source{}, errors.New(URLVariable + " is not set in the worker's environment")
	}
	scheme, rest, _ := strings.Cut(value, ":")
	switch strings.ToLower(scheme) {
	case "postgres", "postgresql":
		u, err := url.Parse(value)
		if err != nil {
			return source{}, errSource // its own text holds the value
		}
		return source{url: u}, nil
	case "sqlite", "sqlite3", "file":
		return sqliteSource(rest)
	}
	return source{}, errSource
}

// sqliteSource reads what stands after sqlite:, with or without two slashes.
// Parameters could only loosen what is fixed here, so there are none; mode=ro,
// which is what is done anyway, is taken.
func sqliteSource(rest string) (source, error) {
	path, parameters, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "?")
	if path == "" || parameters != "" && parameters != "mode=ro" {
		return source{}, errors.New(URLVariable + ": want sqlite: and the path of a file, without parameters; it is opened read-only")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return source{}, errors.New(URLVariable + ": the worker's folder is gone")
	}
	return source{file: absolute}, nil
}
