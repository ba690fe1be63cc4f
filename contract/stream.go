package contract

import "encoding/json"

// Frame is what a running call's heartbeat carries when its turn streams: a
// client reads it with an ordinary describe call, and a replay emits none. It is
// not recorded, but for one case: Temporal's timeout event of a call whose worker
// was lost for good holds the last frame. Its size stays flat: Text is a window
// on what was said, at most [MaxFrameText] bytes, so a reader that polls late
// joins at Offset.
type Frame struct {
	// Attempt is the attempt that sends it. When it changes, a reader drops
	// what it has shown of this call.
	Attempt int32 `json:"attempt"`

	// Restarts counts how often the attempt has begun anew what it says; a
	// change of it is like one of Attempt.
	Restarts int `json:"restarts,omitempty"`

	// Offset is where Text begins in all the attempt has said, in bytes.
	Offset int    `json:"offset,omitempty"`
	Text   string `json:"text,omitempty"`

	// Seq counts the tool's progress values; Progress is the latest, at most
	// [MaxFrameProgress] bytes, and leaves the frame two seconds after it came.
	Seq      int             `json:"seq,omitempty"`
	Progress json.RawMessage `json:"progress,omitempty"`
}

// Bounds of a [Frame], in bytes.
const (
	MaxFrameText     = 4 << 10
	MaxFrameProgress = 4 << 10
)
