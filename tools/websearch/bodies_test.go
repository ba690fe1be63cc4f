package websearch

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
)

// Y20: an answer of 200 that is none is an error, in whatever shape it says so,
// and never has the key in it.
func TestY20_BadBodies(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"detail":`, 9_000) + `"` + strings.Repeat("x", 900<<10) + `"` + strings.Repeat("}", 9_000)
	for body, want := range map[string]string{
		`{"error":"quota of ` + testKey + ` is used up"}`:              "status 200 and an error: quota of [TAVILY_API_KEY] is used up",
		`{"error":"rate limited","results":[]}`:                        "status 200 and an error: rate limited",
		`{"results":[],"error":{"code":7,"message":"limit"}}`:          "status 200 and an error: limit",
		`{"results":[],"error":{"code":7}}`:                            `status 200 and an error: error: {"code":7}`,
		`{"results":[],"error":true}`:                                  "status 200 and an error: error: true",
		`{"results":[],"errors":[{"message":"limit"}]}`:                "status 200 and an error: limit",
		`{"results":[],"detail":[{"loc":["q"],"msg":"short"}]}`:        "status 200 and an error: short",
		`{"results":[],"message":"quota of ` + testKey + ` exceeded"}`: "status 200 and an error: quota of [TAVILY_API_KEY] exceeded",
		`{"code":429,"msg":"too many","results":[]}`:                   "status 200 and an error: too many",
		`{"results":[],"success":false}`:                               "status 200 and an error: success: false",
		`{"results":[],"status":"Error"}`:                              "status 200 and an error: status: error",
		`{"results":[],"status":403}`:                                  "status 200 and an error: status: 403",
		`{"fault":{"message":"limit"},"results":[]}`:                   "status 200 and an error: limit",
		`{"errors":["limit"]}`:                                         "status 200 and an error: limit",
		`{"results":null}`:                                             "has no results in it",
		`{"results":{}}`:                                               "is not Tavily's",
		`{"results":"none"}`:                                           "is not Tavily's",
		`{"results":[{"title":5}]}`:                                    "is not Tavily's",
		`[]`:                                                           "is not Tavily's",
		`null`:                                                         "has no results in it",
		``:                                                             "is not Tavily's",
		`{"results":[`:                                                 "is not Tavily's",
		`{"results":[]}{"error":"x"}`:                                  "is not Tavily's",
		"<html><title>Sign in</title>\u2028tvly-dev-\u200b0123456789abcdef\x00\xff": "is not Tavily's: <html><title>Sign in</title> [TAVILY_API_KEY]\uFFFD",
		deep: "has no results in it",
	} {
		t.Run(fmt.Sprintf("%.40q", body), func(t *testing.T) {
			t.Parallel()
			result, _, err := ask(t, `{"query":"tea"}`, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), testKey) || len(err.Error()) > 2_000 {
				t.Errorf("got %s, %.2000v; want %q", result.JSON, err, want)
			}
		})
	}
}

// Y20: no result is a result, also where the service says that there was no
// error.
func TestY20_NothingFound(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"results":[]}`, `{"results":[],"error":null,"errors":[],"detail":""}`, `{"results":[null,{"url":"ftp://x/"},{"url":"https://a.example@b.example/"},{"url":"jAvAsCrIpT:alert(1)"}]}`, `{"results":[],"success":true,"status":"success","code":200}`, "\ufeff{\"results\":[]}"} {
		result, _, err := ask(t, `{"query":"tea","max_results":5.0}`, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		if err != nil || string(result.JSON) != `{"results":[]}` {
			t.Errorf("%s: %s, %v", body, result.JSON, err)
		}
	}
}

// Y20: an address is the page's own, with what nobody would see in it written out.
func TestY20_Addresses(t *testing.T) {
	t.Parallel()
	result, _, err := ask(t, `{"query":"tea"}`, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"results":[{"url":"https://a.example/x\u202egpj.exe"},{"url":"https://b.example/путь"},{"url":"https://c.example/a b"}]}`))
	})
	for _, want := range []string{`"https://a.example/x%E2%80%AEgpj.exe"`, `"https://b.example/путь"`, `"https://c.example/a b"`} {
		if err != nil || !strings.Contains(string(result.JSON), want) {
			t.Errorf("got %s, %v, want %s", result.JSON, err, want)
		}
	}
}

// Y20: a thousand results are cut to those asked for, and a small body that
// unpacks to a large one is not read to its end.
func TestY20_TooMuch(t *testing.T) {
	t.Parallel()
	many := `{"results":[` + strings.TrimSuffix(strings.Repeat(`{"url":"https://a.example/","title":"t","content":"c"},`, 1_000), ",") + `]}`
	result, _, err := ask(t, `{"query":"tea","max_results":10}`, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(many)) })
	if n := strings.Count(string(result.JSON), "a.example"); err != nil || n != 10 {
		t.Errorf("%d results, %v", n, err)
	}
	var bomb bytes.Buffer
	packed := gzip.NewWriter(&bomb)
	for range 100 {
		_, _ = packed.Write(bytes.Repeat([]byte(" "), 1<<20))
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	var got contract.ToolResult
	got, _, err = ask(t, `{"query":"tea"}`, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	})
	if err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("got %s, %v", got.JSON, err)
	}
}
