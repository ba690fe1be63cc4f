package turnkeel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/contract"
)

// Status asks a turn how it stands. It needs a live worker, and fails after
// ten seconds without one.
func (c *Client) Status(ctx context.Context, turnID string) (contract.StatusReply, error) {
	var reply contract.StatusReply
	value, err := c.temporal.QueryWorkflow(ctx, turnID, "", contract.QueryStatus)
	if err != nil {
		return reply, fmt.Errorf("ask turn %s for its status: %w", turnID, err)
	}
	return reply, value.Get(&reply)
}

// Decide approves or denies one waiting call. It returns once the decision is
// recorded; a refusal is an error that says why. The same decision by the same
// person again returns the first outcome, so a decision whose answer was lost
// may be repeated. A comment with a secret is a [SecretError].
func (c *Client) Decide(ctx context.Context, turnID string, r contract.DecideRequest) (contract.DecideReply, error) {
	var reply contract.DecideReply
	if err := c.refuseSecretTexts(r.Comment); err != nil {
		return reply, err
	}
	err := c.update(ctx, turnID, contract.UpdateDecide, updateID(contract.UpdateDecide, r.Key, r.Digest, fmt.Sprint(r.Approve), r.By), r, &reply)
	return reply, err
}

// Resolve says what became of a call whose outcome is unknown. A value or comment
// with a secret is a [SecretError].
func (c *Client) Resolve(ctx context.Context, turnID string, r contract.ResolveRequest) (contract.ResolveReply, error) {
	var reply contract.ResolveReply
	if err := c.refuseSecretTexts(r.Value, r.Comment); err != nil {
		return reply, err
	}
	err := c.update(ctx, turnID, contract.UpdateResolve, "", r, &reply)
	return reply, err
}

// Interrupt cuts in: what runs is canceled where it may be, and the turn ends
// as interrupted. It returns at once; wait with [Turn.Result]. A reason with a
// secret is a [SecretError].
func (c *Client) Interrupt(ctx context.Context, turnID string, r contract.InterruptRequest) error {
	if err := c.refuseSecretTexts(r.Reason); err != nil {
		return err
	}
	return c.update(ctx, turnID, contract.UpdateInterrupt, "", r, nil)
}

// Cancel cancels the turn, as `temporal workflow cancel` does.
func (c *Client) Cancel(ctx context.Context, turnID string) error {
	if err := c.temporal.CancelWorkflow(ctx, turnID, ""); err != nil {
		return fmt.Errorf("cancel turn %s: %w", turnID, err)
	}
	return nil
}

func (c *Client) update(ctx context.Context, workflowID, name, id string, request, reply any) error {
	handle, err := c.temporal.UpdateWorkflow(ctx, sdkclient.UpdateWorkflowOptions{
		UpdateID: id, WorkflowID: workflowID, UpdateName: name, Args: []any{request},
		WaitForStage: sdkclient.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, reply)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", name, workflowID, err)
	}
	return nil
}

// updateID makes a repeated update the same one.
func updateID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return parts[0] + "-" + hex.EncodeToString(sum[:12])
}
