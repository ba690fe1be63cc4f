package providers

func vllm() Provider {
	return Provider{
		Name: "vllm", Title: "vLLM",
		KeyEnv: "VLLM_API_KEY", KeyOptional: true,
		// Its oddities (length reported as tool_calls, abort, object arguments)
		// are dealt with for every server: the answer tells.
	}
}
