package providers

import "github.com/turnkeel/turnkeel/contract"

func ollama() Provider {
	return Provider{
		Name: "ollama", Title: "Ollama",
		BaseURL: "http://localhost:11434/v1", KeyEnv: "OLLAMA_API_KEY", KeyOptional: true,
		Quirks: []Quirk{
			{contract.QuirkParallelOption, "omit", "The option is not among the request fields that its OpenAI compatibility page lists."},
		},
		Windows:    []int{2048, 4096},
		WindowsWhy: "Without OLLAMA_CONTEXT_LENGTH the window is 2048 (before 0.6) or 4096 tokens, and a longer prompt loses its beginning, with status 200.",
	}
}
