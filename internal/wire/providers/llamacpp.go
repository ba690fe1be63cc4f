package providers

func llamaCPP() Provider {
	return Provider{
		Name: "llamacpp", Title: "llama.cpp server",
		BaseURL: "http://localhost:8080/v1", KeyEnv: "LLAMA_API_KEY", KeyOptional: true,
		// Its repeated call ids are made unique for every server.
	}
}
