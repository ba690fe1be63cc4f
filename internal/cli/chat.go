package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

type chatFlags struct {
	session, agent, queue, by string
	attach                    []string
}

func (a *app) chatCommand() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat --agent NAME | chat --session ID",
		Short: "Talk with an agent, and decide on its calls as they come",
		Long: `Talks with an agent in a session. What the agent says and does is shown as it
happens; a call that waits for you is shown exactly as it will run, and asked
about on the spot.

Ctrl-C interrupts the turn that runs, a second one leaves. At an empty prompt
Ctrl-C and Ctrl-D leave. Leaving harms nothing: the session stays, a turn that
runs goes on, and --session brings you back to where it is by then.

/attach FILE has a file go with your next message, /help names the commands.

From a pipe each line is a message, and nothing is asked: who decides does it
elsewhere, with "starter approve". With --output json each event is one line.

What you write lives in the session's history: write no secret.`,
		Example: `  starter chat --agent support
  starter chat --agent support --session ticket-4711   # a name of your own
  starter chat --session ticket-4711                   # come back
  echo "Where is order A-1001?" | starter chat --agent support --output json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.session == "" && f.agent == "" {
				return usageError{errors.New("--agent says with whom, --session which conversation to come back to")}
			}
			return a.chat(cmd, f)
		},
	}
	cmd.Flags().StringVar(&f.agent, "agent", "", "name of the agent; needed for a new session")
	cmd.Flags().StringVar(&f.session, "session", "", "id of the session (default: a new one)")
	cmd.Flags().StringVar(&f.queue, "task-queue", contract.DefaultTaskQueue, "task queue of the worker, for a new session")
	attachFlag(cmd, &f.attach)
	cmd.Flags().Lookup("attach").Usage += "; goes with the first message"
	byFlag(cmd, &f.by)
	return cmd
}

// chat is one conversation at a terminal, or from a pipe.
type chat struct {
	*app // its outputs are fit for the terminal's mode

	s       *session
	id      string // of the session
	agent   string
	queue   string
	begun   bool     // the session is there
	by      string   // who decides
	asks    bool     // a person is here and can be asked
	screen  *os.File // whose lines are edited, nil if none is
	console console
	breaks  chan struct{}           // each Ctrl-C while no line is asked for
	attach  []string                // what --attach names, until it is read
	files   []turnkeel.AttachedFile // go with the next message
	ended   bool                    // the last turn has
	bad     error                   // of the last turn that did not complete
}

func (a *app) chat(cmd *cobra.Command, f chatFlags) error {
	s, err := a.connect(cmd.Context(), "", f.queue)
	if err != nil {
		return err
	}
	defer s.temporal.Close()
	a.hintAttributes(cmd.Context(), s)
	c := &chat{app: a, s: s, id: f.session, agent: f.agent, queue: f.queue, attach: f.attach, breaks: make(chan struct{}, 8)}
	if c.id == "" {
		c.id = "chat-" + f.agent + "-" + strings.ToLower(rand.Text()[:10])
	}
	ctx, stop := c.signals(cmd.Context())
	defer stop()
	if err := c.openConsole(f.by); err != nil {
		return err
	}
	defer c.console.close()
	return c.talk(ctx)
}

// signals turns Ctrl-C where the terminal sends it as a signal into a break,
// and has SIGTERM end the chat.
func (c *chat) signals(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	came := make(chan os.Signal, 8)
	signal.Notify(came, os.Interrupt, syscall.SIGTERM)
	go func() {
		for {
			select {
			case s := <-came:
				if s == syscall.SIGTERM {
					cancel()
					return
				}
				select {
				case c.breaks <- struct{}{}:
				default:
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { signal.Stop(came); cancel() }
}

// openConsole edits lines where both ends are a terminal, and else reads them.
func (c *chat) openConsole(by string) (err error) {
	if c.asks = isTerminal(c.in) && !c.json(); !c.asks {
		c.console = newLines(c.in, nil)
		return nil
	}
	if c.by, err = person(by); err != nil {
		return err
	}
	in, keys := screenOf(c.in)
	out, screen := screenOf(c.out)
	if !keys || !screen {
		c.console = newLines(c.in, c.errOut)
		return nil
	}
	if c.console, err = newTerminal(in, out, c.breaks); err != nil {
		return err
	}
	raw := *c.app
	raw.out = rawOutput{c.out}
	if isTerminal(c.errOut) {
		raw.errOut = rawOutput{c.errOut}
	}
	c.app, c.screen = &raw, out
	return nil
}

// talk is the conversation, until its person leaves.
func (c *chat) talk(ctx context.Context) error {
	turn, err := c.open(ctx)
	if err != nil {
		return err
	}
	for _, file := range c.attach {
		if err := c.addFile(ctx, file); err != nil {
			return fmt.Errorf("--attach: %w", err)
		}
	}
	for turn != "" {
		if err := c.follow(ctx, turn); err != nil {
			if isLeaving(ctx, err) {
				return c.leave(turn, err)
			}
			c.tellError(err)
			break
		}
		turn = c.next(ctx, turn)
	}
	for {
		text, err := c.listen(ctx)
		if err != nil {
			return c.leave("", err)
		}
		if strings.TrimSpace(text) == "" || c.command(ctx, text) {
			continue
		}
		if turn, err := c.message(ctx, text); isLeaving(ctx, err) {
			return c.leave(turn, err)
		} else if err != nil {
			c.tellError(err)
		}
	}
}

// listen asks for the next message.
func (c *chat) listen(ctx context.Context) (string, error) {
	answer := c.console.ask(prompt{text: c.filesWaiting() + "you> "})
	select {
	case e := <-answer:
		return e.text, e.err
	case <-c.breaks:
		return "", errBreak
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// A second Ctrl-C: its person goes. The turn goes on, or was told to end.
var (
	errLeave    = errors.New("left")
	errLeaveCut = fmt.Errorf("%w after an interruption", errLeave)
)

func isLeaving(ctx context.Context, err error) bool {
	return err != nil && (errors.Is(err, errLeave) || ctx.Err() != nil)
}

// leave says how to come back. turn is the one that goes on, if any.
func (c *chat) leave(turn string, err error) error {
	back := "starter chat --session " + c.id
	switch {
	case !c.begun: // nothing was said yet
	case turn != "" || !errors.Is(err, io.EOF) && !errors.Is(err, errBreak):
		return leftError{turn: turn, back: back, cut: errors.Is(err, errLeaveCut)}
	case c.json():
		_ = c.print(chatEvent{Session: c.id, Event: turnkeel.Event{Kind: kindLeft, Time: time.Now()}})
	default:
		c.say("left; the session stays: %s", back)
	}
	if c.asks {
		return nil
	}
	return c.bad
}

// tellError shows what went wrong and lets the conversation go on.
func (c *chat) tellError(err error) {
	c.bad = err
	fmt.Fprintln(c.errOut, plain(err.Error()))
}

// await does something that another has to answer. Ctrl-C gives it up.
func (c *chat) await(ctx context.Context, do func(context.Context) error) error {
	defer c.hintSlow(ctx)()
	return c.breakable(ctx, do)
}

// breakable does something that Ctrl-C gives up.
func (c *chat) breakable(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	select {
	case err := <-done:
		return err
	case <-c.breaks:
		cancel()
		if <-done == nil { // just in time
			return nil
		}
		return errBreak
	}
}
