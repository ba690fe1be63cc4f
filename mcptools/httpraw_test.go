package mcptools

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

const fineResult = `{"content":[{"type":"text","text":"fine"}]}`

// T66, D05: a connection that breaks while a call is under way sends it once,
// even where a header of the configuration is one that net/http takes for leave
// to send a request again.
func TestHTTPSendsOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "X-Other"} {
		h := newRawHTTP(t, tool(textSchema))
		config := h.config(Options{})
		config.Header = http.Header{name: {"worker-7"}}
		c, err := Connect(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		h.on("tools/call", func(w http.ResponseWriter, r *http.Request, _ string) {
			if r.Header.Get(name) != "worker-7" {
				t.Errorf("%s is %q", name, r.Header.Get(name))
			}
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		})
		if _, v := run(t, c.Tools()[0], `{"text":"a"}`); v.Outcome != contract.OutcomeUnknown || v.Retry {
			t.Errorf("%s: %+v", name, v)
		}
		if n := h.count("tools/call"); n != 1 {
			t.Errorf("%s: the call was sent %d times", name, n)
		}
		_ = c.Close()
	}
}

// T60, T66: nothing is asked of a server by GET that it would have to answer: one
// that leaves GET open, or ends such a stream at once, costs neither the
// connection nor a call under way.
func TestHTTPWithoutAStreamOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, get := range map[string]func(http.ResponseWriter, *http.Request, string){
		"never answers": func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() },
		"ends at once":  func(w http.ResponseWriter, _ *http.Request, _ string) { sayEvents(w, ": hello\n\n") },
	} {
		h := newRawHTTP(t, tool(textSchema))
		h.on("GET", get)
		c := h.connect(t, Options{})
		if result, v := run(t, c.Tools()[0], `{"text":"a"}`); result.Text != "fine" {
			t.Errorf("%s: %+v", name, v)
		}
		if h.count("initialize") != 1 || h.count("GET") != 0 {
			t.Errorf("%s: it was connected %d times, asked by GET %d times", name, h.count("initialize"), h.count("GET"))
		}
	}
}

// D01, P16, T63: events with their data over several lines, with odd lines
// around, in lists and without an end, are read as those on one line.
func TestHTTPEvents(t *testing.T) {
	t.Parallel()
	h := newRawHTTP(t, tool(textSchema))
	c := h.connect(t, Options{ToolOptions: ToolOptions{Timeout: time.Hour}})
	message := func(result string) string { return `{"jsonrpc":"2.0","id":ID,"result":` + result + `}` }
	lines := func(eol, text string) string {
		return "event: message" + eol + "data: " + strings.Join(strings.Split(text, "\n"), eol+"data: ") + eol + eol
	}
	const hologram = "{\n \"content\": [\n  {\"type\": \"hologram\"}\n ]\n}"
	for _, tt := range []struct {
		name, stream string
		want         contract.Outcome
		text         string
	}{
		{"over several lines", lines("\n", message(hologram)), contract.OutcomeDone, `[content of type "hologram", 20 bytes, not shown]`},
		{"with carriage returns", lines("\r\n", message(hologram)), contract.OutcomeDone, `[content of type "hologram", 20 bytes, not shown]`},
		{"an error over several lines", lines("\n", message("{\n\"isError\":\"true\",\n\"content\":[{\"type\":\"text\",\"text\":\"bad\"}]}")), contract.OutcomeFailed, "bad"},
		{"lines that are none", "\xef\xbb\xbfgarbage\n\n: note\nretry\nfoo: bar\ndata: not json\n\ndata\n\nid\ndata: {}\n\n" + lines("\n", message(fineResult)), contract.OutcomeDone, "fine"},
		{"a list", "data: [{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},\ndata: " + message(fineResult) + "]\n\n", contract.OutcomeDone, "fine"},
		{"another event", "event: ping\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":5}\n\n" + lines("\n", message(fineResult)), contract.OutcomeDone, "fine"},
		{"without the empty line", "data:" + message(fineResult), contract.OutcomeDone, "fine"},
		{"cut off", "data: " + message(fineResult)[:40], contract.OutcomeUnknown, "without response"},
	} {
		h.on("tools/call", func(w http.ResponseWriter, _ *http.Request, id string) {
			sayEvents(w, strings.ReplaceAll(tt.stream, "ID", id))
		})
		brokenAnswer{name: tt.name, want: tt.want, text: tt.text}.check(t, c)
	}
	if n := h.count("initialize"); n != 1 {
		t.Errorf("it was connected %d times", n)
	}
}

// T66, D05: a stream that is cut in the middle of the answer goes on after the
// last whole event; the call is not sent again. Where it cannot go on the
// outcome is unknown.
func TestHTTPResumes(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(){
		"breaks": func() { panic(http.ErrAbortHandler) },
		"ends":   func() {},
	} {
		h := newRawHTTP(t, tool(textSchema))
		c := h.connect(t, Options{ToolOptions: ToolOptions{Timeout: time.Hour}})
		request := make(chan string, 2)
		h.on("tools/call", func(w http.ResponseWriter, _ *http.Request, id string) {
			request <- id
			sayEvents(w, "id: e1\nretry: 10\ndata:\n\nid: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+id+",\"resu")
			cut()
		})
		h.on("GET", func(w http.ResponseWriter, r *http.Request, _ string) {
			if last := r.Header.Get("Last-Event-Id"); last != "e1" {
				t.Errorf("%s: resumed after %q", name, last)
			}
			sayEvents(w, "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+<-request+",\"result\":"+fineResult+"}\n\n")
		})
		if result, v := run(t, c.Tools()[0], `{"text":"a"}`); result.Text != "fine" {
			t.Errorf("%s: %+v", name, v)
		}
		h.on("GET", nil)
		if _, v := run(t, c.Tools()[0], `{"text":"a"}`); v.Outcome != contract.OutcomeUnknown || v.Retry {
			t.Errorf("%s and stays away: %+v", name, v)
		}
		if n := h.count("tools/call"); n != 2 {
			t.Errorf("%s: two calls were sent %d times", name, n)
		}
	}
}

// T66: an answer that is not one to the call ends it at once, and no other call
// of the connection with it.
func TestHTTPAnswersElse(t *testing.T) {
	t.Parallel()
	h := newRawHTTP(t, `[{"name":"ask","inputSchema":{"type":"object"}},{"name":"slow","inputSchema":{"type":"object"}}]`)
	c := h.connect(t, Options{ToolOptions: ToolOptions{Timeout: time.Hour}})
	say := func(kind, body string) func(http.ResponseWriter, *http.Request, string) {
		return func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, strings.ReplaceAll(body, "ID", id))
		}
	}
	release := make(chan struct{})
	arrived := make(chan struct{})
	h.on("tools/call", func(w http.ResponseWriter, _ *http.Request, id string) {
		close(arrived)
		<-release
		sayJSON(w, id, fineResult)
	})
	slow := make(chan string)
	go func() {
		result, v := run(t, c.Tools()[1], `{}`)
		slow <- result.Text + v.Text
	}()
	<-arrived
	for _, tt := range []struct {
		name, kind, body string
		want             contract.Outcome
		text             string
	}{
		{"another id", "application/json", `{"jsonrpc":"2.0","id":4711,"result":` + fineResult + `}`, contract.OutcomeUnknown, "not one to this request"},
		{"a list", "application/json; charset=utf-8", `[{"jsonrpc":"2.0","id":4711,"result":{}},{"jsonrpc":"2.0","id":"ID","result":` + fineResult + `}]`, contract.OutcomeDone, "fine"},
		{"a number with a point", "Application/JSON", `{"jsonrpc":"2.0","id":ID.0,"result":` + fineResult + `}`, contract.OutcomeDone, "fine"},
		{"the request", "application/json", `{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{}}`, contract.OutcomeUnknown, "not one to this request"},
		{"nothing", "application/json", ``, contract.OutcomeUnknown, "not one to this request"},
		{"a page", "text/html", `<html>log in</html>`, contract.OutcomeUnknown, `200 OK and neither JSON nor an event stream ("text/html")`},
		{"no type", "", `{"jsonrpc":"2.0","id":ID,"result":` + fineResult + `}`, contract.OutcomeUnknown, "neither JSON nor an event stream"},
	} {
		h.on("tools/call", say(tt.kind, tt.body))
		brokenAnswer{name: tt.name, want: tt.want, text: tt.text}.check(t, c)
	}
	close(release)
	if got := <-slow; got != "fine" {
		t.Errorf("the call beside them: %s", got)
	}
	if n := h.count("initialize"); n != 1 {
		t.Errorf("it was connected %d times", n)
	}
}

// T66: what comes with a status that is an error is read to a bound only, be it
// without an end; an answer by one of the SDK's own codes leaves the call open.
func TestHTTPStatusBodies(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 404, 408, 499, 500, 501, 505} {
		h := newRawHTTP(t, tool(textSchema))
		c := h.connect(t, Options{ToolOptions: ToolOptions{Timeout: time.Hour}})
		sent := make(chan int, 1)
		h.on("tools/call", func(w http.ResponseWriter, r *http.Request, _ string) {
			w.WriteHeader(code)
			n, chunk := 0, []byte(strings.Repeat(`x "jsonrpc" `, 1<<12))
			for r.Context().Err() == nil && n < 256<<20 {
				written, err := w.Write(chunk)
				n += written
				if err != nil {
					break
				}
			}
			sent <- n
		})
		if _, v := run(t, c.Tools()[0], `{"text":"a"}`); v.Outcome != contract.OutcomeUnknown && code != 400 || v.Retry {
			t.Errorf("%d: %+v", code, v)
		}
		if n := <-sent; n > 64<<20 { // what the sockets hold, and not all
			t.Errorf("%d: %d MB were read", code, n>>20)
		}
		h.on("tools/call", func(w http.ResponseWriter, _ *http.Request, id string) {
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32004,"message":"server is closing"}}`, id)
		})
		if _, v := run(t, c.Tools()[0], `{"text":"a"}`); v.Outcome != contract.OutcomeUnknown || v.Retry {
			t.Errorf("%d: %+v", code, v)
		}
	}
}

// T66: a server that knows no ping, or refuses it, lives.
func TestPingIsRefused(t *testing.T) {
	t.Parallel()
	h := newRawHTTP(t, tool(textSchema))
	c := h.connect(t, Options{})
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request, string){
		"no such method": func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, id)
		},
		"busy": func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		},
	} {
		h.on("ping", answer)
		if !c.healthy(c.live, time.Minute) {
			t.Errorf("%s: it counts as dead", name)
		}
	}
	h.on("ping", func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusBadGateway) })
	if c.healthy(c.live, time.Minute) {
		t.Error("a server that a proxy cannot reach counts as alive")
	}
}

// T66: a server that takes nothing from us now is not connected again for it,
// and the model is told how long it wants to be left alone.
func TestHTTPRefusesTheListing(t *testing.T) {
	t.Parallel()
	for _, code := range []int{401, 403, 429} {
		h := newRawHTTP(t, tool(textSchema))
		c := h.connect(t, Options{ToolOptions: ToolOptions{Timeout: time.Hour}})
		h.on("tools/list", func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header().Set("Retry-After", "30")
			http.Error(w, "not \x1b[31mnow", code)
		})
		for range 3 {
			_, v := run(t, c.Tools()[0], `{"text":"a"}`)
			if v.Outcome != contract.OutcomeNotExecuted || !strings.Contains(v.Text, "(Retry-After: 30): not now") {
				t.Errorf("%d: %+v", code, v)
			}
		}
		if h.count("initialize") != 1 || h.count("tools/list") != 4 || h.count("tools/call") != 0 {
			t.Errorf("%d: %d connections, %d listings, %d calls", code, h.count("initialize"), h.count("tools/list"), h.count("tools/call"))
		}
		h.on("tools/list", nil)
		if result, v := run(t, c.Tools()[0], `{"text":"a"}`); result.Text != "fine" {
			t.Errorf("%d: then: %+v", code, v)
		}
	}
}
