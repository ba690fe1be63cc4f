package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"

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
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")) // editors add it
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is %w: it is empty", file, ErrNotSaved)
	}
	h, err := sdkclient.HistoryFromJSON(bytes.NewReader(data), sdkclient.HistoryJSONOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s is %w: %s; save one with: temporal workflow show --workflow-id ID --output json",
			file, ErrNotSaved, sourcePlace.ReplaceAllString(err.Error(), ""))
	}
	if len(h.GetEvents()) == 0 {
		return nil, fmt.Errorf("%s is %w: it holds no events", file, ErrNotSaved)
	}
	return h, nil
}

// sourcePlace is the SDK's own place in its source, in the error of its parser.
var sourcePlace = regexp.MustCompile(` \(in [^()]*\.go:\d+\)`)

func contents(ctx context.Context, file string, in io.Reader) ([]byte, error) {
	if file != stdin {
		data, err := os.ReadFile(file) //nolint:gosec // the user names it
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", ErrNotSaved, err)
		}
		return data, err
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
