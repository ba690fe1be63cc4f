package main

import (
	"context"
	"fmt"
	"iter"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// Receipt names what read_receipt reads.
type Receipt struct {
	File string `json:"file" jsonschema:"description=The scan to read,pattern=\\.jpg$"`
}

// Line is one line of a receipt.
type Line struct {
	Text  string `json:"text"`
	Cents int64  `json:"cents"`
}

// ReadReceipt is a stream tool: each line is shown to whoever watches the turn
// as soon as it is read, and the recorded result is the array of all lines. It
// only reads, so it may be repeated and may run beside others.
func ReadReceipt() *tooldefs.Tool {
	return tooldefs.DefineStream(tooldefs.Spec[Receipt, []Line]{
		Name:         "read_receipt",
		Description:  "Reads the lines of a scanned receipt.",
		Effects:      tooldefs.None,
		ParallelSafe: tooldefs.Always,
	}, func(ctx context.Context, _ *tooldefs.Call, in Receipt) iter.Seq2[Line, error] {
		return func(yield func(Line, error) bool) {
			if in.File != "lunch.jpg" {
				yield(Line{}, fmt.Errorf("there is no scan %s", in.File))
				return
			}
			for _, line := range []Line{{"soup", 6_50}, {"tea", 3_00}} {
				if !yield(line, ctx.Err()) {
					return
				}
			}
		}
	})
}
