package main

import (
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/workflows"
)

// Month is a list of expenses that no model has to decide about.
type Month struct {
	Expenses []Expense `json:"expenses"`
}

// BookMonth is a Temporal workflow of a user's own. It calls a tool by name:
// through the same gates as a model's call, under the same kind of keys, and
// with errors that say what is known ([workflows.OutcomeUnknownError] and so
// on) in place of a text for a model.
func BookMonth(ctx workflow.Context, month Month) (Booked, error) {
	var last Booked
	tools, err := workflows.NewTools(ctx, workflows.ToolsOptions{Agent: agentName})
	if err != nil {
		return last, err
	}
	for _, expense := range month.Expenses {
		value, err := tools.Call(ctx, "book_expense", expense)
		if err != nil {
			return last, err
		}
		if err := value.Get(&last); err != nil {
			return last, err
		}
	}
	return last, nil
}
