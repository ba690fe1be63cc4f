package deploy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// finding is a line of --output json.
type finding struct {
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
	Type       string `json:"workflow_type"`
	Verdict    string `json:"verdict"`
	Error      string `json:"error"`
	Where      *struct {
		Event int64  `json:"event_id"`
		Type  string `json:"event_type"`
		What  string `json:"what"`
		Task  int64  `json:"task_event"`
	} `json:"where"`
	Advice string `json:"advice"`
}

// findings are the lines of an output that must be JSON only.
func findings(t *testing.T, r result) []finding {
	t.Helper()
	var all []finding
	for line := range strings.Lines(r.out) {
		var f finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v in:\n%s", err, r.out)
		}
		all = append(all, f)
	}
	return all
}

// verdicts are those of an output, by workflow id.
func verdicts(t *testing.T, r result) map[string]string {
	t.Helper()
	by := map[string]string{}
	for _, f := range findings(t, r) {
		by[f.WorkflowID] = f.Verdict
	}
	return by
}

// ofQueue is the query for the runs of a shop.
func (s *shop) ofQueue() string { return "TaskQueue = '" + s.Queue + "'" }

// listed waits until the listing, which lags behind, shows n runs.
func (s *shop) listed(query string, n int64) {
	s.t.Helper()
	until(s.t, fmt.Sprintf("%d runs are listed", n), func() (bool, string) {
		out := strings.TrimSpace(cli(s.t, "workflow", "count", "--query", s.ofQueue()+query))
		return out == fmt.Sprintf("Total: %d", n), out
	})
}

// R07: an intact code base replays runs of every state: parked, closed,
// continued, reset, canceled, terminated, of a session, and one that no worker has taken up.
func TestReplay_Intact(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	stop := s.worker("old", "")
	want := map[string]string{}

	parked := s.Start("pay")
	s.parked(parked.ID)
	closed := s.Start("pay")
	s.approve(closed.ID, s.parked(closed.ID))
	s.Wait(closed)
	continued := s.start(contract.TurnInput{StepsPerRun: 1}) // its second run is the latest
	s.approve(continued.ID, s.parked(continued.ID))
	if _, err := continued.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	reset := s.Start("pay")
	waits := s.parked(reset.ID)
	s.approve(reset.ID, waits)
	s.Wait(reset)
	cli(t, "workflow", "reset", "--workflow-id", reset.ID, "--event-id", "10", "--reason", "test") // the approval is applied again
	canceled := s.Start("pay")
	s.parked(canceled.ID)
	if err := s.Turns.Cancel(t.Context(), canceled.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := canceled.Result(t.Context()); err == nil {
		t.Fatal("a canceled turn completed")
	}
	talk := turnkeel.Message{Session: "talk-" + s.Queue, Agent: agenttest.AgentName, Text: "pay"}
	reply, err := s.Turns.Send(t.Context(), talk)
	if err != nil {
		t.Fatal(err)
	}
	s.parked(reply.TurnID)
	terminated := s.Start("pay")
	s.parked(terminated.ID)
	cli(t, "workflow", "terminate", "--workflow-id", terminated.ID, "--reason", "test")
	order := s.order()
	s.parked(order.GetID())
	until(t, "the reset run ends", func() (bool, string) {
		out := cli(t, "workflow", "describe", "--workflow-id", reset.ID)
		return strings.Contains(out, "COMPLETED"), out
	})
	stop()
	untaken := s.Start("pay")
	for _, id := range []string{parked.ID, closed.ID, continued.ID, reset.ID, canceled.ID, terminated.ID, talk.Session, reply.TurnID, order.GetID(), untaken.ID} {
		want[id] = "replays"
	}
	s.listed("", 12) // two of them have two runs

	r := s.replay("old", "--all", "--closed", "--query", s.ofQueue(), "--output", "json")
	if diff := cmp.Diff(want, verdicts(t, r)); r.code != 0 || len(findings(t, r)) != 12 || diff != "" {
		t.Errorf("exit code %d, %d runs\n%s\n%s", r.code, len(findings(t, r)), diff, r.errOut)
	}
	if !contains(r.errOut, "12 replay, 0 break") {
		t.Errorf("the summary: %s", r.errOut)
	}

	// The starter has the turns and sessions, and says what it leaves out.
	r = command(t, nil, starter, "replay", "--all", "--query", s.ofQueue(), "--output", "json")
	open := map[string]string{parked.ID: "replays", talk.Session: "replays", reply.TurnID: "replays", untaken.ID: "replays"}
	if diff := cmp.Diff(open, verdicts(t, r)); r.code != 0 || diff != "" || !contains(r.errOut, "1 runs are of workflow types that this binary does not have") {
		t.Errorf("exit code %d\n%s\n%s", r.code, diff, r.errOut)
	}
}

// start starts a turn of the shop's agent.
func (s *shop) start(in contract.TurnInput) *turnkeel.Turn {
	s.t.Helper()
	in.Agent, in.Messages = agenttest.AgentName, []contract.Message{{Role: contract.RoleUser, Content: "pay"}}
	turn, err := s.Turns.Start(s.t.Context(), turnkeel.TurnRequest{Input: in})
	if err != nil {
		s.t.Fatal(err)
	}
	return turn
}

// A changed workflow breaks the runs that began on the old code: the verdict
// names the event, and what it says to do works.
func TestReplay_Changed(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	stop := s.worker("old", "v1")
	s.current("v1")
	order := s.order()
	waits := s.parked(order.GetID())
	turn := s.Start("pay")
	s.parked(turn.ID)
	s.listed("", 2)

	r := s.replay("new", "--all", "--query", s.ofQueue(), "--output", "json")
	all := findings(t, r)
	if diff := cmp.Diff(map[string]string{order.GetID(): "breaks", turn.ID: "replays"}, verdicts(t, r)); r.code != 1 || diff != "" {
		t.Fatalf("exit code %d\n%s\n%s%s", r.code, diff, r.out, r.errOut)
	}
	for _, f := range all {
		if f.WorkflowID == turn.ID {
			continue
		}
		if f.RunID != order.GetRunID() || f.Type != orderType || f.Where == nil || !contains(f.Error, `calls the tool "tip" where the history has a call of "pay"`) {
			t.Fatalf("%+v", f)
		}
		if f.Where.Event == 0 || f.Where.Task == 0 || !contains(f.Advice, "GetVersion", "update-options", "workflow reset") {
			t.Errorf("%+v\n%s", *f.Where, f.Advice)
		}
	}
	r = s.replay("new", order.GetID()+"/"+order.GetRunID())
	if r.code != 1 || !contains(r.out, "breaks", "where:   event ", "GetVersion", "temporal workflow reset") {
		t.Errorf("exit code %d\n%s", r.code, r.out)
	}
	if r = s.replay("old", order.GetID(), turn.ID); r.code != 0 || strings.Count(r.out, "replays ") != 2 {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errOut)
	}

	// The starter does not have the workflow: that is no break, but no proof.
	r = command(t, nil, starter, "replay", order.GetID(), "-o", "json")
	if got := verdicts(t, r); r.code != 2 || got[order.GetID()] != "not_ours" || !contains(r.errOut, "use the worker that registers them") {
		t.Errorf("exit code %d, %v\n%s", r.code, got, r.errOut)
	}

	// The deploy: the order is held on the old build, as the verdict says.
	s.worker("new", "v2")
	do(t, advised(t, all, "temporal workflow update-options"), "DEPLOYMENT", s.Queue, "OLD_BUILD", "v1")
	s.current("v2")
	s.approve(order.GetID(), waits)
	var said string
	if err := order.Get(t.Context(), &said); err != nil || said != "paid by build v1" {
		t.Errorf("the held order says %q, %v", said, err)
	}
	stop()
	if got := turn; s.replay("new", got.ID).code != 0 {
		t.Error("the turn does not replay")
	}
}

// A run that breaks goes on after the reset that the verdict advises.
func TestReplay_ChangedThenReset(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	stop := s.worker("old", "")
	order := s.order()
	s.parked(order.GetID())
	stop()
	all := findings(t, s.replay("new", order.GetID(), "--output", "json"))
	s.worker("new", "")
	do(t, advised(t, all, "temporal workflow reset"))
	s.approve(order.GetID(), s.parked(order.GetID()))
	var said string
	if err := s.Temporal.GetWorkflow(t.Context(), order.GetID(), "").Get(t.Context(), &said); err != nil || !contains(said, "paid by build") {
		t.Errorf("the reset order says %q, %v", said, err)
	}
}

// advised is the command of the one break's advice that begins so.
func advised(t *testing.T, all []finding, begins string) string {
	t.Helper()
	for _, f := range all {
		for part := range strings.SplitSeq(f.Advice, "; or ") {
			if at := strings.Index(part, begins); at >= 0 {
				return part[at:]
			}
		}
	}
	t.Fatalf("nothing advises %q: %+v", begins, all)
	return ""
}

// do runs a command line as a shell does, with words replaced, and gives what
// it printed.
func do(t *testing.T, line string, replaced ...string) string {
	t.Helper()
	line = strings.NewReplacer(replaced...).Replace(line)
	sep := string(os.PathListSeparator)
	path := "PATH=" + filepath.Dir(temporal) + sep + filepath.Dir(starter) + sep + os.Getenv("PATH")
	r := command(t, []string{path}, "sh", "-c", line)
	if r.code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", line, r.code, r.out, r.errOut)
	}
	return r.out
}

// A saved history replays in every form it comes in; what is none is told.
func TestReplay_Saved(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.worker("old", "")
	turn := s.Start("pay")
	s.approve(turn.ID, s.parked(turn.ID))
	s.Wait(turn)
	dir := t.TempDir()
	save := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	printed := save("printed.json", cli(t, "workflow", "show", "--workflow-id", turn.ID, "--output", "json"))
	whole := save("whole.json", cli(t, "workflow", "show", "--workflow-id", turn.ID, "--output", "json", "--no-json-shorthand-payloads"))
	downloaded := save("downloaded.json", download(t, turn))
	r := command(t, nil, starter, "replay", "--file", printed, "--file", whole, "--file", downloaded, "--output", "json")
	all := findings(t, r)
	if r.code != 0 || len(all) != 3 {
		t.Fatalf("exit code %d\n%s%s", r.code, r.out, r.errOut)
	}
	for _, f := range all {
		if f.Verdict != "replays" || f.WorkflowID != turn.ID || f.RunID != turn.RunID {
			t.Errorf("%+v", f)
		}
	}
	piped := do(t, "temporal workflow show --workflow-id TURN --output json | starter replay --file -", "TURN", turn.ID)
	if !contains(piped, "replays ", turn.ID) {
		t.Errorf("from standard input:\n%s", piped)
	}
	text, err := os.ReadFile(printed) //nolint:gosec // the test's own
	if err != nil {
		t.Fatal(err)
	}
	changed := save("changed.json", strings.ReplaceAll(string(text), `"tool.pay"`, `"tool.buy"`))
	if r := command(t, nil, starter, "replay", "--file", changed); r.code != 1 || !contains(r.out, "activity s1.c1, tool.buy", "TMPRL1100") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errOut)
	}
	for _, c := range []struct {
		name, text, says string
		code             int
	}{
		{"no.json", "{", "no saved history", 2},
		{"empty.json", `{"events":[]}`, "holds no events", 2},
		{"null.json", `null`, "no saved history", 2},
		{"list.json", `[1, 2]`, "no saved history", 2},
		{"foreign.json", `{"name":"left-pad","version":"1.0.0"}`, "holds no events", 2},
		{"torn.json", string(text[:len(text)/2]), "no saved history", 2},
		{"zero.json", "", "no saved history", 2},
		{"cut.json", cutHead(t, text), "does not begin", 1},
	} {
		if r := command(t, nil, starter, "replay", "--file", save(c.name, c.text)); r.code != c.code || !contains(r.out+r.errOut, c.says) {
			t.Errorf("%s: exit code %d\n%s%s", c.name, r.code, r.out, r.errOut)
		}
	}
}

// cutHead is a saved history without its first event.
func cutHead(t *testing.T, text []byte) string {
	t.Helper()
	var h struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(text, &h); err != nil {
		t.Fatal(err)
	}
	h.Events = h.Events[1:]
	cut, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return string(cut)
}

// download is a run's history as the Web UI's download button writes it: the
// events of its own API, page by page, below one key.
func download(t *testing.T, turn *turnkeel.Turn) string {
	t.Helper()
	var events []json.RawMessage
	page := ""
	for {
		query := url.Values{"execution.runId": {turn.RunID}, "nextPageToken": {page}, "maximumPageSize": {"7"}}
		response, err := http.Get(server.UI + "/api/v1/namespaces/" + server.Namespace + "/workflows/" + turn.ID + "/history?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			History struct {
				Events []json.RawMessage `json:"events"`
			} `json:"history"`
			NextPageToken string `json:"nextPageToken"`
		}
		err = json.NewDecoder(response.Body).Decode(&got)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v", response.Status, err)
		}
		events = append(events, got.History.Events...)
		if page = got.NextPageToken; page == "" {
			break
		}
	}
	text, err := json.MarshalIndent(map[string]any{"events": events}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// More runs than one page are all replayed; Ctrl-C ends it with what was done.
func TestReplay_ManyRuns(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const runs = 520 // a page has 500
	var starts errgroup.Group
	starts.SetLimit(8)
	for i := range runs {
		starts.Go(func() error {
			_, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: fmt.Sprintf("many-%s-%d", s.Queue, i), TaskQueue: s.Queue},
				contract.WorkflowTurn, contract.TurnInput{Agent: agenttest.AgentName})
			return err
		})
	}
	if err := starts.Wait(); err != nil {
		t.Fatal(err)
	}
	s.listed("", runs)
	r := command(t, nil, starter, "replay", "--all", "--query", s.ofQueue(), "--output", "json")
	if n := len(verdicts(t, r)); r.code != 0 || n != runs || !contains(r.errOut, "520 replay, 0 break") {
		t.Errorf("exit code %d, %d runs\n%s", r.code, n, r.errOut)
	}
	if r := command(t, nil, starter, "replay", "--all", "--query", s.ofQueue(), "--limit", "3", "-o", "json"); len(findings(t, r)) != 3 {
		t.Errorf("--limit 3: %s", r.out)
	}

	cmd := exec.CommandContext(t.Context(), starter, "replay", "--all", "--query", s.ofQueue(), "-o", "json") //nolint:gosec // our own
	cmd.Env = environment()
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil { // it has begun, and cannot end: nobody reads the rest
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.WriteTo(&strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 130 || !contains(errOut.String(), "stopped before all were replayed", "interrupted") {
		t.Errorf("exit code %d\n%s", cmd.ProcessState.ExitCode(), errOut.String())
	}
}

// What was called wrongly, is not there or cannot be reached has its exit code.
func TestReplay_Wrong(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range []struct {
		args []string
		env  []string
		code int
		says string
	}{
		{nil, nil, 2, "name a run"},
		{[]string{"--all", "x"}, nil, 2, "name no run"},
		{[]string{"x", "--closed"}, nil, 2, "go with --all"},
		{[]string{"x", "--output", "yaml"}, nil, 2, "want text or json"},
		{[]string{"--all", "--query", "nonsense ("}, nil, 2, "list the runs"},
		{[]string{"no-such-turn-" + s.Queue}, nil, 3, "find the run"},
		{[]string{"--file", "no-such-file.json"}, nil, 3, "no such file"},
		{[]string{"x"}, []string{"TEMPORAL_ADDRESS=127.0.0.1:1"}, 3, "no Temporal server"},
		{[]string{"--all", "--query", "WorkflowId = 'nobody'"}, nil, 0, "no run was found"},
	} {
		for _, bin := range []string{starter, workerBinary()} {
			env := c.env
			if bin != starter {
				env = s.env("old", "", c.env...)
			}
			r := command(t, env, bin, append([]string{"replay"}, c.args...)...)
			if r.code != c.code || !contains(r.errOut, c.says) || r.out != "" {
				t.Errorf("%s replay %v: exit code %d, want %d\n%s%s", filepath.Base(bin), c.args, r.code, c.code, r.out, r.errOut)
			}
		}
	}
}
