package turnkeel

import (
	"strings"
	"testing"
)

// Y01, Y04: a provider that has no address, a misspelt one above all, is found at
// start and not by the first turn.
func TestOpenRefusesProvidersWithoutAddress(t *testing.T) {
	const none = " has no address of its own; give endpoint.base_url, or take another"
	for file, want := range map[string]string{
		"model: opneai/gpt-4o-mini\n":                    `/a/agent.yaml:1:8: model: the provider "opneai"` + none + `; did you mean "openai"?`,
		"model: azure/x\nendpoint: {api_version: '1'}\n": `/a/agent.yaml:1:8: model: the provider "azure"` + none + `; valid: deepseek, gemini, groq, `,
		"model: openai/x\nendpoint: {provider: vllm}\n":  `/a/agent.yaml:1:8: model: the provider "vllm"` + none,
		"model: mine/x\nendpoint: {base_url: nothing}\n": `/a/agent.yaml:2:22: endpoint.base_url: want a URL`,
		"model: mine\n": `/a/agent.yaml:1:8: model: want <provider>/<model>`,
		"model: mine/x\nendpoint: {base_url: 'http://localhost/v1'}\n": "",
		"model: mine/x\nendpoint: {provider: groq}\n":                  "",
	} {
		host, err := Open(t.Context(), Options{AgentsDir: agentsDir(t, "a", file)})
		switch {
		case err == nil:
			_ = host.Close()
			if want != "" {
				t.Errorf("%q is accepted", file)
			}
		case want == "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%q:\ngot  %v\nwant %s", file, err, want)
		}
	}
}

// Y02, Y04: a model's key that is not set is a warning of check, and no problem.
func TestCheckWarnsOfMissingKeys(t *testing.T) {
	t.Setenv("GROQ_API_KEY", "")
	o := Options{AgentsDir: agentsDir(t, "a", "model: groq/x\n", "b", "model: groq/y\n")}
	const want = "GROQ_API_KEY is not set: the model of a, b is asked without a key"
	if code, out, errOut := command(t, o, "check"); code != 0 || errOut != "" || !strings.Contains(out, "\nwarning: "+want+"\n") {
		t.Errorf("%d %s\n%s", code, errOut, out)
	}
}
