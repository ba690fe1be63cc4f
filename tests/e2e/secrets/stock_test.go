package secrets

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func mcpCall(tool, way string) call {
	return call{tool, fmt.Sprintf(`{"way":%q,"note":%q}`, way, witness)}
}

func search(query string) call { return call{"web_search", fmt.Sprintf(`{"query":%q}`, query)} }

// sql asks a query; %s in it is the server's password, in two pieces so that
// the model's own words do not have it.
func sql(query string) call {
	query = strings.ReplaceAll(query, "%s", "'"+pgPassword[:8]+"' || '"+pgPassword[8:]+"'")
	args, _ := json.Marshal(map[string]string{"query": query})
	return call{"sql_query", string(args)}
}

// scenarios are turns by the word that their message begins with; the agent is
// the word before the dot.
func scenarios() map[string][]reply {
	done := reply{text: "done " + witness}
	all := map[string][]reply{
		"leaky.search": {{calls: []call{search("401"), search("500"), search("elsewhere"), search("cut"), search("cut64"), search("none"), search("page"), search("tea")}}, done},
		"leaky.denied": {{calls: []call{mcpCall("own_asks", "text")}}, done},
		"leaky.cancel": {{calls: []call{mcpCall("own_leak", "hang")}}, done},
		"leaky.slow":   {{calls: []call{mcpCall("own_slow", "hang")}}, done},
		"leaky.echo": {
			{text: "Your key is {key}, in base64 {key64}.", also: "{key}", calls: []call{
				{"web_search", `{"query":"what is {key}"}`}, {"own_leak", `{"way":"text","note":"{key64}"}`}, {"own_leak", `{"way":"{key}`}, {"{key}", `{}`},
			}},
			{text: "Again: {key} " + witness, also: "{key}"},
		},
		"usual.echo":    {{text: "The usual key is {key}. " + witness, also: "{key64}"}},
		"leaky.refused": {{status: 401, also: "{key}", text: `{"error":{"message":"Incorrect API key provided: {key}, in base64 {key64}.","code":"{key}","type":"{key}"}}`}},
		"usual.refused": {{status: 400, also: "{key}", text: `{"error":{"message":"bad request of {key}","param":"{key}"}}`}},
		"leaky.page":    {{status: 403, text: "<html><title>{key}</title>key={key64}"}},
		"sql_good.ask": {{calls: []call{
			sql("SELECT '" + pgPassword + "'"), sql("SELECT %s AS a"), sql("SELECT (%s)::int"), sql("SELECT repeat('x', 1990) || %s"), sql("SELECT json_build_object(%s, %s)"),
			sql("SELECT encode((%s)::bytea, 'base64'), encode((%s)::bytea, 'hex')"), sql("SELECT upper(%s), lower(%s)"),
		}}, done},
	}
	for _, name := range []string{"down", "wrong", "unparsed", "port", "slash", "hash"} {
		all["sql_"+name+".ask"] = []reply{{calls: []call{sql("SELECT 1")}}, done}
	}
	ways := []reply{}
	for _, way := range []string{"text", "structured", "embedded", "error", "long_error", "stderr", "notify", "large"} {
		ways = append(ways, reply{calls: []call{mcpCall("own_leak", way), mcpCall("far_leak", way)}})
	}
	for _, way := range []string{"status", "fault", "redirect", "page"} {
		ways = append(ways, reply{calls: []call{mcpCall("far_leak", way)}})
	}
	all["leaky.ways"] = append(ways, reply{calls: []call{mcpCall("own_leak", "panic")}}, reply{calls: []call{mcpCall("own_leak", "text")}}, done)
	return all
}

// Y02, T10, P21: the stock worker, with its built-in tools, real servers and
// real secrets, leaves none of them anywhere, whatever the tools and the model
// do with them and however a turn ends.
func TestStockWorkerKeepsSecrets(t *testing.T) {
	t.Parallel()
	early := map[string][]reply{
		"leaky.killed": {{calls: []call{mcpCall("own_leak", "error")}}, {calls: []call{mcpCall("own_leak", "hang")}}, {text: "done"}},
		"leaky.noblob": {{calls: []call{mcpCall("own_leak", "large")}}, {text: "done"}},
	}
	turns := scenarios()
	for name, replies := range early {
		turns[name] = replies
	}
	s := newStock(t, turns)

	first := s.worker(false, "AWS_SESSION_TOKEN="+s.secret["AWS_SESSION_TOKEN"], "AWS_ENDPOINT_URL_S3="+s3Echo(t))
	s.starter("run", "--agent", "leaky", "--turn-id", "leaky.noblob", "leaky.noblob "+witness)
	followed, leave := context.WithCancel(t.Context())
	following := s.command(followed, starter, "run", "--agent", "leaky", "--turn-id", "leaky.killed", "leaky.killed "+witness)
	if err := following.Start(); err != nil {
		t.Fatal(err)
	}
	s.until("a call hangs", func() bool { return s.hangs("leaky.killed") })
	s.end("the log as JSON", first, syscall.SIGKILL)
	leave()
	_ = following.Wait()
	second := s.worker(true)
	s.all(turns)
	s.look(turns)
	s.end("the log for people", second, syscall.SIGTERM)
	s.grep()
}

// all runs the turns side by side.
func (s *stock) all(turns map[string][]reply) {
	s.t.Helper()
	var mu sync.Mutex
	var running sync.WaitGroup
	for _, name := range sorted(turns) {
		agent, _, _ := strings.Cut(name, ".")
		cmd := s.command(s.t.Context(), starter, "run", "--agent", agent, "--turn-id", name, name+" "+witness)
		running.Go(func() {
			out, _ := cmd.CombinedOutput()
			mu.Lock()
			defer mu.Unlock()
			s.said["run "+name] = out
		})
	}
	s.until("a call waits for a person", func() bool {
		out, _ := s.starter("pending", "leaky.denied", "--output", "json")
		return strings.Contains(out, "own_asks")
	})
	if out, code := s.starter("deny", "leaky.denied", "--yes", "--by", "ann", "--comment", "not now"); code != 0 {
		s.t.Fatalf("exit code %d: %s", code, out)
	}
	s.until("a call hangs", func() bool { return s.hangs("leaky.cancel") })
	s.starter("cancel", "leaky.cancel")
	running.Wait()
}

// look asks for all that the starter tells.
func (s *stock) look(turns map[string][]reply) {
	s.t.Helper()
	for _, format := range []string{"json", "text"} {
		for _, args := range [][]string{{"list"}, {"tools"}, {"check"}, {"pending"}} {
			if out, code := s.starter(append(args, "--output", format)...); code != 0 {
				s.t.Errorf("%v: exit code %d: %s%s", args, code, out, s.said["starter "+strings.Join(append(args, "--output", format), " ")])
			}
		}
		for _, name := range sorted(turns) {
			s.starter("show", name, "--output", format)
			s.starter("effects", name, "--output", format)
		}
	}
}

// grep looks for the secrets wherever something was left, and for the witness
// where one must be.
func (s *stock) grep() {
	s.t.Helper()
	s.said["what is recorded"] = s.recorded()
	blobs, data := s.filesBelow(s.blobs.Dir), s.filesBelow(s.dir+"/server")
	for _, found := range []map[string][]byte{blobs, data} {
		for name, file := range found {
			s.said[name] = file
		}
	}
	secretsIn(s.t, s.said, s.secret)
	secretsIn(s.t, s.said, pieces)
	for turn, want := range map[string]string{ // each came to what it is there for
		"leaky.cancel": "own_leak → canceled", "leaky.slow": "timed out after 500ms", "leaky.denied": "ann denied it: not now", "leaky.killed": "Heartbeat timeout",
		"leaky.ways": "the connection to the server broke", "leaky.search": "attempt 5", "leaky.echo": "its arguments held the value", "leaky.refused": "auth (401)",
		"sql_good.ask": `invalid input syntax for type integer: "[SQL_DATABASE_URL]"`, "sql_wrong.ask": "SQLSTATE 28P01", "sql_down.ask": "cannot be reached", "sql_slash.ask": "cannot be reached",
		"sql_unparsed.ask": "is neither postgres://", "sql_port.ask": "cannot be used", "sql_hash.ask": "is neither postgres://",
	} {
		if !bytes.Contains(s.said["run "+turn], []byte(want)) {
			s.t.Errorf("%s does not say %q:\n%s", turn, want, s.said["run "+turn])
		}
	}
	for _, place := range []string{
		"what is recorded", "the log as JSON", "the log for people", "run leaky.ways", "starter tools --output json", "starter check --output json",
		"starter show leaky.ways --output json", "starter effects leaky.ways --output json", "starter show leaky.ways --output text",
	} {
		if !bytes.Contains(s.said[place], []byte(witness)) {
			s.t.Errorf("the witness is not in %s: nothing was looked at:\n%.2000s", place, s.said[place])
		}
	}
	for what, found := range map[string]map[string][]byte{"a blob": blobs, "the database": data} {
		if !bytes.Contains(bytes.Join(values(found), nil), []byte(witness)) {
			s.t.Errorf("the witness is not in %s: nothing was looked at", what)
		}
	}
}

func values(m map[string][]byte) [][]byte {
	var all [][]byte
	for _, v := range m {
		all = append(all, v)
	}
	return all
}
