package providers

import "github.com/turnkeel/turnkeel/contract"

func mistral() Provider {
	return Provider{
		Name: "mistral", Title: "Mistral",
		BaseURL: "https://api.mistral.ai/v1", KeyEnv: "MISTRAL_API_KEY",
		Quirks: []Quirk{
			{contract.QuirkToolCallIDs, "alnum_9", "The API answers 400 unless a tool call id is a-z, A-Z, 0-9 with a length of 9."},
			{contract.QuirkUserAfterTool, "bridge", `The API answers 400 "Unexpected role 'user' after role 'tool'".`},
			{contract.QuirkPrivateFields, "drop", "The API validates messages strictly: extra inputs are not permitted (422)."},
			{contract.QuirkStreamUsage, "omit", "stream_options is not a field of the API, which sends usage in the last chunk anyway; strict versions refused it with 422."},
		},
	}
}
