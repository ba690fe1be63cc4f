package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// door is a server of streamable HTTP, by hand, that keeps a ledger of its calls
// and then does what a test says.
type door struct {
	*httptest.Server
	call func(w http.ResponseWriter, id string)

	mu     sync.Mutex
	ledger []string
}

func newDoor(t *testing.T, call func(w http.ResponseWriter, id string)) *door {
	t.Helper()
	d := &door{call: call}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Arguments json.RawMessage }
	}
	_ = json.Unmarshal(body, &m)
	say := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch m.Method {
	case "initialize":
		say(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"door","version":"1"}}`)
	case "tools/list":
		say(`{"tools":[` + sendTool + `]}`)
	case "tools/call":
		d.mu.Lock()
		d.ledger = append(d.ledger, string(m.Params.Arguments))
		d.mu.Unlock()
		if strings.Contains(string(m.Params.Arguments), `"6"`) {
			say(`{"content":[{"type":"text","text":"sent"}]}`)
			return
		}
		d.call(w, string(m.ID))
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// T66, D05: a transfer by HTTP that arrived and was not answered, or by a code
// that says that it never arrived, stands once in the server's ledger, whatever
// headers go along; the model that asks for it again is refused.
func TestTransferByHTTPIsNotRepeated(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, id string){
		"the connection breaks": func(http.ResponseWriter, string) { panic(http.ErrAbortHandler) },
		"the server is closing": func(w http.ResponseWriter, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32004,"message":"server is closing"}}`, id)
		},
		"a gateway's error": func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusBadGateway) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOOR_KEY", "worker-7")
			d := newDoor(t, answer)
			same := map[string]any{"to": "bank", "body": "5"}
			b := newBench(t, fmt.Sprintf("mcp_servers: {mail: {url: %q, timeout: 1h, headers_env: {Idempotency-Key: DOOR_KEY}}}\n", d.URL),
				call("send", same), call("send", same), call("send", map[string]any{"to": "bank", "body": "6"}), said("done"))
			out := b.Wait(b.Start("transfer"))
			wantEffects(t, out, "send at_most_once unknown", "send at_most_once unknown", "send at_most_once done")
			d.mu.Lock()
			defer d.mu.Unlock()
			if len(d.ledger) != 2 || d.ledger[1] != `{"body":"6","to":"bank"}` {
				t.Errorf("the ledger has %q", d.ledger)
			}
		})
	}
}
