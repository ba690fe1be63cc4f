package deploy

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
)

// paid is what a payment of a turn says, which names the build that made it.
func paid(t *testing.T, out agenttest.Outcome) string {
	t.Helper()
	if out.Err != nil || out.Result.Status != contract.StatusCompleted || len(out.Effects) != 1 {
		t.Fatalf("%+v, %v, %d effects", out.Result, out.Err, len(out.Effects))
	}
	for _, m := range slices.Backward(out.Messages) { // a session's earlier turns stand before it
		if m.Role == contract.RoleTool {
			return m.Content
		}
	}
	t.Fatal("the payment said nothing")
	return ""
}

// R07: a turn that parked on a build which is gone goes on with the current
// one. No old worker is kept.
func TestVersions_AParkedTurnUpgrades(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	stop := s.worker("old", "v1")
	s.current("v1")
	turn := s.Start("pay")
	waits := s.parked(turn.ID)
	stop()
	s.worker("old", "v2")
	s.current("v2")
	s.approve(turn.ID, waits)
	if said := paid(t, s.Wait(turn)); said != "paid by build v2" {
		t.Errorf("the payment says %q", said)
	}
}

// R07: a pinned turn stays on its build while another one is current, and new
// turns begin on that; a session goes on with the current build.
func TestVersions_APinnedTurnStays(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	pin := "TURNKEEL_VERSIONING=pinned"
	stop := s.worker("old", "v1", pin)
	s.current("v1")
	turn := s.Start("pay")
	waits := s.parked(turn.ID)
	talk := turnkeel.Message{Session: "talk-" + s.Queue, Agent: agenttest.AgentName, Text: "pay"}
	s.payIn(talk, "paid by build v1")
	stop()
	s.worker("old", "v2", pin)
	s.current("v2")
	s.payIn(talk, "paid by build v2")
	newer := s.Start("pay")
	s.approve(newer.ID, s.parked(newer.ID))
	if said := paid(t, s.Wait(newer)); said != "paid by build v2" {
		t.Errorf("the new turn's payment says %q", said)
	}
	s.worker("old", "v1", pin) // it is needed again: the price of pinning
	s.approve(turn.ID, waits)
	if said := paid(t, s.Wait(turn)); said != "paid by build v1" {
		t.Errorf("the pinned turn's payment says %q", said)
	}
}

// payIn sends a message to a session, approves the payment of its turn, and
// wants that to be said.
func (s *shop) payIn(m turnkeel.Message, want string) {
	s.t.Helper()
	reply, err := s.Turns.Send(s.t.Context(), m)
	if err != nil {
		s.t.Fatal(err)
	}
	turn, err := s.Turns.Sent(s.t.Context(), reply.TurnID)
	if err != nil {
		s.t.Fatal(err)
	}
	s.approve(turn.ID, s.parked(turn.ID))
	if said := paid(s.t, s.Wait(turn)); said != want {
		s.t.Errorf("the session's payment says %q, want %q", said, want)
	}
}

// Without a build id workers are unversioned and any of them serves a turn;
// the first versioned deploy takes over what is parked.
func TestVersions_FromUnversioned(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	stop := s.worker("old", "")
	turn := s.Start("pay")
	waits := s.parked(turn.ID)
	stop()
	s.worker("old", "v1")
	s.current("v1")
	s.approve(turn.ID, waits)
	if said := paid(t, s.Wait(turn)); said != "paid by build v1" {
		t.Errorf("the payment says %q", said)
	}
}

// Half a configuration is refused before anything is served.
func TestVersions_Refused(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range []struct {
		name, env, says string
	}{
		{"no build", "TURNKEEL_VERSIONING=pinned", "TURNKEEL_BUILD_ID"},
		{"behavior", "TURNKEEL_VERSIONING=never", "want auto-upgrade or pinned"},
		{"a dot", "TURNKEEL_DEPLOYMENT=a.b", "dot or a colon"},
	} {
		build := "v1"
		if c.name == "no build" {
			build = ""
		}
		r := command(t, s.env("old", build, c.env), workerBinary(), "run", "--task-queue", s.Queue)
		if r.code != 1 || !contains(r.errOut, c.says) {
			t.Errorf("%s: exit code %d\n%s", c.name, r.code, r.errOut)
		}
	}
}

// R07: the rollout of docs/deploys.md, with its own commands.
func TestVersions_AsDocumented(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	page, err := os.ReadFile("../../../docs/deploys.md")
	if err != nil {
		t.Fatal(err)
	}
	turn := &turnkeel.Turn{}
	run := func(parts ...string) string { // the page's one command with these parts
		var found []string
		for line := range strings.Lines(string(page)) {
			if strings.HasPrefix(line, "temporal ") && contains(line, parts...) {
				found = append(found, strings.TrimSpace(line))
			}
		}
		if len(found) != 1 {
			t.Fatalf("docs/deploys.md has %d commands with %q", len(found), parts)
		}
		return do(t, found[0], "refunds", s.Queue, "ticket-4711", turn.ID)
	}
	stop41 := s.worker("old", "v41")
	s.current("v41")
	turn = s.Start("pay")
	held, heldFor := turn, s.parked(turn.ID)
	run("update-options", "pinned")
	stop42 := s.worker("old", "v42")
	s.registered("v42")
	if out := run("deployment describe"); !contains(out, "v41", "v42") {
		t.Errorf("the deployment has\n%s", out)
	}
	run("set-ramping-version")
	// next parks a turn, takes a step of the rollout, and wants the turn to go on
	// with that build. The worker before goes: the switch takes its moments.
	next := func(build string, stop func(), parts ...string) {
		turn = s.Start("pay")
		waits := s.parked(turn.ID)
		run(parts...)
		stop()
		s.approve(turn.ID, waits)
		if said := paid(t, s.Wait(turn)); said != "paid by build "+build {
			t.Errorf("after %q the payment says %q", parts, said)
		}
	}
	next("v42", stop41, "set-current-version", "v42")
	until(t, "the held turn alone is listed under its build", func() (bool, string) {
		out := run("workflow count")
		return strings.TrimSpace(out) == "Total: 1", out
	})
	stop41 = s.worker("old", "v41")
	s.approve(held.ID, heldFor)
	if said := paid(t, s.Wait(held)); said != "paid by build v41" {
		t.Errorf("the held turn's payment says %q", said)
	}
	next("v41", stop42, "set-current-version", "v41")
	s.worker("old", "")
	next("", stop41, "set-current-version", "--unversioned")
	turn = s.Start("pay")
	s.parked(turn.ID)
	run("update-options", "unspecified")
}
