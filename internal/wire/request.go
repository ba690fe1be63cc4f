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
func (c *Client) encode(r Request) (openai.ChatCompletionRequest, func([]byte) ([]byte, error), error) {
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
	messages := make([]contract.Message, len(r.Messages))
	for i, m := range r.Messages {
		messages[i] = legalMessage(m)
		out.Messages = append(out.Messages, c.message(messages[i]))
	}
	for _, t := range r.Tools {
		tool, err := functionTool(t)
		if err != nil {
			return out, nil, c.scrub.error(&Error{Kind: KindBadRequest, Message: err.Error()})
		}
		out.Tools = append(out.Tools, tool)
	}
	p := patch{messages: messages, temperature: r.Temperature, echo: c.endpoint.EchoReasoning}
	return out, p.apply, nil
}

// legalMessage replaces arguments that are no JSON object by an empty one: an
// endpoint would refuse every later request of the turn for them.
func legalMessage(m contract.Message) contract.Message {
	calls := make([]contract.ToolCall, len(m.ToolCalls))
	for i, call := range m.ToolCalls {
		if !isObject(call.Args) {
			call.Args = "{}"
		}
		calls[i] = call
	}
	m.ToolCalls = calls
	return m
}

func (c *Client) message(m contract.Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.ToolCallID}
	if m.Role == contract.RoleAssistant && echoes(c.endpoint.EchoReasoning) {
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

func echoes(mode string) bool { return mode == "always" || mode == "even_empty" }

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
