package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	historypb "go.temporal.io/api/history/v1"
	sdkclient "go.temporal.io/sdk/client"
)

// stdin names standard input as a file.
const stdin = "-"

// ErrNotSaved is a file that is there and holds no history.
var ErrNotSaved = errors.New("no saved history")

// Saved reads a saved history: as `temporal workflow show --output json`
// prints it, as the Web UI downloads it, or as the SDK writes it. "-" is in,
// whose reading ends with ctx.
func Saved(ctx context.Context, file string, in io.Reader) (*historypb.History, error) {
	data, err := contents(ctx, file, in)
	if err != nil {
		return nil, err
	}
	h, err := sdkclient.HistoryFromJSON(bytes.NewReader(data), sdkclient.HistoryJSONOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s is %w: %w; save one with: temporal workflow show --workflow-id ID --output json", file, ErrNotSaved, err)
	}
	if len(h.GetEvents()) == 0 {
		return nil, fmt.Errorf("%s is %w: it holds no events", file, ErrNotSaved)
	}
	return h, nil
}

func contents(ctx context.Context, file string, in io.Reader) ([]byte, error) {
	if file != stdin {
		return os.ReadFile(file) //nolint:gosec // the user names it
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() { // a terminal's read cannot be cut
		data, err := io.ReadAll(in)
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
