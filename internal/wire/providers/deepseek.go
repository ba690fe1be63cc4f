package providers

import "github.com/turnkeel/turnkeel/contract"

func deepSeek() Provider {
	return Provider{
		Name: "deepseek", Title: "DeepSeek",
		BaseURL: "https://api.deepseek.com/v1", KeyEnv: "DEEPSEEK_API_KEY",
		Quirks: []Quirk{
			{contract.QuirkEchoReasoning, "even_empty", "Thinking mode answered 400 when reasoning_content was missing on an assistant message with tool calls, even where it was empty. The vendor's word on this has changed: set echo_reasoning: never for a model that refuses it."},
			{contract.QuirkPrivateFields, "drop", "There are none beside reasoning_content."},
			{contract.QuirkParallelOption, "omit", "The option is not among the API's request fields."},
		},
	}
}
