package cli

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// notSession refuses the id of a session where a turn is meant, and says which
// turn that may be: read as a turn, a session has no calls and asks nobody.
// What cannot be looked up is left to the command, which says so by itself.
func (s *session) notSession(ctx context.Context, id string) error {
	found, err := s.temporal.DescribeWorkflow(ctx, id, "")
	if err != nil || found.RawResponse.GetWorkflowExecutionInfo().GetType().GetName() != contract.WorkflowSession {
		return nil //nolint:nilerr // see above
	}
	if turn := runningTurn(found.RawResponse); turn != "" {
		return usageError{fmt.Errorf("%s is a session, no turn; its turn that runs is %s", id, turn)}
	}
	return usageError{fmt.Errorf("%s is a session, no turn, and none of its turns runs; to go on in it: starter chat --session %s", id, id)}
}

// onlySession refuses the id of a turn where a session is meant.
func (s *session) onlySession(ctx context.Context, id string) error {
	found, err := s.temporal.DescribeWorkflow(ctx, id, "")
	if err != nil || found.RawResponse.GetWorkflowExecutionInfo().GetType().GetName() == contract.WorkflowSession {
		return nil //nolint:nilerr // it is made with its first message
	}
	return usageError{fmt.Errorf("%s is no session; to follow a turn: starter watch %s", id, id)}
}

// agentOf is whose session it is, before a file is put anywhere for it: what
// the session began with, else what --agent says. It needs no worker. Where it
// cannot be known it is "", and the worker refuses what cannot work.
func (s *session) agentOf(ctx context.Context, id string, f sendFlags) (string, error) {
	if len(f.attach) == 0 {
		return f.agent, nil
	}
	found, err := s.temporal.DescribeWorkflow(ctx, id, "")
	var missing *serviceerror.NotFound
	closed := err == nil && found.RawResponse.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	switch {
	case (closed || errors.As(err, &missing)) && f.agent == "":
		return "", notFoundError{fmt.Errorf("there is no open session %s; to begin one, name its agent with --agent", id)}
	case closed || err != nil: // Send says what is wrong
		return f.agent, nil
	}
	run := fold.NewSession(nil)
	if first, err := s.temporal.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next(); err != nil || run.Add(first) != nil {
		return f.agent, nil //nolint:nilerr // see above
	}
	if f.agent != "" && f.agent != run.Input.Agent {
		return "", usageError{fmt.Errorf("the session %s is with the agent %s, not with %s", id, run.Input.Agent, f.agent)}
	}
	return run.Input.Agent, nil
}
