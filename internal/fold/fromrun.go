package fold

// fromRun is the earlier run whose recorded outcome a tool's activity returned,
// empty when the outcome is its own.
func (r *Run) fromRun(act *Activity) string {
	if act.State == StateCompleted {
		result, err := r.ToolResult(act)
		if err != nil {
			return ""
		}
		return result.FromRun
	}
	f := act.Failure
	for f != nil && f.GetApplicationFailureInfo() == nil {
		f = f.GetCause()
	}
	if f == nil {
		return ""
	}
	detail, _ := r.toolFailure(f)
	return detail.FromRun
}
