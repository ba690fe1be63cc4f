package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// convertSchema is as another system hands it out: it is not trusted. One that
// cannot be enforced safely is an error of Wrap, which disables this tool only.
const convertSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"properties": {
		"amount":   {"type": "number", "exclusiveMinimum": 0, "description": "in the foreign currency"},
		"currency": {"type": "string", "enum": ["USD", "GBP"]}
	},
	"required": ["amount", "currency"],
	"additionalProperties": false
}`

// Convert is a wrapped tool: its schema and its function come from elsewhere.
// TransformArgs maps what the model wrote before it is validated and recorded,
// ToResult what the function gave before that is recorded.
func Convert(rates func(currency string) (float64, error)) (*tooldefs.Tool, error) {
	return tooldefs.Wrap(tooldefs.WrapSpec{
		Name:         "convert",
		Description:  "Converts a foreign amount to euro cents at today's rate.",
		Schema:       json.RawMessage(convertSchema),
		Effects:      tooldefs.None,
		ParallelSafe: tooldefs.Always,
		Origin:       "the rates service",
		TransformArgs: func(args string) (string, error) {
			return strings.NewReplacer(`"$"`, `"USD"`, `"£"`, `"GBP"`).Replace(args), nil
		},
		Invoke: func(_ context.Context, _ *tooldefs.Call, args json.RawMessage) (any, error) {
			var in struct {
				Amount   float64 `json:"amount"`
				Currency string  `json:"currency"`
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, err
			}
			rate, err := rates(in.Currency)
			return in.Amount * rate, err
		},
		ToResult: func(value any) (any, error) {
			euros, ok := value.(float64)
			if !ok {
				return nil, errors.New("the rates service gave no number")
			}
			return map[string]int64{"cents": int64(math.Round(euros * 100))}, nil
		},
	})
}
