package lineage

import (
	"math"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
)

// Row is one call in the effect log of a whole turn.
type Row struct {
	fold.Effect

	// RunID is the run that the call was made in.
	RunID string `json:"run_id"`

	// ResetOf is the run whose reset made that run, Continues the run that went
	// on in it. Empty if there is none.
	ResetOf   string `json:"reset_of,omitempty"`
	Continues string `json:"continues,omitempty"`

	// Abandoned says that a reset left the call behind: the turn as it stands
	// now does not lead through it. What it did outside stays done.
	Abandoned bool `json:"abandoned,omitempty"`
}

// Rows are the calls of all runs, run by run in the order they began. A call
// that a reset copied is told once, in the run that made it; one that a reset
// found running is told in both.
func (l *Lineage) Rows() []Row {
	path := l.path()
	var rows []Row
	for _, r := range l.Runs {
		if before := l.Run(r.Links.Continues); before != nil {
			r.Fold.Follows(before.Fold)
		}
		row := Row{RunID: r.RunID, Continues: r.Links.Continues}
		origin := r.Links.Origin(r.RunID)
		if origin != nil {
			row.ResetOf = origin.Base
		}
		baseKnown := origin != nil && l.Run(origin.Base) != nil
		limit, current := path[r.RunID]
		for _, e := range r.Fold.Effects() {
			if baseKnown && r.copied(e) {
				continue
			}
			row.Effect = e
			row.Attempts = max(e.Attempts, r.Attempts[e.Activity])
			row.Abandoned = !current || r.after(e, limit)
			rows = append(rows, row)
		}
	}
	return rows
}

// Newest is the run that began last, nil if there is none.
func (l *Lineage) Newest() *Run {
	if len(l.Runs) == 0 {
		return nil
	}
	return l.Runs[len(l.Runs)-1]
}

// path are the runs that the newest run stands on, each with the event from
// which on it was left behind.
func (l *Lineage) path() map[string]int64 {
	path := map[string]int64{}
	limit := int64(math.MaxInt64)
	for r := l.Newest(); r != nil; {
		if _, seen := path[r.RunID]; seen {
			return path
		}
		path[r.RunID] = limit
		if origin := r.Links.Origin(r.RunID); origin != nil {
			limit = min(limit, origin.EventID) // event ids of copies are their base's
			r = l.Run(origin.Base)
			continue
		}
		limit = math.MaxInt64
		r = l.Run(r.Links.Continues)
	}
	return path
}

// copied says that the run did not make the call but got it from its base.
func (r *Run) copied(e fold.Effect) bool {
	if e.Activity != "" {
		return r.Copied(e.Activity)
	}
	origin := r.Links.Origin(r.RunID)
	return origin != nil && r.toldAt(e) < origin.EventID
}

// after says that a reset at the event left the call behind.
func (r *Run) after(e fold.Effect, event int64) bool {
	if event == math.MaxInt64 {
		return false
	}
	if e.Activity == "" {
		return r.toldAt(e) >= event
	}
	s := r.byID[e.Activity]
	return s == nil || s.scheduled >= event || s.closed == 0 || s.closed >= event
}

// toldAt is the event by which the history says what became of a call that
// nothing was scheduled for: its plan's, where a gate stopped it, else the one
// that gives the model, or the run that continues this one, the workflow's word
// on it. Until then, and always for a call that code made, it is math.MaxInt64.
func (r *Run) toldAt(e fold.Effect) int64 {
	if s := r.byID[e.Plan]; e.Problem != "" && s != nil && s.closed != 0 {
		return s.closed
	}
	if e.Step > 0 {
		for _, id := range []string{contract.ModelActivityID(e.Step + 1), contract.CarryActivityID(e.Step)} {
			if s := r.byID[id]; s != nil {
				return s.scheduled
			}
		}
	}
	return math.MaxInt64
}
