package cli

import (
	"context"
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
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
