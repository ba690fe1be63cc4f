package fold

import (
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
)

// Recorded is the result that the call of e recorded, as it stands in the
// history: one that was too large is cut, and says where the whole is. Its error
// says why a call has none.
func (r *Run) Recorded(e Effect) (contract.ToolResult, error) {
	act := r.activities[e.Activity]
	switch {
	case act == nil:
		return contract.ToolResult{}, fmt.Errorf("call %d did not run: %s", e.Ordinal, e.Text)
	case act.State != StateCompleted:
		return contract.ToolResult{}, fmt.Errorf("call %d recorded no result, it is %s: %s", e.Ordinal, e.Outcome, e.Text)
	}
	return r.ToolResult(act)
}

// cutOf says whether an activity's result was recorded cut, how many bytes it
// had and where the whole is.
func (r *Run) cutOf(act *Activity) (cut bool, bytes int, blob string) {
	if act.State != StateCompleted {
		return false, 0, ""
	}
	result, err := r.ToolResult(act)
	if err != nil || !result.Truncated {
		return false, 0, ""
	}
	return true, result.Bytes, result.Blob
}
