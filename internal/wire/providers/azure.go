package providers

import "github.com/turnkeel/turnkeel/contract"

func azure() Provider {
	return Provider{
		Name: "azure", Title: "Azure OpenAI",
		KeyEnv: "AZURE_OPENAI_API_KEY",
		Quirks: []Quirk{
			{contract.QuirkAuth, "api_key_header", "Keys go in the header api-key; a bearer token is read as an Entra ID token."},
			{contract.QuirkToolCallIDs, "max_40", "As OpenAI: an id of more than 40 characters is refused."},
			{contract.QuirkPrivateFields, "drop", "As OpenAI: unknown fields of a message are refused."},
		},
	}
}
