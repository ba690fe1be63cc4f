package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

// The kinds of a chat's JSON events beside those of its turns: where the
// session stands, a message that was taken, and the end of the chat.
const (
	kindSession turnkeel.EventKind = "session"
	kindSent    turnkeel.EventKind = "sent"
	kindLeft    turnkeel.EventKind = "left"
)

// chatEvent is one line of a chat with --output json: an event of a turn, or one
// about the conversation.
type chatEvent struct {
	Session  string `json:"session"`
	Turn     string `json:"turn,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Turns    int    `json:"turns,omitempty"`
	Position int    `json:"position,omitempty"`
	turnkeel.Event
}

// message gives a message to the session and follows the turn it makes.
func (c *chat) message(ctx context.Context, text string) (turn string, err error) {
	attachments, err := c.keepFiles(ctx)
	if err != nil {
		return "", err
	}
	m := turnkeel.Message{Attachments: attachments, Session: c.id, Agent: c.agent, Text: text, MessageID: strings.ToLower(rand.Text()[:16]), Stream: true}
	var reply contract.SendReply
	err = c.await(ctx, func(ctx context.Context) (err error) {
		reply, err = c.s.turns.Send(ctx, m)
		return err
	})
	if errors.Is(err, errBreak) {
		c.begun = true // it may be
		return "", c.stillAttached(errors.New("given up: no worker has taken the message yet; one that comes may still do so"))
	}
	if err != nil {
		return "", c.stillAttached(err)
	}
	c.begun, c.files = true, nil
	err = c.tellSent(text, reply)
	c.ended = false
	if err != nil {
		return reply.TurnID, err
	}
	return reply.TurnID, c.follow(ctx, reply.TurnID)
}

func (c *chat) tellSent(text string, reply contract.SendReply) error {
	if c.json() {
		return c.print(chatEvent{Session: c.id, Turn: reply.TurnID, Position: reply.Position, Event: turnkeel.Event{Kind: kindSent, Time: time.Now()}})
	}
	if !c.asks {
		c.say("you> %s", text)
	}
	ahead := reply.Ahead
	if c.ended { // the session may not have noted yet that the last turn has
		ahead--
	}
	if ahead > 0 {
		c.say("it waits for %d before it", ahead)
	}
	return nil
}

// fed is an event of the turn that is followed, or why there are no more.
type fed struct {
	event turnkeel.Event
	err   error
}

// feed reads a turn's events, from when it begins.
func (c *chat) feed(ctx context.Context, turnID string) <-chan fed {
	events := make(chan fed)
	go func() {
		defer close(events)
		give := func(f fed) bool {
			select {
			case events <- f:
				return true
			case <-ctx.Done():
				return false
			}
		}
		turn, err := c.s.turns.Sent(ctx, turnID)
		if err != nil {
			give(fed{err: err})
			return
		}
		for e, err := range turn.Events(ctx) {
			if !give(fed{e, err}) || err != nil {
				return
			}
		}
	}()
	return events
}

// underWay is a turn that is followed and asks its person.
type underWay struct {
	*chat
	turn    string
	printer *printer
	cut     bool             // its interruption was asked for
	said    chan error       // what became of that, once
	told    bool             // it has been read
	held    []turnkeel.Event // come while a question stands
	asked   *question        // nil: none stands
}

// follow shows a turn to its end and asks what it asks. Ctrl-C interrupts the
// turn, and a second one is errLeave.
func (c *chat) follow(ctx context.Context, turnID string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer c.hintNoWorker(ctx, c.s, c.queue)()
	u := &underWay{chat: c, turn: turnID, printer: c.printer(turnID), said: make(chan error, 1)}
	u.printer.screen(c.screen)
	u.printer.noAsk = c.asks
	events := c.feed(ctx, turnID)
	for {
		var answer <-chan entry
		var expires <-chan time.Time
		if u.asked != nil {
			answer, expires = u.asked.answer, u.asked.expires
		}
		var done bool
		var err error
		select {
		case f, open := <-events:
			switch {
			case !open:
				return ctx.Err()
			case f.err != nil:
				err = f.err
			default:
				done, err = u.take(f.event)
			}
		case e := <-answer:
			done, err = u.answered(ctx, e)
		case <-expires:
			done, err = u.expired(ctx)
		case <-c.breaks:
			err = u.interrupt(ctx)
		case err := <-u.said:
			if u.told = true; err != nil {
				u.tellError(err)
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
		if done || err != nil {
			u.printer.finish()
			return err
		}
	}
}

// take shows an event; done when it was the last. While a question stands
// events are kept, so that its line is not written over.
func (u *underWay) take(e turnkeel.Event) (done bool, err error) {
	if u.asked != nil {
		u.held = append(u.held, e)
		if e.Kind == turnkeel.EventDone || e.Kind == turnkeel.EventDecided && e.Key == u.asked.Key {
			u.console.withdraw()
			return u.goOn()
		}
		return false, nil
	}
	return u.show(e)
}

func (u *underWay) show(e turnkeel.Event) (done bool, err error) {
	ask := e.Kind == turnkeel.EventWaiting && u.asks && !u.cut
	switch {
	case ask:
		u.ask(*e.Pending)
		return false, nil
	case u.json():
		err = u.print(chatEvent{Session: u.id, Turn: u.turn, Event: e})
	default:
		u.printer.screen(u.chat.screen)
		u.printer.event(e)
	}
	if e.Kind == turnkeel.EventDone {
		u.bad, u.ended = nil, true
		if e.Status != contract.StatusCompleted {
			u.bad = fmt.Errorf("turn %s ended as %s", u.turn, endedAs(e.Status, e.Text))
			if !u.json() {
				u.say("turn   %s", endedAs(e.Status, e.Text))
			}
		}
		return true, err
	}
	return false, err
}

// expired takes a question back whose time is over, by the turn's own clock.
func (u *underWay) expired(ctx context.Context) (done bool, err error) {
	if u.stillWaits(ctx) {
		u.asked.expires = time.After(time.Second)
		return false, nil
	}
	u.console.withdraw()
	u.say("%s: expired", u.asked.Tool)
	return u.goOn()
}

// goOn ends a question, shows what came while it stood, and asks the next one
// that nobody has answered meanwhile.
func (u *underWay) goOn() (done bool, err error) {
	came := u.held
	u.asked, u.held = nil, nil
	for _, e := range came {
		if e.Kind == turnkeel.EventWaiting {
			u.held = append(u.held, e)
			continue
		}
		if e.Kind == turnkeel.EventDecided {
			u.held = slices.DeleteFunc(u.held, func(w turnkeel.Event) bool { return w.Key == e.Key })
		}
		if done, err = u.show(e); done || err != nil {
			return done, err
		}
	}
	for len(u.held) > 0 && u.asked == nil && err == nil {
		e := u.held[0]
		u.held = u.held[1:]
		_, err = u.show(e)
	}
	return false, err
}

// interruptWait is how long who leaves waits for the interruption to be taken.
const interruptWait = 2 * time.Second

// interrupt ends the turn at the first Ctrl-C; at the second its person leaves.
func (u *underWay) interrupt(ctx context.Context) error {
	if u.cut {
		if !u.told && <-u.said != nil {
			return errLeave
		}
		return errLeaveCut
	}
	u.cut = true
	u.printer.finish()
	u.say("interrupting the turn; Ctrl-C again leaves")
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptWait)
		defer cancel()
		u.said <- u.s.turns.Interrupt(ctx, u.turn, contract.InterruptRequest{By: u.by, Reason: "from the chat"})
	}()
	return nil
}
