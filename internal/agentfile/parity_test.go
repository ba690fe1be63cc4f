package agentfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/xeipuuv/gojsonschema"
)

// unsayable is what the reader refuses and a JSON Schema cannot say, by name,
// with what the reader says of it.
var unsayable = map[string]*regexp.Regexp{
	"a length of time that is too long for its key": regexp.MustCompile(`: want at most \w+, found \w+`),
	"a length of time beyond what can be counted":   regexp.MustCompile(`want a duration like 90s, 30m or 24h, found "(0.0+1ns|9+h)"`),
	"an address that is none in its details":        regexp.MustCompile(`: want a URL like`),
	"a file that is not there":                      regexp.MustCompile(`: cannot read `),
	"two rules of one id":                           regexp.MustCompile(`\.id: .* stands a second time; the first is in line`),
	"a regular expression that does not compile":    regexp.MustCompile(`\.regex: (invalid|missing|unexpected|is too costly)`),
	"a size in bytes, of text beyond ASCII":         regexp.MustCompile(`at most (512|1000) characters, found "[^"]*é`),
	"text that is long after its ends are trimmed":  regexp.MustCompile(`(deny|message): at most 1000 characters$`),
	"a name that is both required and optional":     regexp.MustCompile(`is both required and optional`),
	"a binding of what nothing declares":            regexp.MustCompile(`is neither required nor optional`),
	"two servers with one prefix":                   regexp.MustCompile(`is that of mcp_servers\.`),
	"two headers whose names differ in case only":   regexp.MustCompile(`is the same header as `),
	"a size of the policy as a whole":               regexp.MustCompile(`policy: .*bytes`),
	"an exponent beyond all bounds":                 regexp.MustCompile(`its exponent is too large`),
}

// parityExtras show what no value in the place of another does.
func parityExtras() []string {
	var rules []string
	for i := range 80 {
		rules = append(rules, fmt.Sprintf(`{"id":"r%d","when":{"tools":["a"]},"then":{"deny":"%s"}}`, i, strings.Repeat("no ", 300)))
	}
	return []string{
		`{"model":"openai/x","env":{"required":["A"],"optional":{"A":"x"}}}`,
		`{"model":"openai/x","endpoint":{"base_url":"https://x/%zz"}}`, `{"model":"openai/x","endpoint":{"base_url":"https://[::1]:80/y"}}`,
		`{"model":"openai/x","policy":{"rules":[{"id":"a","when":{"args":{"/a":{"regex":"("}}},"then":"allow"}]}}`,
		`{"model":"openai/x","mcp_servers":{"s":{"url":"https://x","headers_env":{"Authorization":"A","authorization":"B"}}}}`,
		`{"model":"openai/x","mcp_servers":{"s":{"command":["x"],"prefix":"p"},"t":{"command":["y"],"prefix":"p"}}}`,
		`{"model":"openai/x","policy":{"rules":[` + strings.Join(rules, ",") + `]}}`,
		`{"model":"openai/x","policy":{"rules":[{"id":"a","when":{"args":{"/` + strings.Repeat("é", 300) + `":{"gt":1e999}}},"then":"allow"}]}}`,
	}
}

// parityDocuments are small files that together have every key of the format.
var parityDocuments = []string{
	`{"model":"openai/x","name":"b","temperature":0.5,"max_output_tokens":10,"reasoning_effort":"low","context_window":1000,"instructions":"instructions.md"}`,
	`{"model":"scripted/demo.yaml","endpoint":{}}`,
	`{"model":"openai/x","endpoint":{"base_url":"https://x/v1","api_key_env":"K","echo_reasoning":"never","provider":"openai","api_version":"v1","parallel_tool_calls":true,"first_byte_timeout":"1m","idle_timeout":"9m"}}`,
	`{"model":"openai/x","endpoint":{"quirks":{"echo_reasoning":"never","private_fields":"echo","missing_signature":"none","tool_call_ids":"any","token_limit":"max_tokens","stream":"on","stream_usage":"ask","parallel_option":"send","history_tools":"omit","user_after_tool":"allow","auth":"bearer","origin":"model"}}}`,
	`{"model":"openai/x","tools":["a","b"],"builtin_tools":["web_search"]}`,
	`{"model":"openai/x","tools":"all","max_output_tokens":5,"limits":{"max_steps":3}}`,
	`{"model":"openai/x","limits":{"max_steps":1,"max_tool_calls_per_step":1,"max_tool_concurrency":1,"max_tool_result_chars":1,"max_wall_clock":"30m","max_attempts_per_task":1,"max_output_tokens":1,"token_budget":1}}`,
	`{"model":"openai/x","mcp_servers":{"s":{"command":["npx","-y"],"dir":"data","env":{"T":"TOKEN"},"prefix":"p","idempotency":"keyed","effects":"none","timeout":"24h","parallel_safe":true,"trust_hints":true,"strip_nulls":false,"start_timeout":"1m","allow":["a","b"],"tools":{"a":{"idempotency":"at_most_once","effects":"external","timeout":"1s","parallel_safe":false}}}}}`,
	`{"model":"openai/x","mcp_servers":{"s":{"url":"https://x/mcp?a=b","headers_env":{"Authorization":"TOKEN"}},"t":{"command":["x"]}}}`,
	`{"model":"openai/x","policy":{"default":"deny","rules":[{"id":"a","when":{"tools":["a","b*"],"effects":["external"],"agents":["x"],"over_limit":{"per_turn":1,"per_session":2}},"then":{"deny":"no"}},{"id":"b","when":{"tools":["*"]},"then":"allow"}]}}`,
	`{"model":"openai/x","policy":{"rules":[{"id":"a","when":{"args":{"/a":{"equals":1,"one_of":["EUR",2,true],"contains":"x","regex":"a+","gt":1,"gte":0.5,"lt":1e3,"lte":-1},"/b":{"absent":true}}},"then":{"require_approval":{"approvers":["ops"],"timeout":"24h","message":"look"}}}]}}`,
	`{"model":"openai/x","approvals":{"timeout":"24h","approvers":["ops","dev"]}}`,
	`{"model":"openai/x","env":{"required":["A","B"],"optional":{"C":"","D":"x"},"bind":{"A":"P_A"}}}`,
	`{"model":"openai/x","subagents":[],"agents":{"can_call":[],"accept_from":[]},"processes":{},"sandbox":false}`,
}

// parityValues stand in the place of every value of every document.
func parityValues() []string {
	values := []string{
		`null`, `true`, `false`, `0`, `1`, `-1`, `1.5`, `2`, `-0`, `1e3`, `1.0`, `0.1e1`, `2147483647`, `2147483648`, `1e10`, `1e-400`, `123456789012345678901234567890`,
		`[]`, `[""]`, `["a"]`, `["a","a"]`, `["A","A"]`, `["A","B"]`, `["all","a"]`, `["all"]`, `["external"]`, `[null]`, `[1]`, `[[]]`, `[{}]`, `[" "]`, `["x","y z",""]`,
		`{}`, `{"a":null}`, `{"A":"A"}`, `{"A":""}`, `{"":"x"}`, `{"a":1}`, `{"x":{}}`, `{"/a":{"gt":1}}`, `{"deny":"no"}`, `{"deny":"no","require_approval":{}}`, `{"require_approval":{}}`, `{"absent":true,"gt":1}`, `{"absent":false,"gt":1}`,
		`{"a":"A","A":"B"}`, `{"s":{"command":["x"]}}`, `{"s":{"url":"https://x","dir":"y"}}`, `{"can_call":["a"]}`, `{"can_call":null}`,
	}
	texts := []string{
		"", " ", "\t", "x", "X", "all", "All", "a b", "a-b", "a/b", "a_b", "../x", "/x", "x/../y", "x//y", "./x", "x/", ".", "..", "instructions.md", "a\\b", "a\nb", "\u00e9", "\u00a0", "default", "*", "a*?", "1", "0.5", "yes", "no", "true", "null", "~",
		"allow", "deny", "require_approval", "external", "none", "never", "always", "keyed", "on", "any", "low", "minimal", "LOW",
		"0s", "30m", "1h30m", "1.5h", ".5s", "1.s", ".s", "+1m", "-1m", "30", "30min", "30 m", "1d", "9m", "9m1s", "24h", "24h1ns", "0.0h0s", "0.0000001ns", "1us", "1\u00b5s", "1\u03bcs", "1M", "99999999999h", "1..5s", "m",
		"https://x", "https://x/", "https://x/y", "https://u:p@x/", "http://x?q=1", "http://x?", "http://x#f", "http://x#", "HTTP://X/", "https://", "https:///y", "https://:80", "https://x:80/y", "https://x:", "https://x:y", "https://x/a@b", "https://x y", "https://[::1]:80/y", "https://[::1", "ftp://x", "//x", " https://x", "https://x/%zz", "https://\u00e9/",
		"openai/x", "OpenAI/x", "openai/", "/x", "openai//x", "openai/a b", "openai/x/y:z", "o.p-e_n/x", "1a/x", "scripted", "scripted/", "scripted/demo.yaml", "scripted/../x", "scripted/a/./b", "scripted/x y",
		"A1_b", "1A", "A-B", "A=B", "/a", "/a~0", "/a~2", "/", "a~", "(", "a{9999}", "\\d+", "[a-", "(?<=a)b",
	}
	for _, n := range []int{40, 41, 42, 64, 65, 127, 128, 129, 200, 201, 511, 512, 1000, 1001} {
		texts = append(texts, strings.Repeat("a", n), strings.Repeat("\u00e9", n), "/"+strings.Repeat("a", n-1), "/"+strings.Repeat("\u00e9", n-1))
	}
	for _, text := range texts {
		data, _ := json.Marshal(text)
		values = append(values, string(data))
	}
	return values
}

// slot is one place of a document: get and set what stands there, or drop it.
type slot struct {
	path string
	set  func(v any)
	drop func()
}

// slots are all places of a document, and for each mapping one of a key more.
func slots(v any, path string, set func(any)) []slot {
	found := []slot{{path, set, nil}}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner := slots(v[key], path+"."+key, func(x any) { v[key] = x })
			inner[0].drop = func() { delete(v, key) }
			found = append(found, inner...)
			for _, other := range []string{strings.ToUpper(key), key + "s", "/" + key, key + " ", ""} {
				found = append(found, slot{path + "." + key + " as " + other, nil, func() { v[other] = v[key]; delete(v, key) }})
			}
		}
	case []any:
		for i := range v {
			found = append(found, slots(v[i], fmt.Sprintf("%s[%d]", path, i), func(x any) { v[i] = x })...)
		}
		found = append(found, slot{path + "[twice]", nil, func() { set(append(slices.Clone(v), v...)) }})
	}
	return found
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(text, err)
	}
	return v
}

// parity holds the two verdicts on a document against each other.
type parity struct {
	schema         *gojsonschema.Schema
	seen           map[string]bool
	same, unsaid   int
	differ         int
	accepted       int
	alreadyWritten map[string]bool
}

func (p *parity) check(t *testing.T, what string, doc any) {
	t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if p.alreadyWritten[text] {
		return
	}
	p.alreadyWritten[text] = true
	result, err := p.schema.Validate(gojsonschema.NewStringLoader(text))
	if err != nil {
		t.Fatal(text, err)
	}
	_, err = LoadFS(folder("x/agent.yaml", text, "x/instructions.md", "Hello.", "x/demo.yaml", "steps: [{text: hi}]\n"), "agents")
	switch {
	case result.Valid() == (err == nil):
		p.same++
		if err == nil {
			p.accepted++
		}
	case err == nil:
		p.differ++
		t.Errorf("%s: only the schema refuses it: %v\n%.300s", what, result.Errors(), text)
	case p.allUnsayable(err):
		p.unsaid++
	default:
		p.differ++
		t.Errorf("%s: only the reader refuses it: %v\n%.300s", what, err, text)
	}
	if p.differ > 40 {
		t.Fatal("and so on")
	}
}

func (p *parity) allUnsayable(err error) bool {
	for line := range strings.Lines(err.Error()) {
		known := false
		for name, said := range unsayable {
			if said.MatchString(strings.TrimSuffix(line, "\n")) {
				p.seen[name], known = true, true
			}
		}
		if !known {
			return false
		}
	}
	return true
}

// Y01: the editors' schema and the reader agree on every document, both ways, but
// for what a schema cannot say: every value in every place of every key, keys that
// are misspelt, gone or in the wrong place, and several of these at once.
func TestSchemaAndReaderAgree(t *testing.T) {
	t.Parallel()
	schema, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(readSchema(t)))
	if err != nil {
		t.Fatal(err)
	}
	p := &parity{schema: schema, seen: map[string]bool{}, alreadyWritten: map[string]bool{}}
	values := parityValues()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same each time
	for _, text := range parityExtras() {
		p.check(t, "extra", parsed(t, text))
	}
	for _, text := range parityDocuments {
		p.check(t, "whole", parsed(t, text))
		for i := range slots(parsed(t, text), "", func(any) {}) {
			var doc any
			again := func() slot {
				doc = parsed(t, text)
				return slots(doc, "", func(v any) { doc = v })[i]
			}
			if s := again(); s.drop != nil {
				s.drop()
				p.check(t, s.path+" dropped", doc)
			}
			if again().set == nil {
				continue
			}
			for _, value := range values {
				if random.IntN(6) > 0 { // all of them take six times as long, and agree
					continue
				}
				s := again()
				s.set(parsed(t, value))
				p.check(t, s.path, doc)
			}
		}
		for range 100 {
			doc := parsed(t, text)
			for range 2 + random.IntN(2) {
				all := slots(doc, "", func(v any) { doc = v })
				if s := all[random.IntN(len(all))]; s.set == nil {
					s.drop()
				} else {
					s.set(parsed(t, values[random.IntN(len(values))]))
				}
			}
			p.check(t, "several", doc)
		}
	}
	for name := range unsayable {
		if !p.seen[name] {
			t.Errorf("no document shows: %s", name)
		}
	}
	t.Logf("%d documents: the same for %d (%d accepted), a schema cannot say it of %d", len(p.alreadyWritten), p.same, p.accepted, p.unsaid)
}

// Y01: an editor shows what every key is, and the documents above have every key.
func TestSchemaDescribesEveryKey(t *testing.T) {
	t.Parallel()
	keys := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(at+"/"+name, inner)
			}
			properties, _ := v["properties"].(map[string]any)
			if !strings.HasSuffix(at, "/properties") && v["additionalProperties"] == false {
				for name, inner := range properties {
					keys++
					if about, _ := inner.(map[string]any)["description"].(string); about == "" {
						t.Errorf("%s: the key %s has no description", at, name)
					}
					if !strings.Contains(strings.Join(parityDocuments, ""), fmt.Sprintf("%q:", name)) {
						t.Errorf("%s: no document has the key %s", at, name)
					}
				}
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s/%d", at, i), inner)
			}
		}
	}
	walk("", parsed(t, string(readSchema(t))))
	if keys < 100 {
		t.Errorf("%d keys are found", keys)
	}
}
