package fold

// Open says that an activity of the run has not closed.
func (r *Run) Open() bool {
	for _, act := range r.activities {
		if act.State == StateOpen {
			return true
		}
	}
	return false
}
