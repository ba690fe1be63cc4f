package webui

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/toolbin"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// shownCommands are the commands of the temporal CLI that a page shows.
var shownCommands = regexp.MustCompile(`(?s)temporal workflow update execute .*?\}'`)

// runShown takes the command that holds part out of a page's text and runs it
// in a shell as it stands there, as the user ann.
func runShown(t *testing.T, page, part string) {
	t.Helper()
	commands := shownCommands.FindAllString(page, -1)
	at := slices.IndexFunc(commands, func(c string) bool { return strings.Contains(c, part) })
	if at < 0 {
		t.Fatalf("no command with %s in:\n%s", part, page)
	}
	command := commands[at]
	cli, err := toolbin.TemporalCLI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-c", command)
	shell.Dir = t.TempDir()
	shell.Env = append(os.Environ(), "PATH="+filepath.Dir(cli)+":"+os.Getenv("PATH"),
		"USER=ann", "TEMPORAL_ADDRESS="+server.Address, "TEMPORAL_NAMESPACE="+server.Namespace)
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%v\n%s", command, err, out)
	}
	if left, _ := os.ReadDir(shell.Dir); len(left) > 0 {
		t.Errorf("%s\ndid more than it should: %v", command, left)
	}
}

// What a shell, JSON, HTML or Markdown might take for its own. Ids are printable
// ASCII: Temporal's clients send them in a header.
const (
	hardID   = "it's \"q\" $(touch x) `touch y`; touch z \\ $HOME </pre>&amp; **b** "
	hardText = hardID + "ü雪🙂\n```\n'c'"
)

// R22, R24, T50, F02: each command that a turn shows in the Web UI does what it
// says, whatever the turn's id and the call's arguments are: they are shown as
// they are, and run as they are shown.
func TestCommands(t *testing.T) {
	t.Parallel()
	lost := tooldefs.Define(tooldefs.Spec[chargeInput, string]{
		Name: "wire_money", Description: "Wires money.", OnUnknown: tooldefs.AskHuman,
		Handler: func(context.Context, *tooldefs.Call, chargeInput) (string, error) {
			return "", tooldefs.Unknown(errors.New("the bank did not answer"))
		},
	})
	hardCall := agenttest.ScriptCall{Name: "charge_card", Args: map[string]any{"amount": 42, "note": hardText}}
	b := agenttest.NewBench(t, agenttest.BenchOptions{Server: server, Tools: append(shop(), lost), Script: agenttest.Script{
		Turns: []agenttest.ScriptTurn{
			{When: "wire", Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{call("wire_money", "amount", 42)}}, {Text: "done"}}},
			{When: "charge", Steps: []agenttest.Step{{Calls: []agenttest.ScriptCall{hardCall}}, {Text: "done"}}},
		},
	}})
	ui := newBrowser(t)
	for _, c := range []struct {
		name, message, part string
		want                contract.Outcome
		text                string // of what the model reads
	}{
		{"approve", "charge it", `"approve":true`, contract.OutcomeDone, "charged: " + hardText},
		{"deny", "charge it", `"approve":false`, contract.OutcomeDenied, "ann denied it"},
		{"resolve", "wire it", `"verdict":"happened"`, contract.OutcomeDone, "ann"},
	} {
		t.Run(c.name, func(t *testing.T) {
			turn, err := b.Turns.Start(t.Context(), turnkeel.TurnRequest{
				TurnID: hardID + c.name + b.Queue,
				Input: contract.TurnInput{
					Agent: agenttest.AgentName, Messages: []contract.Message{{Role: contract.RoleUser, Content: c.message}},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			asked := awaitQuestion(t, b, turn.ID)
			page := ui.in(t).see(pageOf(t, turn, "user-metadata"), c.part)
			if !strings.Contains(page, asked.Args) {
				t.Errorf("the arguments are not shown as they are, %s:\n%s", asked.Args, page)
			}
			runShown(t, page, c.part)
			out := b.Wait(turn)
			if e := out.Effects[0]; e.Outcome != c.want || !strings.Contains(e.Text, c.text) {
				t.Errorf("%+v", e)
			}
		})
	}
}
