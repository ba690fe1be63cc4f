package activities

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire"
)

// The environment of the default endpoint, as OpenAI's own clients name it.
const (
	envAPIKey  = "OPENAI_API_KEY"
	envBaseURL = "OPENAI_BASE_URL"

	openAIBaseURL  = "https://api.openai.com/v1"
	openAIProvider = "openai"

	// firstByteTimeout lets a local server load its model, and a reasoning
	// model think, before the answer begins.
	firstByteTimeout = 5 * time.Minute
)

// modelOf gives the client and the bare model name of an agent.
func (a *Activities) modelOf(agent contract.Agent) (Model, string, error) {
	provider, name, ok := strings.Cut(agent.Model, "/")
	if !ok {
		provider, name = openAIProvider, agent.Model
	}
	base := agent.Endpoint.BaseURL
	if base == "" {
		if provider != openAIProvider {
			return nil, "", modelError(contract.ErrModelBadRequest, fmt.Errorf(
				"agent %s: the provider %q has no address of its own yet; set endpoint.base_url in its agent.yaml", agent.Name, provider))
		}
		if base = a.getenv(envBaseURL); base == "" {
			base = openAIBaseURL
		}
	}
	keyVariable := agent.Endpoint.APIKeyEnv
	if keyVariable == "" {
		keyVariable = envAPIKey
	}
	key := a.getenv(keyVariable)
	if key == "" && base == openAIBaseURL {
		return nil, "", modelError(contract.ErrModelAuth, errors.New(
			keyVariable+" is not set on the worker: set it, or set "+envBaseURL+" to another OpenAI-compatible endpoint"))
	}
	return a.client(wire.Endpoint{
		BaseURL: base, APIKey: key, EchoReasoning: agent.Endpoint.EchoReasoning, FirstByteTimeout: firstByteTimeout,
	}), name, nil
}

// client is the one client of an endpoint: its connections are used again.
func (a *Activities) client(e wire.Endpoint) *wire.Client {
	a.clientsMu.Lock()
	defer a.clientsMu.Unlock()
	c, ok := a.clients[e]
	if !ok {
		c = wire.New(e)
		a.clients[e] = c
	}
	return c
}
