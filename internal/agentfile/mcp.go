package agentfile

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/turnkeel/turnkeel/contract"
)

// maxMCPTimeout bounds what a file may ask for: an MCP call is a tool call.
const maxMCPTimeout = 24 * time.Hour

// MCPServer is an MCP server of an agent. It holds the names of variables,
// never a value, and is no part of [Definition.Agent].
type MCPServer struct {
	Name string // as the file calls it

	// A server that the worker runs: the program with its arguments, the folder
	// it runs in (from that of the file; empty is that one), and which of the
	// program's variables has the value of which declared one.
	Command []string
	Dir     string
	Env     map[string]string

	// A server that runs elsewhere: its address, and which header has the value
	// of which declared variable.
	URL        string
	HeadersEnv map[string]string

	Prefix       string // of the tools' names; empty keeps them
	MCPTool             // what holds for its tools
	TrustHints   bool   // the server's word on its tools decides what the file leaves open
	KeepNulls    bool   // nulls are sent as the model wrote them
	StartTimeout time.Duration

	Allow []string // bare names of the tools to show; nil: all
	Tools map[string]MCPTool

	place   place
	named   []mcpNamed // tools that the file names
	needEnv []neededVariable
}

// MCPTool is what is said of all tools of a server, or of one of them, which goes
// before. Zero values leave it open.
type MCPTool struct {
	Class        contract.Class
	Effects      contract.Effects
	Timeout      time.Duration
	ParallelSafe *bool
}

// mcpNamed is a tool that the file names, which the server must have.
type mcpNamed struct {
	name, what string
	at         place
}

// neededVariable is one that something of the file cannot do without.
type neededVariable struct {
	name string
	at   place
}

func (r *reader) mcpServers(n ast.Node, def *Definition) {
	prefixes := map[string]string{}
	r.entries(n, "mcp_servers", func(name string, keyAt place, value ast.Node) {
		if !r.checkName(keyAt, "a server's name", name) {
			return
		}
		s := MCPServer{Name: name, place: keyAt}
		r.mcpServer(value, "mcp_servers."+name, &s)
		if other, taken := prefixes[s.Prefix]; taken && s.Prefix != "" {
			r.report(keyAt, "mcp_servers.%s: its prefix %s is that of mcp_servers.%s; give it another", name, quote(s.Prefix), other)
		}
		prefixes[s.Prefix] = name
		def.MCP = append(def.MCP, s)
	})
	if emptyMapping(n) {
		r.report(at(n), "mcp_servers is empty; name a server or remove it")
	}
}

func (r *reader) mcpServer(n ast.Node, what string, s *MCPServer) {
	seen := r.mapping(n, what, r.mcpFields(what, s))
	if len(seen) == 0 && !emptyMapping(n) {
		return // no mapping: said already
	}
	switch {
	case seen["command"] && seen["url"]:
		r.report(s.place, "%s: command and url exclude each other: one is a server that the worker runs, the other one that runs elsewhere", what)
	case !seen["command"] && !seen["url"]:
		r.report(s.place, "%s: command or url is missing; add for example: command: [npx, -y, \"@modelcontextprotocol/server-filesystem\", ./data]", what)
	case seen["url"] && seen["env"]:
		r.report(s.place, "%s: env is for a server that the worker runs; a url takes headers_env", what)
	case seen["url"] && seen["dir"]:
		r.report(s.place, "%s: dir is for a server that the worker runs", what)
	case seen["command"] && seen["headers_env"]:
		r.report(s.place, "%s: headers_env is for a url; a command takes env", what)
	}
}

// mcpFields are the keys of one server.
func (r *reader) mcpFields(what string, s *MCPServer) []field {
	return append(r.mcpToolFields(what, &s.MCPTool), []field{
		{"command", func(n ast.Node) { s.Command = r.command(n, what+".command") }},
		{"dir", func(n ast.Node) { s.Dir = r.matching(n, what+".dir", `^[^\x00\n]+$`, "path of a folder") }},
		{"env", func(n ast.Node) {
			s.Env = r.variables(n, what+".env", s, func(name string) bool {
				return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`).MatchString(name)
			}, "the name of a variable")
		}},
		{"url", func(n ast.Node) { s.URL = r.mcpURL(n, what+".url") }},
		{"headers_env", func(n ast.Node) {
			s.HeadersEnv = r.variables(n, what+".headers_env", s, func(name string) bool {
				return regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$").MatchString(name)
			}, "the name of a header")
			r.sameHeaders(n, what+".headers_env")
		}},
		{"prefix", func(n ast.Node) {
			s.Prefix = r.matching(n, what+".prefix", `^[A-Za-z0-9_-]{1,40}$`, "prefix of tools' names")
		}},
		{"trust_hints", func(n ast.Node) { s.TrustHints = r.flag(n, what+".trust_hints") }},
		{"strip_nulls", func(n ast.Node) { s.KeepNulls = !r.flag(n, what+".strip_nulls") }},
		{"start_timeout", func(n ast.Node) { s.StartTimeout = r.mcpTimeout(n, what+".start_timeout") }},
		{"allow", func(n ast.Node) { s.Allow = r.mcpAllow(n, what+".allow", s) }},
		{"tools", func(n ast.Node) { r.mcpTools(n, what+".tools", s) }},
	}...)
}

// mcpToolFields are the keys that a server and each of its tools have.
func (r *reader) mcpToolFields(what string, t *MCPTool) []field {
	return []field{
		{"idempotency", func(n ast.Node) {
			t.Class = contract.Class(r.oneOf(n, what+".idempotency",
				string(contract.ClassAtMostOnce), string(contract.ClassKeyed), string(contract.ClassSafeToRetry)))
		}},
		{"effects", func(n ast.Node) {
			t.Effects = contract.Effects(r.oneOf(n, what+".effects",
				string(contract.EffectsExternal), string(contract.EffectsSandbox), string(contract.EffectsNone)))
		}},
		{"timeout", func(n ast.Node) { t.Timeout = r.mcpTimeout(n, what+".timeout") }},
		{"parallel_safe", func(n ast.Node) {
			v := r.flag(n, what+".parallel_safe")
			t.ParallelSafe = &v
		}},
	}
}

func (r *reader) mcpTools(n ast.Node, what string, s *MCPServer) {
	s.Tools = map[string]MCPTool{}
	r.entries(n, what, func(name string, keyAt place, value ast.Node) {
		var t MCPTool
		inTool := what + "." + bound(name, 80)
		r.mapping(value, inTool, r.mcpToolFields(inTool, &t))
		s.Tools[name] = t
		s.named = append(s.named, mcpNamed{name, what, keyAt})
	})
}

func (r *reader) mcpAllow(n ast.Node, what string, s *MCPServer) []string {
	names := []string{}
	for i, item := range r.filled(n, what, "a list of tools' names, as the server calls them") {
		inItem := fmt.Sprintf("%s[%d]", what, i)
		name, ok := r.text(item, inItem)
		switch {
		case !ok:
		case slices.Contains(names, name):
			r.report(at(item), "%s: %s stands a second time", inItem, quote(name))
		default:
			names = append(names, name)
			s.named = append(s.named, mcpNamed{name, inItem, at(item)})
		}
	}
	return names
}

// command reads a program and its arguments, each an item of its own: there is
// no shell that would split or expand them.
func (r *reader) command(n ast.Node, what string) []string {
	var words []string
	for i, item := range r.filled(n, what, "a list of the program and its arguments, like [npx, -y, some-server]") {
		inItem := fmt.Sprintf("%s[%d]", what, i)
		word, ok := r.text(item, inItem)
		if ok && (strings.ContainsRune(word, 0) || i == 0 && strings.TrimSpace(word) == "") {
			r.report(at(item), "%s: want the name of a program, found %s", inItem, quote(word))
		}
		words = append(words, word)
	}
	return words
}

// variables reads which variable's value goes under which name. A variable that
// env does not declare becomes a required one.
func (r *reader) variables(n ast.Node, what string, s *MCPServer, legal func(string) bool, want string) map[string]string {
	found := map[string]string{}
	r.entries(n, what, func(name string, keyAt place, value ast.Node) {
		if !legal(name) {
			r.report(keyAt, "%s: want %s; what stands there is not repeated, as it may be a secret", what, want)
			return
		}
		if variable := r.variable(value, what+"."+name); variable != "" {
			found[name] = variable
			s.needEnv = append(s.needEnv, neededVariable{variable, at(value)})
		}
	})
	return found
}

// sameHeaders finds names that are one header: which value it would have would
// be chance.
func (r *reader) sameHeaders(n ast.Node, what string) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return
	}
	first := map[string]string{}
	for _, pair := range m.Values {
		name, ok := textOf(pair.Key)
		if !ok {
			continue
		}
		other, taken := first[http.CanonicalHeaderKey(name)]
		if taken && other != name { // the very same is told of already
			r.report(at(pair.Key), "%s: %s is the same header as %s; keep one", what, quote(name), quote(other))
		}
		first[http.CanonicalHeaderKey(name)] = name
	}
}

// mcpURL never repeats a URL that it refuses: it may hold a password.
func (r *reader) mcpURL(n ast.Node, what string) string {
	text, ok := r.text(n, what)
	if !ok {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || !isWeb(u):
		r.report(at(n), "%s: want a URL like https://example.com/mcp", what)
	case u.User != nil || strings.Contains(text, "#"):
		r.report(at(n), "%s: must have no user or fragment; put credentials into a variable and name it in headers_env", what)
	default:
		return text
	}
	return ""
}

func (r *reader) mcpTimeout(n ast.Node, what string) time.Duration {
	d := r.duration(n, what)
	if d > maxMCPTimeout {
		r.report(at(n), "%s: want at most %s, found %s", what, maxMCPTimeout, d)
	}
	return d
}

func (r *reader) flag(n ast.Node, what string) bool {
	v, ok := n.(*ast.BoolNode)
	if !ok {
		r.wrongType(n, what, "true or false")
		return false
	}
	return v.Value
}

// CheckMCP holds what the file says of a server's tools against those that the
// server has; names are their bare ones.
func (d Definition) CheckMCP(server string, names []string) error {
	var problems Errors
	for _, s := range d.MCP {
		if s.Name != server {
			continue
		}
		for _, t := range s.named {
			if !slices.Contains(names, t.name) {
				problems = append(problems, problem(d.File, t.at, "%s: the server has no tool %s%s", t.what, quote(t.name), didYouMean(t.name, names)))
			}
		}
	}
	return problems.orNil()
}

// MCPProblem is something wrong with a server, at its place in the file.
func (d Definition) MCPProblem(server, format string, args ...any) error {
	var where place
	for _, s := range d.MCP {
		if s.Name == server {
			where = s.place
		}
	}
	return Errors{problem(d.File, where, "mcp_servers."+server+": "+format, args...)}
}

// Variables are the names of the declared variables that the server gets, sorted.
func (s MCPServer) Variables() []string {
	names := slices.Concat(slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.HeadersEnv)))
	slices.Sort(names)
	return slices.Compact(names)
}
