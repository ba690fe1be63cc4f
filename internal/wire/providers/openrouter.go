package providers

import "github.com/turnkeel/turnkeel/contract"

func openRouter() Provider {
	return Provider{
		Name: "openrouter", Title: "OpenRouter",
		BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY",
		Quirks: []Quirk{
			{contract.QuirkOrigin, "model", "It routes to many providers: reasoning_details of one must not reach another, and the model's name tells them apart."},
			{contract.QuirkHistoryTools, "declare", "Providers behind it (Anthropic, Bedrock) refuse a transcript with tool calls when the request declares no tools."},
		},
	}
}
