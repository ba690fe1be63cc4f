package providers

import "github.com/turnkeel/turnkeel/contract"

func groq() Provider {
	return Provider{
		Name: "groq", Title: "Groq",
		BaseURL: "https://api.groq.com/openai/v1", KeyEnv: "GROQ_API_KEY",
		Quirks: []Quirk{
			{contract.QuirkPrivateFields, "drop", "The API answers 400 for a property of a message that it does not know."},
		},
	}
}
