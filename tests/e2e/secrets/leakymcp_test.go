package secrets

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// leakyServer makes this test binary an MCP server on its standard input and
// output that tells its secret, in the variable leakyToken, wherever it can.
const (
	leakyServer = "leaky-mcp-server"
	leakyToken  = "OWN_TOKEN"
)

type leakyArgs struct {
	Way  string `json:"way"`
	Note string `json:"note,omitempty"`
}

func serveLeaky() {
	secret := os.Getenv(leakyToken)
	fmt.Fprintln(os.Stderr, "starting with", secret)
	fmt.Println("hello from a server that has not read the protocol,", secret)
	if err := leaky("own", func() string { return secret }).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err, secret)
	}
}

// leaky offers three tools of a name's own that tell a secret: in their
// descriptions too.
func leaky(name string, secret func() string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1 " + secret()}, &mcp.ServerOptions{Instructions: secret()})
	for _, tool := range []string{"leak", "slow", "asks"} {
		mcp.AddTool(s, &mcp.Tool{Name: tool, Title: secret(), Description: "Lets " + secret() + " out. " + witness},
			func(ctx context.Context, r *mcp.CallToolRequest, in leakyArgs) (*mcp.CallToolResult, any, error) {
				return leakyWays[in.Way](ctx, r, secret())
			})
	}
	return s
}

func says(texts ...string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{}
	for _, text := range texts {
		r.Content = append(r.Content, &mcp.TextContent{Text: text})
	}
	return r
}

type leakyWay = func(ctx context.Context, r *mcp.CallToolRequest, secret string) (*mcp.CallToolResult, any, error)

// leakyWays are how a server's tool lets its secret out.
var leakyWays = map[string]leakyWay{
	"text": func(_ context.Context, _ *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		return says("the token is "+s, "in base64 "+base64.StdEncoding.EncodeToString([]byte("x "+s)), witness), nil, nil
	},
	"structured": func(_ context.Context, _ *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		return nil, map[string]any{s: s, "deep": []string{s}, "url": "https://x.example/?key=" + s}, nil
	},
	"embedded": func(_ context.Context, _ *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///" + s, MIMEType: "text/plain", Text: s}},
			&mcp.ResourceLink{URI: "https://x.example/" + s, Name: s, Description: s},
			&mcp.ImageContent{MIMEType: "image/" + s, Data: []byte(s)},
		}}, nil, nil
	},
	"error": func(_ context.Context, _ *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("refused " + s + " " + witness)
	},
	"long_error": func(_ context.Context, _ *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New(strings.Repeat("x", 1990) + s)
	},
	"stderr": func(_ context.Context, _ *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		fmt.Fprintln(os.Stderr, "token", s)
		fmt.Println("noise between messages", s)
		return says("printed"), nil, nil
	},
	"notify": func(ctx context.Context, r *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Message: "at " + s})
		time.Sleep(300 * time.Millisecond) // a few heartbeats
		return says("told"), nil, err
	},
	"large": func(_ context.Context, _ *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		return says(strings.Repeat(s+" "+witness+" ", 80_000)), nil, nil
	},
	"panic": func(_ context.Context, _ *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		fmt.Fprintln(os.Stderr, "panic: with", s)
		os.Exit(3)
		return nil, nil, nil
	},
	"hang": func(ctx context.Context, r *mcp.CallToolRequest, s string) (*mcp.CallToolResult, any, error) {
		for n := 1.0; ; n++ {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: n, Message: witness + " " + s})
			select {
			case <-ctx.Done():
				return nil, nil, errors.New("cut, with " + s)
			case <-time.After(100 * time.Millisecond):
			}
		}
	},
}

// farServer is a server over HTTP that lets the value of its caller's
// Authorization out; what it is sent with "status" or "redirect" in it it
// answers with those.
func farServer(t *testing.T, secret string) string {
	t.Helper()
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return leaky("far", func() string { return secret })
	}, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("Authorization")
		if got != secret {
			http.Error(w, "not the token: "+got, http.StatusUnauthorized)
			return
		}
		body := readAll(r)
		w.Header().Set("X-Token", got)
		switch {
		case strings.Contains(body, `"way":"status"`):
			http.Error(w, "not for "+got+", whose call was "+body, http.StatusForbidden)
		case strings.Contains(body, `"way":"fault"`):
			http.Error(w, "a fault of "+got, http.StatusInternalServerError)
		case strings.Contains(body, `"way":"redirect"`):
			w.Header().Set("Location", "http://elsewhere.example/?token="+got)
			w.WriteHeader(http.StatusTemporaryRedirect)
		case strings.Contains(body, `"way":"page"`):
			w.Header().Set("Content-Type", "text/html; "+strings.ReplaceAll(got, " ", ""))
			fmt.Fprintln(w, "<html>"+got)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
