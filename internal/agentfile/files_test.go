package agentfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Y01: a file in another encoding, with characters that no text has, or with
// numbers that YAML's versions read differently is refused at its place.
func TestLoadRefusesStrangeText(t *testing.T) {
	t.Parallel()
	const m = "model: openai/x\n"
	for in, want := range map[string]string{
		"\xff\xfem\x00o\x00":                                  "1:1: is UTF-16; save it as UTF-8",
		"m\x00o\x00d\x00e\x00l\x00":                           "1:2: has the character U+0000 here",
		m + "# \xe9\n":                                        "2:3: is not UTF-8 here; save it as UTF-8",
		m + "name: \x1b[31mx\n":                               "2:7: has the character U+001B here",
		"%YAML 1.2\n---\n" + m:                                "1:1: a %-directive, which this file may not have",
		m + "limits:\n\tmax_steps: 3\n":                       "3:1: not valid YAML: found character a tab; indent with spaces",
		m + "context_window: 017\n":                           `2:17: context_window: "017" is not the same number to every reader of YAML`,
		m + "context_window: 1_000\n":                         `2:17: context_window: "1_000" is not the same number`,
		m + "temperature: 01\n":                               `2:14: temperature: "01" is not the same number`,
		m + "context_window: 1e400\n":                         "2:17: context_window: want a whole number from 1 to 2147483647, found 1e400",
		m + "context_window: '3'\n":                           "2:17: context_window: want a whole number, found text; write it without quotes",
		m + "endpoint: {parallel_tool_calls: no}\n":           "2:33: endpoint.parallel_tool_calls: want true or false, found text; did you mean false?",
		m + "endpoint: {parallel_tool_calls: 'true'}\n":       "2:33: endpoint.parallel_tool_calls: want true or false, found text; write it without quotes",
		m + "limits: {max_wall_clock: 30}\n":                  "2:26: limits.max_wall_clock: want a duration like 90s, 30m or 24h, found 30 without a unit",
		m + "name: 3\n":                                       "2:7: name: want text, found a number; quote it if text was meant",
		m + "instructions: instruction.md\n":                  `2:15: instructions: cannot read agents/x/instruction.md (file does not exist); did you mean "instructions.md"?`,
		"modell: openai/x\n" + "temperature: .nan\n":          `1:1: unknown key "modell"; did you mean "model"?`,
		m + "mcp_servers: {a: {command: [x], timeout: 1d}}\n": "2:42: mcp_servers.a.timeout: want a duration like 90s, 30m or 24h, found \"1d\"",
	} {
		_, err := LoadFS(folder("x/agent.yaml", in, "x/instructions.md", "Hello."), "agents")
		if err == nil || !strings.HasPrefix(err.Error(), "agents/x/agent.yaml:"+want) {
			t.Errorf("%q:\ngot  %v\nwant %s", in, err, want)
		}
	}
}

// Y01: what editors put into files, and what YAML has several spellings of,
// is read.
func TestLoadAcceptsOtherSpellings(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"\ufeffmodel: openai/x\n", "model: openai/x\r\ncontext_window: 1000\r\n", "{\"model\": \"openai/x\", \"context_window\": 1000}",
		"model: openai/x\ncontext_window: 1e3\n", "model: openai/x\ncontext_window: 1000.0\n", "---\nmodel: openai/x\n...\n",
	} {
		defs, err := LoadFS(one(in), "agents")
		if err != nil || defs[0].Agent.Model != "openai/x" || strings.Contains(in, "context") && defs[0].Agent.ContextWindow != 1000 {
			t.Errorf("%q: %+v, %v", in, defs, err)
		}
	}
}

// Y01: a file that is nearly called right is named, and a pipe does not keep the
// start waiting.
func TestLoadPointsAtFiles(t *testing.T) {
	t.Parallel()
	const m = "model: openai/x\n"
	for name, want := range map[string]string{"AGENT.YAML": "agents/x: has AGENT.YAML; rename it to agent.yaml", "agents.yaml": "agents/x: has agents.yaml; rename it to agent.yaml"} {
		if _, err := LoadFS(folder("x/"+name, m), "agents"); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
	for _, name := range []string{"INSTRUCTIONS.md", "instruction.md"} {
		if _, err := LoadFS(folder("x/agent.yaml", m, "x/"+name, "Hello."), "agents"); err == nil || !strings.Contains(err.Error(), "the folder has "+name+", which nothing reads; rename it to instructions.md") {
			t.Errorf("got %v", err)
		}
	}
	for _, other := range []string{"agent.yml", "Agent.yaml"} {
		if _, err := LoadFS(folder("x/agent.yaml", m, "x/"+other, m), "agents"); err == nil || err.Error() != "agents/x/agent.yaml: the folder has "+other+" too, which nothing reads; remove one of them" {
			t.Errorf("got %v", err)
		}
	}
	dir := t.TempDir()
	for _, agent := range []string{"a", "b", "c", "d", "e"} {
		if err := os.Mkdir(filepath.Join(dir, agent), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b", FileName), []byte(m), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "c", FileName), []byte(m), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "c", InstructionsName)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d", FileName), []byte(m), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{filepath.Join(dir, "d", InstructionsName), filepath.Join(dir, "e", FileName)} {
		if err := os.Symlink("gone", link); err != nil {
			t.Fatal(err)
		}
	}
	for _, pipe := range []string{filepath.Join(dir, "a", FileName), filepath.Join(dir, "b", InstructionsName)} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Load(dir)
	if err == nil || strings.Count(err.Error(), "is no plain file") != 3 || strings.Count(err.Error(), "link to nothing") != 2 {
		t.Errorf("got %v", err)
	}
}
