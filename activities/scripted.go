package activities

import (
	"fmt"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
)

// scripted is the provider of the models that a file beside the agent plays.
const scripted = "scripted"

// scriptedModel is the client of a script of this worker's: a turn records the
// script's name, and each worker plays the file it has.
func (a *Activities) scriptedModel(agent contract.Agent, file string) (*wire.Client, string, error) {
	if a.scripted == nil {
		return nil, "", noScript(agent, file)
	}
	client := a.scripted(agent.Name, file)
	if client == nil {
		return nil, "", noScript(agent, file)
	}
	settings, err := providers.Provider{}.Settings(nil)
	if err != nil {
		return nil, "", err
	}
	return a.client(wire.Endpoint{
		BaseURL: scriptedURL, HTTPClient: client, Settings: settings, Origin: scripted,
		FirstByteTimeout: firstByteTimeout, TotalTimeout: totalTimeout,
	}), file, nil
}

// scriptedURL is never dialled: the client answers in this process.
const scriptedURL = "http://scripted.invalid/v1"

func noScript(agent contract.Agent, file string) error {
	return modelError(contract.ErrModelBadRequest, fmt.Errorf(
		"this worker has no script %q for the agent %s, with which the turn began: the agent's model must be scripted/%s in its agent.yaml and the file beside it, on every worker; put them back and start the turn again",
		file, agent.Name, file))
}
