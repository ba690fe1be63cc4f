package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/toolbin"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// shop is the world that the pages about people and sessions speak of: an
// agent "support" behind the default task queue, on a server of its own.
type shop struct {
	*agenttest.Bench
	address string
	path    string // with starter and temporal on it
	refunds atomic.Int32
	wires   atomic.Int32
}

const (
	messageRefund = "refund it"
	messageWire   = "wire it"
)

func newShop(t *testing.T) *shop {
	t.Helper()
	own := agenttest.StartServer(t)
	s := &shop{address: own.Address}
	type input struct {
		Cents int `json:"cents"`
	}
	tools := []*tooldefs.Tool{
		tooldefs.Define(tooldefs.Spec[input, string]{
			Name: "refund", Description: "Refunds.", Approval: tooldefs.Always,
			Handler: func(context.Context, *tooldefs.Call, input) (string, error) {
				s.refunds.Add(1)
				return "refunded", nil
			},
		}),
		tooldefs.Define(tooldefs.Spec[input, string]{
			Name: "wire", Description: "Wires, and does not know.", OnUnknown: tooldefs.AskHuman,
			Handler: func(context.Context, *tooldefs.Call, input) (string, error) {
				s.wires.Add(1)
				return "", tooldefs.Unknown(errors.New("the line was cut"))
			},
		}),
	}
	call := func(tool string) agenttest.Step {
		return agenttest.Step{Calls: []agenttest.ScriptCall{{Name: tool, Args: map[string]any{"cents": 5}}}}
	}
	s.Bench = agenttest.NewBench(t, agenttest.BenchOptions{Server: own, NoWorker: true, Tools: tools, Script: agenttest.Script{
		Turns: []agenttest.ScriptTurn{
			{When: messageRefund, Steps: []agenttest.Step{call("refund"), {Text: "Done."}}},
			{When: messageWire, Steps: []agenttest.Step{call("wire"), {Text: "Done."}}},
		},
		Steps: []agenttest.Step{{Text: "It is on its way."}},
	}})
	var options sdkworker.Options
	turnkeel.SetWorkerDefaults(&options)
	served := sdkworker.New(s.Temporal, contract.DefaultTaskQueue, options)
	err := turnkeel.Register(served, turnkeel.Options{Tools: tools, Agents: []contract.Agent{{
		Name: "support", Model: "openai/scripted", Tools: []string{"refund", "wire"}, Endpoint: contract.Endpoint{BaseURL: s.Model.URL()},
	}}})
	if err == nil {
		err = served.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Stop)
	temporal, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.path = filepath.Dir(starter) + ":" + filepath.Dir(temporal) + ":" + os.Getenv("PATH")
	return s
}

// begin starts a turn, and waits until it waits for a person.
func (s *shop) begin(t *testing.T, message string) (turn string, p contract.Pending) {
	t.Helper()
	turns := turnkeel.NewClient(s.Temporal, turnkeel.ClientOptions{})
	started, err := turns.Start(t.Context(), turnkeel.TurnRequest{Input: contract.TurnInput{
		Agent: "support", Messages: []contract.Message{{Role: contract.RoleUser, Content: message}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for t.Context().Err() == nil {
		if status, err := turns.Status(t.Context(), started.ID); err == nil && len(status.Pending) == 1 {
			return started.ID, status.Pending[0]
		}
	}
	t.Fatal("nothing waits")
	return "", p
}

// end waits for a turn's end and gives its one call.
func (s *shop) end(t *testing.T, turn string) (agenttest.Outcome, contract.Outcome) {
	t.Helper()
	out := s.Wait(s.Turns.Turn(t.Context(), turn, ""))
	return out, out.Effects[0].Outcome
}

// shell runs a command as the page has it.
func (s *shop) shell(t *testing.T, line, stdin string) result {
	t.Helper()
	cmd := command(t, t.TempDir(), "sh", []string{"TEMPORAL_ADDRESS=" + s.address, "TURNKEEL_USER=ann", "PATH=" + s.path}, "-c", line)
	cmd.Stdin = strings.NewReader(stdin)
	return finish(t, cmd)
}

// pageCommand is how a command of a page is run and what comes of it.
type pageCommand struct {
	begins string // how the command begins
	turn   string // the message of the turn that it is about; "": none
	stdin  string
	prints string // TURN stands for the turn's id
	check  func(t *testing.T, s *shop, turn string)
}

func outcome(want contract.Outcome) func(*testing.T, *shop, string) {
	return func(t *testing.T, s *shop, turn string) {
		t.Helper()
		if out, got := s.end(t, turn); got != want {
			t.Errorf("the call is %s, want %s: %+v", got, want, out.Effects)
		}
	}
}

var (
	fences    = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$|`((?:starter|temporal) [^`]*)`")
	namesOnly = regexp.MustCompile(`^starter [a-z]+$`) // a command that is spoken of
)

// commandsOf are a page's commands in order: those of its shell blocks, and
// those inside a sentence that are more than a command's name.
func commandsOf(t *testing.T, page string) []string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, m := range fences.FindAllStringSubmatch(string(data), -1) {
		if span := strings.Join(strings.Fields(m[3]), " "); span != "" && !namesOnly.MatchString(span) {
			commands = append(commands, span)
		}
		if m[1] == "sh" {
			block := strings.ReplaceAll(strings.TrimSpace(m[2]), "\\\n", " ")
			commands = append(commands, strings.Split(block, "\n")...)
		}
	}
	return commands
}

// runPage runs each command of a page, in order, on a real server, with real
// ids put in. A command without a row fails, as does a row without a command.
func runPage(t *testing.T, page string, rows []pageCommand) {
	t.Helper()
	s, next := newShop(t), 0
	for _, line := range commandsOf(t, page) {
		if next == len(rows) || !strings.HasPrefix(line, rows[next].begins) {
			t.Fatalf("%s: %q is not run: give it a row here, in the order of the page", page, line)
		}
		row, turn := rows[next], ""
		next++
		if row.turn != "" {
			var p contract.Pending
			turn, p = s.begin(t, row.turn)
			line = strings.NewReplacer("TURN", turn, "KEY", p.Key, "DIGEST", p.Digest).Replace(line)
		}
		want := strings.ReplaceAll(row.prints, "TURN", turn)
		r := s.shell(t, line, row.stdin)
		for t.Context().Err() == nil && !strings.Contains(r.out, want) && (strings.Contains(line, "list") || strings.Contains(line, "--all") || strings.HasSuffix(line, "pending")) {
			r = s.shell(t, line, row.stdin) // what is listed follows with a delay
		}
		if r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%s: %q: exit code %d, wanted %q\n%s\n%s", page, line, r.code, want, r.out, r.errOut)
			continue
		}
		if row.check != nil {
			row.check(t, s, turn)
		}
	}
	if next < len(rows) {
		t.Errorf("%s has no command that begins with %q", page, rows[next].begins)
	}
}

// R22, R24, R25, R40, T50: every command of docs/approvals.md does what the
// page says.
func TestPage_Approvals(t *testing.T) {
	t.Parallel()
	runPage(t, "approvals.md", []pageCommand{
		{begins: "starter pending", turn: messageRefund, prints: "starter approve TURN --key "},
		{begins: "starter approve TURN", turn: messageRefund, prints: "approved by ann", check: outcome(contract.OutcomeDone)},
		{begins: "starter deny TURN", turn: messageRefund, prints: "denied by ann", check: func(t *testing.T, s *shop, turn string) {
			t.Helper()
			if out, got := s.end(t, turn); got != contract.OutcomeDenied || !strings.Contains(out.Effects[0].Text, "wrong account") {
				t.Errorf("%+v", out.Effects)
			}
		}},
		{begins: "starter resolve TURN", turn: messageWire, prints: "settled as did_not_happen by ann"},
		{begins: "starter approve --all", turn: messageRefund, stdin: "y\n", prints: "TURN: call ", check: outcome(contract.OutcomeDone)},
		{begins: "starter deny --all", turn: messageRefund, stdin: "y\n", prints: "TURN: call ", check: outcome(contract.OutcomeDenied)},
		{begins: "temporal workflow update execute", turn: messageRefund, check: outcome(contract.OutcomeDone)},
		{begins: "starter effects TURN", turn: messageRefund, prints: "refund"},
		{begins: "starter setup"},
		{begins: "temporal workflow list", turn: messageRefund, prints: "TURN"},
		{begins: "starter interrupt TURN", turn: messageRefund, check: outcome(contract.OutcomeNotStarted)},
	})
}

// R11: a program in any language starts a turn with the command that
// docs/operations.md gives.
func TestPage_StartWithPlainJSON(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, line := range commandsOf(t, "operations.md") {
		if !strings.HasPrefix(line, "temporal workflow start") {
			continue
		}
		if r := s.shell(t, line, ""); r.code != 0 {
			t.Fatalf("%q: exit code %d\n%s%s", line, r.code, r.out, r.errOut)
		}
		if out := s.Wait(s.Turns.Turn(t.Context(), "ticket-4711", "")); out.Result.Text != "It is on its way." {
			t.Errorf("%+v %v", out.Result, out.Err)
		}
		return
	}
	t.Error("the page does not say how")
}

// R50: every command of docs/sessions.md does what the page says.
func TestPage_Sessions(t *testing.T) {
	t.Parallel()
	const said = "It is on its way."
	runPage(t, "sessions.md", []pageCommand{
		{begins: "starter send ticket-4711 --agent support", prints: said},
		{begins: "starter send ticket-4711", prints: said},
		{begins: "starter send ticket-4711 --while-busy interrupt", prints: said},
		{begins: "starter chat --agent support --session", stdin: "hello\n", prints: said},
		{begins: "starter chat --session", stdin: "again\n", prints: "4 turns so far"},
		{begins: "starter cancel", prints: "cancel requested"},
		{begins: "temporal workflow list", prints: contract.WorkflowTurn},
	})
}
