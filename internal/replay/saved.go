package replay

import (
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
// prints it, as the Web UI downloads it, or as the SDK writes it. "-" is in.
func Saved(file string, in io.Reader) (*historypb.History, error) {
	if file != stdin {
		f, err := os.Open(file) //nolint:gosec // the user names it
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // only read
		in = f
	}
	h, err := sdkclient.HistoryFromJSON(in, sdkclient.HistoryJSONOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s is %w: %w; save one with: temporal workflow show --workflow-id ID --output json (from the Web UI, download it encoded)", file, ErrNotSaved, err)
	}
	if len(h.GetEvents()) == 0 {
		return nil, fmt.Errorf("%s is %w: it holds no events", file, ErrNotSaved)
	}
	return h, nil
}
