package workflows

import (
	"errors"
	"fmt"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
	"github.com/turnkeel/turnkeel/internal/stub"
)

// maxMessageID bounds a message id, in bytes.
const maxMessageID = 200

func (s *session) register(ctx workflow.Context) error {
	err := workflow.SetQueryHandlerWithOptions(ctx, contract.QueryStatus, func() (contract.SessionReply, error) {
		return s.status(), nil
	}, workflow.QueryHandlerOptions{Description: "How the session stands: its turns, what runs, what waits."})
	if err != nil {
		return err
	}
	return workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateSend,
		func(ctx workflow.Context, r contract.SendRequest) (contract.SendReply, error) {
			return s.send(ctx, r), nil
		},
		workflow.UpdateHandlerOptions{Validator: s.checkSend, Description: "Takes a message and answers at once with the id of its turn."})
}

func (s *session) checkSend(r contract.SendRequest) error {
	switch {
	case r.MessageID == "" || len(r.MessageID) > maxMessageID:
		return fmt.Errorf("message_id is required, at most %d bytes: it makes a repeated send harmless", maxMessageID)
	case r.Text == "":
		return errors.New("text is required")
	case len(r.Attachments) > contract.MaxAttachments:
		return fmt.Errorf("the message has %d attachments; at most %d can be sent with one", len(r.Attachments), contract.MaxAttachments)
	}
	if _, seen := s.find(r.MessageID); seen {
		return nil
	}
	if r.Agent != "" && r.Agent != s.in.Agent {
		return fmt.Errorf("the session is with the agent %s, not with %s", s.in.Agent, r.Agent)
	}
	if s.ending() {
		return errors.New("the session is ending: it was canceled; send again when it has ended, to start a new one")
	}
	switch r.WhileBusy {
	case contract.BusyQueue, contract.BusyInterrupt:
	case contract.BusyReject:
		if s.running != nil || len(s.queue) > 0 {
			return errors.New("the session is busy with a turn")
		}
	default:
		return fmt.Errorf("while_busy %q: want %q or %q, or leave it out to queue", r.WhileBusy, contract.BusyReject, contract.BusyInterrupt)
	}
	if len(s.queue) >= contract.MaxQueuedMessages {
		return fmt.Errorf("%d messages wait already", contract.MaxQueuedMessages)
	}
	return nil
}

// send takes a message, once. It never blocks: whoever sent it reads the
// outcome from the turn.
func (s *session) send(ctx workflow.Context, r contract.SendRequest) contract.SendReply {
	if m, seen := s.find(r.MessageID); seen {
		return contract.SendReply{TurnID: m.TurnID, Position: m.Position, Duplicate: true}
	}
	ahead := len(s.queue)
	if s.running != nil {
		ahead++
	}
	s.turns++
	m := contract.SentMessage{MessageID: r.MessageID, TurnID: s.turnID(r.MessageID), Position: s.turns, Text: r.Text, Stream: r.Stream, Attachments: r.Attachments}
	s.queue = append(s.queue, m)
	m.Text, m.Attachments = "", nil
	s.seen = append(s.seen, m)
	if len(s.seen) > contract.MaxSeenMessages {
		s.seen = s.seen[len(s.seen)-contract.MaxSeenMessages:]
	}
	if r.WhileBusy == contract.BusyInterrupt && s.running != nil {
		s.interrupt(ctx, *s.running)
	}
	return contract.SendReply{TurnID: m.TurnID, Position: m.Position, Ahead: ahead}
}

func (s *session) find(messageID string) (contract.SentMessage, bool) {
	for i := len(s.seen) - 1; i >= 0; i-- {
		if s.seen[i].MessageID == messageID {
			return s.seen[i], true
		}
	}
	return contract.SentMessage{}, false
}

// turnID is made of the message id, so that a session that is reset finds the
// turns it has started. An id that reads badly in a URL or a shell is hashed.
func (s *session) turnID(messageID string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if strings.Trim(messageID, plain) != "" || len(messageID) > 64 {
		messageID = effect.ArgsDigest(messageID)[:32]
	}
	return s.id + "/" + messageID
}

// interrupt ends a running turn, once, beside whatever goes on here. A turn
// that has ended meanwhile needs none; one that is being started cannot be
// told yet.
func (s *session) interrupt(ctx workflow.Context, m contract.SentMessage) {
	if s.cut == m.TurnID {
		return
	}
	s.cut = m.TurnID
	workflow.Go(ctx, func(ctx workflow.Context) {
		if err := workflow.Await(ctx, func() bool { return s.begun != nil && s.begun.IsReady() }); err != nil {
			return
		}
		ctx = workflow.WithActivityOptions(ctx, sessionOptions("interrupt."+m.TurnID[len(s.id)+1:], "interrupt "+m.TurnID))
		_, err := stub.InterruptTurn.Start(ctx, contract.TurnRef{TurnID: m.TurnID, Reason: "a new message came"}).Result(ctx)
		if err != nil {
			workflow.GetLogger(ctx).Warn("the turn was not interrupted", "turn", m.TurnID, "error", err)
		}
	})
}

// awaitExisting waits for a turn that an earlier run of the session started.
func (s *session) awaitExisting(ctx workflow.Context, m contract.SentMessage) (contract.TurnReceipt, error) {
	session := ctx
	if since(ctx, changeCanceledAwaits) {
		ctx, _ = workflow.NewDisconnectedContext(ctx)
	}
	ctx = workflow.WithActivityOptions(ctx, awaitTurnOptions("await."+m.TurnID[len(s.id)+1:], "await "+m.TurnID))
	turn := stub.AwaitTurn.Start(ctx, contract.TurnRef{TurnID: m.TurnID})
	if ctx != session {
		cancelWith(session, ctx, turn.Future, m.TurnID)
	}
	var receipt contract.TurnReceipt
	err := turn.Get(ctx, &receipt)
	return receipt, err
}

// cancelWith waits until a turn that is no child has ended or the session is
// canceled, and then cancels the turn as a child would be.
func cancelWith(session, ctx workflow.Context, turn workflow.Future, turnID string) {
	canceled := false
	workflow.NewSelector(ctx).
		AddFuture(turn, func(workflow.Future) {}).
		AddReceive(session.Done(), func(workflow.ReceiveChannel, bool) { canceled = true }).
		Select(ctx)
	if !canceled {
		return
	}
	if err := workflow.RequestCancelExternalWorkflow(ctx, turnID, "").Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Info("the turn was not canceled: it has ended", "turn", turnID, "error", err)
	}
}

func (s *session) turnOptions(m contract.SentMessage) workflow.ChildWorkflowOptions {
	o := workflow.ChildWorkflowOptions{
		WorkflowID:            m.TurnID,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		// A session that is reset or terminated leaves its turn to finish what
		// it has begun.
		ParentClosePolicy:   enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WaitForCancellation: true,
		StaticSummary:       boundSummary(s.in.Agent + ": " + m.Text),
	}
	var attributes []temporal.SearchAttributeUpdate
	for _, known := range s.in.Attributes {
		switch known {
		case contract.AttributeAgent:
			attributes = append(attributes, temporal.NewSearchAttributeKeyKeyword(known).ValueSet(s.in.Agent))
		case contract.AttributeSession:
			attributes = append(attributes, temporal.NewSearchAttributeKeyKeyword(known).ValueSet(s.id))
		}
	}
	if len(attributes) > 0 {
		o.TypedSearchAttributes = temporal.NewSearchAttributes(attributes...)
	}
	return o
}
