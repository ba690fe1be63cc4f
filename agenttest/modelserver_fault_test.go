package agenttest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func readAll(resp *http.Response) (string, error) {
	data, err := io.ReadAll(resp.Body)
	return string(data), err
}

// TestFaults plays each kind of failure once; the request after it gets the
// step.
func TestFaults(t *testing.T) {
	t.Parallel()
	frames := []string{": hello", `{"choices":[]}`, "event: x\ndata: {}", "[DONE]"}
	const whole = ": hello\n\ndata: {\"choices\":[]}\n\nevent: x\ndata: {}\n\ndata: [DONE]\n\n"
	for _, c := range []struct {
		name   string
		fault  StepFailure
		status int
		body   string // whole, or its beginning where it is broken
		broken bool
		header string // Content-Type
	}{
		{"status", StepFailure{Status: 503, Message: "busy"}, 503, `{"error":{"code":null,"message":"busy","param":null,"type":"scripted_error"}}` + "\n", false, "application/json"},
		{"page", StepFailure{Status: 502, Body: "<html>", Headers: map[string]string{"Content-Type": "text/html"}}, 502, "<html>", false, "text/html"},
		{"body with 200", StepFailure{Body: `{"error":"x"}`}, 200, `{"error":"x"}`, false, "application/json"},
		{"frames", StepFailure{Frames: frames}, 200, whole, false, "text/event-stream"},
		{"cut frames", StepFailure{Frames: frames, Cut: 2}, 200, whole[:31], true, "text/event-stream"},
		{"cut after bytes", StepFailure{Frames: frames, CutBytes: 12}, 200, whole[:12], true, "text/event-stream"},
		{"clean cut", StepFailure{Frames: frames, CutBytes: 12, Clean: true}, 200, whole[:12], false, "text/event-stream"},
		{"clean cut of frames", StepFailure{Frames: frames, Cut: 1, Clean: true}, 200, whole[:9], false, "text/event-stream"},
		{"cut body", StepFailure{Status: 500, Body: "long story", CutBytes: 4}, 500, "long", true, "application/json"},
		{"all frames, then broken", StepFailure{Frames: frames, Cut: 4}, 200, whole, true, "text/event-stream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := start(t, Script{Steps: []Step{{Text: "ok", Failures: []StepFailure{c.fault}}}})
			resp, err := http.Post(m.URL()+"/chat/completions", "application/json", strings.NewReader(streamed(user)))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			body, err := readAll(resp)
			if resp.StatusCode != c.status || body != c.body || (err != nil) != c.broken || resp.Header.Get("Content-Type") != c.header {
				t.Errorf("%d %s %q %v", resp.StatusCode, resp.Header.Get("Content-Type"), body, err)
			}
			if _, body := post(t, m, streamed(user)); !strings.Contains(body, `"content":"ok"`) {
				t.Errorf("after it: %s", body)
			}
			m.Check(t)
		})
	}
}

// TestHang: the server stays silent until the client leaves, after what it was
// to send.
func TestHang(t *testing.T) {
	t.Parallel()
	for _, f := range []StepFailure{{Hang: true}, {Hang: true, Frames: []string{"{}"}}, {Hang: true, Cut: 1}, {Hang: true, CutBytes: 3}} {
		m := start(t, Script{Steps: []Step{{Text: "ok", Failures: []StepFailure{f}}}})
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL()+"/chat/completions", strings.NewReader(streamed(user)))
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan error, 1)
		go func() {
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			answered <- err
		}()
		for len(m.Requests()) == 0 {
			select {
			case err := <-answered:
				t.Fatalf("%+v: it did not hang: %v", f, err)
			default:
			}
		}
		leave()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v", f, err)
		}
		m.Close()
	}
}

// TestRawSteps: a step may be bytes.
func TestRawSteps(t *testing.T) {
	t.Parallel()
	m := start(t, Script{Steps: []Step{
		{Body: `{"choices":[{"message":{"content":"a","tool_calls":[]}}]}`, Headers: map[string]string{"Content-Type": "text/plain"}},
		{Frames: []string{`{"choices":[]}`}},
	}})
	if _, body := post(t, m, streamed(user)); !strings.Contains(body, `"content":"a"`) {
		t.Error(body)
	}
	if _, body := post(t, m, streamed(user+`,{"role":"assistant","content":"a"},`+`{"role":"user","content":"`+reaskText+`"}`)); body != "data: {\"choices\":[]}\n\n" {
		t.Errorf("a message that asks again is no new user message: %s", body)
	}
}

const reaskText = "Your last answer could not be used: x"
