package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnkeel/turnkeel/tooldefs"
)

func descriptor(t *testing.T, text string) *mcp.Tool {
	t.Helper()
	var d mcp.Tool
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

func nothing(context.Context, *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{}, nil
}

// D08: the label of a schema's dialect neither disables a tool nor is fetched;
// an output schema that cannot be used is passed over with a warning.
func TestDialects(t *testing.T) {
	t.Parallel()
	for _, label := range []string{
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-04/schema#",
		"https://example.invalid/custom", "http://127.0.0.1:1/schema", "", "no uri at all",
	} {
		d := descriptor(t, fmt.Sprintf(`{"name":"ask","description":"Asks.","inputSchema":{"$schema":%q,"type":"object","properties":{"n":{"const":1}}},"outputSchema":{"$schema":%q,"type":"object"}}`, label, label))
		tool, err := Wrap(d, nothing, Options{})
		if err != nil {
			t.Errorf("%s: %v", label, err)
			continue
		}
		if slices.ContainsFunc(tool.Warnings(), func(w string) bool { return strings.Contains(w, "schema") }) {
			t.Errorf("%s: warnings %v", label, tool.Warnings())
		}
		if tool.Check(`{"n":2}`).Problem == "" || tool.Check(`{"n":1}`).Problem != "" {
			t.Errorf("%s: const does not hold", label)
		}
	}
	for _, output := range []string{`{"$ref":"https://example.invalid/x.json"}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{"pattern":"(?<=a)b"}`, `{"type":"objet"}`, `7`} {
		d := descriptor(t, `{"name":"ask","description":"Asks.","inputSchema":{"type":"object"},"outputSchema":`+output+`}`)
		tool, err := Wrap(d, nothing, Options{})
		if err != nil {
			t.Errorf("%s: %v", output, err)
			continue
		}
		if !slices.ContainsFunc(tool.Warnings(), func(w string) bool { return strings.Contains(w, "results are not validated") }) {
			t.Errorf("%s: warnings %v", output, tool.Warnings())
		}
	}
}

// D08, T25, T68: a descriptor that cannot be used disables that one tool.
func TestWrapAllDisables(t *testing.T) {
	t.Parallel()
	good := `{"name":"good","description":"Good.","inputSchema":{"type":"object"}}`
	for _, tt := range []struct{ name, descriptor, want string }{
		{"a schema that is fetched", `{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"$ref":"https://example.invalid/x"}}}}`, "$ref"},
		{"no object", `{"name":"bad","inputSchema":{"type":"string"}}`, "must describe an object"},
		{"a pattern with lookahead", `{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"pattern":"^(?!x)"}}}}`, "pattern"},
		{"a reference to nothing", `{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}}`, "points to nothing"},
		{"a description of a megabyte", `{"name":"bad","description":"` + strings.Repeat("Very. ", 170_000) + `","inputSchema":{"type":"object"}}`, "1019999 bytes, at most 65536"},
		{"a title of a megabyte", `{"name":"bad","title":"` + strings.Repeat("x", 1<<20) + `","inputSchema":{"type":"object"}}`, "1048576 bytes, at most 65536"},
		{"no name", `{"name":" ","inputSchema":{"type":"object"}}`, "no name"},
		{"a name twice", good, `another tool of the server is named "good"`},
	} {
		tools, disabled := WrapAll([]*mcp.Tool{descriptor(t, good), descriptor(t, tt.descriptor), nil}, nothing, Options{})
		if len(tools) != 1 || len(disabled) != 1 || !strings.Contains(disabled[0].Reason, tt.want) {
			t.Errorf("%s: %d tools, disabled %+v", tt.name, len(tools), disabled)
		}
	}
	if _, err := Wrap(nil, nothing, Options{}); err == nil {
		t.Error("no descriptor")
	}
	if _, err := Wrap(descriptor(t, good), nil, Options{}); err == nil {
		t.Error("no call")
	}
	for _, usable := range []string{
		`{"type":"object","properties":null,"required":null}`, `{"type":["object","null"]}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":null,"required":null,"enum":null,"description":null,"items":null,"allOf":null},"b":null},"$defs":null,"additionalProperties":null}`,
		`{"type":"object","properties":{"list":{"type":"array","items":{"type":"object","required":null}}},"anyOf":[{"required":null}]}`, `{"properties":{"a":{"type":"string"}}}`, `{"$schema":5,"type":"object"}`, `true`,
		`{"type":"object","properties":{"c":{"type":"array","items":{"$ref":"#"}}}}`, `{"type":"object","properties":{"a":{"$ref":"#/definitions/b"}},"definitions":{"b":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`, `{"type":"object","properties":{"a":{"type":"string","format":"odd","nullable":true}}}`,
	} {
		if _, err := Wrap(descriptor(t, `{"name":"ok","inputSchema":`+usable+`}`), nothing, Options{}); err != nil {
			t.Errorf("%s: %v", usable, err)
		}
	}
	// What has no schema at all takes no arguments of its own.
	if tool, err := Wrap(descriptor(t, `{"name":"bare"}`), nothing, Options{}); err != nil || tool.Description() == "" {
		t.Errorf("bare: %v", err)
	}
}

// T68: the descriptors of a session that the caller holds, over the SDK's own
// server; an empty prefix keeps the names.
func TestWrapAllOfASession(t *testing.T) {
	t.Parallel()
	type in struct {
		Text string `json:"text"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "shout", Description: "Shouts."}, func(_ context.Context, r *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.ToUpper(a.Text) + " " + fmt.Sprint(r.Params.Meta[MetaKey])}}}, nil, nil
	})
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, disabled := WrapAll(listed.Tools, session.CallTool, Options{})
	if len(tools) != 1 || len(disabled) != 0 || tools[0].Name() != "shout" {
		t.Fatalf("%v, %v", tools, disabled)
	}
	if result, v := run(t, tools[0], `{"text":"hey"}`); result.Text != "HEY key-1" {
		t.Errorf("got %+v, %+v", result, v)
	}
}

// T65: class and effects come from the options; the server's hints count only
// where they are trusted, and never against an option.
func TestClasses(t *testing.T) {
	t.Parallel()
	const hints = `{"name":"read","description":"Reads.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
	const idempotent = `{"name":"read","description":"Reads.","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}`
	const plain = `{"name":"read","description":"Reads.","inputSchema":{"type":"object"}}`
	yes := true
	for _, tt := range []struct {
		name, descriptor string
		options          Options
		class            tooldefs.Class
		effects          tooldefs.Effects
		parallel         bool
	}{
		{"nothing said", plain, Options{}, tooldefs.AtMostOnce, tooldefs.External, false},
		{"hints are not trusted", hints, Options{}, tooldefs.AtMostOnce, tooldefs.External, false},
		{"hints are trusted", hints, Options{TrustHints: true}, tooldefs.SafeToRetry, tooldefs.None, false},
		{"idempotent", idempotent, Options{TrustHints: true}, tooldefs.SafeToRetry, tooldefs.External, false},
		{"no hints to trust", plain, Options{TrustHints: true}, tooldefs.AtMostOnce, tooldefs.External, false},
		{"for the server", plain, Options{ToolOptions: ToolOptions{Class: tooldefs.Keyed, ParallelSafe: &yes}}, tooldefs.Keyed, tooldefs.External, true},
		{"for the tool", plain, Options{ToolOptions: ToolOptions{Class: tooldefs.Keyed}, Tools: map[string]ToolOptions{"read": {Class: tooldefs.SafeToRetry, Effects: tooldefs.None}}}, tooldefs.SafeToRetry, tooldefs.None, false},
		{"for another tool", plain, Options{Tools: map[string]ToolOptions{"write": {Class: tooldefs.SafeToRetry}}}, tooldefs.AtMostOnce, tooldefs.External, false},
		{"an option goes before a hint", hints, Options{TrustHints: true, ToolOptions: ToolOptions{Class: tooldefs.AtMostOnce, Effects: tooldefs.External}}, tooldefs.AtMostOnce, tooldefs.External, false},
		{"none of effects", plain, Options{ToolOptions: ToolOptions{Effects: tooldefs.None}}, tooldefs.SafeToRetry, tooldefs.None, false},
	} {
		tool, err := Wrap(descriptor(t, tt.descriptor), nothing, tt.options)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if parallel := tool.ParallelSafe(`{}`); tool.Class() != tt.class || tool.Effects() != tt.effects || parallel != tt.parallel {
			t.Errorf("%s: %s, %s, %v", tt.name, tool.Class(), tool.Effects(), parallel)
		}
	}
}

// T61: names are legal, the same whatever else is listed, and differ where the
// server's differ.
func TestName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64)
	for _, tt := range []struct{ prefix, name, want string }{
		{"", "read_file", "read_file"},
		{"docs", "read_file", "docs_read_file"},
		{"", long, long},
		{"", "Read-File2", "Read-File2"},
	} {
		if got := Name(tt.prefix, tt.name); got != tt.want {
			t.Errorf("%s %s: got %s", tt.prefix, tt.name, got)
		}
	}
	legal := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	of := map[string]string{}
	check := func(name string) {
		got := Name("", name)
		if !legal.MatchString(got) {
			t.Errorf("%q: %q is not legal", name, got)
		}
		if other, taken := of[got]; taken && other != name {
			t.Errorf("%q and %q are both %s", name, other, got)
		}
		of[got] = name
	}
	for _, name := range []string{"a.b", "a b", "a_b", "a/b", "ä", "ö", "文", "", ".", long + "1", long + "2", strings.Repeat("x", 63) + "."} {
		check(name)
		check(Name("", name)) // a server may list what looks like a name of ours
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same names each time
	const letters = "ab_-./ é"
	for range 20_000 {
		var b strings.Builder
		for range 1 + random.IntN(8) {
			b.WriteByte(letters[random.IntN(len(letters))])
		}
		check(b.String())
		check(b.String() + long)
	}
}

// D03, T67: the fingerprint is that of what a model reads of a tool.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	const base = `{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"b":{"type":"integer"}}}}`
	want := Fingerprint(descriptor(t, base))
	for text, same := range map[string]bool{
		`{"inputSchema":{"properties":{"b":{"type":"integer"},"a":{"enum":["x","y"],"type":"string"}},"type":"object"},"description":"Sends.","name":"send"}`:                true,
		`{"name":"send","title":"Send","description":"Sends.","inputSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"b":{"type":"integer"}}}}`: true,
		`{"name":"send","description":"Sends!","inputSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"b":{"type":"integer"}}}}`:                false,
		`{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"a":{"type":"string","enum":["y","x"]},"b":{"type":"integer"}}}}`:                false,
		`{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}}}}`:                                       false,
		`{"name":"sent","description":"Sends.","inputSchema":{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"b":{"type":"integer"}}}}`:                false,
	} {
		if got := Fingerprint(descriptor(t, text)); (got == want) != same {
			t.Errorf("%s: the same is %v", text, got == want)
		}
	}
	// A call that was planned with another wording does not run.
	tool := func(text string) *tooldefs.Tool {
		w, err := Wrap(descriptor(t, text), nothing, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if tool(base).ExecutionDigest() == tool(strings.Replace(base, "Sends.", "Sends all.", 1)).ExecutionDigest() {
		t.Error("the wording is no part of what a planned call relies on")
	}
	if Fingerprint(nil) != "" {
		t.Error("a fingerprint of nothing")
	}
}
