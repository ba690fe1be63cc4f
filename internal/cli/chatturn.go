package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
	m := turnkeel.Message{Session: c.id, Agent: c.agent, Text: text, MessageID: strings.ToLower(rand.Text()[:16]), Stream: true}
	var reply contract.SendReply
	stopHint := c.hintNoWorker(ctx, c.s, c.queue)
	err = c.await(ctx, func(ctx context.Context) (err error) {
		reply, err = c.s.turns.Send(ctx, m)
		return err
	})
	stopHint()
	if errors.Is(err, errBreak) {
		c.begun = true // it may be
		return "", errors.New("given up: no worker has taken the message yet; one that comes may still do so")
	}
	if err != nil {
		return "", err
	}
	c.begun = true
	if err := c.tellSent(text, reply); err != nil {
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
	if reply.Ahead > 0 {
		c.say("it waits for %d before it", reply.Ahead)
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
	said    chan error       // that it failed
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
				done, err = u.take(ctx, f.event)
			}
		case e := <-answer:
			done, err = u.answered(ctx, e)
		case <-expires:
			done, err = u.expired(ctx)
		case <-c.breaks:
			err = u.interrupt(ctx)
		case err := <-u.said:
			u.tellError(err)
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
func (u *underWay) take(ctx context.Context, e turnkeel.Event) (done bool, err error) {
	if u.asked != nil {
		u.held = append(u.held, e)
		if e.Kind == turnkeel.EventDone || e.Kind == turnkeel.EventDecided && e.Key == u.asked.Key {
			u.console.withdraw()
			return u.goOn(ctx)
		}
		return false, nil
	}
	return u.show(e)
}

func (u *underWay) show(e turnkeel.Event) (done bool, err error) {
	if u.json() {
		if err := u.print(chatEvent{Session: u.id, Turn: u.turn, Event: e}); err != nil {
			return false, err
		}
	} else {
		u.printer.screen(u.chat.screen)
		u.printer.event(e)
	}
	switch {
	case e.Kind == turnkeel.EventWaiting && u.asks && !u.cut:
		u.ask(*e.Pending)
	case e.Kind == turnkeel.EventDone:
		u.bad = nil
		if e.Status != contract.StatusCompleted {
			u.bad = fmt.Errorf("turn %s ended as %s", u.turn, endedAs(e.Status, e.Text))
			if !u.json() {
				u.say("turn   %s", endedAs(e.Status, e.Text))
			}
		}
		return true, nil
	}
	return false, nil
}

// expired takes a question back whose time is over, by the turn's own clock.
func (u *underWay) expired(ctx context.Context) (done bool, err error) {
	if u.stillWaits(ctx) {
		u.asked.expires = time.After(time.Second)
		return false, nil
	}
	u.console.withdraw()
	u.say("%s: expired", u.asked.Tool)
	return u.goOn(ctx)
}

// goOn ends a question and shows what came while it stood.
func (u *underWay) goOn(ctx context.Context) (done bool, err error) {
	u.asked = nil
	for len(u.held) > 0 && u.asked == nil && !done && err == nil {
		e := u.held[0]
		u.held = u.held[1:]
		done, err = u.take(ctx, e)
	}
	return done, err
}

// interrupt ends the turn at the first Ctrl-C; at the second its person leaves.
func (u *underWay) interrupt(ctx context.Context) error {
	if u.cut {
		return errLeave
	}
	u.cut = true
	u.printer.finish()
	u.say("interrupting the turn; Ctrl-C again leaves")
	go func() {
		err := u.s.turns.Interrupt(ctx, u.turn, contract.InterruptRequest{By: u.by, Reason: "from the chat"})
		if err != nil && ctx.Err() == nil {
			u.said <- err
		}
	}()
	return nil
}
