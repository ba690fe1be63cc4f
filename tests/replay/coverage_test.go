package replay

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// features are what the corpus covers: by which histories, and what in them
// shows it.
var features = []struct {
	feature, files string
	shows          []string
}{
	{"a turn without tools", "plain", []string{`WORKFLOW_EXECUTION_COMPLETED`}},
	{"calls in source order", "serial", []string{`tool.note`}},
	{"calls side by side", "support", []string{`tool.lookup_order`, `tool.lookup_customer`}},
	{"calls that do not run", "problems", []string{`"problem"`}},
	{"a tool that fails", "failing", []string{`ACTIVITY_TASK_FAILED`}},
	{"approval, denial and expiry in one step", "approvals", []string{`"denied"`, `TIMER_FIRED`, `"approve":true`, `"approve":false`}},
	{"one approval for calls of one override key", "approvals", []string{`"override"`, `tool.share`}},
	{"an approval after its expiry (a refused update leaves no event)", "late", []string{`TIMER_FIRED`, `"outcome":"expired"`}},
	{"a tool that changed while its call waited", "drift", []string{`"effects":"sandbox"`, `"effects":"external"`}},
	{"an unknown outcome that a person settles", "resolve", []string{`"happened"`, `"outcome":"unknown"`}},
	{"a question what became of a call is told at once", "resolve-told", []string{`told-unknowns`}},
	{"a reset run takes decisions and verdicts over", "resolve-reset", []string{`UPDATE_ADMITTED`, `RESET_WORKFLOW`}},
	{"an unknown outcome that the tool settles", "reconciled", []string{`reconcile.pay`}},
	{"a call that is started again, as it did not happen", "repeated", []string{`reconcile.pay`, `s1.c1.r1`}},
	{"a turn continues in a new run", "continued-1 continued-2", []string{`WORKFLOW_EXECUTION_CONTINUED_AS_NEW`, `turnkeel.Carry`}},
	{"a new run takes decisions along", "continued-2", []string{`"carried"`, `"decided"`}},
	{"a turn that streams", "stream", []string{`"stream":true`}},
	{"a turn with a transcript before it", "based", []string{`"base"`}},
	{"the policy denies", "policy", []string{`"policy"`, `"deny"`}},
	{"a limit of steps", "limited", []string{`limit_reached`, `max_steps`}},
	{"one call repeated without end", "loop", []string{`limit_reached`}},
	{"two calls in turns without end", "twos", []string{`limit_reached`, `loops-of-two`}},
	{"the wall clock", "timed-out", []string{`timed_out`, `TIMER_FIRED`}},
	{"an interrupted turn", "interrupted", []string{`"interrupted"`}},
	{"a canceled turn", "canceled", []string{`WORKFLOW_EXECUTION_CANCELED`}},
	{"a failed turn", "failed", []string{`WORKFLOW_EXECUTION_FAILED`}},
	{"a session: send, send again, queue, reject, interrupt", "session", []string{`"message_id"`, `turnkeel.InterruptTurn`, `START_CHILD_WORKFLOW_EXECUTION_INITIATED`, `"while_busy":"interrupt"`}},
	{"a session's turns", "session-turn-1 session-turn-2", []string{`"base_of"`}},
	{"a session's turn that is interrupted before its model answered", "unasked", []string{`"only_new":true`}},
	{"a session's turn that ends before its model was asked", "unasked-reset", []string{`unasked-turns`, `UPDATE_ADMITTED`}},
	{"a reset session", "session-reset", []string{`turnkeel.AwaitTurn`}},
	{"a reset session that is canceled while it waits", "session-awaits", []string{`canceled-awaits`, `REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED`}},
	{"a session's turn whose transcript begins in the session", "session-turn-said", []string{`"base_said":2`}},
	{"a canceled session", "session-canceled", []string{`WORKFLOW_EXECUTION_CANCELED`}},
	{"a session continues in a new run while messages wait", "session-run-1 session-run-2", []string{`turnkeel.PackSession`}},
	{"a workflow of one's own: tools, approval, a turn as a child", "own-1", []string{`corpus.Own`, `turnkeel.PlanCall`, `START_CHILD_WORKFLOW_EXECUTION_INITIATED`, `shared-calls`}},
	{"a workflow of one's own in a new run", "own-2", []string{`"Carried":{`, `WORKFLOW_EXECUTION_COMPLETED`}},
}

// Every feature has its histories, which show it.
func TestCorpus_CoversEveryFeature(t *testing.T) {
	histories := corpus(t)
	covering := map[string]bool{}
	for _, f := range features {
		for _, name := range strings.Fields(f.files) {
			h := histories[name+".json"]
			covering[name+".json"] = true
			if h == nil {
				t.Errorf("%s: there is no %s.json: record it with `task corpus:record`", f.feature, name)
				continue
			}
		}
		text := ""
		for _, name := range strings.Fields(f.files) {
			text += legible(t, histories[name+".json"])
		}
		for _, sign := range f.shows {
			if !strings.Contains(text, sign) {
				t.Errorf("%s: nothing in %s shows %s", f.feature, f.files, sign)
			}
		}
	}
	for name := range histories {
		if !covering[name] {
			t.Errorf("%s covers no feature: name it in the table", name)
		}
	}
}

// names are those that workflow code writes into a history.
var names = regexp.MustCompile(`(?m)^\s*(?:(?:Activity|Update|Workflow)\w+\s+|change\w+\s+)= "([^"]+)"`)

// Every activity, update, workflow type and version of the code is in the
// corpus.
func TestCorpus_HasEveryName(t *testing.T) {
	all := ""
	for _, h := range corpus(t) {
		all += legible(t, h)
	}
	found := 0
	for _, file := range []string{"../../contract/names.go", "../../workflows/versions.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllStringSubmatch(string(source), -1) {
			found++
			if !strings.Contains(all, `"`+m[1]+`"`) {
				t.Errorf("no history has %q of %s: add a scenario and `task corpus:record`", m[1], file)
			}
		}
	}
	if found < 14 {
		t.Errorf("only %d names were found: the pattern no longer fits the sources", found)
	}
}

// legible is a history as text, with what its payloads hold.
func legible(t *testing.T, h *historypb.History) string {
	t.Helper()
	if h == nil {
		return ""
	}
	data, err := protojson.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	spell(&text, "", value)
	return text.String()
}

// spell writes a JSON value's names and texts, those of payloads decoded.
func spell(to *strings.Builder, name string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for k, of := range v {
			to.WriteString(k + "\n")
			spell(to, k, of)
		}
	case []any:
		for _, of := range v {
			spell(to, name, of)
		}
	case string:
		if decoded, err := base64.StdEncoding.DecodeString(v); err == nil && name == "data" {
			v = string(decoded)
		}
		to.WriteString(v + "\n" + `"` + v + `"` + "\n")
	}
}
