package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files that hold no effect log are said to be what they are, and never "no
// tool was called".
func TestEffects_OddFiles(t *testing.T) {
	t.Parallel()
	const started = `{"events":[{"eventId":"1","eventType":"EVENT_TYPE_WORKFLOW_EXECUTION_STARTED","workflowExecutionStartedEventAttributes":{"workflowType":{"name":"turnkeel.Turn"},"input":{"payloads":[{"metadata":{"encoding":"YmluYXJ5L2VuY3J5cHRlZA=="},"data":"AAAA"}]}}}]}`
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "is not a saved history"},
		"no events": {`{"events":[]}`, "no start of a workflow"},
		"encoded":   {started, "--codec-endpoint"},
		"session":   {strings.ReplaceAll(strings.Split(started, `,"input"`)[0], "Turn", "Session") + `}}]}`, "is a session"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "h.json")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errOut bytes.Buffer
			if code := Main([]string{"effects", "--file", file}, strings.NewReader(""), &out, &errOut); code != 1 || !strings.Contains(errOut.String(), c.want) || out.Len() > 0 {
				t.Errorf("code %d: %s%s", code, &out, &errOut)
			}
		})
	}
}
