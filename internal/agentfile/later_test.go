package agentfile

import (
	"strings"
	"testing"
)

// Y01: a key of a later feature that asks for nothing is no mistake, for the
// reader and for editors.
func TestLaterKeysThatAskForNothing(t *testing.T) {
	t.Parallel()
	const m = "model: openai/x\n"
	for _, good := range []string{
		"sandbox: false\n", "sandbox:\n", "sandbox: null\n", "subagents: []\n", "subagents: ~\n", "agents: {}\n", "agents:\n", "processes: {}\n", "processes:\n",
		"agents: {can_call: [], accept_from: []}\n", "agents:\n  can_call: []\n", "agents:\n  accept_from:\n",
	} {
		if _, err := LoadFS(one(m+good), "agents"); err != nil {
			t.Errorf("%q: %v", good, err)
		}
		if problems := schemaProblems(t, m+good); problems != nil {
			t.Errorf("%q: the schema: %v", good, problems)
		}
	}
}

// specExample is the example file of the specification, with its ellipses
// filled in.
const specExample = `name: support
model: openai/gpt-4o-mini
endpoint:
  base_url: http://localhost:11434/v1
  api_key_env: OLLAMA_API_KEY
  echo_reasoning: never
temperature: 0.2
max_output_tokens: 4000
reasoning_effort: low
context_window: 128000
instructions: instructions.md
tools: [lookup_order, refund]
builtin_tools: [web_search, sql_query, read_attachment]
mcp_servers:
  docs: {command: [npx, "-y", "@modelcontextprotocol/server-filesystem", "./data"], prefix: docs, idempotency: safe_to_retry}
  crm:  {url: https://crm.example.com/mcp, headers_env: {Authorization: CRM_TOKEN}}
env:
  required: [TICKETS_API_KEY, CRM_TOKEN]
  optional: {TICKETS_URL: https://tickets.internal}
  bind: {TICKETS_API_KEY: PROD_TICKETS_KEY}
limits: {max_steps: 25, max_tool_concurrency: 8, max_wall_clock: 30m}
policy: {default: allow, rules: [{id: a, when: {tools: [refund]}, then: require_approval}]}
approvals: {timeout: 24h, approvers: [ops]}
subagents: [researcher]
agents: {can_call: [billing], accept_from: [support]}
processes: {import: turnkeel.Import}
sandbox: false
`

// Y01: of the specification's whole example only what is not available yet is
// refused.
func TestSpecExample(t *testing.T) {
	t.Parallel()
	_, err := LoadFS(folder("support/agent.yaml", specExample, "support/instructions.md", "Help."), "agents")
	if err == nil {
		t.Fatal("accepted")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, key := range []string{"subagents", "agents", "processes"} {
		if i >= len(lines) || !strings.HasSuffix(lines[i], ": "+key+" is not available yet; remove it") {
			t.Fatalf("got %s", err)
		}
	}
	if len(lines) != 3 {
		t.Errorf("got %s", err)
	}
}
