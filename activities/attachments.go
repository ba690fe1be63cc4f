package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// refuseAttachments fails a turn whose agent could not read what is attached,
// before a model is asked about it: the model would guess. A store that does
// not answer is asked again.
func (a *Activities) refuseAttachments(ctx context.Context, in contract.CallModelInput, run *fold.Run, agent contract.Agent) error {
	if in.Step > 1 {
		return nil
	}
	for _, m := range run.Input.Messages {
		if n := len(m.Attachments); n > contract.MaxAttachments {
			return modelError(contract.ErrAttachments, fmt.Errorf("the message has %d attachments; at most %d can be sent with one", n, contract.MaxAttachments))
		}
		for _, file := range m.Attachments {
			if err := a.refuseAttachment(ctx, file, agent); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Activities) refuseAttachment(ctx context.Context, file contract.Attachment, agent contract.Agent) error {
	name := contract.BoundText(file.Name, 200)
	refuse := func(format string, args ...any) error {
		return modelError(contract.ErrAttachments, fmt.Errorf("attachment %q: "+format, append([]any{name}, args...)...))
	}
	reads := func(tool string) bool { return tool == contract.ToolReadAttachment || tool == allTools }
	if _, ok := a.tools.Lookup(contract.ToolReadAttachment); !ok || !slices.ContainsFunc(agent.Tools, reads) {
		return refuse("the agent %s cannot read it: add %s to builtin_tools of its agent.yaml", agent.Name, contract.ToolReadAttachment)
	}
	if a.blobs == nil {
		return refuse("this worker has no blob store to read it from: set TURNKEEL_BLOBS of worker and starter to the same place")
	}
	_, err := a.blobs.Get(ctx, file.FileID)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return refuse("it is not in this worker's blob store: set TURNKEEL_BLOBS of worker and starter to the same place, and attach it again (%w)", err)
	case errors.Is(err, blob.ErrBadRef), errors.Is(err, blob.ErrCorrupt):
		return refuse("%w", err)
	case err != nil:
		return modelError(contract.ErrModelUnavailable, fmt.Errorf("attachment %q: %w", name, err))
	}
	return nil
}
