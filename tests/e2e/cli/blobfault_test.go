package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tests/npm"
	"github.com/turnkeel/turnkeel/tests/s3"
)

// gate is what stands between a worker and its bucket: it is open, or answers
// like a server that is away, busy or forbids.
type gate struct {
	*httptest.Server
	status atomic.Int32 // that it answers with, below 0 for no answer
	times  atomic.Int32 // that it still does so; then it is open
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	// Host is a part of the signature.
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }}
	g := &gate{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := int(g.status.Load())
		switch {
		case g.times.Add(-1) < 0:
			through.ServeHTTP(w, r)
		case status < 0:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<Error><Code>AccessDenied</Code><Message>no</Message></Error>"))
		}
	}))
	t.Cleanup(g.Close)
	return g
}

// T45: a bucket that does not take a result costs the whole of it, never the
// effect: the call is done, once, and it is told that its result was cut.
func TestBucket_TakesNothing(t *testing.T) {
	t.Parallel()
	bucket := s3.Start(t)
	for name, status := range map[string]int32{"away": -1, "busy": http.StatusServiceUnavailable, "forbids": http.StatusForbidden} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(data, "ledger.txt"), largeText())
			dir := clerkAgent(t, "clerk", `mcp_servers:
  files:
    command: [node, "`+npm.Module(t, "@modelcontextprotocol/server-filesystem/dist/index.js")+`", "`+data+`"]
    prefix: files
    allow: [read_text_file]
`)
			model, err := agenttest.NewModelServer(agenttest.Script{Steps: []agenttest.Step{
				{Calls: []agenttest.ScriptCall{{Name: "files_read_text_file", Args: map[string]any{"path": filepath.Join(data, "ledger.txt")}}}},
				{Text: "done"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(model.Close)
			g := newGate(t, bucket.Endpoint)
			g.status.Store(status)
			g.times.Store(1 << 30)
			turn := "bucket-" + name
			env := append(onServer(), append(bucket.Env(name), "AWS_ENDPOINT_URL_S3="+g.URL)...)
			w := newFleet(t, dir, turn, append(env, "OPENAI_BASE_URL="+model.URL(), "OPENAI_API_KEY=x")...)
			if r := finish(t, command(t, dir, starter, env, "run", "--agent", "clerk", "--task-queue", turn, "--turn-id", turn, "Audit it.")); r.code != 0 {
				t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.errOut)
			}
			table := finish(t, command(t, dir, starter, onServer(), "effects", turn))
			if !strings.Contains(table.out, "done; ") || !strings.Contains(table.out, "bytes, recorded cut") {
				t.Errorf("effects:\n%s", table.out)
			}
			lost := finish(t, command(t, dir, starter, env, "show", turn, "--result", "1"))
			if lost.code != 1 || lost.out != "" || !strings.Contains(lost.errOut, "the whole is lost") {
				t.Errorf("exit code %d\n%.200s\n%s", lost.code, lost.out, lost.errOut)
			}
			if log := w.said(); !strings.Contains(log, "could not be kept; it is recorded cut") || strings.Contains(log, bucket.SecretKey) {
				t.Errorf("the worker said:\n%s", log)
			}
		})
	}
}

// Y22: a bucket that is away, or forbids, when a turn with an attachment begins
// and when the agent reads, is asked again: the turn goes on when that is mended,
// and nothing is told as read that was not.
func TestBucket_AttachmentWaits(t *testing.T) {
	t.Parallel()
	bucket := s3.Start(t)
	file := filepath.Join(t.TempDir(), "a.txt")
	write(t, file, strings.Repeat("x", 4_000)+"the second page")
	for name, status := range map[string]int32{"away": -1, "forbids": http.StatusForbidden} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := clerkAgent(t, "clerk", "builtin_tools: [read_attachment]\n")
			g := newGate(t, bucket.Endpoint)
			g.status.Store(status)
			g.times.Store(1)
			model, err := agenttest.NewModelServer(agenttest.Script{Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
				last := r.Messages[len(r.Messages)-1]
				if last.Role == "tool" {
					return &agenttest.Step{Text: "read: " + last.Content}
				}
				g.times.Store(1)
				return &agenttest.Step{Calls: []agenttest.ScriptCall{{Name: "read_attachment", Args: map[string]any{"file_id": fileID.FindStringSubmatch(last.Content)[1], "page": 2}}}}
			}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(model.Close)
			turn := "bucket-waits-" + name
			env := append(onServer(), bucket.Env(name)...)
			w := newFleet(t, dir, turn, append(env, "AWS_ENDPOINT_URL_S3="+g.URL, "OPENAI_BASE_URL="+model.URL(), "OPENAI_API_KEY=x")...)
			r := finish(t, command(t, dir, starter, env, "run", "--agent", "clerk", "--task-queue", turn, "--turn-id", turn, "--attach", file, "Read it."))
			if r.code != 0 || !strings.Contains(r.out, "read: [a.txt, page 2 of 2]\nthe second page") {
				t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errOut)
			}
			if n := len(model.Requests()); n != 2 || g.times.Load() >= 0 {
				t.Errorf("the model was asked %d times; %d faults are left", n, g.times.Load())
			}
			if strings.Contains(w.said()+r.out+r.errOut, bucket.SecretKey) {
				t.Error("the secret is shown")
			}
		})
	}
}
