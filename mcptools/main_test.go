package mcptools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests' server is this test binary: a real process with real pipes, that
// speaks the protocol by hand, so that it can say what no library would.
const scriptVariable = "TURNKEEL_TEST_MCP_SCRIPT"

func TestMain(m *testing.M) {
	if file := os.Getenv(scriptVariable); file != "" {
		serveScript(file)
		return
	}
	if file := os.Getenv(hostVariable); file != "" {
		hostScript(file)
		return
	}
	os.Exit(m.Run())
}

// hostVariable makes this binary a host of a server that a shell has started.
const hostVariable = "TURNKEEL_TEST_MCP_HOST"

func hostScript(file string) {
	self, err := os.Executable()
	if err == nil {
		_, err = Connect(context.Background(), Server{
			Command: []string{"sh", "-c", `"$0"; true`, self}, Env: []string{scriptVariable + "=" + file},
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

// script is what the server does; it reads the file again for every request.
type script struct {
	Tools  json.RawMessage `json:"tools"`
	Result json.RawMessage `json:"result,omitempty"` // of a call
	Error  json.RawMessage `json:"error,omitempty"`  // of a call, instead
	Print  string          `json:"print,omitempty"`  // before anything else, on standard output
	Stderr string          `json:"stderr,omitempty"`

	OnStart string `json:"on_start,omitempty"` // "exit"; "faint": greets and ends; "stay": lives on when its input ends
	OnList  string `json:"on_list,omitempty"`  // "deaf": answers and then reads nothing any more; "endless": always one more page
	OnCall  string `json:"on_call,omitempty"`  // "die", "exit", "mute", "half", "hang", "orphan": dies, and a child holds its output open

	// What is printed instead of an answer, as it stands, with ID for the
	// request's. Base64 in the file, so that it may be anything.
	RawInit []byte `json:"raw_init,omitempty"`
	RawList []byte `json:"raw_list,omitempty"`
	RawCall []byte `json:"raw_call,omitempty"`

	Ledger string `json:"ledger"` // file that gets a line for each call
}

func readScript(file string) script {
	data, err := os.ReadFile(file) //nolint:gosec // the test's own
	var s script
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return s
}

func serveScript(file string) {
	s := readScript(file)
	fmt.Print(s.Print)
	fmt.Fprint(os.Stderr, s.Stderr)
	if s.OnStart == "exit" {
		os.Exit(7)
	}
	note(s.Ledger, "start "+fmt.Sprint(os.Getpid()))
	in := bufio.NewReader(os.Stdin)
	lists := 0
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && s.OnStart == "stay" {
			time.Sleep(time.Hour)
		}
		if err != nil {
			return
		}
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		_ = json.Unmarshal(line, &request)
		s := readScript(file)
		answer := func(kind string, value any) {
			data, _ := json.Marshal(value)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"%s":%s}`+"\n", request.ID, kind, data)
		}
		if raw := s.raw(request.Method); raw != nil {
			if request.Method == "tools/call" {
				note(s.Ledger, "call "+string(request.Params))
			}
			_, _ = os.Stdout.Write(bytes.ReplaceAll(raw, []byte("ID"), request.ID))
			continue
		}
		switch request.Method {
		case "initialize":
			answer("result", json.RawMessage(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"scripted","version":"1"}}`))
		case "ping":
			answer("result", struct{}{})
		case "notifications/initialized":
			if s.OnStart == "faint" {
				return
			}
		case "tools/list":
			if s.OnList == "endless" {
				lists++
				answer("result", map[string]any{"tools": s.Tools, "nextCursor": fmt.Sprint(lists)})
				continue
			}
			answer("result", map[string]any{"tools": s.Tools})
			if lists++; s.OnList == "deaf" && lists > 1 {
				time.Sleep(time.Hour)
			}
		case "notifications/cancelled":
			note(s.Ledger, "cancelled")
		case "tools/call":
			note(s.Ledger, "call "+string(request.Params))
			switch s.OnCall {
			case "die":
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case "exit":
				return
			case "orphan":
				child := exec.Command("sleep", "600")
				child.Stdout, child.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
				_ = child.Start()
				note(s.Ledger, "orphan "+fmt.Sprint(child.Process.Pid))
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case "mute": // lives on, and nobody hears it
				_ = os.Stdout.Close()
				continue
			case "half":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"te`, request.ID)
				return
			case "hang":
				continue
			}
			if len(s.Error) > 0 {
				answer("error", s.Error)
			} else {
				answer("result", s.Result)
			}
		}
	}
}

func (s script) raw(method string) []byte {
	switch method {
	case "initialize":
		return s.RawInit
	case "tools/list":
		return s.RawList
	case "tools/call":
		return s.RawCall
	}
	return nil
}

func note(ledger, line string) {
	f, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the test's own
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}

// scripted is a server and its script, which a test may change.
type scripted struct {
	t      testing.TB
	file   string
	ledger string
}

func newScripted(t testing.TB, s script) *scripted {
	t.Helper()
	dir := t.TempDir()
	srv := &scripted{t: t, file: filepath.Join(dir, "script.json"), ledger: filepath.Join(dir, "ledger")}
	srv.set(s)
	return srv
}

// set changes what the server does from its next request on.
func (s *scripted) set(sc script) {
	s.t.Helper()
	sc.Ledger = s.ledger
	data, err := json.Marshal(sc)
	if err != nil {
		s.t.Fatal(err)
	}
	// Whole or not at all: the server may be reading it.
	if err := os.WriteFile(s.file+".new", data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(s.file+".new", s.file); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scripted) config(o Options) Server {
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	return Server{Options: o, Command: []string{self}, Env: []string{scriptVariable + "=" + s.file}, StartTimeout: 20 * time.Second}
}

func (s *scripted) connect(o Options) *Connection {
	s.t.Helper()
	c, err := Connect(s.t.Context(), s.config(o))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// lines are the ledger's lines that begin so.
func (s *scripted) lines(prefix string) []string {
	data, _ := os.ReadFile(s.ledger)
	var found []string
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, prefix) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to be that %s", what)
		}
		time.Sleep(10 * time.Millisecond) // a process outside says nothing that could be waited for
	}
}

// oneTool is a listing of one tool.
func oneTool(name, description, schema string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`[{"name":%q,"description":%q,"inputSchema":%s}]`, name, description, schema))
}
