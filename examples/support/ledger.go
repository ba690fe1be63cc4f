package support

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// ledger is the stand-in for a payment provider that honours idempotency
// keys: a file with one JSON line for each refund that was paid. Processes
// that share the file take turns by its lock.
type ledger struct {
	path string
	paid func() // called when a refund is on the disk; nil: not
}

// entry is one refund that was paid.
type entry struct {
	Key         string    `json:"key"`
	OrderID     string    `json:"order_id"`
	AmountCents int       `json:"amount_cents"`
	At          time.Time `json:"at"`
}

// pay appends e, unless its key has been paid already: then it returns the
// entry of that time. It returns only after the line is on the disk.
func (l ledger) pay(ctx context.Context, e entry) (entry, error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return entry{}, err
	}
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return entry{}, err
	}
	defer func() { _ = file.Close() }() // which also unlocks
	if err := lock(ctx, file); err != nil {
		return entry{}, err
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return entry{}, err
	}
	// A line that was cut by a crash was never paid: it is overwritten.
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	before, paid, err := find(whole, e.Key)
	if paid || err != nil {
		return before, err
	}
	line, err := json.Marshal(e)
	if err != nil {
		return entry{}, err
	}
	if err := file.Truncate(int64(len(whole))); err != nil {
		return entry{}, err
	}
	_, err = file.WriteAt(append(line, '\n'), int64(len(whole)))
	if err = errors.Join(err, file.Sync()); err != nil {
		return entry{}, tooldefs.Unknown(err) // the line may be there
	}
	if l.paid != nil {
		l.paid()
	}
	return e, nil
}

// find looks for the entry with that key.
func find(lines []byte, key string) (e entry, found bool, err error) {
	for line := range bytes.Lines(lines) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return entry{}, false, fmt.Errorf("the ledger has a line that is no entry: %w", err)
		}
		if e.Key == key {
			return e, true, nil
		}
	}
	return entry{}, false, nil
}
