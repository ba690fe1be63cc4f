package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// callResult is a call's result as --output json shows it: one of Text and JSON.
type callResult struct {
	Ordinal int             `json:"ordinal"`
	Tool    string          `json:"tool"`
	Text    string          `json:"text,omitempty"`
	JSON    json.RawMessage `json:"json,omitempty"`
}

// printResult prints the result of a call, whole, or says why it cannot.
func (a *app) printResult(ctx context.Context, run *fold.Run, ordinal int) error {
	effects := run.Effects()
	for _, e := range effects {
		if e.Ordinal != ordinal {
			continue
		}
		result, err := wholeResult(ctx, run, e)
		if err != nil {
			return err
		}
		return a.writeResult(result)
	}
	if len(effects) == 0 {
		return usageError{errors.New("this run of the turn called no tool")}
	}
	return usageError{fmt.Errorf("this run of the turn has no call %d: its calls are %d to %d (another run: --run-id)",
		ordinal, effects[0].Ordinal, effects[len(effects)-1].Ordinal)}
}

func wholeResult(ctx context.Context, run *fold.Run, e fold.Effect) (callResult, error) {
	recorded, err := run.Recorded(e)
	if err != nil {
		return callResult{}, err
	}
	out := callResult{Ordinal: e.Ordinal, Tool: e.Tool, JSON: recorded.JSON}
	switch {
	case !recorded.Truncated && len(recorded.JSON) > 0:
		return out, nil
	case !recorded.Truncated:
		out.Text = recorded.Text
		return out, nil
	case recorded.Blob == "":
		return callResult{}, fmt.Errorf("the result of call %d had %d bytes and was recorded cut, because the worker had no blob store that took it: the whole is lost, and `starter show` has what is left", e.Ordinal, recorded.Bytes)
	}
	data, err := fromStore(ctx, recorded.Blob)
	if err != nil {
		return callResult{}, fmt.Errorf("the result of call %d (%d bytes): %w", e.Ordinal, recorded.Bytes, err)
	}
	out.Text = string(data)
	return out, nil
}

// fromStore reads a blob from the store that the environment names.
func fromStore(ctx context.Context, ref string) ([]byte, error) {
	store, err := turnkeel.BlobsFromEnv()
	switch {
	case err != nil:
		return nil, err
	case store == nil:
		return nil, errors.New("TURNKEEL_BLOBS=none says that there is no blob store here: set it to the worker's")
	}
	data, err := store.Get(ctx, ref)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fmt.Errorf("%w: set TURNKEEL_BLOBS to the worker's store", err)
	}
	return data, err
}

// writeResult writes a result as it is, for a file or a program; a terminal gets
// no control characters.
func (a *app) writeResult(r callResult) error {
	if a.json() {
		return a.print(r)
	}
	text := r.Text
	if len(r.JSON) > 0 {
		text = string(r.JSON)
	}
	if isTerminal(a.out) {
		text = plain(text) + "\n"
	}
	_, err := io.WriteString(a.out, text)
	return err
}
