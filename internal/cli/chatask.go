package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/contract"
)

// maxAskedArgs bounds the arguments that a question shows at first, in runes.
// A yes to arguments that were cut needs them to be looked at whole.
const maxAskedArgs = 2_000

// question is a call that its person is asked about, as it stands.
type question struct {
	contract.Pending
	answer  <-chan entry
	expires <-chan time.Time
	viewed  bool                                         // the arguments were shown whole
	then    func(ctx context.Context, text string) error // takes the next line; nil: it is the choice
}

// ask shows a call and asks about it.
func (u *underWay) ask(p contract.Pending) {
	u.asked = &question{Pending: p, viewed: len([]rune(p.Args)) <= maxAskedArgs}
	if p.Expires != nil {
		u.asked.expires = time.After(time.Until(*p.Expires))
	}
	shown := p
	shown.Args = contract.BoundText(visible(p.Args), maxAskedArgs)
	u.printer.finish()
	fmt.Fprintln(u.out)
	printPending(u.out, u.turn, u.agent, shown)
	u.choose()
}

// choose asks for the choice.
func (u *underWay) choose() {
	text := "  y approve · n deny · v view whole · s skip> "
	if u.asked.Kind == contract.PendingUnknown {
		text = "  h happened · n did not happen · c cannot tell · v view whole · s skip> "
	}
	u.asked.then = u.chosen
	u.asked.answer = u.console.ask(prompt{text: text, question: true})
}

// more asks for a line beside the choice.
func (u *underWay) more(text string, then func(ctx context.Context, line string) error) error {
	u.asked.then = then
	u.asked.answer = u.console.ask(prompt{text: text, question: true})
	return errAskMore
}

// errAskMore says that the question still stands: another line was asked for.
var errAskMore = errors.New("asks for more")

// answered takes a line that was asked for. Ctrl-C is for the turn, Ctrl-D
// skips the question.
func (u *underWay) answered(ctx context.Context, e entry) (done bool, err error) {
	switch {
	case errors.Is(e.err, errBreak):
		if err := u.interrupt(ctx); err != nil {
			return false, err
		}
		return u.goOn()
	case errors.Is(e.err, io.EOF):
		e.text = "s"
		u.asked.then = u.chosen
	}
	err = u.asked.then(ctx, strings.TrimSpace(e.text))
	switch {
	case errors.Is(err, errAskMore):
		return false, nil
	case err != nil:
		if errors.Is(err, errBreak) {
			err = errors.New("given up: the answer may be recorded all the same")
		}
		fmt.Fprintln(u.errOut, "  "+plain(err.Error()))
		if u.stillWaits(ctx) {
			u.choose()
			return false, nil
		}
	}
	return u.goOn()
}

// chosen does what the choice says.
func (u *underWay) chosen(ctx context.Context, choice string) error {
	approval := u.asked.Kind == contract.PendingApproval
	switch strings.ToLower(choice) {
	case "s", "skip":
		fmt.Fprintln(u.out, "  skipped; it waits for an answer from elsewhere:\n"+commandsFor(u.turn, u.asked.Pending))
		return nil
	case "v", "view":
		return u.view()
	}
	switch word := strings.ToLower(choice); {
	case approval && (word == "y" || word == "yes"):
		if !u.asked.viewed {
			return errors.New("the arguments were cut: v shows them whole first")
		}
		return u.decide(ctx, true, "")
	case approval && (word == "n" || word == "no"):
		return u.more("  why? (Enter: no comment)> ", func(ctx context.Context, line string) error { return u.decide(ctx, false, line) })
	case !approval && word == "h":
		return u.more("  what happened, for the model to read> ", func(ctx context.Context, line string) error {
			return u.resolve(ctx, contract.VerdictHappened, line)
		})
	case !approval && word == "n":
		return u.resolve(ctx, contract.VerdictDidNotHappen, "")
	case !approval && word == "c":
		return u.resolve(ctx, contract.VerdictCannotTell, "")
	}
	u.choose()
	return errAskMore
}

// view shows the question whole, as "starter pending --output json" does.
func (u *underWay) view() error {
	whole, err := json.MarshalIndent(pendingCall{Turn: u.turn, Agent: u.agent, Pending: u.asked.Pending, WebUI: u.s.link(u.turn, "")}, "  ", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(u.out, "  %s\n  arguments, exactly: %s\n", visible(string(whole)), visible(u.asked.Args))
	u.asked.viewed = true
	u.choose()
	return errAskMore
}

func (u *underWay) decide(ctx context.Context, approve bool, comment string) error {
	p := u.asked.Pending
	return u.await(ctx, func(ctx context.Context) error {
		_, err := u.s.turns.Decide(ctx, u.turn, contract.DecideRequest{Key: p.Key, Digest: p.Digest, Approve: approve, By: u.by, Comment: comment})
		return err
	})
}

func (u *underWay) resolve(ctx context.Context, verdict contract.Verdict, value string) error {
	p := u.asked.Pending
	return u.await(ctx, func(ctx context.Context) error {
		_, err := u.s.turns.Resolve(ctx, u.turn, contract.ResolveRequest{Key: p.Key, Verdict: verdict, Value: value, By: u.by})
		return err
	})
}

// stillWaits says that the question is open. A turn that cannot be asked may
// still wait: the question then stands.
func (u *underWay) stillWaits(ctx context.Context) bool {
	var status contract.StatusReply
	err := u.await(ctx, func(ctx context.Context) (err error) {
		status, err = u.s.turns.Status(ctx, u.turn)
		return err
	})
	if err != nil {
		return true
	}
	for _, p := range status.Pending {
		if p.Key == u.asked.Key && p.Digest == u.asked.Digest && p.Kind == u.asked.Kind {
			return true
		}
	}
	return false
}
