package agentfile

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const mcpServers = `model: openai/x
builtin_tools: [web_search]
mcp_servers:
  docs:
    command: [npx, -y, "@modelcontextprotocol/server-filesystem", ./data]
    dir: ..
    env: {TOKEN: DOCS_TOKEN}
    prefix: docs
    idempotency: safe_to_retry
    effects: none
    timeout: 30s
    parallel_safe: true
    trust_hints: true
    strip_nulls: false
    start_timeout: 2m
    allow: [read_file, write_file]
    tools:
      write_file: {idempotency: keyed, effects: external, timeout: 1m, parallel_safe: false}
  crm: {url: "https://crm.example/mcp?v=2", headers_env: {Authorization: CRM_TOKEN}}
env: {optional: {DOCS_TOKEN: none}, bind: {CRM_TOKEN: PROD_CRM}}
`

// Y01, T60, T65: every key of a server is read, and its variables are the
// agent's.
func TestMCPServers(t *testing.T) {
	t.Parallel()
	defs, err := LoadFS(one(mcpServers), "agents")
	if err != nil {
		t.Fatal(err)
	}
	if problems := schemaProblems(t, mcpServers); problems != nil {
		t.Errorf("the schema refuses it: %v", problems)
	}
	yes, no := true, false
	want := []MCPServer{{
		Name: "docs", Command: []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", "./data"}, Dir: "..",
		Env: map[string]string{"TOKEN": "DOCS_TOKEN"}, Prefix: "docs",
		MCPTool:    MCPTool{Class: "safe_to_retry", Effects: "none", Timeout: 30 * time.Second, ParallelSafe: &yes},
		TrustHints: true, KeepNulls: true, StartTimeout: 2 * time.Minute, Allow: []string{"read_file", "write_file"},
		Tools: map[string]MCPTool{"write_file": {Class: "keyed", Effects: "external", Timeout: time.Minute, ParallelSafe: &no}},
	}, {Name: "crm", URL: "https://crm.example/mcp?v=2", HeadersEnv: map[string]string{"Authorization": "CRM_TOKEN"}}}
	if diff := cmp.Diff(want, defs[0].MCP, cmpopts.IgnoreUnexported(MCPServer{})); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(defs[0].Env.Required, " "); got != "CRM_TOKEN" {
		t.Errorf("required: %s", got)
	}
	if got := strings.Join(defs[0].MCP[1].Variables(), " "); got != "CRM_TOKEN" {
		t.Errorf("variables: %s", got)
	}
	if err := CheckEnv(defs, func(string) (string, bool) { return "", false }); err == nil ||
		!strings.HasPrefix(err.Error(), "agents/x/agent.yaml:19:") || !strings.Contains(err.Error(), "CRM_TOKEN (bound to PROD_CRM)") {
		t.Errorf("got %v", err)
	}
}

// Y01: what is wrong with a server is told with its place, and the editors'
// schema says no as well.
func TestMCPServersRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ server, want string }{
		{"{}", "a: command or url is missing; add for example"},
		{"{command: [x], url: http://x/mcp}", "a: command and url exclude each other"},
		{"{url: http://x/mcp, env: {A: B}}", "a: env is for a server that the worker runs"},
		{"{url: http://x/mcp, dir: x}", "a: dir is for a server that the worker runs"},
		{"{command: [x], headers_env: {A: B}}", "a: headers_env is for a url"},
		{"{command: npx -y server}", "a.command: want a list of the program and its arguments"},
		{"{command: []}", "a.command is empty"},
		{"{command: [x], comand: [y]}", `unknown key "comand" in mcp_servers.a; did you mean "command"?`},
		{"{url: file:///x}", "a.url: want a URL like"},
		{"{url: 'https://me:hush@x/mcp'}", "a.url: must have no user"},
		{"{command: [x], prefix: 'a b'}", `a.prefix: "a b" is no prefix`},
		{"{command: [x], idempotency: always}", "a.idempotency: "},
		{"{command: [x], timeout: 30}", "a.timeout: want a duration"},
		{"{command: [x], timeout: 25h}", "a.timeout: want at most 24h"},
		{"{command: [x], parallel_safe: maybe}", "a.parallel_safe: want true or false"},
		{"{command: [x], env: {A: sk-123}}", "a.env.A: want the name of an environment variable"},
		{"{command: [x], allow: []}", "a.allow is empty"},
		{"{command: [x], tools: {t: {prefix: x}}}", `unknown key "prefix"`},
		{"[x]", "mcp_servers.a: want"},
	} {
		text := "model: openai/x\nmcp_servers:\n  a: " + tt.server + "\n"
		_, err := LoadFS(one(text), "agents")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "sk-123") {
			t.Errorf("%s: got %v", tt.server, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "agents/x/agent.yaml:3:") {
			t.Errorf("%s: no place: %v", tt.server, err)
		}
		if !strings.Contains(tt.want, "24h") && schemaProblems(t, text) == nil {
			t.Errorf("%s: the schema accepts it", tt.server)
		}
	}
	for text, want := range map[string]string{
		"mcp_servers: {}": "mcp_servers is empty", "mcp_servers: {A: {command: [x]}}": "a server's name must be lower-case",
		"mcp_servers: {a: {command: [x], prefix: p}, b: {command: [y], prefix: p}}": `its prefix "p" is that of mcp_servers.a`,
	} {
		if _, err := LoadFS(one("model: openai/x\n"+text+"\n"), "agents"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// Y01: the editors' schema has every key of a server, and no other.
func TestMCPSchemaHasTheReadersKeys(t *testing.T) {
	t.Parallel()
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var root struct {
		Definitions struct {
			Server object `json:"mcp_server"`
			Tool   object `json:"mcp_tool"`
		} `json:"definitions"`
	}
	if err := json.Unmarshal(readSchema(t), &root); err != nil {
		t.Fatal(err)
	}
	r := new(reader)
	for _, tt := range []struct {
		fields []field
		object object
	}{{r.mcpFields("", &MCPServer{}), root.Definitions.Server}, {r.mcpToolFields("", &MCPTool{}), root.Definitions.Tool}} {
		var keys []string
		for _, f := range tt.fields {
			keys = append(keys, f.name)
		}
		slices.Sort(keys)
		if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(tt.object.Properties))); diff != "" {
			t.Error(diff)
		}
	}
}

// Y03: names of a server's tools that it has not are told with their places.
func TestCheckMCP(t *testing.T) {
	t.Parallel()
	defs, err := LoadFS(one(mcpServers), "agents")
	if err != nil {
		t.Fatal(err)
	}
	if err := defs[0].CheckMCP("docs", []string{"read_file", "write_file"}); err != nil {
		t.Error(err)
	}
	err = defs[0].CheckMCP("docs", []string{"read_file", "write_files"})
	if err == nil || strings.Count(err.Error(), `the server has no tool "write_file"; did you mean "write_files"?`) != 2 {
		t.Errorf("got %v", err)
	}
	if err := defs[0].MCPProblem("crm", "it is %s", "gone"); !strings.HasPrefix(err.Error(), "agents/x/agent.yaml:19:3: mcp_servers.crm: it is gone") {
		t.Errorf("got %v", err)
	}
}
