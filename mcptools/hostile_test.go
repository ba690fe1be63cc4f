package mcptools

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// answer is a response as a line, its id still open.
func answer(result string) string {
	return `{"jsonrpc":"2.0","id":ID,"result":` + result + `}` + "\n"
}

// broken are answers that break the protocol, and what is to come of the call:
// the outcome, and the whole of a result or a part of what the model is told.
func broken() []brokenAnswer {
	const done, failed, unknown = contract.OutcomeDone, contract.OutcomeFailed, contract.OutcomeUnknown
	deep := func(n int) string {
		return answer(`{"content":[],"structuredContent":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	return []brokenAnswer{
		{"isError as a text", answer(`{"isError":"true","content":[{"type":"text","text":"bad"}]}`), failed, "bad"},
		{"isError as a text, alone", answer(`{"isError":"true"}`), failed, "says nothing"},
		{"isError as a text that says no", answer(`{"isError":"false","content":[{"type":"text","text":"good"}]}`), done, "good"},
		{"isError as a number", answer(`{"isError":1,"content":[{"type":"text","text":"bad"}]}`), failed, "bad"},
		{"isError null", answer(`{"isError":null,"content":[{"type":"text","text":"good"}]}`), done, "good"},
		{"isError, null content", answer(`{"isError":true,"content":null}`), failed, "says nothing"},
		{"isError, a text for data", answer(`{"isError":true,"structuredContent":"boom"}`), failed, "boom"},
		{"isError twice", answer(`{"isError":true,"content":[],"isError":false}`), failed, "says nothing"},
		{"isError twice, turned round", answer(`{"isError":false,"content":[],"isError":true}`), failed, "says nothing"},
		{"isError in the data only", answer(`{"content":[],"structuredContent":{"isError":true}}`), done, `{"isError":true}`},
		{"a result that is null", answer(`null`), unknown, "the server's answer is empty"},
		{"a result that is a text", answer(`"done"`), unknown, ""},
		{"a result that is a list", answer(`[{"type":"text","text":"x"}]`), unknown, ""},
		{"no result", `{"jsonrpc":"2.0","id":ID}` + "\n", unknown, ""},
		{"a result and an error", `{"jsonrpc":"2.0","id":ID,"result":{"content":[]},"error":{"code":1,"message":"m"}}` + "\n", failed, "m (code 1)"},
		{"an error that is a text", `{"jsonrpc":"2.0","id":ID,"error":"nope"}` + "\n", unknown, "nope"},
		{"an error with a text for its code", `{"jsonrpc":"2.0","id":ID,"error":{"code":"E5","message":"m"}}` + "\n", unknown, "E5"},
		{"an error that is null", `{"jsonrpc":"2.0","id":ID,"error":null,"result":{"content":[{"type":"text","text":"fine"}]}}` + "\n", done, "fine"},
		{"text that is a number", answer(`{"content":[{"type":"text","text":5}]}`), done, `[content of type "text", 24 bytes, not shown]`},
		{"annotations of another type", answer(`{"content":[{"type":"text","text":"fine","annotations":"x","_meta":7}]}`), done, "fine"},
		{"a link with a text for its size", answer(`{"content":[{"type":"resource_link","uri":"a:b","name":"n","size":"12"}]}`), done, `[content of type "resource_link", 59 bytes, not shown]`},
		{"a resource with a number for its text", answer(`{"content":[{"type":"resource","resource":{"uri":"a:b","text":5}},{"type":"text","text":"x"}]}`), done, "[content of type \"resource\", 53 bytes, not shown]\nx"},
		{"a resource that is null", answer(`{"content":[{"type":"resource","resource":null}]}`), done, `[content of type "resource", 35 bytes, not shown]`},
		{"lists in lists", answer(`{"content":[[{"type":"text","text":"a"}],[[1]]]}`), done, "[content that cannot be read, 28 bytes]\n[content that cannot be read, 5 bytes]"},
		{"_meta of another type", answer(`{"_meta":5,"resultType":5,"content":[{"type":"text","text":"fine"}]}`), done, "fine"},
		{"_meta that is ours to write", answer(`{"_meta":{"turnkeel.structured":"not json","turnkeel.no_result":true},"content":[{"type":"text","text":"fine"}]}`), done, "fine"},
		{"data that is a number", answer(`{"content":[],"structuredContent":5}`), done, "5"},
		{"data that is a text", answer(`{"content":[],"structuredContent":"s"}`), done, `"s"`},
		{"bytes that are no text", answer("{\"content\":[{\"type\":\"text\",\"text\":\"a\xff\xfeb\"}]}"), done, "a\uFFFD\uFFFDb"},
		{"half a surrogate", answer(`{"content":[{"type":"text","text":"a\ud800b"}]}`), done, "a\uFFFDb"},
		{"bare control characters", answer("{\"content\":[{\"type\":\"text\",\"text\":\"a\x00\x1b[31m\tb\\\\\"}]}"), done, "a\x00\x1b[31m\tb\\"},
		{"no number", answer(`{"content":[],"structuredContent":{"mean":NaN,"text":"NaN \"Infinity","low":-Infinity}}`), done, `{"low":null,"mean":null,"text":"NaN \"Infinity"}`},
		{"no JSON", answer(`{"content":[],"structuredContent":{"a":undefined}}`), unknown, "is no JSON"},
		{"nested deeply", deep(2000), unknown, "nests too deeply"},
		{"nested very deeply", deep(20_000), unknown, "nests too deeply"},
		{"more than a message may have", answer(`{"content":[{"type":"text","text":"` + strings.Repeat("x", maxMessageBytes) + `"}]}`), unknown, ""},
	}
}

type brokenAnswer struct {
	name, raw string
	want      contract.Outcome
	text      string
}

func (b brokenAnswer) check(t *testing.T, c *Connection) {
	t.Helper()
	result, v := run(t, c.Tools()[0], `{"text":"a"}`)
	got := result.Text
	if len(result.JSON) > 0 {
		got = string(result.JSON)
	}
	got, v.Text = got[:min(len(got), 400)], v.Text[:min(len(v.Text), 400)]
	switch {
	case v.Outcome != b.want || v.Retry:
		t.Errorf("%s: got %q, %+v", b.name, got, v)
	case b.want == contract.OutcomeDone && got != b.text, b.want != contract.OutcomeDone && !strings.Contains(v.Text, b.text):
		t.Errorf("%s: got %q, %q", b.name, got, v.Text)
	}
}

// D01, D06, P16, T63, T66: an answer that breaks the protocol loses neither the
// result of a call that was made nor its error, and is never a success that the
// server did not tell of.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	s := newScripted(t, script{Tools: oneTool("ask", "Asks.", textSchema)})
	c := s.connect(Options{ToolOptions: ToolOptions{Timeout: time.Hour}}) // nothing here may wait for it
	all := broken()
	for _, b := range all {
		s.set(script{Tools: oneTool("ask", "Asks.", textSchema), RawCall: []byte(b.raw)})
		b.check(t, c)
	}
	if calls := len(s.lines("call ")); calls != len(all) {
		t.Errorf("the server got %d calls, want %d", calls, len(all))
	}
	if starts := len(s.lines("start ")); starts > 2 { // the message that is too large ends a session
		t.Errorf("it was started %d times", starts)
	}
}

// D01, T60: the same by streamable HTTP, as JSON and as a stream.
func TestBrokenAnswersByHTTP(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newRemote(t, nil)
			c := r.connect(t, Options{ToolOptions: ToolOptions{Timeout: time.Hour}})
			more := []brokenAnswer{
				{"a result without a request", strings.ReplaceAll(answer(`{"content":[]}`), "ID", "null"), contract.OutcomeUnknown, ""},
				{"a log", `{"level":"info","result":"x"}` + "\n", contract.OutcomeUnknown, ""},
			}
			for _, b := range append(broken(), more...) {
				r.shut(func(w http.ResponseWriter, _ *http.Request, body string) bool {
					if !isCall(body) {
						return false
					}
					_, id, _ := strings.Cut(body, `"id":`)
					id = id[:strings.IndexAny(id, ",}")]
					raw := strings.ReplaceAll(b.raw, "ID", id)
					w.Header().Set("Content-Type", kind)
					if kind == "text/event-stream" {
						raw = "data: " + raw + "\n"
					}
					fmt.Fprint(w, raw)
					return true
				})
				b.check(t, c)
			}
		})
	}
}

// D06: what else a program prints on its standard output, and what it asks of
// us in the middle of a call, costs neither the answer nor the session.
func TestNoiseAroundTheAnswer(t *testing.T) {
	t.Parallel()
	const tools = `[{"name":"ask","description":"Asks.","inputSchema":` + textSchema + `}]`
	fine := answer(`{"content":[{"type":"text","text":"fine"}]}`)
	line := strings.TrimSpace(fine)
	s := newScripted(t, script{Tools: []byte(tools), Print: `{"level":30,"msg":"listening"}` + "\n" + `["up"]` + "\n" + "Ready… "})
	c := s.connect(Options{ToolOptions: ToolOptions{Timeout: time.Hour}})
	for name, raw := range map[string]string{
		"a log in JSON":              `{"level":"info","msg":"calling"}` + "\n" + fine,
		"a log that has an id":       `{"id":ID,"msg":"calling","result":"none"}` + "\n" + fine,
		"lists":                      `["a"]` + "\n[]\n[[]]\n" + fine,
		"an error of nothing":        `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}` + "\n" + fine,
		"an answer to nothing":       strings.ReplaceAll(fine, "ID", "987654") + fine,
		"an answer to an object":     strings.ReplaceAll(fine, "ID", "{}") + fine,
		"the answer twice":           fine + fine,
		"a text for the id":          strings.ReplaceAll(fine, "ID", `"ID"`),
		"no version":                 strings.ReplaceAll(fine, `"jsonrpc":"2.0",`, ""),
		"a mark of the byte order":   "\xef\xbb\xbf" + fine,
		"a carriage return":          line + "\r\n",
		"a print without line feed":  "Working… " + fine,
		"something behind it":        line + " xyz\n",
		"the request's method":       strings.ReplaceAll(fine, `"id"`, `"method":"tools/call","id"`),
		"a list of one":              "[" + line + "]\n",
		"a list of two":              `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}},` + line + "]\n",
		"a list with a stranger":     `[5,` + line + "]\n",
		"a number that JSON has not": strings.ReplaceAll(fine, `"content"`, `"_meta":{"a":NaN,"b":[-Infinity,Infinity]},"content"`),
		"a number with a point":      strings.ReplaceAll(fine, "ID", "ID.0"),
		"two on a line":              `{"jsonrpc":"2.0","method":"notifications/message","params":5}` + fine,
		"notifications":              `{"jsonrpc":"2.0","method":"notifications/zzz","params":[1]}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"x"}}` + "\n" + `{"jsonrpc":"2.0","method":7}` + "\n" + fine,
		"requests": `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","method":"elicitation/create","params":null}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"roots/list"}` + "\n" + strings.Repeat(`{"jsonrpc":"2.0","id":3,"method":"ping"}`+"\n", 100) + fine,
	} {
		s.set(script{Tools: []byte(tools), RawCall: []byte(raw)})
		brokenAnswer{name, raw, contract.OutcomeDone, "fine"}.check(t, c)
	}
	if starts := s.lines("start "); len(starts) != 1 {
		t.Errorf("it was started as %v", starts)
	}
}

// D08, T65, T67: a tool of a listing that cannot be read is disabled alone, and
// hints of another type are none.
func TestBrokenListing(t *testing.T) {
	t.Parallel()
	const good = `{"name":"good","description":"Good.","inputSchema":{"type":"object"}}`
	for _, tt := range []struct{ name, tool, disabled string }{
		{"hints that are texts", `{"name":"odd","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes","idempotentHint":1}}`, ""},
		{"annotations, title and icons of other types", `{"name":"odd","inputSchema":{"type":"object"},"annotations":[],"title":5,"icons":"x","_meta":3}`, ""},
		{"a description that is a number", `{"name":"odd","description":5,"inputSchema":{"type":"object"}}`, "its definition cannot be read"},
		{"a name that is a number", `{"name":5,"inputSchema":{"type":"object"}}`, "no name"},
		{"no object", `"odd"`, "no name"},
		{"a schema that is true", `{"name":"odd","inputSchema":true}`, ""},
		{"a schema that is false", `{"name":"odd","inputSchema":false}`, "schema"},
		{"a schema that is a text", `{"name":"odd","inputSchema":"object"}`, "schema"},
		{"a schema that is null", `{"name":"odd","inputSchema":null}`, ""},
		{"no schema", `{"name":"odd"}`, ""},
		{"an output schema that is a text", `{"name":"odd","inputSchema":{"type":"object"},"outputSchema":"x"}`, ""},
	} {
		s := newScripted(t, script{Tools: []byte(`[` + tt.tool + `,` + good + `]`), Result: []byte(`{"content":[]}`)})
		c := s.connect(Options{TrustHints: true})
		tools := len(c.Tools())
		if tt.disabled == "" && (tools != 2 || len(c.Disabled()) != 0) ||
			tt.disabled != "" && (tools != 1 || len(c.Disabled()) != 1 || !strings.Contains(c.Disabled()[0].Reason, tt.disabled)) {
			t.Errorf("%s: %d tools, disabled %+v", tt.name, tools, c.Disabled())
			continue
		}
		if class := c.Tools()[0].Class(); class != "at_most_once" {
			t.Errorf("%s: %s", tt.name, class)
		}
		if _, v := run(t, c.Tools()[tools-1], `{}`); v.Outcome != contract.OutcomeDone {
			t.Errorf("%s: the other tool: %+v", tt.name, v)
		}
	}
}
