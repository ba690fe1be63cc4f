package activities

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

const (
	// maxResultBytes bounds a recorded result, once encoded. Over 2 MiB the
	// server would refuse it, after the effect.
	maxResultBytes = 1800 << 10

	// headRunes is what is recorded of a larger one: it takes at most 6 bytes a
	// rune once escaped.
	headRunes = maxResultBytes / 8

	// blobTime is how long a result waits for the blob store. The activity
	// ends five seconds after its handler's time, recorded or not.
	blobTime = 3 * time.Second
)

// bounded cuts a result that would not fit a payload. The whole goes to the
// blob store, if there is one and it answers; in any case the result is
// recorded cut and marked so, and the call is never repeated for its size.
func (a *Activities) bounded(ctx context.Context, tool *tooldefs.Tool, result contract.ToolResult) contract.ToolResult {
	if encodedSize(result) <= maxResultBytes {
		return result
	}
	whole := []byte(result.Text)
	if len(result.JSON) > 0 {
		whole = result.JSON
	}
	result.JSON, result.Truncated, result.Bytes = nil, true, len(whole)
	result.Text = contract.BoundText(string(whole), headRunes)
	if a.blobs == nil {
		return result
	}
	// The effect has happened: a canceled call still says what it returned.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), blobTime)
	defer cancel()
	ref, err := a.blobs.Put(ctx, whole)
	if err != nil {
		a.logger.Error("a large tool result could not be kept; it is recorded cut",
			zapTool(tool), zap.Int("bytes", len(whole)), zap.Error(err))
		return result
	}
	result.Blob = ref
	return result
}
