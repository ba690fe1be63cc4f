package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

const (
	// maxSharedRunes bounds the shared texts of a carry, all together, as long
	// as there are not very many: they stand in the next run's input as they
	// are. Each keeps at least minSharedRunes.
	maxSharedRunes = 64 << 10
	minSharedRunes = 200

	// maxCarryBytes bounds what a carry records, once encoded: the next run's
	// input holds it and the turn's other state, and may not pass 2 MiB.
	maxCarryBytes = 1500 << 10

	// maxNewBytes bounds what a session's turn added, packed: it stands in the
	// turn's result and in its session's history.
	maxNewBytes = 512 << 10
)

// Carry is the activity [contract.ActivityCarry]: it packs the turn's
// transcript, the step in.Step included, for the run that continues it.
//
// What does not fit goes to the blob store. Without one the result says
// TooLarge and the turn stays in its run. A store that cannot be written to
// is an error, and the activity is tried again.
func (a *Activities) Carry(ctx context.Context, in contract.CarryInput) (contract.CarryResult, error) {
	stop := startHeartbeat(ctx, nil, heartbeatInterval)
	defer stop()
	run, release, err := a.transcripts.Fold(ctx)
	if err != nil {
		return contract.CarryResult{}, foldError(err)
	}
	defer release()
	agent := run.Agent()
	if agent == nil && !in.OnlyNew {
		return contract.CarryResult{}, modelError(contract.ErrModelBadRequest, errors.New("no earlier step recorded the agent"))
	}
	chars := contract.DefaultMaxToolResultChars
	if agent != nil {
		chars = agent.Limits.WithDefaults().MaxToolResultChars
	}
	messages, err := run.Prompt(contract.CallModelInput{Step: answeredStep(run, in.Step) + 1, Entries: in.Entries}, chars)
	if err != nil {
		return contract.CarryResult{}, modelError(contract.ErrModelBadRequest, err)
	}
	if in.OnlyNew {
		result, err := a.carried(ctx, contract.PackedTranscript{Messages: run.NewMessages(messages)}, nil, maxNewBytes)
		result.Counted = countedIn(run)
		return result, err
	}
	shared, err := sharedTexts(run, in.Shared, chars)
	if err != nil {
		return contract.CarryResult{}, modelError(contract.ErrModelBadRequest, err)
	}
	result, err := a.carried(ctx, contract.PackedTranscript{Agent: agent, Base: run.Before(), Messages: messages}, shared, contract.MaxPackedBytes)
	result.Counted = countedIn(run)
	return result, err
}

// answeredStep is the step itself, or the one before it when the model has not
// answered: a turn may end there. Its entries are the turn's last.
func answeredStep(run *fold.Run, step int) int {
	if n := len(run.Steps); n > 0 && run.Steps[n-1].Answer == nil {
		return step - 1
	}
	return step
}

// sharedTexts are what the model is shown of outcomes that later calls share.
func sharedTexts(run *fold.Run, entries []contract.Entry, chars int) ([]string, error) {
	var texts []string
	for _, e := range entries {
		text, err := run.EntryText(e)
		if err != nil {
			return nil, fmt.Errorf("shared outcome of key %s: %w", e.Key, err)
		}
		texts = append(texts, contract.BoundText(text, min(chars, max(minSharedRunes, maxSharedRunes/len(entries)))))
	}
	return texts, nil
}

// carried puts a transcript where it fits: into the history up to limit bytes
// packed, else into the blob store.
func (a *Activities) carried(ctx context.Context, t contract.PackedTranscript, shared []string, limit int) (contract.CarryResult, error) {
	result := contract.CarryResult{Shared: shared}
	packed, unpacked, err := fold.Pack(t)
	if err != nil {
		a.logger.Warn("a transcript cannot be carried; its turn stays in one run", zapError(err))
		return contract.CarryResult{TooLarge: true}, nil
	}
	result.Transcript = contract.Packed{Gzip: packed, Bytes: unpacked}
	if len(packed) <= limit && encodedSize(result) <= maxCarryBytes {
		return result, nil
	}
	result.Transcript = contract.Packed{Bytes: unpacked}
	if a.blobs == nil || encodedSize(result) > maxCarryBytes { // the shared texts alone
		return contract.CarryResult{TooLarge: true}, nil
	}
	if result.Transcript.Blob, err = a.blobs.Put(ctx, packed); err != nil {
		if ctx.Err() != nil && !shuttingDown(ctx) {
			return contract.CarryResult{}, ctx.Err()
		}
		return contract.CarryResult{}, temporal.NewApplicationError(
			contract.BoundText("keep the transcript: "+err.Error(), contract.MaxErrorText), contract.ErrBlobMissing)
	}
	sdkactivity.GetLogger(ctx).Debug("transcript kept in the blob store", "ref", result.Transcript.Blob, "bytes", len(packed))
	return result, nil
}

// encodedSize is how many bytes a value takes in a history, before any codec
// of the client's.
func encodedSize(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return 0 // the data converter will say so
	}
	return len(text)
}
