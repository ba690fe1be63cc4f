package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

// open says where one is, and gives the turn that runs, if one does.
func (c *chat) open(ctx context.Context) (turn string, err error) {
	found, err := c.describe(ctx)
	var missing *serviceerror.NotFound
	switch {
	case errors.As(err, &missing) && c.agent != "":
		c.sayWhere(contract.SessionReply{Agent: c.agent})
		return "", nil
	case errors.As(err, &missing):
		return "", notFoundError{fmt.Errorf("there is no session %s: --agent says with whom to begin it", c.id)}
	case err != nil:
		return "", fmt.Errorf("look for the session %s: %w", c.id, err)
	}
	c.begun, c.queue = true, found.GetExecutionConfig().GetTaskQueue().GetName()
	var status contract.SessionReply
	err = c.await(ctx, func(ctx context.Context) (err error) {
		status, err = c.s.turns.SessionStatus(ctx, c.id)
		return err
	})
	turn = runningTurn(found)
	if err != nil { // the server knows the turn that runs without a worker
		c.tellError(err)
		return turn, nil
	}
	if c.agent != "" && c.agent != status.Agent {
		return "", usageError{fmt.Errorf("the session %s is with the agent %s, not with %s", c.id, status.Agent, c.agent)}
	}
	c.agent = status.Agent
	c.sayWhere(status)
	if status.Running != nil {
		turn = status.Running.TurnID
	} else if turn == "" && len(status.Queue) > 0 {
		turn = status.Queue[0].TurnID
	}
	return turn, c.recall(ctx, status, turn)
}

// describe finds the session. One that has ended is an error.
func (c *chat) describe(ctx context.Context) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	described, err := c.s.temporal.DescribeWorkflow(ctx, c.id, "")
	if err != nil {
		return nil, err
	}
	found := described.RawResponse
	info := found.GetWorkflowExecutionInfo()
	switch {
	case info.GetType().GetName() != contract.WorkflowSession:
		return nil, usageError{fmt.Errorf("%s is no session; to follow a turn: starter watch %s", c.id, c.id)}
	case info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return nil, usageError{fmt.Errorf("the session %s has ended; --agent without --session begins another", c.id)}
	}
	return found, nil
}

func runningTurn(found *workflowservice.DescribeWorkflowExecutionResponse) string {
	for _, child := range found.GetPendingChildren() {
		if child.GetWorkflowTypeName() == contract.WorkflowTurn {
			return child.GetWorkflowId()
		}
	}
	return ""
}

// sayWhere shows how the session stands.
func (c *chat) sayWhere(status contract.SessionReply) {
	if c.json() {
		_ = c.print(chatEvent{Session: c.id, Agent: status.Agent, Turns: status.Turns, Event: turnkeel.Event{Kind: kindSession, Time: time.Now()}})
		return
	}
	where := "new"
	if status.Turns > 0 {
		where = fmt.Sprintf("%d turns so far", status.Turns)
	}
	c.say("session %s · agent %s · %s", c.id, status.Agent, where)
	if c.asks {
		c.say("Ctrl-C interrupts a turn; at an empty prompt it leaves, as Ctrl-D does. /help names the commands.")
	}
}

// recall shows what was said last, and what the turn that runs was asked.
func (c *chat) recall(ctx context.Context, status contract.SessionReply, running string) error {
	if c.json() {
		return nil
	}
	for i := len(status.Last) - 1; i >= 0; i-- {
		if turn := status.Last[i].TurnID; turn != running && !queued(status.Queue, turn) {
			return c.recallTurn(ctx, turn)
		}
	}
	return nil
}

func queued(queue []contract.SentMessage, turn string) bool {
	for _, m := range queue {
		if m.TurnID == turn {
			return true
		}
	}
	return false
}

// maxRecalled bounds what is shown again of an earlier turn, in runes.
const maxRecalled = 2_000

func (c *chat) recallTurn(ctx context.Context, turn string) error {
	run, err := read(ctx, c.s.temporal, turn, "")
	if err != nil {
		return err
	}
	c.sayAsked(run.Input.Messages)
	if run.Result == nil {
		return nil
	}
	if run.Result.Text != "" {
		c.say("%s", contract.BoundText(run.Result.Text, maxRecalled))
	}
	if run.Result.Status != contract.StatusCompleted {
		c.say("turn   %s", endedAs(run.Result.Status, run.Result.Reason))
	}
	return nil
}

func (c *chat) sayAsked(messages []contract.Message) {
	for _, m := range messages {
		c.say("you> %s", contract.BoundText(m.Content, maxRecalled))
		for _, f := range m.Attachments {
			f.Name = contract.AttachmentName(f.Name)
			c.say("attached %s", shownAttachment(f))
		}
	}
}

// next is the turn that goes on in the session after one has ended, "" if none.
func (c *chat) next(ctx context.Context, ended string) string {
	status, err := c.s.turns.SessionStatus(ctx, c.id)
	switch {
	case err != nil:
		return ""
	case status.Running != nil && status.Running.TurnID != ended:
		return status.Running.TurnID
	case len(status.Queue) > 0:
		return status.Queue[0].TurnID
	}
	return ""
}

// endedAs is how a turn ended, with the reason if there is one.
func endedAs(status contract.Status, reason string) string {
	if reason == "" {
		return string(status)
	}
	return string(status) + ": " + reason
}
