package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/contract"
)

// chunk is what we read of a chunk, or of an answer that was not streamed.
// Its fields take any JSON: a field that a server spells its own way is lost
// or kept, but never ends the stream.
type chunk struct {
	ID      text            `json:"id"`
	Model   text            `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Index        count           `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"` // not streamed
	FinishReason text            `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"` // Moonshot puts it here
}

type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          text            `json:"refusal"`
	ReasoningContent text            `json:"reasoning_content"`
	Reasoning        text            `json:"reasoning"`
	ToolCalls        []fragment      `json:"tool_calls"`
	FunctionCall     *function       `json:"function_call"` // before there were tools
	privateFields
}

// fragment is a piece of a tool call.
type fragment struct {
	Index    *count   `json:"index"`
	ID       text     `json:"id"`
	Function function `json:"function"`
	privateFields
}

type function struct {
	Name      text      `json:"name"`
	Arguments arguments `json:"arguments"`
}

// text is a string; JSON of any other kind reads as "".
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	if n := len(data); n >= 2 && n == len(*t)+2 && string(data[1:n-1]) == string(*t) && data[0] == '"' && bytes.IndexByte(data, '\\') < 0 {
		return nil // as in the chunk before
	}
	s, _ := jsonString(data)
	*t = text(s)
	return nil
}

// jsonString is the value of a JSON string. Most have no escapes, and those
// need no second decoder.
func jsonString(data []byte) (string, bool) {
	if n := len(data); n >= 2 && data[0] == '"' && bytes.IndexByte(data, '\\') < 0 && utf8.Valid(data) {
		return string(data[1 : n-1]), true
	}
	var s string
	if len(data) == 0 || data[0] != '"' || json.Unmarshal(data, &s) != nil {
		return "", false
	}
	return s, true
}

// arguments is a string, or the bytes of any other JSON but null. They are
// kept as they are: a trip through a Go value would round large numbers.
type arguments string

func (a *arguments) UnmarshalJSON(data []byte) error {
	s, ok := jsonString(data)
	if !ok && string(data) != "null" {
		s = string(data)
	}
	*a = arguments(s)
	return nil
}

// count is a number that is not negative; anything else reads as 0.
type count int

func (c *count) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseFloat(string(bytes.Trim(data, `"`)), 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		n = 0
	}
	*c = count(n)
	return nil
}

// content reads a content: a string, null, or a list of parts.
func (d *delta) content() (words, thoughts string) {
	if len(d.Content) == 0 || d.Content[0] != '[' {
		var t text
		_ = t.UnmarshalJSON(orNull(d.Content))
		return string(t), ""
	}
	var parts []struct {
		Text     text            `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(d.Content, &parts) != nil {
		return "", ""
	}
	for _, p := range parts {
		words += string(p.Text)
		nested := delta{Content: p.Thinking}
		if len(p.Thinking) > 0 {
			t, _ := nested.content()
			thoughts += t
		}
	}
	return words, thoughts
}

// reasoning is the reasoning text under whichever name; servers that send
// both names send the same twice.
func (d *delta) reasoning() string {
	if d.ReasoningContent != "" {
		return string(d.ReasoningContent)
	}
	return string(d.Reasoning)
}

func orNull(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

// usage reads token counts; false when there are none.
func usage(raw json.RawMessage) (contract.Usage, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return contract.Usage{}, false
	}
	var u struct {
		Prompt     count `json:"prompt_tokens"`
		Completion count `json:"completion_tokens"`
		CacheHit   count `json:"prompt_cache_hit_tokens"` // DeepSeek
		In         struct {
			Cached count `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Out struct {
			Reasoning count `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return contract.Usage{}, false
	}
	return contract.Usage{
		PromptTokens:     int(u.Prompt),
		CachedTokens:     int(max(u.In.Cached, u.CacheHit)),
		CompletionTokens: int(u.Completion),
		ReasoningTokens:  int(u.Out.Reasoning),
	}, true
}

// clean drops NULs, which JSON stores refuse.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }
