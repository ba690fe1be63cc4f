package providers

import "github.com/turnkeel/turnkeel/contract"

func openAI() Provider {
	return Provider{
		Name: "openai", Title: "OpenAI",
		BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY",
		Quirks: []Quirk{
			{contract.QuirkToolCallIDs, "max_40", "The API answers 400 (string_above_max_length) for an id of more than 40 characters, which ids of other providers may have."},
			{contract.QuirkPrivateFields, "drop", "The API has no private fields in chat completions and refuses unknown ones in a message with 400."},
		},
	}
}
