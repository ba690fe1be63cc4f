package tests

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refuses expects one line on standard error, nothing on standard output and the exit code.
func refuses(t *testing.T, p *process, code int, words ...string) {
	t.Helper()
	if got := p.ends(20 * time.Second); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	said := p.errors()
	if strings.Count(said, "\n") != 0 || !strings.HasPrefix(said, "devserver: ") {
		t.Errorf("not one line of devserver's own:\n%s", said)
	}
	for _, word := range words {
		if !strings.Contains(said, word) {
			t.Errorf("the line does not say %q:\n%s", word, said)
		}
	}
	if out := p.output(); len(out) != 0 {
		t.Errorf("standard output: %q", out)
	}
}

func TestRefusesTakenPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	refuses(t, launch(t, "--db", newDB(t), "--port", port, "--ui-port", "0"), 1, "port "+port, "frontend gRPC", "--port 0")
	refuses(t, launch(t, "--db", newDB(t), "--port", "0", "--ui-port", port), 1, "port "+port, "Web UI", "--ui-port 0")
}

func TestRefusesTakenDatabase(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	p := start(t, db)
	refuses(t, launch(t, "--db", db, "--port", "0"), 1, db, fmt.Sprint("pid ", p.PID), p.Address, "--db")
	// The refusal has not harmed the one that runs, and nobody is left in its way afterwards.
	if _, err := listOurs(t, p.client(), ""); err != nil {
		t.Error(err)
	}
	p.kill()
	start(t, db)
}

func TestRefusesBadInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	edited := func(name, from, to string) string {
		if !strings.Contains(string(good), from) {
			t.Fatalf("the configuration has no %q to edit", from)
		}
		return file(name, strings.ReplaceAll(string(good), from, to))
	}
	db := filepath.Join(dir, "temporal.db")
	for _, c := range []struct {
		name  string
		args  []string
		code  int
		words []string
	}{
		{"no configuration", []string{"--config", filepath.Join(dir, "none.yaml")}, 1, []string{"none.yaml", "--config"}},
		{"no YAML", []string{"--config", file("bad.yaml", "persistence: [")}, 1, []string{"bad.yaml"}},
		{"wrong type", []string{"--config", edited("type.yaml", "grpcPort: 7233", "grpcPort: seven")}, 1, []string{"type.yaml", "seven"}},
		{"another store", []string{"--config", edited("store.yaml", "pluginName: sqlite", "pluginName: mysql8")}, 1, []string{"store.yaml", "sqlite"}},
		{"a service missing", []string{"--config", edited("service.yaml", "matching:", "mismatching:")}, 1, []string{"service.yaml", "matching"}},
		{"in memory", []string{"--config", edited("memory.yaml", "mode: rwc", "mode: memory")}, 1, []string{"memory.yaml", "in memory"}},
		{"no database", []string{"--db", file("notes.db", strings.Repeat("not a database ", 100))}, 1, []string{"notes.db", "not a database"}},
		{"no folder", []string{"--db", filepath.Join(file("plain", ""), "temporal.db")}, 1, []string{"plain"}},
		{"unknown dynamic key", []string{"--dynamic-config", "history.nonsense=1"}, 1, []string{"history.nonsense"}},
		{"dynamic value", []string{"--dynamic-config", "limit.historyCount.error=many"}, 1, []string{"limit.historycount.error"}},
		{"dynamic form", []string{"--dynamic-config", "limit.historyCount.error"}, 1, []string{"key=value"}},
		{"unknown flag", []string{"--prot", "0"}, 2, []string{"prot"}},
		{"argument", []string{"now"}, 2, []string{"now", "--help"}},
		{"port", []string{"--port", "70000"}, 2, []string{"70000"}},
		{"address", []string{"--ip", "localhost"}, 2, []string{"localhost"}},
		{"log level", []string{"--log-level", "loud"}, 2, []string{"loud", "error"}},
		{"search attribute", []string{"--search-attribute", "Customer=String"}, 2, []string{"Customer", "Keyword"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			refuses(t, launch(t, append([]string{"--db", db, "--port", "0"}, c.args...)...), c.code, c.words...)
		})
	}
}
