package agentfile

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// placesBefore are texts of every form that YAML has, which stand before a mistake.
var placesBefore = []string{
	"", "# é comment\n", "\n\n", "# c\n\n\n# d\n", "tools: all   \n", "tools:     \n  - a   \n", "approvals: {approvers: [é]} \n", "\"tools\": [a]\n",
	"env:\n  optional:\n    A: |\n      one\n      two\n", "env:\n  optional:\n    A: |\n\n      one\n", "env:\n  optional:\n    A: >\n\n\n      one\n    B: x\n",
	"env:\n  optional:\n    A: >-\n      one\n\n\n      two\n\n", "env:\n  optional:\n    A: |+\n      one\n\n\n", "env:\n  optional:\n    A: |2-\n        one\n\n\n",
	"env:\n  optional:\n    A: |\n      # no comment\n      x: y\n", "env:\n  optional:\n    A: |\n      one\n      \n      two\n      \n",
	"env:\n  optional:\n    A: \"one\n      two\n\n      three\"\n", "env:\n  optional:\n    A: 'one\n\n      two'\n", "env:\n  optional:\n    A: one\n      two\n      three\n",
	"env:\n  optional: {A: \"\\\n     x\"}\n", "env:\n  optional:\n    A: \"a\\nb\\n\"\n", "env:\n  optional:\n    A: \"a\\n\\\n      b\"\n", "env:\n  optional:\n    A: 'it''s'\n    B: \"\"\n",
	"env: # c\n  # d\n  optional: # e\n    # f\n    A: x # g\n    # h\n# i\n", "env: {\n  optional: {\n A: x # c\n  , B: é, \n C: \"日本\" }\n}\n",
	"env:\n  required: [\n    A, # a\n    B\n  ]\n", "env:\n  required:\n  - A\n\n  # c\n  - B\n", "tools: [\n a,\n\n b]\n",
}

// placesOf are mistakes: a mapping where <> stands.
var placesOf = []string{
	"temperature: <>\n", "temperature:   <>\n", "temperature:\n  <>\n", "limits:\n  max_steps: <>\n", "limits: { max_tool_concurrency: 3, max_steps: <>}\n",
	"limits:\n  max_tool_concurrency: 3 # é\n  max_steps: <> # c\n", "limits: {max_tool_concurrency: 3, # é\n  max_steps: <>}\n",
	"mcp_servers: {a: {command: [\"é\", <>]}}\n", "mcp_servers:\n  a:\n    command: [\"日本\", x,\n      <>]\n", "mcp_servers:\n  a:\n    command:\n    - \"日本\"\n    - |\n      x\n    - <>\n",
	"policy:\n  rules:\n  - id: a\n    when: {args: {/a: {regex: \"é\", gt: <>}}}\n    then: allow\n",
}

// Y01: the line and column of a mistake are exact, whatever stands before it and
// whichever system's line ends the file has.
func TestPlacesAreExact(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for _, before := range placesBefore {
			for _, mistake := range placesOf {
				doc := "model: openai/x\n" + before + mistake
				i := strings.Index(doc, "<>")
				line := doc[strings.LastIndex(doc[:i], "\n")+1 : i]
				want := fmt.Sprintf("agents/x/agent.yaml:%d:%d: ", 1+strings.Count(doc[:i], "\n"), 1+len([]rune(line)))
				doc = strings.ReplaceAll(strings.ReplaceAll(doc, "<>", "{}"), "\n", end)
				if _, err := LoadFS(one(doc), "agents"); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q:\ngot  %v\nwant %s", doc, err, want)
				}
			}
		}
	}
}

// Y01: a file that is all structure is refused before it is parsed: the YAML
// reader's time grows with the square of it, its stack with the depth.
func TestTooMuchStructure(t *testing.T) {
	t.Parallel()
	const m = "model: openai/x\n"
	fill := func(s string) string { return strings.Repeat(s, 250<<10/len(s)) }
	var bomb, deep strings.Builder
	bomb.WriteString(m + "a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := range 30 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 9))
	}
	for i := range 500 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for in, want := range map[string]string{
		m + "tools: " + fill("["): ":2:71: nested more than 64 deep",
		m + "tools: " + strings.Repeat("[", 60000) + strings.Repeat("]", 60000): ":2:71: nested more than 64 deep",
		m + "tools: " + fill("{a: "):  "nested more than 64 deep",
		m + "tools:\n  " + fill("- "): ":3:129: nested more than 64 deep",
		m + fill("? "):                "nested more than 64 deep",
		m + deep.String():             ":66:66: nested more than 64 deep",
		fill("model: x\n"):            "too much for one file from here on: more than 50000 words and signs; split it",
		m + fill("&a "):               "too much for one file",
		bomb.String():                 "unknown key \"a0\"",
		m + "tools: " + strings.Repeat("[", 60) + "a" + strings.Repeat("]", 60):    "tools[0]: want text, found a list",
		m + "# " + fill("c") + "\n" + "name: 'X'\n":                                ":3:7: name must be",
		m + "env: {optional: {A: \"" + fill("k\n  ")[:200_000] + "\"}}\nname: X\n": "name must be",
	} {
		started := time.Now()
		if _, err := LoadFS(one(in), "agents"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %.300v, want %s", in, err, want)
		}
		t.Logf("%.40q: %s", in, time.Since(started))
	}
}

// Y01: a number where text is wanted is one in every spelling, also in those that
// the YAML reader takes for text; a key without a value is told of once.
func TestLoadRefusesOtherSpellings(t *testing.T) {
	t.Parallel()
	const m = "model: openai/x\n"
	for in, want := range map[string]string{
		m + "env: {optional: {ACCOUNT: 123456789012345678901234567890}}\n": "2:27: env.optional.ACCOUNT: want text, found a number; quote it if text was meant",
		m + "endpoint: {api_version: 1e3}\n":                               "2:25: endpoint.api_version: want text, found a number; quote it if text was meant",
		m + "limits: {max_wall_clock: 1e3}\n":                              "2:26: limits.max_wall_clock: want a duration like 90s, 30m or 24h, found 1e3 without a unit",
		m + "limits: {max_wall_clock: 1.5}\n":                              "2:26: limits.max_wall_clock: want a duration like 90s, 30m or 24h, found 1.5 without a unit",
		m + "limits: {max_wall_clock: +5m}\n":                              "2:26: limits.max_wall_clock: want a duration like 90s, 30m or 24h, found \"+5m\"",
		m + "limits: {max_wall_clock: '30'}\n":                             "2:26: limits.max_wall_clock: want a duration like 90s, 30m or 24h, found \"30\"",
		m + "env: {optional: {A: a\tb}}\n":                                 "2:21: a tab within text; put the text into double quotes, and write the tab as \\t",
		m + "env:\n  optional:\n    A: a\n      b\tc\n":                    "4:8: a tab within text",
		m + "env: {optional: {A: \"a\tb\", B: x}}\n":                       "2:21: a tab within text",
		m + "? tools\n: [a]\n":                                             "2:1: a key must be plain text, found one that begins with ?, which this file may not have",
		"model:\n":                                                         "1:1: model has no value; give one or remove the key",
		m + "mcp_servers: {a: {command: }}\n":                              "2:19: mcp_servers.a.command has no value; give one or remove the key",
		m + "env: {optional: {A: }}\n":                                     "2:18: env.optional.A has no value; give one or remove the key",
		m + "builtin_tools: [web search]\n":                                `2:17: builtin_tools[0]: "web search" is no tool's name`,
		m + "endpoint: {base_url: 'https://:80/v1'}\n":                     "2:22: endpoint.base_url: want a URL like https://api.openai.com/v1",
		m + "endpoint: {base_url: 'https://x/v1?'}\n":                      "2:22: endpoint.base_url: must have no user, query or fragment",
		m + "mcp_servers: {a: {url: 'https://x', headers_env: {Authorization: A, authorization: B}}}\n": `2:69: mcp_servers.a.headers_env: "authorization" is the same header as "Authorization"; keep one`,
	} {
		_, err := LoadFS(one(in), "agents")
		if err == nil || !strings.HasPrefix(err.Error(), "agents/x/agent.yaml:"+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\ngot  %v\nwant %s", in, err, want)
		}
	}
	for _, in := range []string{
		"limits:\n  max_wall_clock: |-\n    30m\n", "tools: |-\n  all\n", "policy:\n  rules:\n  - {id: a, when: {tools: ['*']}, then: allow}\n  - id: b\n    when: {tools: ['*']}\n    then: >-\n      allow\n",
		"env: {optional: {A: '3', B: \"1e3\"}}\n", "name:\tb\t\t# a\tcomment\nenv:\t\n  optional:\n    A:\tb\t\n    C: 'a\tb'\n    D: | # c\n      a\tb\n",
	} {
		if _, err := LoadFS(one(m+in), "agents"); err != nil {
			t.Errorf("%q: %v", in, err)
		}
	}
}
