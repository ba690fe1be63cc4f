package agenttest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/turnkeel/turnkeel/agenttest"
)

func ExampleNewModelServer() {
	script, err := agenttest.ParseScript([]byte(`
steps:
  - calls: [{name: lookup_order, args: {order_id: A-1}}]
  - text: It is shipped.
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	server, err := agenttest.NewModelServer(script)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	resp, err := http.Post(server.URL()+"/chat/completions", "application/json",
		strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Where is it?"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, strings.Contains(string(body), "lookup_order"))
	fmt.Println(len(server.Requests()), server.Requests()[0].User, server.Err())
	// Output:
	// 200 true
	// 1 Where is it? <nil>
}

func ExampleParseScript() {
	_, err := agenttest.ParseScript([]byte("steps:\n  - text: hello\n    callz: []\n"))
	fmt.Println(err)
	// Output: script:3:5: unknown field "callz"
}
