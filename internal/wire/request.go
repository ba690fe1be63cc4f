package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/turnkeel/turnkeel/contract"
)

// noProperties is the schema of a tool without arguments.
const noProperties = `{"type":"object","properties":{}}`

// encode makes the request go-openai sends, and the patch of its JSON for
// what go-openai cannot express.
func (c *Client) encode(r Request) (openai.ChatCompletionRequest, *patch, error) {
	out := openai.ChatCompletionRequest{
		Model:           r.Model,
		ReasoningEffort: r.ReasoningEffort,
		StreamOptions:   &openai.StreamOptions{IncludeUsage: true},
	}
	if r.Temperature != nil {
		out.Temperature = float32(*r.Temperature)
	}
	if newerTokenLimit(c.endpoint.BaseURL, r.Model) {
		out.MaxCompletionTokens = r.MaxOutputTokens
	} else {
		out.MaxTokens = r.MaxOutputTokens //nolint:staticcheck // the servers that came before the newer name know only this one
	}
	messages := c.legal(r)
	for _, m := range messages {
		out.Messages = append(out.Messages, message(m, c.echo(r)))
	}
	tools := r.Tools
	if len(tools) == 0 && c.endpoint.Settings.HistoryTools == "declare" {
		if tools = historyTools(messages); len(tools) > 0 {
			out.ToolChoice = "none"
		}
	}
	for _, t := range tools {
		tool, err := functionTool(t)
		if err != nil {
			return out, nil, c.scrub.error(&Error{Kind: KindBadRequest, Message: err.Error()})
		}
		out.Tools = append(out.Tools, tool)
	}
	return out, &patch{
		messages: messages, temperature: r.Temperature, settings: c.endpoint.Settings,
		echo: c.echo(r), parallel: c.endpoint.ParallelToolCalls,
	}, nil
}

// echo is whether reasoning text goes back with this request.
func (c *Client) echo(r Request) string {
	if r.echo != "" {
		return r.echo
	}
	return c.endpoint.Settings.EchoReasoning
}

// historyTools declares the tools that a transcript speaks of.
func historyTools(messages []contract.Message) []Tool {
	var tools []Tool
	seen := map[string]bool{}
	for _, m := range messages {
		for _, call := range m.ToolCalls {
			if !seen[call.Name] {
				seen[call.Name] = true
				tools = append(tools, Tool{Name: call.Name, Description: "Not available any more."})
			}
		}
	}
	return tools
}

func message(m contract.Message, echo string) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.ToolCallID}
	if m.Role == contract.RoleAssistant && (echo == "always" || echo == "even_empty" && len(m.ToolCalls) > 0) {
		out.ReasoningContent = m.Reasoning
	}
	for _, call := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID:       call.ID,
			Type:     openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: call.Args},
		})
	}
	return out
}

func functionTool(t Tool) (openai.Tool, error) {
	schema := t.Schema
	if strings.TrimSpace(schema) == "" {
		schema = noProperties
	}
	if !isObject(schema) {
		return openai.Tool{}, fmt.Errorf("tool %s: its schema is not a JSON object", t.Name)
	}
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: t.Name, Description: t.Description, Parameters: json.RawMessage(schema),
	}}, nil
}

// newerTokenLimit says which name the output limit goes by. OpenAI refuses
// max_tokens for its reasoning models; most compatible servers know no other.
func newerTokenLimit(baseURL, model string) bool {
	if u, err := url.Parse(baseURL); err == nil {
		host := u.Hostname()
		if host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
			return true
		}
	}
	name := model[strings.LastIndexByte(model, '/')+1:]
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isObject says whether text is exactly one JSON object.
func isObject(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}

// readBounded reads at most limit bytes and says whether there was more.
func readBounded(r io.Reader, limit int64) (data []byte, more bool, err error) {
	data, err = io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) && len(data) > 0 {
		err = nil // a cut error page still says something
	}
	return data, false, err
}
