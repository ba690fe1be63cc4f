package cli

import (
	"encoding/json"
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/prices"
)

// turnReport is a turn as --output json shows it.
type turnReport struct {
	WorkflowID string          `json:"workflow_id"`
	RunID      string          `json:"run_id"`
	Agent      string          `json:"agent"`
	Status     contract.Status `json:"status"`
	Reason     string          `json:"reason,omitempty"`
	Text       string          `json:"text"`
	Steps      int             `json:"steps"`
	Usage      contract.Usage  `json:"usage"`
	CostUSD    *float64        `json:"cost_usd,omitempty"` // absent where no price is known
	PricesAsOf string          `json:"prices_as_of,omitempty"`
	Effects    []fold.Effect   `json:"effects"`
	WebUI      string          `json:"web_ui"`

	Messages []contract.Message `json:"messages,omitempty"` // show only
	Retrying []retryingCall     `json:"retrying,omitempty"` // show only
}

// report is what a turn's history says of it. The usage is that of the whole
// turn; steps and effects are the run's.
func (s *session) report(run *fold.Run, workflowID, runID string, table prices.Table) turnReport {
	r := turnReport{
		WorkflowID: workflowID, RunID: runID, Agent: run.Input.Agent, Status: run.Status,
		Steps: len(run.Steps), Effects: run.Effects(), WebUI: s.link(workflowID, runID),
	}
	if run.Input.Carried != nil {
		r.Usage = run.Input.Carried.Usage
	}
	for _, step := range run.Steps {
		if step.Answer != nil {
			r.Usage = r.Usage.Add(step.Answer.Usage)
		}
	}
	if agent := run.Agent(); agent != nil {
		if dollars, known := table.Cost(agent.Model, r.Usage); known {
			r.CostUSD, r.PricesAsOf = &dollars, table.AsOf
		}
	}
	if run.Result != nil {
		r.Reason, r.Text = run.Result.Reason, run.Result.Text
	}
	if r.Effects == nil {
		r.Effects = []fold.Effect{}
	}
	return r
}

// print writes one JSON object on one line.
func (a *app) print(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// tellEnd ends what followed a turn: its report, or what it used.
func (a *app) tellEnd(r turnReport) error {
	if a.json() {
		if err := a.print(r); err != nil {
			return err
		}
	} else if r.Usage.Total() > 0 {
		a.say("%s", usageText(r))
	}
	return ended(r)
}

// ended is the error of a turn that did not complete, nil otherwise.
func ended(r turnReport) error {
	switch r.Status {
	case contract.StatusCompleted:
		return nil
	case contract.StatusRunning, contract.StatusWaiting:
		return fmt.Errorf("turn %s is still %s", r.WorkflowID, r.Status)
	default:
		return fmt.Errorf("turn %s ended as %s: %s", r.WorkflowID, r.Status, r.Reason)
	}
}
