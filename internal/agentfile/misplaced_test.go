package agentfile

import (
	"strings"
	"testing"
)

// Y01, Y02: a secret that somebody wrote where the name of a variable belongs
// is refused and not repeated.
func TestMisplacedSecret(t *testing.T) {
	t.Parallel()
	const secret = "sk-misplaced-7d1f0c22"
	for _, yaml := range []string{
		"env: {required: [SECRET]}", "env: {optional: {SECRET: x}}", "env: {optional: {SECRET: {a: b}}}", "env: {optional: {SECRET: [x]}}",
		"env: {bind: {SECRET: OTHER}}", "env: {bind: {OTHER: SECRET}}", "env: {bind: {SECRET: SECRET}}", "env: {bind: {SECRET: [x]}}",
		"endpoint: {api_key_env: SECRET}", "endpoint: {api_key: SECRET}", `endpoint: {base_url: "https://me:SECRET@[::1/v1"}`, `endpoint: {base_url: "https://h/v1?key=SECRET"}`,
		`mcp_servers: {x: {url: "https://me:SECRET@h/mcp"}}`, `mcp_servers: {x: {url: "https://h/mcp", headers_env: {Authorization: "Bearer SECRET"}}}`,
		`mcp_servers: {x: {url: "https://h/mcp", headers_env: {Authorization: [SECRET]}}}`, `mcp_servers: {x: {url: "https://h/mcp", headers: {Authorization: SECRET}}}`,
		"mcp_servers: {x: {command: [a], env: {TOKEN: SECRET}}}", "mcp_servers: {x: {command: [a], env: {TOKEN: {x: SECRET}}}}", "mcp_servers: {x: {command: [a], env: {SECRET: TOKEN}}}",
	} {
		_, err := LoadFS(one("model: openai/x\n"+strings.ReplaceAll(yaml, "SECRET", secret)+"\n"), "agents")
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}
