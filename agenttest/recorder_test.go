package agenttest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const plantedKey = "planted-4f1c9e77b2"

// sendKeyed posts a chat request with a key and gives status and body; a
// broken connection is an error.
func sendKeyed(t *testing.T, url, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+plantedKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := readAll(resp)
	return resp.StatusCode, data, err
}

func streamed(messages string) string {
	return `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[` + messages + `]}`
}

// conversation sends the requests of a turn that meets two failures, and a
// second turn.
func recordedTalk(t *testing.T, url string) (outcomes []string) {
	t.Helper()
	call := `{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]}`
	results := `{"role":"tool","tool_call_id":"call_1","content":""},{"role":"tool","tool_call_id":"c2","content":""}`
	first := `{"role":"user","content":"where is my order?"}`
	second := `{"role":"user","content":"my key is ` + plantedKey + ` and I want my money back"}`
	for _, messages := range []string{first, first, first, first + "," + call + "," + results, second} {
		status, body, err := sendKeyed(t, url, streamed(messages))
		outcome := http.StatusText(status) + " " + body
		if err != nil {
			outcome = "broken: " + body
		}
		outcomes = append(outcomes, strings.ReplaceAll(outcome, plantedKey, "[key]"))
	}
	return outcomes
}

func realEndpoint(t *testing.T) *ModelServer {
	t.Helper()
	return start(t, realScript())
}

func realScript() Script {
	return Script{
		Model: "real",
		Steps: []Step{
			{
				Text: "Let me look.", Reasoning: "hm",
				Calls: []ScriptCall{{ID: "call_1", Name: "f", Args: map[string]any{"order": "A-1"}}, {ID: "c2", Name: "g", Raw: `{"broken": `}},
				Usage: StepUsage{Prompt: 120, Completion: 30, Cached: 100, Reasoning: 5},
				Failures: []StepFailure{
					{Status: 429, Message: "slow down, " + plantedKey, Headers: map[string]string{"Retry-After": "3", "Set-Cookie": "session=secret"}},
					{Cut: 4},
				},
			},
			{Text: "It is shipped."},
		},
		Turns: []ScriptTurn{{When: "money back", Steps: []Step{{Text: "Your key " + plantedKey + " and sk-proj-abcdef0123456789 are safe."}}}},
	}
}

// TestRecorderRoundTrip records from one server and plays the script on
// another: the same requests get the same answers, and no secret is written.
func TestRecorderRoundTrip(t *testing.T) {
	t.Parallel()
	for _, frames := range []bool{false, true} {
		real := realEndpoint(t)
		rec, err := StartRecorder("127.0.0.1:0", RecorderOptions{Target: real.URL(), Frames: frames})
		if err != nil {
			t.Fatal(err)
		}
		recorded := recordedTalk(t, rec.URL())
		rec.Close()
		real.Check(t)
		path := filepath.Join(t.TempDir(), "script.yaml")
		if err := rec.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{plantedKey, "sk-proj", "session=", "Bearer"} {
			if strings.Contains(string(data), secret) {
				t.Errorf("%q stands in the script:\n%s", secret, data)
			}
		}
		s, err := LoadScript(path)
		if err != nil {
			t.Fatal(err)
		}
		replayed := recordedTalk(t, start(t, s).URL())
		if frames {
			// Byte for byte, but for the answer with the secret between its frames.
			if diff := cmp.Diff(recorded[:4], replayed[:4]); diff != "" {
				t.Errorf("%s\n%s", diff, data)
			}
			if !strings.Contains(string(data), "Your key [key] and [key] are safe.") {
				t.Errorf("the split secret: %s", data)
			}
			continue
		}
		var want Script
		want.Steps = realScript().Steps
		if diff := cmp.Diff(want.Steps[0].Calls, s.Turns[1].Steps[0].Calls); diff != "" {
			t.Error(diff)
		}
		for i, r := range replayed {
			if strings.HasPrefix(r, "broken") != (i == 1) || strings.HasPrefix(r, "Too Many") != (i == 0) {
				t.Errorf("request %d: %s", i, r)
			}
		}
		if !strings.Contains(replayed[3], "It is shippe") || !strings.Contains(replayed[2], `"cached_tokens":100`) {
			t.Errorf("%q", replayed[2:4])
		}
	}
}

func TestRecorderErrors(t *testing.T) {
	t.Parallel()
	if _, err := StartRecorder("127.0.0.1:0", RecorderOptions{Target: "localhost"}); err == nil {
		t.Error("a target without scheme")
	}
	real := start(t, twoSteps())
	rec, err := StartRecorder("127.0.0.1:0", RecorderOptions{Target: real.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	if _, err := rec.Script(); err == nil {
		t.Error("an empty recording is a script")
	}
	real.Close()
	if status, _, err := sendKeyed(t, rec.URL(), chat(user)); err != nil || status != http.StatusBadGateway {
		t.Errorf("%d %v", status, err)
	}
	if _, err := rec.Script(); err == nil || strings.Contains(err.Error(), plantedKey) {
		t.Errorf("got %v", err)
	}
}
