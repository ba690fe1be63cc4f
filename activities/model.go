package activities

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
)

const (
	// envBaseURL moves the default endpoint, as OpenAI's own clients name it.
	envBaseURL = "OPENAI_BASE_URL"

	openAIProvider = "openai"

	// firstByteTimeout lets a local server load its model, and a reasoning
	// model think, before the answer begins.
	firstByteTimeout = 5 * time.Minute

	// totalTimeout ends a call that keeps sending, a little before the
	// workflow gives the attempt up and nothing could be said any more.
	totalTimeout = 9*time.Minute + 30*time.Second
)

// modelOf gives the client and the bare model name of an agent.
func (a *Activities) modelOf(agent contract.Agent) (*wire.Client, string, error) {
	provider, name := providerOf(agent)
	if provider.Name == scripted {
		return a.scriptedModel(agent, name)
	}
	endpoint, err := a.endpoint(agent, provider, name)
	if err != nil {
		return nil, "", err
	}
	return a.client(endpoint), name, nil
}

// providerOf is whose defaults and quirks apply, and the model's bare name.
func providerOf(agent contract.Agent) (p providers.Provider, model string) {
	provider, model, ok := strings.Cut(agent.Model, "/")
	if !ok {
		provider, model = openAIProvider, agent.Model
	}
	if agent.Endpoint.Provider != "" {
		provider = agent.Endpoint.Provider
	}
	p, _ = providers.Lookup(provider)
	return p, model
}

// endpoint puts an agent's own settings over its provider's.
func (a *Activities) endpoint(agent contract.Agent, p providers.Provider, model string) (wire.Endpoint, error) {
	base, err := a.baseURL(agent, p)
	if err != nil {
		return wire.Endpoint{}, err
	}
	key, err := a.key(agent, p, base)
	if err != nil {
		return wire.Endpoint{}, err
	}
	own := agent.Endpoint
	quirks := own.Quirks
	if own.EchoReasoning != "" {
		quirks = map[contract.Quirk]string{contract.QuirkEchoReasoning: own.EchoReasoning}
		for name, value := range own.Quirks {
			quirks[name] = value
		}
	}
	settings, err := p.Settings(quirks)
	if err != nil {
		return wire.Endpoint{}, modelError(contract.ErrModelBadRequest, fmt.Errorf("agent %s: endpoint: %w", agent.Name, err))
	}
	e := wire.Endpoint{
		BaseURL: base, APIKey: key, APIVersion: own.APIVersion, Settings: settings,
		Origin: origin(p, base, model, settings), IdleTimeout: own.IdleTimeout.Std(),
		FirstByteTimeout: own.FirstByteTimeout.Std(), TotalTimeout: totalTimeout,
	}
	if e.FirstByteTimeout <= 0 {
		e.FirstByteTimeout = firstByteTimeout
	}
	if own.ParallelToolCalls != nil {
		e.ParallelToolCalls = strconv.FormatBool(*own.ParallelToolCalls)
	}
	return e, nil
}

func (a *Activities) baseURL(agent contract.Agent, p providers.Provider) (string, error) {
	base := agent.Endpoint.BaseURL
	if base == "" && p.Name == openAIProvider {
		base = a.getenv(envBaseURL)
	}
	if base == "" {
		base = p.BaseURL
	}
	if base == "" {
		return "", modelError(contract.ErrModelBadRequest, fmt.Errorf(
			"agent %s: the provider %q has no address of its own; set endpoint.base_url in its agent.yaml (providers with an address or quirks: %s)",
			agent.Name, p.Name, strings.Join(providers.Names(), ", ")))
	}
	return base, nil
}

// origin names an endpoint: its provider, its host where that is not the
// provider's own, and the model where a router stands for many providers.
func origin(p providers.Provider, base, model string, s providers.Settings) string {
	name := p.Name
	if base != p.BaseURL {
		if u, err := url.Parse(base); err == nil {
			name += "@" + u.Host
		}
	}
	if s.Origin == "model" {
		name += "/" + model
	}
	return name
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
