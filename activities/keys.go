package activities

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire/providers"
)

// key reads the endpoint's key. A provider's usual variable is read for that
// provider alone, so that no key goes to someone else's server.
func (a *Activities) key(agent contract.Agent, p providers.Provider, base string) (string, error) {
	variable := keyVariable(agent, p)
	if variable == "" {
		return "", nil
	}
	key := a.keyIn(agent, variable)
	if key == "" && !p.KeyOptional && base == p.BaseURL {
		hint := ""
		if p.Name == openAIProvider {
			hint = ", or set " + envBaseURL + " to another OpenAI-compatible endpoint"
		}
		return "", modelError(contract.ErrModelAuth, errors.New(variable+" is not set on the worker: set it"+hint))
	}
	return key, nil
}

// keyVariable names the variable of an agent's key; it is empty where no key is
// sent.
func keyVariable(agent contract.Agent, p providers.Provider) string {
	return cmp.Or(agent.Endpoint.APIKeyEnv, p.KeyEnv)
}

// keyIn is the value of that variable, as the agent's file binds it.
func (a *Activities) keyIn(agent contract.Agent, variable string) string {
	if value, declared := a.env(agent.Name, variable); declared {
		return value
	}
	return a.getenv(variable)
}

// MissingKeys says, in order, which variables of models' keys are not set, and of
// which agents. It is a warning: their turns fail, or go without a key, and nothing
// else is wrong with them.
func (a *Activities) MissingKeys() []string {
	agents := map[string][]string{}
	for _, agent := range a.agents {
		p, _ := providerOf(agent)
		base, err := a.baseURL(agent, p)
		if err != nil || p.Name == scripted {
			continue
		}
		variable := keyVariable(agent, p)
		key, err := a.key(agent, p, base)
		if err != nil || key == "" && agent.Endpoint.APIKeyEnv != "" {
			agents[variable] = append(agents[variable], agent.Name)
		}
	}
	var warnings []string
	for _, variable := range slices.Sorted(maps.Keys(agents)) {
		names, more := agents[variable], ""
		slices.Sort(names)
		if len(names) > 5 {
			names, more = names[:5], fmt.Sprintf(" and %d more", len(names)-5)
		}
		warnings = append(warnings, fmt.Sprintf("%s is not set: the model of %s%s is asked without a key", variable, strings.Join(names, ", "), more))
	}
	return warnings
}
