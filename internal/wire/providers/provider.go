package providers

import (
	"fmt"
	"slices"

	"github.com/turnkeel/turnkeel/contract"
)

// Provider is a kind of OpenAI-compatible server.
type Provider struct {
	Name  string // the part of an agent's model before the first slash
	Title string

	// BaseURL is its address; "" for servers that run at one of the user's.
	BaseURL string

	// KeyEnv is the variable that its key is read from, where the agent names
	// none. KeyOptional says that it also works without one.
	KeyEnv      string
	KeyOptional bool

	Quirks []Quirk

	// Windows are sizes, in tokens, that it cuts a prompt to without a word.
	Windows    []int
	WindowsWhy string
}

// Quirk is one way in which a provider differs from an unknown one.
type Quirk struct {
	Name  contract.Quirk
	Value string
	Why   string // the public reason, in words
}

// All lists the providers, in the order the documents show them.
func All() []Provider {
	return []Provider{
		openAI(), azure(), vllm(), ollama(), llamaCPP(), openRouter(), groq(), mistral(), deepSeek(), gemini(), liteLLM(),
	}
}

// Lookup gives the provider of a name; an unknown one has no quirks.
func Lookup(name string) (p Provider, known bool) {
	for _, p := range All() {
		if p.Name == name {
			return p, true
		}
	}
	return Provider{Name: name, Title: name, KeyOptional: true}, false
}

// Names are the names of all providers.
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}

// Settings are the values of all quirks. It is comparable.
type Settings struct {
	EchoReasoning, PrivateFields, MissingSignature string
	ToolCallIDs, TokenLimit, Stream, StreamUsage   string
	ParallelOption, HistoryTools, UserAfterTool    string
	Auth, Origin                                   string
}

// Settings are the provider's quirks with overrides put over them. A quirk or
// value that does not exist is an error.
func (p Provider) Settings(overrides map[contract.Quirk]string) (Settings, error) {
	var s Settings
	for _, c := range contract.QuirkChoices() {
		value := c.Values[0]
		for _, q := range p.Quirks {
			if q.Name == c.Quirk {
				value = q.Value
			}
		}
		if v := overrides[c.Quirk]; v != "" {
			value = v
		}
		if !slices.Contains(c.Values, value) {
			return Settings{}, fmt.Errorf("quirk %s: %q is none of %v", c.Quirk, value, c.Values)
		}
		*s.field(c.Quirk) = value
	}
	for name := range overrides {
		if s.field(name) == nil {
			return Settings{}, fmt.Errorf("there is no quirk %q", name)
		}
	}
	return s, nil
}

func (s *Settings) field(q contract.Quirk) *string {
	switch q {
	case contract.QuirkEchoReasoning:
		return &s.EchoReasoning
	case contract.QuirkPrivateFields:
		return &s.PrivateFields
	case contract.QuirkMissingSignature:
		return &s.MissingSignature
	case contract.QuirkToolCallIDs:
		return &s.ToolCallIDs
	case contract.QuirkTokenLimit:
		return &s.TokenLimit
	case contract.QuirkStream:
		return &s.Stream
	case contract.QuirkStreamUsage:
		return &s.StreamUsage
	case contract.QuirkParallelOption:
		return &s.ParallelOption
	case contract.QuirkHistoryTools:
		return &s.HistoryTools
	case contract.QuirkUserAfterTool:
		return &s.UserAfterTool
	case contract.QuirkAuth:
		return &s.Auth
	case contract.QuirkOrigin:
		return &s.Origin
	}
	return nil
}
