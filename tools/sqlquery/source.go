package sqlquery

import (
	"errors"
	"net/url"
	"path/filepath"
	"slices"
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
	switch lower := strings.ToLower(scheme); {
	case isSQLite(scheme):
		return sqliteSource(rest)
	case lower == "postgres", lower == "postgresql":
		u, err := url.Parse(value)
		if err != nil {
			return source{}, errSource // its own text holds the value
		}
		return source{url: u}, nil
	}
	return source{}, errSource
}

// besideFile has a relative path in an agent's file start in that file's folder,
// so that the folder carries its database. What is no path stays as it is.
func besideFile(dir, _, value string) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(value), ":")
	path := strings.TrimPrefix(rest, "//")
	if !isSQLite(scheme) || path == "" || filepath.IsAbs(path) || path[0] == '?' || path == ":memory:" {
		return value
	}
	path, parameters, has := strings.Cut(path, "?")
	path = filepath.Join(dir, path)
	if has {
		path += "?" + parameters
	}
	return "sqlite:" + path
}

func isSQLite(scheme string) bool {
	return slices.Contains([]string{"sqlite", "sqlite3", "file"}, strings.ToLower(scheme))
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
