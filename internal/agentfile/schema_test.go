package agentfile

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/xeipuuv/gojsonschema"

	"github.com/turnkeel/turnkeel/contract"
)

const shipped = "../../agents"

func readSchema(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("agent.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// problems validates a YAML text by the editors' schema.
func schemaProblems(t *testing.T, text string) []string {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(readSchema(t)), gojsonschema.NewBytesLoader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	var problems []string
	for _, e := range result.Errors() {
		problems = append(problems, e.String())
	}
	return problems
}

func TestShippedAgents(t *testing.T) {
	t.Parallel()
	defs, err := Load(shipped)
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range defs {
		text, err := os.ReadFile(def.File)
		if err != nil {
			t.Fatal(err)
		}
		if problems := schemaProblems(t, string(text)); problems != nil {
			t.Errorf("%s: the schema refuses it: %v", def.File, problems)
		}
		if def.Agent.Instructions == "" {
			t.Errorf("%s: no instructions", def.File)
		}
	}
}

func TestSchemaAgreesWithTheReader(t *testing.T) {
	t.Parallel()
	if problems := schemaProblems(t, whole); problems != nil {
		t.Errorf("refused: %v", problems)
	}
	const m = "model: openai/x\n"
	for _, bad := range []string{
		"name: x\n", "model: gpt\n", m + "nam: x\n", m + "name: X\n", m + "temperature: 3\n", m + "tools: refund\n", m + "tools: [a b]\n",
		m + "limits: {max_steps: 0}\n", m + "limits: {max_wall_clock: 30}\n", m + "limits: {maxSteps: 1}\n", m + "endpoint: {base_url: x}\n",
		m + "endpoint: {base_url: 'https://u:p@h/v1'}\n", m + "endpoint: {api_key_env: sk-1}\n", m + "sandbox: true\n", m + "subagents: [a]\n", m + "subagents: {}\n", m + "agents: {can_call: [a]}\n", m + "agents: {calls: []}\n", m + "processes: {a: b}\n", m + "processes: []\n", m + "reasoning_effort: most\n", m + "env: {required: A}\n",
	} {
		if _, err := LoadFS(one(bad), "agents"); err == nil {
			t.Errorf("the reader accepts %q", bad)
		}
		if schemaProblems(t, bad) == nil {
			t.Errorf("the schema accepts %q", bad)
		}
	}
}

func TestSchemaHasTheReadersKeys(t *testing.T) {
	t.Parallel()
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var root object
	if err := json.Unmarshal(readSchema(t), &root); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, f := range new(reader).agentFields(&Definition{}, &instructionsFile{}) {
		keys = append(keys, f.name)
	}
	slices.Sort(keys)
	if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(root.Properties))); diff != "" {
		t.Error(diff)
	}
	var endpoint, quirks object
	if err := json.Unmarshal(root.Properties["endpoint"], &endpoint); err != nil {
		t.Fatal(err)
	}
	keys = nil
	for _, f := range new(reader).endpointFields(&contract.Endpoint{}) {
		keys = append(keys, f.name)
	}
	slices.Sort(keys)
	if diff := cmp.Diff(keys, slices.Sorted(maps.Keys(endpoint.Properties))); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal(endpoint.Properties["quirks"], &quirks); err != nil {
		t.Fatal(err)
	}
	for _, c := range contract.QuirkChoices() {
		var values struct{ Enum []string }
		if err := json.Unmarshal(quirks.Properties[string(c.Quirk)], &values); err != nil || !slices.Equal(values.Enum, c.Values) {
			t.Errorf("quirk %s: the schema has %v (%v), the contract %v", c.Quirk, values.Enum, err, c.Values)
		}
	}
	if len(quirks.Properties) != len(contract.QuirkChoices()) {
		t.Errorf("the schema has %d quirks", len(quirks.Properties))
	}
	var limits object
	if err := json.Unmarshal(root.Properties["limits"], &limits); err != nil {
		t.Fatal(err)
	}
	// Every limit of the contract can be written in the file.
	one := contract.Limits{MaxSteps: 1, MaxToolCallsPerStep: 1, MaxToolConcurrency: 1, MaxToolResultChars: 1, MaxWallClock: 1, MaxAttemptsPerTask: 1, MaxOutputTokens: 1, TokenBudget: 1}
	data, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	var written map[string]any
	if err := json.Unmarshal(data, &written); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(written)), slices.Sorted(maps.Keys(limits.Properties))); diff != "" {
		t.Error(diff)
	}
}
