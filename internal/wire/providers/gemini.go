package providers

import "github.com/turnkeel/turnkeel/contract"

func gemini() Provider {
	return Provider{
		Name: "gemini", Title: "Gemini (OpenAI compatibility)",
		BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", KeyEnv: "GEMINI_API_KEY",
		Quirks: []Quirk{
			{contract.QuirkPrivateFields, "echo", "Gemini 3 answers 400 unless extra_content.google.thought_signature of a tool call comes back as it was."},
			{contract.QuirkMissingSignature, "google", "A call that another model made has no signature; Google documents skip_thought_signature_validator as the word to send instead."},
			{contract.QuirkParallelOption, "omit", "The option is not among the request fields that the compatibility page documents."},
		},
	}
}
