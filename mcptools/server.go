package mcptools

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/internal/mask"
)

// DefaultStartTimeout bounds the start of a server that says nothing else: a
// package runner may have to download it.
const DefaultStartTimeout = time.Minute

// Server says how a server is reached, and what becomes of its tools. Either
// Command or URL is needed.
type Server struct {
	// Options say what becomes of the server's tools; Options.Server is its name
	// in messages.
	Options

	// Command is a program and its arguments that speaks MCP on its standard
	// input and output. No shell splits or expands it.
	Command []string

	// Env are variables of the program as "NAME=value". Of the worker's own it
	// gets PATH, HOME, TMPDIR, the locale, certificates, proxies without a
	// password and the like, and nothing else.
	Env []string

	// Dir is the program's working directory. If empty, the worker's.
	Dir string

	// URL is a server that speaks streamable HTTP. It is shown in messages
	// without its query.
	URL string

	// Header goes along with every request to it. Redirects are not followed.
	Header http.Header

	// StartTimeout bounds connecting and listing the tools. If zero,
	// [DefaultStartTimeout].
	StartTimeout time.Duration

	// Secrets are values by name that must appear nowhere: they are taken out of
	// errors and of what is logged of the server.
	Secrets map[string]string

	// Logger gets what happens to the connection, and the program's standard
	// error at the level of debugging. If nil, nothing is logged.
	Logger *slog.Logger
}

func (s Server) check() error {
	switch {
	case len(s.Command) > 0 && s.URL != "":
		return errors.New("mcptools: Command and URL exclude each other")
	case len(s.Command) > 0:
		if s.Command[0] == "" {
			return errors.New("mcptools: the program has no name")
		}
		return nil
	case s.URL == "":
		return errors.New("mcptools: Command or URL is needed")
	}
	if u, err := url.Parse(s.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("mcptools: the URL must be like https://example.com/mcp")
	}
	return nil
}

func (s Server) startTimeout() time.Duration {
	if s.StartTimeout <= 0 {
		return DefaultStartTimeout
	}
	return s.StartTimeout
}

func (s Server) logger(m mask.Mask) *slog.Logger {
	if s.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(m.Handler(s.Logger.Handler())).With("mcp_server", s.Options.Server)
}

// mask takes the secrets out, those of the headers and of the URL included.
func (s Server) mask() mask.Mask {
	values := maps.Clone(s.Secrets)
	if values == nil {
		values = map[string]string{}
	}
	known := slices.Collect(maps.Values(values))
	for name, header := range s.Header {
		for _, value := range header {
			if !slices.Contains(known, value) {
				values[name] = value
			}
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		for name, all := range u.Query() {
			values[name] = strings.Join(all, ",")
		}
		if u.RawQuery != "" {
			values["query"] = u.RawQuery
		}
		if u.User != nil {
			values["user"] = u.User.String()
		}
	}
	return mask.New(values)
}
