// Package providers holds what is known of each kind of OpenAI-compatible
// server: its address, the variable of its key, and its quirks with the public
// reason for each. It is pure data, one file per provider; [Lookup] is the
// entry point. To add a provider, add a file and a line in [All], and run the
// tests: they say what docs/models.md lacks.
package providers
