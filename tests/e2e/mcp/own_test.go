package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ownServer makes this test binary a server of its own, in a folder that says
// what it does: for what no server out there would do.
const ownServer = "own-mcp-server"

const sendTool = `{"name":"send","description":"Sends a message.","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"body":{"type":"string"}},"required":["to","body"]}}`

// serveOwn offers the tool of tool.json, read anew for each listing. A call
// leaves a line in the ledger, and then hangs where there is a file "hang". Where
// there is a file "stubborn", which names a diary, it has to be killed.
func serveOwn(dir string) {
	s := mcp.NewServer(&mcp.Implementation{Name: "own", Version: "1"}, nil)
	load := func() {
		var tool mcp.Tool
		data, err := os.ReadFile(filepath.Join(dir, "tool.json")) //nolint:gosec // the test's
		if err == nil {
			err = json.Unmarshal(data, &tool)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		s.AddTool(&tool, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f, err := os.OpenFile(filepath.Join(dir, "ledger"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the test's
			if err != nil {
				return nil, err
			}
			defer f.Close()
			fmt.Fprintf(f, "%s %v\n", r.Params.Arguments, r.Params.Meta["idempotencyKey"])
			if _, err := os.Stat(filepath.Join(dir, "hang")); err == nil {
				select {}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "sent"}}}, nil
		})
	}
	load()
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				load()
			}
			return next(ctx, method, r)
		}
	})
	terms := make(chan os.Signal, 1)
	diary, err := os.ReadFile(filepath.Join(dir, "stubborn")) //nolint:gosec // the test's
	if err == nil {
		signal.Notify(terms, syscall.SIGTERM)
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if len(diary) > 0 {
		tell(string(diary), "end of input")
		<-terms
		tell(string(diary), "told to end")
		select {}
	}
}

// tell adds a line to a file that several servers share.
func tell(file, line string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the test's
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

// own is such a server's folder.
type own struct {
	t   *testing.T
	dir string
}

func newOwn(t *testing.T, tool string) own {
	t.Helper()
	o := own{t, t.TempDir()}
	o.write("tool.json", tool)
	return o
}

func (o own) write(name, text string) {
	o.t.Helper()
	file := filepath.Join(o.dir, name)
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil { // whole or not at all
		o.t.Fatal(err)
	}
}

// yaml is the server's part of an agent.yaml.
func (o own) yaml(more string) string {
	o.t.Helper()
	self, err := os.Executable()
	if err != nil {
		o.t.Fatal(err)
	}
	return fmt.Sprintf("mcp_servers:\n  mail: {command: [%q, %s, %q]%s}\n", self, ownServer, o.dir, more)
}

func (o own) ledger() []string {
	data, _ := os.ReadFile(filepath.Join(o.dir, "ledger"))
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}
