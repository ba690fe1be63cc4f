package scripted_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/internal/scripted"
)

const (
	url  = "http://scripted.invalid/v1/chat/completions"
	said = `{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}]}`
)

// The client gets what a connection would give it: an answer, a broken one, and
// nothing for as long as it waits.
func TestClient(t *testing.T) {
	t.Parallel()
	s, err := scripted.Parse("s", []byte("steps: [{text: hello, failures: [{cut: 1}, {status: 503}, {hang: true}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	client := scripted.NewClient(scripted.NewModel("s", s))
	ask := func() (int, string, error) {
		resp, err := client.Post(url, "application/json", strings.NewReader(said))
		if err != nil {
			return 0, "", err
		}
		defer func() { _ = resp.Body.Close() }()
		data, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(data), err
	}
	if status, text, err := ask(); status != 200 || !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(text, "hello") {
		t.Errorf("cut: %d %q %v", status, text, err)
	}
	if status, _, err := ask(); status != 503 || err != nil {
		t.Errorf("status: %d %v", status, err)
	}
	ctx, leave := context.WithCancel(t.Context())
	hung := make(chan error, 1)
	go func() { hung <- hang(ctx, client) }()
	leave()
	if err := <-hung; !errors.Is(err, context.Canceled) {
		t.Errorf("hang: %v", err)
	}
	if status, text, err := ask(); status != 200 || err != nil || !strings.Contains(text, "hello") || !strings.Contains(text, "[DONE]") {
		t.Errorf("the step: %d %q %v", status, text, err)
	}
}

func hang(ctx context.Context, client *http.Client) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(said))
	if err != nil {
		return err
	}
	resp, err := client.Do(r)
	if err == nil {
		_ = resp.Body.Close()
	}
	return err
}
