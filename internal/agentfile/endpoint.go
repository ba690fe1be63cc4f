package agentfile

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/turnkeel/turnkeel/contract"
)

// maxCallTimeout is the longest that one part of a model call may take: the
// whole has little more.
const maxCallTimeout = 9 * time.Minute

func (r *reader) endpoint(n ast.Node) contract.Endpoint {
	var e contract.Endpoint
	r.mapping(n, "endpoint", r.endpointFields(&e))
	return e
}

func (r *reader) endpointFields(e *contract.Endpoint) []field {
	return []field{
		{"base_url", func(n ast.Node) { r.addressed, e.BaseURL = true, r.baseURL(n) }},
		{"api_key_env", func(n ast.Node) { e.APIKeyEnv = r.variable(n, "endpoint.api_key_env") }},
		{"provider", func(n ast.Node) {
			e.Provider = r.matching(n, "endpoint.provider", `^[a-z][a-z0-9_.-]*$`, "provider's name")
		}},
		{"api_version", func(n ast.Node) {
			e.APIVersion = r.matching(n, "endpoint.api_version", `^[A-Za-z0-9._-]{1,40}$`, "version")
		}},
		{"echo_reasoning", func(n ast.Node) {
			e.EchoReasoning = r.oneOf(n, "endpoint.echo_reasoning", "never", "always", "even_empty")
		}},
		{"parallel_tool_calls", func(n ast.Node) {
			v := r.flag(n, "endpoint.parallel_tool_calls")
			e.ParallelToolCalls = &v
		}},
		{"first_byte_timeout", func(n ast.Node) { e.FirstByteTimeout = r.callTimeout(n, "endpoint.first_byte_timeout") }},
		{"idle_timeout", func(n ast.Node) { e.IdleTimeout = r.callTimeout(n, "endpoint.idle_timeout") }},
		{"quirks", func(n ast.Node) { e.Quirks = r.quirks(n) }},
	}
}

func (r *reader) quirks(n ast.Node) map[contract.Quirk]string {
	quirks := map[contract.Quirk]string{}
	var fields []field
	for _, c := range contract.QuirkChoices() {
		fields = append(fields, field{string(c.Quirk), func(n ast.Node) {
			quirks[c.Quirk] = r.oneOf(n, "endpoint.quirks."+string(c.Quirk), c.Values...)
		}})
	}
	r.mapping(n, "endpoint.quirks", fields)
	return quirks
}

func (r *reader) callTimeout(n ast.Node, what string) contract.Duration {
	d := r.duration(n, what)
	if d > maxCallTimeout {
		r.report(at(n), "%s: want at most %s, found %s: a model call has 9m30s in all", what, maxCallTimeout, d)
	}
	return contract.Duration(d)
}

// CheckProvider says that the agent's provider has no address, which each of
// known has, where the file gives none either: no turn could ask its model.
func (d Definition) CheckProvider(known []string) error {
	provider, _, ok := strings.Cut(d.Agent.Model, "/")
	if !ok || d.addressed || isScripted(d.Agent.Model) {
		return nil
	}
	if d.Agent.Endpoint.Provider != "" {
		provider = d.Agent.Endpoint.Provider
	}
	if slices.Contains(known, provider) {
		return nil
	}
	return Errors{problem(d.File, d.modelAt, "model: the provider %s has no address of its own; give endpoint.base_url, or take another%s", quote(provider), didYouMean(provider, known))}
}

// matching reads a text of a given form.
func (r *reader) matching(n ast.Node, what, pattern, name string) string {
	text, ok := r.text(n, what)
	if !ok {
		return ""
	}
	if !regexp.MustCompile(pattern).MatchString(text) {
		r.report(at(n), "%s: %s is no %s", what, quote(text), name)
		return ""
	}
	return text
}
