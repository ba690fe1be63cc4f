package fold

import (
	"slices"
	"strings"
	"time"

	historypb "go.temporal.io/api/history/v1"
	updatepb "go.temporal.io/api/update/v1"

	"github.com/turnkeel/turnkeel/contract"
)

// Decision is what a person said of a call.
type Decision struct {
	// Verdict is "approved" or "denied" of a call that waited for approval, else
	// a [contract.Verdict] on a call whose outcome was unknown.
	Verdict string `json:"verdict"`

	By      string    `json:"by"` // as claimed
	At      time.Time `json:"at"`
	Comment string    `json:"comment,omitempty"`

	// Identity is the client's that sent it, as Temporal recorded it. Empty for
	// a decision of a run before, which carries none.
	Identity string `json:"identity,omitempty"`

	Value string `json:"value,omitempty"` // what happened, of a verdict
}

// The verdicts on a call that waited for approval.
const (
	VerdictApproved = "approved"
	VerdictDenied   = "denied"
)

// Decisions are what people said of the call, in the order they were asked.
func (e Effect) Decisions() []Decision {
	var said []Decision
	if e.Approval != nil {
		said = append(said, *e.Approval)
	}
	said = append(said, e.LaterApprovals...)
	if e.Resolution != nil {
		said = append(said, *e.Resolution)
	}
	return said
}

// heard are the updates by which people decided, as they were accepted.
type heard struct {
	admitted  map[string]*updatepb.Request // by update id: a reset admits again what it then accepts without the words
	decisions []decision
	verdicts  []verdict
}

type decision struct {
	contract.DecideRequest
	at       time.Time
	identity string
}

type verdict struct {
	contract.ResolveRequest
	at       time.Time
	identity string
}

// hear reads the events of an update. What cannot be read is no decision of
// ours: the workflow refused it too.
func (r *Run) hear(e *historypb.HistoryEvent, at time.Time) {
	if a := e.GetWorkflowExecutionUpdateAdmittedEventAttributes(); a != nil {
		if r.heard.admitted == nil {
			r.heard.admitted = map[string]*updatepb.Request{}
		}
		r.heard.admitted[a.GetRequest().GetMeta().GetUpdateId()] = a.GetRequest()
	}
	a := e.GetWorkflowExecutionUpdateAcceptedEventAttributes()
	if a == nil {
		return
	}
	request := a.GetAcceptedRequest()
	if request.GetInput() == nil {
		request = r.heard.admitted[a.GetProtocolInstanceId()]
	}
	identity := request.GetMeta().GetIdentity()
	switch request.GetInput().GetName() {
	case contract.UpdateDecide:
		d := decision{at: at, identity: identity}
		if r.dc.FromPayloads(request.GetInput().GetArgs(), &d.DecideRequest) == nil {
			r.heard.decisions = append(r.heard.decisions, d)
		}
	case contract.UpdateResolve:
		v := verdict{at: at, identity: identity}
		if r.dc.FromPayloads(request.GetInput().GetArgs(), &v.ResolveRequest) == nil {
			r.heard.verdicts = append(r.heard.verdicts, v)
		}
	}
}

// listener gives each call of a run, in order, what people said of it.
type listener struct {
	decisions []decision
	verdicts  []verdict
	denied    []decision // by which later calls of the same key are denied too
}

// listen begins with what a continued run was given along.
func (r *Run) listen() *listener {
	l := &listener{}
	if c := r.Input.Carried; c != nil {
		for _, d := range c.Calls.Decided {
			if !d.Approve && !d.Expired {
				request := contract.DecideRequest{Key: d.Key, Digest: d.Digest, By: d.By, Comment: d.Comment}
				l.denied = append(l.denied, decision{DecideRequest: request, at: d.At})
			}
		}
		for _, h := range c.Calls.Held {
			l.decisions = append(l.decisions, decision{DecideRequest: h.Request, at: h.At})
		}
		for _, h := range c.Calls.HeldVerdicts {
			l.verdicts = append(l.verdicts, verdict{ResolveRequest: h.Request, at: h.At})
		}
		for _, v := range c.Calls.HeldResolves {
			l.verdicts = append(l.verdicts, verdict{ResolveRequest: v, at: r.Started})
		}
	}
	l.decisions = append(l.decisions, r.heard.decisions...)
	l.verdicts = append(l.verdicts, r.heard.verdicts...)
	return l
}

// say fills in who decided on a call. A decision is for one call; where several
// have the same key they are taken in the order they came, as the workflow does.
func (l *listener) say(e *Effect, run *contract.RunPlan, drifts []contract.ToolFailure) {
	if run == nil || e.Key == "" {
		return
	}
	if run.Approval != nil {
		l.approvals(e, questionsOf(run, drifts))
	}
	if run.OnUnknown == contract.OnUnknownAskHuman {
		i := slices.IndexFunc(l.verdicts, func(v verdict) bool { return v.Key == e.Key })
		if i >= 0 {
			v := l.verdicts[i]
			l.verdicts = slices.Delete(l.verdicts, i, i+1)
			e.Resolution = &Decision{Verdict: string(v.Verdict), By: v.By, At: v.at, Comment: v.Comment, Identity: v.identity, Value: v.Value}
		}
	}
}

// question is what a person was asked about a call.
type question struct {
	digest    string
	approvers []string
}

// questionsOf are the questions about a call that waits for approval: one, and
// one more each time its tool had changed.
func questionsOf(run *contract.RunPlan, drifts []contract.ToolFailure) []question {
	asked := []question{{run.Digest, run.Approval.Approvers}}
	for _, d := range drifts {
		q := question{digest: d.Drift, approvers: asked[len(asked)-1].approvers}
		if d.Now != nil && d.Now.Approval != nil {
			q.approvers = d.Now.Approval.Approvers
		}
		if d.Problem == nil {
			asked = append(asked, q)
		}
	}
	return asked
}

func (l *listener) approvals(e *Effect, asked []question) {
	for _, d := range l.denied {
		if d.Key == e.Key {
			e.Approval = d.told()
			return
		}
	}
	for i, q := range asked {
		if i == len(asked)-1 && e.Outcome == contract.OutcomeExpired {
			return
		}
		switch d := l.answer(e.Key, q); {
		case d == nil:
			return
		case i == 0:
			e.Approval = d
		default:
			e.LaterApprovals = append(e.LaterApprovals, *d)
		}
	}
}

// answer takes the decision on a question out; nil if there is none.
func (l *listener) answer(key string, q question) *Decision {
	i := slices.IndexFunc(l.decisions, func(d decision) bool {
		return d.Key == key && (d.Digest == q.digest || strings.HasPrefix(d.Digest, q.digest+".")) && (len(q.approvers) == 0 || slices.Contains(q.approvers, d.By))
	})
	if i < 0 {
		return nil
	}
	d := l.decisions[i]
	l.decisions = slices.Delete(l.decisions, i, i+1)
	if !d.Approve {
		l.denied = append(l.denied, d)
	}
	return d.told()
}

func (d decision) told() *Decision {
	told := &Decision{Verdict: VerdictDenied, By: d.By, At: d.at, Comment: d.Comment, Identity: d.identity}
	if d.Approve {
		told.Verdict = VerdictApproved
	}
	return told
}
