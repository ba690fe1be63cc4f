package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	sdkactivity "go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/secrets"
)

// secretNames are the variables whose values no input may hold: those that the
// agents declare, and their endpoints' keys.
func secretNames(o Options) []string {
	names := slices.Clone(o.Declared)
	for _, agent := range o.Agents {
		provider, _ := providerOf(agent)
		names = append(names, agent.Endpoint.APIKeyEnv, provider.KeyEnv)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// refuseSecrets fails a turn whose input holds the value of a declared
// variable, before anything of it goes anywhere else. The value is in history
// by then; the error says how it leaves it.
func (a *Activities) refuseSecrets(ctx context.Context, in contract.CallModelInput, run *fold.Run) error {
	if in.Step > 1 {
		return nil
	}
	variable, found := secrets.Find(a.variables, a.getenv, run.Input.Messages, run.Input.Base)
	if !found {
		return nil
	}
	info := sdkactivity.GetInfo(ctx)
	remove := "temporal workflow delete"
	if info.Namespace != sdkclient.DefaultNamespace {
		remove += " --namespace " + info.Namespace
	}
	text := fmt.Sprintf("%s: the input holds the value of the environment variable %s, which this worker's agents declare. It stands in the run's history: change the value, and delete the run with: %s --workflow-id %s --run-id %s",
		contract.ReasonSecretInInput, variable, remove, info.WorkflowExecution.ID, info.WorkflowExecution.RunID)
	if run.Input.Session != "" {
		text += fmt.Sprintf(" - and the session, which holds the message too: %s --workflow-id %s", remove, run.Input.Session)
	}
	return modelError(contract.ErrSecretInInput, errors.New(text))
}
