package cli

import (
	"slices"
	"strings"
	"testing"
)

// usageCases are ways to call the binaries wrongly, and what their message says
// is valid. Each word is an argument; "_" is an empty one.
var usageCases = []struct{ bin, args, want string }{
	{"starter", "nope", `unknown command "nope"`},
	{"starter", "--nope", "unknown flag: --nope"},
	{"starter", "list -o xml", "want text or json"},
	{"starter", "help nope", `unknown command "nope"`},
	{"starter", "help policy nope", `unknown command "nope"`},
	{"starter", "completion nope", `unknown command "nope"`},
	{"starter", "policy nope", `unknown command "nope"`},
	{"starter", "policy test", "Usage: starter policy test AGENT"},
	{"starter", "policy test a b", "Usage: starter policy test AGENT"},
	{"starter", "policy test _", "argument 1 is empty"},
	{"starter", "demo extra", `unknown command "extra" for "starter demo"`},
	{"starter", "demo --port x", `--port "x": want a whole number`},
	{"starter", "demo --port 65536", "want 1 to 65535"},
	{"starter", "demo --ui-port -2", "want 1 to 65535"},
	{"starter", "demo --keep=maybe", "--keep \"maybe\": want true or false"},
	{"starter", "dev extra", `unknown command "extra" for "starter dev"`},
	{"starter", "dev --port -2", "want 1 to 65535"},
	{"starter", "run", "Usage: starter run"},
	{"starter", "run hello", `"agent" not set`},
	{"starter", "run --agent _ hello", "name an agent"},
	{"starter", "run --agent a _", "the message is empty"},
	{"starter", "run --agent a --detach --no-wait hello", "leave --no-wait out"},
	{"starter", "run --agent a --attach /nope hello", "/nope"},
	{"starter", "send s", "Usage: starter send"},
	{"starter", "send _ hello", "the session's id is empty"},
	{"starter", "send s _", "the message is empty"},
	{"starter", "send s hello --while-busy maybe", "want queue, reject or interrupt"},
	{"starter", "chat", "--session which"},
	{"starter", "chat extra", `unknown command "extra"`},
	{"starter", "show", "Usage: starter show TURN"},
	{"starter", "show a b", "Usage: starter show TURN"},
	{"starter", "show _", "argument 1 is empty"},
	{"starter", "watch a b", "Usage: starter watch TURN"},
	{"starter", "watch _", "argument 1 is empty"},
	{"starter", "effects", "name a turn, or a saved history"},
	{"starter", "effects a --file f", "name a turn, or a saved history"},
	{"starter", "effects a b", "Usage: starter effects TURN"},
	{"starter", "fork a", `"step" not set`},
	{"starter", "fork a --step 0", "--step counts from 1"},
	{"starter", "fork a --step x", `--step "x": want a whole number`},
	{"starter", "fork _ --step 1", "argument 1 is empty"},
	{"starter", "list extra", `unknown command "extra"`},
	{"starter", "list --limit 0", "--limit 0: want 1 or more"},
	{"starter", "list --limit x", "want a whole number"},
	{"starter", "pending a b", "Usage: starter pending [TURN]"},
	{"starter", "pending _", "argument 1 is empty"},
	{"starter", "approve", "name one turn, or use --all"},
	{"starter", "approve a --all", "name one turn, or use --all"},
	{"starter", "approve --all", "--all needs a filter"},
	{"starter", "approve a --tool t", "--tool and --query go with --all"},
	{"starter", "approve a --key k", "--key and --digest go together"},
	{"starter", "deny _", "argument 1 is empty"},
	{"starter", "deny a b", "Usage: starter deny"},
	{"starter", "deny --all --tool t --key k --digest d", "--all does not"},
	{"starter", "resolve a --key k", `"verdict" not set`},
	{"starter", "resolve a --key k --verdict maybe", `--verdict "maybe": want happened, did_not_happen or cannot_tell`},
	{"starter", "resolve a --key _ --verdict happened", "--key is empty"},
	{"starter", "resolve _ --key k --verdict happened", "argument 1 is empty"},
	{"starter", "interrupt", "Usage: starter interrupt"},
	{"starter", "interrupt _", "argument 1 is empty"},
	{"starter", "cancel a b", "Usage: starter cancel"},
	{"starter", "cancel _", "argument 1 is empty"},
	{"starter", "setup extra", `unknown command "extra"`},
	{"starter", "setup --dry-run=maybe", "want true or false"},
	{"starter", "check extra", `unknown command "extra"`},
	{"starter", "tools a b", "Usage: starter tools [AGENT]"},
	{"starter", "replay", "name a run"},
	{"starter", "replay a --all", "name no run"},
	{"starter", "replay a --query q", "go with --all"},
	{"starter", "replay --all --limit -1", "--limit: want 0 or more"},
	{"starter", "replay _", "argument 1 is empty"},
	{"worker", "nope", `unknown command "nope"`},
	{"worker", "--nope", "unknown flag: --nope"},
	{"worker", "--cache x", "want a whole number"},
	{"worker", "--stop-timeout x", "want a duration such as 30s"},
	{"worker", "--stop-timeout -1s", "want 0s or more"},
	{"worker", "run extra", `unknown command "extra"`},
	{"worker", "run --stop-timeout -1s", "want 0s or more"},
	{"worker", "check extra", `unknown command "extra"`},
	{"worker", "check -o xml", "want text or json"},
	{"worker", "tools a b", "Usage: worker tools [AGENT]"},
	{"worker", "tools -o xml", "want text or json"},
	{"worker", "policy nope", `unknown command "nope"`},
	{"worker", "policy test", "Usage: worker policy test AGENT"},
	{"worker", "policy test _", "argument 1 is empty"},
	{"worker", "replay", "name a run"},
	{"worker", "replay a -o xml", "want text or json"},
	{"worker", "replay a --closed", "go with --all"},
	{"worker", "completion nope", `unknown command "nope"`},
	{"worker", "help nope", `unknown command "nope"`},
}

// A command that is called wrongly exits with 2, says what is valid on standard
// error and prints nothing else. No server is reached: there is none.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range usageCases {
		args := strings.Fields(c.args)
		for i := range args {
			if args[i] == "_" {
				args[i] = ""
			}
		}
		bin := starter
		if c.bin == "worker" {
			bin = worker
		}
		r := finish(t, command(t, dir, bin, []string{"TEMPORAL_ADDRESS=127.0.0.1:1", "USER=ann"}, args...))
		if r.code != 2 || r.out != "" || !strings.Contains(r.errOut, c.want) {
			t.Errorf("%s %s: exit code %d, want 2 and %q\n%s%s", c.bin, c.args, r.code, c.want, r.out, r.errOut)
		}
	}
}

// The table above has every command that the help texts name.
func TestWrongUsage_OfEveryCommand(t *testing.T) {
	t.Parallel()
	for name, bin := range map[string]string{"starter": starter, "worker": worker} {
		_, list, _ := strings.Cut(finish(t, command(t, t.TempDir(), bin, nil, "--help")).out, "Available Commands:\n")
		list, _, _ = strings.Cut(list, "\n\n")
		for line := range strings.Lines(list) {
			cmd := strings.Fields(line)[0]
			if !slices.ContainsFunc(usageCases, func(c struct{ bin, args, want string }) bool {
				return c.bin == name && strings.Fields(c.args)[0] == cmd
			}) {
				t.Errorf("no case for %s %s", name, cmd)
			}
		}
	}
}
