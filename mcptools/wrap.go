package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnkeel/turnkeel/internal/schema"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// MetaKey is the key of a call's _meta under which its idempotency key travels.
const MetaKey = "idempotencyKey"

// maxDescription bounds what a model is told of a tool in each request, in bytes:
// one tool must not take its agent's context.
const maxDescription = 64 << 10

// Call sends one tools/call. The method CallTool of a session of the SDK is
// one. An error that is neither the server's own nor marked by package tooldefs
// leaves the outcome open.
type Call func(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error)

// Disabled is a tool that cannot be used, and why.
type Disabled struct {
	Name   string // the server's
	Reason string
}

// Wrap makes a tool of a descriptor of a session that you hold. It returns an
// error rather than panic: one bad tool does not take the others down. Holding
// the definition against a later one is the caller's part: see [Fingerprint].
func Wrap(d *mcp.Tool, call Call, o Options) (*tooldefs.Tool, error) {
	if call == nil {
		return nil, errors.New("mcptools: there is no call")
	}
	return wrap(d, func(ctx context.Context, _ *tooldefs.Call, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
		result, err := call(ctx, params)
		if err != nil {
			return nil, callError(err)
		}
		return result, nil
	}, o)
}

// WrapAll is [Wrap] for all descriptors that [Options.Allow] allows, in their
// order. Those that cannot be used come back with the reason; so does one whose
// name another tool of the list has.
func WrapAll(ds []*mcp.Tool, call Call, o Options) ([]*tooldefs.Tool, []Disabled) {
	return wrapAll(ds, o, func(d *mcp.Tool) (*tooldefs.Tool, error) { return Wrap(d, call, o) })
}

func wrapAll(ds []*mcp.Tool, o Options, wrap func(*mcp.Tool) (*tooldefs.Tool, error)) (tools []*tooldefs.Tool, disabled []Disabled) {
	for _, d := range ds {
		if d == nil || o.Allow != nil && !slices.Contains(o.Allow, d.Name) {
			continue
		}
		tool, err := wrap(d)
		if err == nil && slices.ContainsFunc(tools, func(t *tooldefs.Tool) bool { return t.Name() == tool.Name() }) {
			err = fmt.Errorf("another tool of the server is named %q, too", tool.Name())
		}
		if err != nil {
			var mistake *tooldefs.DefinitionError
			if errors.As(err, &mistake) {
				err = mistake.Mistake
			}
			disabled = append(disabled, Disabled{d.Name, plainWords(err.Error())})
			continue
		}
		tools = append(tools, tool)
	}
	return tools, disabled
}

// invoke is a [Call] that knows which call of the worker it is for, and whose
// errors say what they mean for its outcome: see [callError].
type invoke func(ctx context.Context, call *tooldefs.Call, params *mcp.CallToolParams) (*mcp.CallToolResult, error)

func wrap(d *mcp.Tool, send invoke, o Options) (*tooldefs.Tool, error) {
	if d == nil {
		return nil, errors.New("mcptools: there is no descriptor")
	}
	if strings.TrimSpace(d.Name) == "" {
		return nil, errors.New("the server gives it no name")
	}
	if n := len(shownText(d)); n > maxDescription {
		return nil, fmt.Errorf("its description has %d bytes, at most %d are allowed", n, maxDescription)
	}
	input, err := schemaText(d, inputField, d.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	input = withoutNulls(input)
	if d.InputSchema == unreadableSchema {
		return nil, errors.New("its definition cannot be read: name, description or schema are not what the protocol has them be")
	}
	t := o.of(d)
	w := wrapped{name: d.Name, send: send, options: o}
	w.output, w.warning = outputSchema(d)
	spec := tooldefs.WrapSpec{
		Name: Name(o.Prefix, d.Name), Description: description(d, o), Schema: input,
		Effects: t.Effects, Class: t.Class, Timeout: t.Timeout,
		Invoke: w.invoke, Pin: o.pin(d), Origin: o.server(), Warnings: w.warning,
	}
	if t.ParallelSafe != nil && *t.ParallelSafe {
		spec.ParallelSafe = tooldefs.Always
	}
	if o.ToResult != nil {
		spec.ToResult = func(v any) (any, error) { return o.ToResult(v.(*mcp.CallToolResult)) }
	}
	if !o.KeepNulls {
		required := requiredOf(input)
		spec.TransformArgs = func(args string) (string, error) { return stripNulls(args, required) }
	}
	return tooldefs.Wrap(spec)
}

// description is what the model reads of the tool; it needs something.
func description(d *mcp.Tool, o Options) string {
	if text := shownText(d); text != "" {
		return text
	}
	return fmt.Sprintf("The tool %s of %s, which says nothing more about it.", d.Name, o.server())
}

// shownText is what the server says of the tool: its description, or a title
// where it has none.
func shownText(d *mcp.Tool) string {
	texts := []string{d.Description, d.Title}
	if d.Annotations != nil {
		texts = append(texts, d.Annotations.Title)
	}
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// outputSchema is what structured results are validated against; nil with a
// warning when the schema cannot be used, for that harms nobody but itself.
func outputSchema(d *mcp.Tool) (*schema.Schema, []string) {
	if d.OutputSchema == nil {
		return nil, nil
	}
	raw, err := schemaText(d, outputField, d.OutputSchema)
	if err == nil {
		var s *schema.Schema
		if s, _, err = schema.Compile(raw); err == nil {
			return s, nil
		}
	}
	return nil, []string{fmt.Sprintf("tool %s: its results are not validated: the server's output schema cannot be used: %v", d.Name, err)}
}

// wrapped is one tool of a server.
type wrapped struct {
	name    string
	send    invoke
	options Options
	output  *schema.Schema // nil: results are not validated
	warning []string
}

// invoke sends the call once and makes a value or an error of the answer.
func (w wrapped) invoke(ctx context.Context, call *tooldefs.Call, args json.RawMessage) (any, error) {
	params := &mcp.CallToolParams{Name: w.name, Arguments: args, Meta: mcp.Meta{MetaKey: call.IdempotencyKey()}}
	result, err := w.send(ctx, call, params)
	switch {
	case err != nil:
		return nil, err
	case result == nil, result.Meta[noResultMeta] == true:
		return nil, tooldefs.Unknown(errors.New("the server's answer is empty"))
	case result.NeedsInput():
		return nil, tooldefs.Unknown(errors.New("the server asks for more input before it goes on, which is not supported"))
	case result.IsError:
		return nil, errors.New(errorText(result))
	case w.options.ToResult != nil:
		return result, nil
	}
	if structured, ok := structuredOf(result); ok && w.output != nil {
		if problems := w.output.Validate(structured); len(problems) > 0 {
			return nil, &tooldefs.ResultError{Tool: call.Tool(), Problem: "the server's structured result does not fit its own schema: " + problems[0].String()}
		}
	}
	return Flatten(result), nil
}
