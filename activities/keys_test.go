package activities

import (
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/contract"
)

// Y02: a model's key is the variable as the agent's file binds it, so that two
// agents can be billed to two accounts; what is not set is told at start, once for
// each variable.
func TestModelKeys(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": "company", "TEAM_KEY": "team"}
	agents := []contract.Agent{
		{Name: "plain", Model: "openai/x"}, {Name: "bound", Model: "openai/x"}, {Name: "empty", Model: "openai/x"},
		{Name: "local", Model: "ollama/x"}, {Name: "groq", Model: "groq/x"}, {Name: "played", Model: "scripted/x.yaml"},
		{Name: "own", Model: "mine/x", Endpoint: contract.Endpoint{BaseURL: "http://mine/v1", APIKeyEnv: "MINE"}},
		{Name: "open", Model: "mine/x", Endpoint: contract.Endpoint{BaseURL: "http://mine/v1"}},
	}
	for _, name := range strings.Fields("f e d c b a") {
		agents = append(agents, contract.Agent{Name: name, Model: "mistral/x"})
	}
	a, err := New(Options{
		Agents: agents, Getenv: func(name string) string { return env[name] },
		Env: func(agent, name string) (string, bool) {
			switch {
			case agent == "bound" && name == "OPENAI_API_KEY":
				return env["TEAM_KEY"], true
			case agent == "empty":
				return "", true
			}
			return "", false
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"plain": "company", "bound": "team", "open": "", "own": ""} {
		agent := a.agents[name]
		p, _ := providerOf(agent)
		base, err := a.baseURL(agent, p)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.key(agent, p, base); got != want || err != nil {
			t.Errorf("%s: the key is %q, %v, want %q", name, got, err, want)
		}
	}
	want := []string{
		"GROQ_API_KEY is not set: the model of groq is asked without a key",
		"MINE is not set: the model of own is asked without a key",
		"MISTRAL_API_KEY is not set: the model of a, b, c, d, e and 1 more is asked without a key",
		"OPENAI_API_KEY is not set: the model of empty is asked without a key",
	}
	if got := a.MissingKeys(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
