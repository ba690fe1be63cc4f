package fold

import (
	commonpb "go.temporal.io/api/common/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// codePlan is what the gates said of one call that code made.
type codePlan struct {
	act   *Activity
	in    contract.PlanCallInput
	out   contract.PlanCallResult
	taken bool
}

// planned takes in that code asks for a call.
func (r *Run) planned(act *Activity) error {
	p := &codePlan{act: act}
	r.plans = append(r.plans, p)
	return r.dc.FromPayloads(act.input, &p.in)
}

// answered takes in what the gates said. Calls get their ordinals in the order
// of the answers.
func (r *Run) answered(act *Activity, result *commonpb.Payloads) error {
	for _, p := range r.plans {
		if p.act == act {
			r.codePlans = append(r.codePlans, p)
			return r.dc.FromPayloads(result, &p.out)
		}
	}
	return nil
}

// codeEffects is the log of the calls that code made by name. No later event
// says what the workflow made of them, so all of it is read from the plans,
// the tools' activities and what people said.
func (r *Run) codeEffects(people *listener) []Effect {
	if len(r.codePlans) == 0 {
		return nil
	}
	keys := r.newCodeKeys(people)
	defer func() { r.codeEnd = keys }()
	var log []Effect
	for i, p := range r.byOrdinal() {
		e, drifts := r.effectOf(p.out.Call, 0, r.firstOrdinal()+i, p.act.ID)
		done := keys.identify(&e, p.out.Call.Run)
		r.derive(&e, p.out.Call)
		keys.share(&e, p.out.Call.Run)
		people.say(&e, p.out.Call.Run, drifts)
		r.deriveDecided(&e, p.out.Call.Run)
		done(e)
		log = append(log, e)
	}
	return log
}

// firstOrdinal is that of the run's first call: a run that continues another
// goes on counting.
func (r *Run) firstOrdinal() int { return max(1, r.plans[0].in.Ordinal) }

// Follows says which run this one continues. Identical calls of that run count
// for the keys of this one, and its refusals hold; without it a key that this
// run's history does not record is left out. It is for a workflow of a user's
// own: a turn carries all of it in its input.
func (r *Run) Follows(before *Run) { r.before = before }

// byOrdinal are the plans of the run's calls, in the order of the calls. Calls
// that were made side by side may be answered in another order than they took
// their ordinals in; a call that ran says by its input which it is.
func (r *Run) byOrdinal() []*codePlan {
	calls := make([]*codePlan, len(r.codePlans))
	for i := range calls {
		act := r.activities[contract.CallActivityID(0, r.firstOrdinal()+i, 0)]
		if act == nil {
			continue
		}
		in, err := r.ToolInput(act)
		if err != nil {
			continue
		}
		for _, p := range r.codePlans {
			call := p.out.Call
			if !p.taken && call.Run != nil && call.Args == in.Args && contract.ToolActivity(call.ToolName()) == act.Type {
				calls[i], p.taken = p, true
				break
			}
		}
	}
	rest := r.codePlans
	for i := range calls {
		for calls[i] == nil {
			if !rest[0].taken {
				calls[i] = rest[0]
			}
			rest = rest[1:]
		}
	}
	for _, p := range r.codePlans {
		p.taken = false
	}
	return calls
}
