package mcptools_test

import (
	"context"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnkeel/turnkeel/mcptools"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// The descriptors of a session that the program holds become tools.
func ExampleWrapAll() {
	ctx := context.Background()
	server := mcp.NewServer(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	type in struct {
		Name string `json:"name"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "Greets."}, func(_ context.Context, _ *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + a.Name}}}, nil, nil
	})
	ours, theirs := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, theirs, nil); err != nil {
		log.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, ours, nil)
	if err != nil {
		log.Fatal(err)
	}
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		log.Panic(err)
	}
	tools, disabled := mcptools.WrapAll(listed.Tools, session.CallTool, mcptools.Options{Prefix: "demo", ToolOptions: mcptools.ToolOptions{Effects: tooldefs.None}})
	set, err := tooldefs.NewSet(tools...)
	if err != nil {
		log.Panic(err)
	}
	result, err := set.Call(ctx, "demo_greet", `{"name":"Ada"}`)
	fmt.Println(result.Text, err, tools[0].Class(), len(disabled))
	_ = session.Close()
	// Output: Hello, Ada <nil> safe_to_retry 0
}

func ExampleWrap() {
	d := &mcp.Tool{Name: "ping", Description: "Pings.", InputSchema: map[string]any{"type": "object"}}
	tool, err := mcptools.Wrap(d, func(context.Context, *mcp.CallToolParams) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]int{"ms": 3}}, nil
	}, mcptools.Options{})
	fmt.Println(tool.Name(), tool.Class(), err)
	// Output: ping at_most_once <nil>
}

func ExampleConnect() {
	_, err := mcptools.Connect(context.Background(), mcptools.Server{Command: []string{"no-such-server"}})
	fmt.Println(err)
	// Output: start no-such-server: exec: "no-such-server": executable file not found in $PATH; install it, or write the program's whole path
}

func ExampleName() {
	fmt.Println(mcptools.Name("docs", "read_file"))
	fmt.Println(mcptools.Name("docs", "read.file"))
	// Output:
	// docs_read_file
	// docs_read_file_451c7d25c1ee
}

func ExampleFlatten() {
	fmt.Println(mcptools.Flatten(&mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: "A teapot:"}, &mcp.ImageContent{Data: []byte("…"), MIMEType: "image/png"},
	}}))
	// Output:
	// A teapot:
	// [image: image/png, 3 bytes, not shown]
}

func ExampleFingerprint() {
	a := mcptools.Fingerprint(&mcp.Tool{Name: "send", Description: "Sends."})
	b := mcptools.Fingerprint(&mcp.Tool{Name: "send", Description: "Sends to everybody."})
	fmt.Println(len(a), a == b)
	// Output: 32 false
}
