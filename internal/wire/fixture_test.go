package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnkeel/turnkeel/contract"
)

var update = flag.Bool("update", false, "rewrite the want.json of each case")

// roundTrip is a transport that needs no network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering is a client whose endpoint answers with body, read from r.
func answering(status int, contentType string, body func() io.Reader) *Client {
	return New(Endpoint{BaseURL: "http://endpoint.test/v1", APIKey: "planted-key", HTTPClient: &http.Client{
		Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: status, Status: http.StatusText(status), Request: req,
				Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body()),
			}, nil
		}),
	}})
}

// outcome is what a call came to, as it is written to want.json.
type outcome struct {
	Answer    *Answer `json:"answer,omitempty"`
	Deltas    string  `json:"deltas,omitempty"` // joined
	Error     *Error  `json:"error,omitempty"`
	Retryable bool    `json:"retryable,omitempty"`
}

func ask(t testing.TB, c *Client) outcome {
	t.Helper()
	var deltas string
	answer, err := c.Complete(context.Background(), Request{
		Model: "m", MaxOutputTokens: 100, Messages: []contract.Message{{Role: contract.RoleUser, Content: "go"}},
	}, func(text string) { deltas += text })
	out := outcome{Deltas: deltas}
	if err == nil {
		out.Answer = &answer
		return out
	}
	if !errors.As(err, &out.Error) {
		t.Fatalf("not an *Error: %v", err)
	}
	if diff := cmp.Diff(Answer{}, answer); diff != "" {
		t.Errorf("an answer beside an error: %s", diff)
	}
	out.Retryable = out.Error.Retryable()
	return out
}

func (o outcome) json(t testing.TB) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(o); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// TestFixtures plays the bytes of each testdata/<case>/in.sse and compares
// with its want.json, whatever pieces the bytes arrive in. The cases are A01,
// A03, A05, A06, A07, A09, A11, A12, A14, A15, A18, A19 and A20, and kin.
func TestFixtures(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*/in.sse")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			t.Parallel()
			in, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			contentType := "text/event-stream"
			if bytes.HasPrefix(in, []byte("<")) {
				contentType = "text/html; charset=utf-8"
			}
			got := ask(t, answering(200, contentType, func() io.Reader { return bytes.NewReader(in) })).json(t)
			wantPath := filepath.Join(filepath.Dir(path), "want.json")
			if *update {
				if err := os.WriteFile(wantPath, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(wantPath)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			for seed := range uint64(20) {
				again := ask(t, answering(200, contentType, func() io.Reader { return inPieces(in, seed) })).json(t)
				if diff := cmp.Diff(got, again); diff != "" {
					t.Fatalf("in pieces (seed %d): %s", seed, diff)
				}
			}
		})
	}
}

// pieceReader hands out data in random pieces.
type pieceReader struct {
	data []byte
	rand *rand.Rand
}

func inPieces(data []byte, seed uint64) io.Reader {
	return &pieceReader{data: data, rand: rand.New(rand.NewPCG(seed, 1))}
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := min(1+r.rand.IntN(9), len(r.data), len(p))
	copy(p, r.data[:n])
	r.data = r.data[n:]
	return n, nil
}

// FuzzStream feeds any bytes, whole and in pieces: no panic, one outcome.
func FuzzStream(f *testing.F) {
	cases, err := filepath.Glob("testdata/*/in.sse")
	if err != nil {
		f.Fatal(err)
	}
	for i, path := range cases {
		in, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in, uint64(i))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		whole := ask(t, answering(200, "text/event-stream", func() io.Reader { return bytes.NewReader(in) })).json(t)
		pieces := ask(t, answering(200, "text/event-stream", func() io.Reader { return inPieces(in, seed) })).json(t)
		if diff := cmp.Diff(whole, pieces); diff != "" {
			t.Error(diff)
		}
	})
}
