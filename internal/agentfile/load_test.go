package agentfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnkeel/turnkeel/contract"
)

func folder(files ...string) fs.FS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

// one is a folder with the agent x.
func one(yaml string) fs.FS { return folder("x/agent.yaml", yaml) }

const whole = `# everything
name: shop_support
model: openrouter/anthropic/claude-sonnet
endpoint:
  base_url: http://localhost:11434/v1
  api_key_env: OLLAMA_API_KEY
  echo_reasoning: even_empty
  provider: openrouter
  api_version: 2024-10-21
  parallel_tool_calls: false
  first_byte_timeout: 8m
  idle_timeout: 90s
  quirks: {tool_call_ids: alnum_9, stream: off}
temperature: 0
max_output_tokens: 4000
reasoning_effort: low
context_window: 128000
instructions: prompts/long.md
tools: [lookup_order, refund]
limits:
  max_steps: 5
  max_tool_calls_per_step: 6
  max_tool_concurrency: 1
  max_tool_result_chars: 1000
  max_wall_clock: 30m
  max_attempts_per_task: 3
  token_budget: 100000
env:
  required: [TICKETS_API_KEY]
  optional: {TICKETS_URL: https://tickets.internal, EMPTY: ""}
  bind: {TICKETS_API_KEY: PROD_TICKETS_KEY}
`

func TestLoadWhole(t *testing.T) {
	t.Parallel()
	defs, err := LoadFS(folder("x/agent.yaml", whole, "x/prompts/long.md", "\ufeffBe kind.\r\nBe brief.\r\n"), "agents")
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	want := []Definition{{
		File:      "agents/x/agent.yaml",
		ToolNames: []string{"lookup_order", "refund"},
		Env: Env{
			Required: []string{"TICKETS_API_KEY"},
			Optional: map[string]string{"TICKETS_URL": "https://tickets.internal", "EMPTY": ""},
			Bind:     map[string]string{"TICKETS_API_KEY": "PROD_TICKETS_KEY"},
		},
		Agent: contract.Agent{
			Name: "shop_support", Model: "openrouter/anthropic/claude-sonnet",
			Instructions: "Be kind.\nBe brief.",
			Tools:        []string{"lookup_order", "refund"},
			Endpoint: contract.Endpoint{BaseURL: "http://localhost:11434/v1", APIKeyEnv: "OLLAMA_API_KEY", EchoReasoning: "even_empty",
				Provider: "openrouter", APIVersion: "2024-10-21", ParallelToolCalls: new(false), FirstByteTimeout: contract.Duration(8 * time.Minute), IdleTimeout: contract.Duration(90 * time.Second),
				Quirks: map[contract.Quirk]string{contract.QuirkToolCallIDs: "alnum_9", contract.QuirkStream: "off"}},
			Temperature: &zero, ReasoningEffort: "low", ContextWindow: 128000,
			Limits: contract.Limits{
				MaxSteps: 5, MaxToolCallsPerStep: 6, MaxToolConcurrency: 1, MaxToolResultChars: 1000,
				MaxWallClock: contract.Duration(30 * time.Minute), MaxAttemptsPerTask: 3, MaxOutputTokens: 4000, TokenBudget: 100000,
			},
		},
	}}
	want[0].Agent.Digest = Digest(want[0].Agent)
	if diff := cmp.Diff(want, defs, cmpopts.IgnoreUnexported(Definition{})); diff != "" {
		t.Error(diff)
	}
}

func TestLoadSmallest(t *testing.T) {
	t.Parallel()
	defs, err := LoadFS(folder("b/agent.yaml", "model: scripted/demo.yaml\n", "b/demo.yaml", "steps: [{text: hi}]\n", "a/agent.yaml", "tools: all\nmodel: openai/x\n",
		"a/instructions.md", "Hello.", ".git/x", "", "_draft/notes", "", "README.md", ""), "agents")
	if err != nil {
		t.Fatal(err)
	}
	if len(defs) != 2 || defs[0].Agent.Name != "a" || defs[1].Agent.Name != "b" {
		t.Fatalf("got %+v", defs)
	}
	if a := defs[0]; a.Agent.Instructions != "Hello." || a.Agent.Tools != nil || a.ToolNames[0] != AllTools {
		t.Errorf("got %+v", a)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	const m = "model: openai/x\n"
	for _, tt := range []struct {
		name string
		in   fs.FS
		want string
	}{
		{"unknown key", one(m + "temprature: 1\n"), `agents/x/agent.yaml:2:1: unknown key "temprature"; did you mean "temperature"?`},
		{"misspelt model is not missing too", one("mdoel: openai/x\n"), `agents/x/agent.yaml:1:1: unknown key "mdoel"; did you mean "model"?`},
		{"camel case", one(m + "limits: {maxSteps: 3}\n"), `agents/x/agent.yaml:2:10: unknown key "maxSteps" in limits; did you mean "max_steps"?`},
		{"nothing near", one(m + "endpoint:\n  zzzzzzzzz: 1\n"), `agents/x/agent.yaml:3:3: unknown key "zzzzzzzzz" in endpoint; valid: api_key_env, api_version, base_url, echo_reasoning, first_byte_timeout, idle_timeout, parallel_tool_calls, provider, quirks`},
		{"no model", one("name: y\n"), "agents/x/agent.yaml:1:1: model is missing; add for example: model: openai/gpt-4o-mini"},
		{"model without provider", one("model: gpt-4o\n"), `agents/x/agent.yaml:1:8: model: want <provider>/<model>, like openai/gpt-4o-mini, found "gpt-4o"`},
		{"model is a number", one("model: 4\n"), "agents/x/agent.yaml:1:8: model: want text, found a number; quote it if text was meant"},
		{"twice", one(m + m), `agents/x/agent.yaml:2:1: key "model" stands a second time; the first is in line 1`},
		{"null", one(m + "tools:\n"), "agents/x/agent.yaml:2:1: tools has no value; give one or remove the key"},
		{"bad name", one(m + "name: Support\n"), `agents/x/agent.yaml:2:7: name must be lower-case letters, digits and _, begin with a letter and have at most 41 characters, found "Support"`},
		{"temperature", one(m + "temperature: 3\n"), "agents/x/agent.yaml:2:14: temperature: want a number from 0 to 2, found 3"},
		{"temperature is text", one(m + "temperature: hot\n"), "agents/x/agent.yaml:2:14: temperature: want a number, found text"},
		{"temperature is not a number", one(m + "temperature: .nan\n"), "agents/x/agent.yaml:2:14: temperature: want a number from 0 to 2, found .nan"},
		{"temperature is infinite", one(m + "temperature: .inf\n"), "agents/x/agent.yaml:2:14: temperature: want a number from 0 to 2, found .inf"},
		{"zero", one(m + "limits:\n  max_steps: 0\n"), "agents/x/agent.yaml:3:14: limits.max_steps: want a whole number from 1 to 2147483647, found 0"},
		{"negative", one(m + "limits:\n  max_steps: -1\n"), "agents/x/agent.yaml:3:14: limits.max_steps: want a whole number from 1 to 2147483647, found -1"},
		{"fraction", one(m + "context_window: 1.5\n"), "agents/x/agent.yaml:2:17: context_window: want a whole number from 1 to 2147483647, found 1.5"},
		{"boolean", one(m + "context_window: true\n"), "agents/x/agent.yaml:2:17: context_window: want a whole number, found the boolean true"},
		{"huge", one(m + "context_window: 99999999999999999999\n"), "agents/x/agent.yaml:2:17: context_window: want a whole number from 1 to 2147483647, found 99999999999999999999"},
		{"duration", one(m + "limits: {max_wall_clock: 30 minutes}\n"), `agents/x/agent.yaml:2:26: limits.max_wall_clock: want a duration like 90s, 30m or 24h, found "30 minutes"`},
		{"duration without unit", one(m + "limits: {max_wall_clock: 30}\n"), "agents/x/agent.yaml:2:26: limits.max_wall_clock: want a duration like 90s, 30m or 24h, found 30 without a unit"},
		{"no duration", one(m + "limits: {max_wall_clock: 0s}\n"), `agents/x/agent.yaml:2:26: limits.max_wall_clock: want a duration like 90s, 30m or 24h, found "0s"`},
		{"output tokens twice", one(m + "max_output_tokens: 1\nlimits: {max_output_tokens: 2}\n"), "agents/x/agent.yaml:3:29: limits.max_output_tokens: given twice, at the top and in limits; keep one"},
		{"effort", one(m + "reasoning_effort: hihg\n"), `agents/x/agent.yaml:2:19: reasoning_effort: unknown value "hihg"; did you mean "high"?`},
		{"endpoint is text", one(m + "endpoint: http://x\n"), "agents/x/agent.yaml:2:11: endpoint: want a mapping of keys to values, found text"},
		{"url", one(m + "endpoint: {base_url: localhost}\n"), "agents/x/agent.yaml:2:22: endpoint.base_url: want a URL like https://api.openai.com/v1"},
		{"unknown quirk", one(m + "endpoint: {quirks: {tool_call_id: any}}\n"), `agents/x/agent.yaml:2:21: unknown key "tool_call_id" in endpoint.quirks; did you mean "tool_call_ids"?`},
		{"a quirk's value", one(m + "endpoint: {quirks: {stream: offf}}\n"), `agents/x/agent.yaml:2:29: endpoint.quirks.stream: unknown value "offf"; did you mean "off"?`},
		{"a timeout that never ends", one(m + "endpoint: {idle_timeout: 1h}\n"), "agents/x/agent.yaml:2:26: endpoint.idle_timeout: want at most 9m0s, found 1h0m0s: a model call has 9m30s in all"},
		{"parallel is text", one(m + "endpoint: {parallel_tool_calls: no}\n"), "agents/x/agent.yaml:2:33: endpoint.parallel_tool_calls: want true or false, found text"},
		{"an api version", one(m + "endpoint: {api_version: 'a&b=c'}\n"), `agents/x/agent.yaml:2:25: endpoint.api_version: "a&b=c" is no version`},
		{"a provider", one(m + "endpoint: {provider: Open AI}\n"), `agents/x/agent.yaml:2:22: endpoint.provider: "Open AI" is no provider's name`},
		{"tools is one name", one(m + "tools: refund\n"), "agents/x/agent.yaml:2:8: tools: want a list of tool names, or all, found text"},
		{"tool twice", one(m + "tools: [a, a]\n"), `agents/x/agent.yaml:2:12: tools[1]: "a" stands a second time`},
		{"tool's name", one(m + "tools: [a b]\n"), `agents/x/agent.yaml:2:9: tools[0]: "a b" is no tool's name`},
		{"all and more", one(m + "tools: [all, a]\n"), "agents/x/agent.yaml:2:8: tools: all stands alone; it has every tool already"},
		{"later feature", one(m + "sandbox: true\n"), "agents/x/agent.yaml:2:10: sandbox is not available yet; remove it"},
		{"later feature as text", one(m + "sandbox: 'false'\n"), "agents/x/agent.yaml:2:10: sandbox is not available yet; remove it"},
		{"subagents", one(m + "subagents: [researcher]\n"), "agents/x/agent.yaml:2:12: subagents is not available yet; remove it"},
		{"subagents are no mapping", one(m + "subagents: {}\n"), "agents/x/agent.yaml:2:12: subagents is not available yet; remove it"},
		{"agents", one(m + "agents: {can_call: [billing], accept_from: []}\n"), "agents/x/agent.yaml:2:9: agents is not available yet; remove it"},
		{"agents in lines", one(m + "agents:\n  accept_from: [support]\n"), "agents/x/agent.yaml:3:3: agents is not available yet; remove it"},
		{"agents with another key", one(m + "agents: {may_call: []}\n"), "agents/x/agent.yaml:2:9: agents is not available yet; remove it"},
		{"processes", one(m + "processes: {import: turnkeel.Import}\n"), "agents/x/agent.yaml:2:12: processes is not available yet; remove it"},
		{"processes are no list", one(m + "processes: []\n"), "agents/x/agent.yaml:2:12: processes is not available yet; remove it"},
		{"instructions are gone", one(m + "instructions: a.md\n"), "agents/x/agent.yaml:2:15: instructions: cannot read agents/x/a.md (file does not exist)"},
		{"instructions elsewhere", one(m + "instructions: ../a.md\n"), `agents/x/agent.yaml:2:15: instructions: want the name of a file in the agent's folder, like instructions.md, found "../a.md"`},
		{"instructions written out", one(m + "instructions: |\n  Be kind.\n  Be brief.\n"), "agents/x/agent.yaml:2:15: instructions: want the name of a file"},
		{"instructions are empty", folder("x/agent.yaml", m, "x/instructions.md", " \n"), "agents/x/agent.yaml: instructions: instructions.md is empty; write something or remove it"},
		{"instructions are binary", folder("x/agent.yaml", m, "x/instructions.md", "a\xffb"), "agents/x/agent.yaml: instructions: instructions.md is not UTF-8 text"},
		{"instructions are long", folder("x/agent.yaml", m, "x/instructions.md", strings.Repeat("a", MaxInstructionsBytes+1)), "agents/x/agent.yaml: instructions: instructions.md is 262145 bytes long, at most 262144 are allowed"},
		{"a list", one("- a\n"), "agents/x/agent.yaml:1:1: the file: want a mapping of keys to values, found a list"},
		{"two documents", one(m + "---\n" + m), "agents/x/agent.yaml:3:1: a second document; one file is one agent"},
		{"anchors", one("model: &m openai/x\n"), "agents/x/agent.yaml:1:8: model: want text, found an anchor or alias, which this file may not have"},
		{"no YAML", one("model: [\n"), "agents/x/agent.yaml:1:8: not valid YAML: "},
		{"empty file", one("# later\n"), "agents/x/agent.yaml:1:1: is empty; it needs at least: model: <provider>/<model>"},
		{"env undeclared", one(m + "env: {required: [TICKETS_KEY], bind: {TICKET_KEY: X}}\n"), `agents/x/agent.yaml:2:39: env.bind: "TICKET_KEY" is neither required nor optional; did you mean "TICKETS_KEY"?`},
		{"env both", one(m + "env: {required: [A], optional: {A: x}}\n"), "agents/x/agent.yaml:2:18: env: A is both required and optional; keep one"},
		{"no agent", folder("README.md", ""), "agents: no agent in this folder; create agents/<name>/agent.yaml"},
		{"folder without agent", folder("x/notes.md", ""), "agents/x: has no agent.yaml; add one, or begin the folder's name with _ to have it passed over"},
		{"agent.yml", folder("x/agent.yml", m), "agents/x: has agent.yml; rename it to agent.yaml"},
		{"flat", folder("support.yaml", m), "agents/support.yaml: is not read here; move it to agents/support/agent.yaml"},
		{"an agent's own folder", folder("agent.yaml", m, "demo.yaml", "steps: []\n", "data/x.md", ""), "agents/agent.yaml: is read in a folder of folders only: if agents is the agent's own folder, name . instead; if it is for all agents, move the file to agents/<name>/agent.yaml"},
		{"flat beside others", folder("agent.yaml", m, "x/agent.yaml", m), "agents/agent.yaml: is not read here: the agents folder has one folder for each agent; move it to agents/<name>/agent.yaml"},
		{"a folder of folders of agents", folder("x/y/agent.yaml", m), "agents/x: is no agent but a folder of agents; name it instead of agents"},
		{"same name", folder("a/agent.yaml", m+"name: s\n", "b/agent.yaml", m+"name: s\n"), `agents/b/agent.yaml: the name "s" is taken by agents/a/agent.yaml; give one of them another name`},
		{"folder's name", folder("My-Agent/agent.yaml", m), `agents/My-Agent/agent.yaml: the folder's name, which is the agent's unless name is given, must be`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defs, err := LoadFS(tt.in, "agents")
			if err == nil || defs != nil {
				t.Fatalf("got %v, %v", defs, err)
			}
			if got := err.Error(); !strings.HasPrefix(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLoadListsAllProblemsOfAllAgents(t *testing.T) {
	t.Parallel()
	_, err := LoadFS(folder("a/agent.yaml", "modell: x\ntools: 1\npolicy: {}\n", "b/agent.yaml", "model: x\n", "c/agent.yaml", "model: openai/x\n"), "agents")
	var problems Errors
	if !errors.As(err, &problems) {
		t.Fatalf("got %T", err)
	}
	var places []string
	for line := range strings.Lines(err.Error()) {
		place, _, _ := strings.Cut(line, ": ")
		places = append(places, place)
	}
	want := []string{"agents/a/agent.yaml:1:1", "agents/a/agent.yaml:2:8", "agents/a/agent.yaml:3:9", "agents/b/agent.yaml:1:8"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Error(diff + err.Error())
	}
}

func TestLoadNeverRepeatsASecret(t *testing.T) {
	t.Parallel()
	const secret = "sk-planted-secret"
	_, err := LoadFS(one(`model: openai/x
endpoint: {base_url: "https://u:`+secret+`@host/v1", api_key_env: `+secret+`}
env: {required: [`+secret+`], optional: {A-B: `+secret+`}, bind: {A: `+secret+`}}
`), "agents")
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("got %v", err)
	}
}

func TestLoadFolderIsMissing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "agents")
	_, err := Load(dir)
	want := dir + ": cannot read the agents folder (no such file or directory); start in a folder that has one, or name another (--agents, in code Options.AgentsDir)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "cannot read the agents folder") {
		t.Errorf("got %v", err)
	}
}

func TestParent(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]string{"agents": ".", "a/b/": "a", ".": "..", "..": "../..", "./a": ".", "/a/b": "/a"} {
		if got := parent(dir); got != want {
			t.Errorf("%s: got %s, want %s", dir, got, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(whole)
	f.Add("model: &a [*a, {? x : y}]\n<<: 1\n!!int z: .inf\n")
	f.Fuzz(func(t *testing.T, yaml string) {
		defs, err := LoadFS(one(yaml), "agents")
		if (err == nil) != (len(defs) == 1) {
			t.Errorf("got %v, %v", defs, err)
		}
	})
}
