package turnkeel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/contract"
)

// Message is one message to a session.
type Message struct {
	// Session is its id, a workflow id. The session is started with the first
	// message. Required.
	Session string

	// Agent is whose session it is. Required for the first message; later ones
	// may leave it out, and another agent's name is refused.
	Agent string

	// Text is what the user says. It lives in history: no secrets (see
	// [ClientOptions.Secrets]). Required.
	Text string

	// Attachments are files that the agent may read: see [Attach]. The agent
	// needs the built-in tool read_attachment; without it the turn fails at its
	// first step and the session goes on.
	Attachments []contract.Attachment

	// MessageID makes a repeated send harmless: the same id is one turn, with
	// the text and the attachments that came first. If
	// empty, a new one is made.
	MessageID string

	// WhileBusy says what happens while a turn runs. If zero, it waits.
	WhileBusy contract.WhileBusy

	// Stream has the turn show its text and progress: see [Turn.Events].
	Stream bool

	// Limits tighten the agent's for the whole session, with its first message.
	Limits *contract.Limits
}

// Send gives a message to a session and returns at once with its turn. The
// outcome is the turn's: wait for it to begin with [Client.Sent]. Without an
// agent it begins no session: where none is open the error wraps
// [serviceerror.NotFound].
func (c *Client) Send(ctx context.Context, m Message) (contract.SendReply, error) {
	var reply contract.SendReply
	switch {
	case m.Session == "": // Temporal would make one up, and a repeated send another
		return reply, errors.New("send: the session's id is missing")
	case m.Text == "":
		return reply, errors.New("send: the text is missing")
	}
	if err := c.refuseSecrets([]contract.Message{{Content: m.Text, Attachments: m.Attachments}}); err != nil {
		return reply, err
	}
	if m.MessageID == "" {
		m.MessageID = strings.ToLower(rand.Text()[:16])
	}
	request := contract.SendRequest{
		MessageID: m.MessageID, Agent: m.Agent, Text: m.Text, Attachments: m.Attachments, WhileBusy: m.WhileBusy, Stream: m.Stream,
	}
	id := updateID(contract.UpdateSend, m.MessageID)
	if m.Agent == "" {
		err := c.update(ctx, m.Session, contract.UpdateSend, id, request, &reply)
		var missing *serviceerror.NotFound
		if errors.As(err, &missing) {
			err = fmt.Errorf("there is no open session %s; to begin one, name its agent: %w", m.Session, err)
		}
		return reply, err
	}
	err := c.sendOrStart(ctx, m, id, request, &reply)
	return reply, err
}

// sendOrStart sends the update, and starts the session if it is not there.
func (c *Client) sendOrStart(ctx context.Context, m Message, id string, request contract.SendRequest, reply *contract.SendReply) error {
	input := contract.SessionInput{ID: m.Session, Agent: m.Agent, Limits: m.Limits, Attributes: c.knownAttributes(ctx)}
	start := c.temporal.NewWithStartWorkflowOperation(sdkclient.StartWorkflowOptions{
		ID:                       m.Session,
		TaskQueue:                c.queue,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "session · " + m.Agent,
		TypedSearchAttributes:    c.searchAttributes(ctx, contract.TurnInput{Agent: m.Agent, Session: m.Session}),
	}, contract.WorkflowSession, input)
	handle, err := c.temporal.UpdateWithStartWorkflow(ctx, sdkclient.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: sdkclient.UpdateWorkflowOptions{
			UpdateID: id, WorkflowID: m.Session,
			UpdateName: contract.UpdateSend, Args: []any{request}, WaitForStage: sdkclient.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, reply)
	}
	if err != nil {
		return fmt.Errorf("send to session %s: %w", m.Session, err)
	}
	return nil
}

// startLook is how often a turn that waits for others is looked for.
const startLook = 100 * time.Millisecond

// Sent waits until the turn of a sent message has begun, those before it in
// its session having ended, and gives a handle on it.
func (c *Client) Sent(ctx context.Context, turnID string) (*Turn, error) {
	tick := time.NewTicker(startLook)
	defer tick.Stop()
	for {
		found, err := c.temporal.DescribeWorkflow(ctx, turnID, "")
		var missing *serviceerror.NotFound
		switch {
		case err == nil:
			return c.Turn(ctx, turnID, found.WorkflowExecution.RunID), nil
		case !errors.As(err, &missing):
			return nil, fmt.Errorf("look for turn %s: %w", turnID, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

// SessionStatus asks a session how it stands. It needs a live worker.
func (c *Client) SessionStatus(ctx context.Context, session string) (contract.SessionReply, error) {
	var reply contract.SessionReply
	value, err := c.temporal.QueryWorkflow(ctx, session, "", contract.QueryStatus)
	if err != nil {
		return reply, fmt.Errorf("ask session %s for its status: %w", session, err)
	}
	return reply, value.Get(&reply)
}
