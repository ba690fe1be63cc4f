package providers

import "github.com/turnkeel/turnkeel/contract"

func liteLLM() Provider {
	return Provider{
		Name: "litellm", Title: "LiteLLM proxy",
		BaseURL: "http://localhost:4000/v1", KeyEnv: "LITELLM_API_KEY", KeyOptional: true,
		Quirks: []Quirk{
			{contract.QuirkOrigin, "model", "It routes to many providers: thinking_blocks and provider_specific_fields of one must not reach another."},
			{contract.QuirkHistoryTools, "declare", "It raises UnsupportedParamsError for Anthropic and Bedrock when the transcript has tool calls and tools= is missing."},
			{contract.QuirkParallelOption, "omit", "Unless drop_params is set it answers 400 for options that the model's provider lacks, and many lack this one."},
		},
	}
}
