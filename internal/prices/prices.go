// Package prices says what a model's tokens cost. It is pure but for reading
// a file of the user's; [Default] and [Load] are the entry points, and
// [Table.Cost] the lookup.
package prices

import (
	"bytes"
	_ "embed" // the table
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/turnkeel/turnkeel/contract"
)

//go:embed prices.yaml
var shipped []byte

// Table holds prices by model. The zero value knows none. It is not modified
// once it is made and may be used concurrently.
type Table struct {
	AsOf   string           `yaml:"as_of"` // when they were looked up
	Models map[string]Price `yaml:"models"`
}

// Price is in US dollars per million tokens.
type Price struct {
	Input  float64  `yaml:"input"`
	Cached *float64 `yaml:"cached"` // nil: as Input
	Output float64  `yaml:"output"`
}

// Default is the table that ships with this version.
func Default() (Table, error) { return Parse(shipped) }

// Load is the shipped table with the entries of a file put over it. An empty
// path is the shipped table alone.
func Load(path string) (Table, error) {
	table, err := Default()
	if err != nil || path == "" {
		return table, err
	}
	data, err := os.ReadFile(path) //nolint:gosec // the user's own file
	if err != nil {
		return Table{}, fmt.Errorf("prices: %w", err)
	}
	own, err := Parse(data)
	if err != nil {
		return Table{}, fmt.Errorf("%s: %w", path, err)
	}
	return table.With(own), nil
}

// Parse reads a table. Unknown keys, and prices that are no prices, are errors.
func Parse(data []byte) (Table, error) {
	var t Table
	err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&t)
	if err != nil && !errors.Is(err, io.EOF) {
		return Table{}, fmt.Errorf("prices: %w", err)
	}
	for name, p := range t.Models {
		if i := strings.IndexByte(name, '*'); !strings.Contains(name, "/") || i >= 0 && i != len(name)-1 {
			return Table{}, fmt.Errorf("prices: %q: want <provider>/<model>, with at most one * at its end", name)
		}
		for _, v := range []float64{p.Input, p.Output, p.cached()} {
			if !(v >= 0) || math.IsInf(v, 0) {
				return Table{}, fmt.Errorf("prices: %s: %v is no price", name, v)
			}
		}
	}
	return t, nil
}

// With is the table with another's entries put over its own. An entry of the
// other's, a * one too, goes before every one of ours that it covers.
func (t Table) With(other Table) Table {
	out := Table{AsOf: t.AsOf, Models: map[string]Price{}}
	if other.AsOf != "" {
		out.AsOf = other.AsOf
	}
	for name, p := range t.Models {
		if _, covered := other.find(strings.TrimSuffix(name, "*")); !covered {
			out.Models[name] = p
		}
	}
	for name, p := range other.Models {
		out.Models[name] = p
	}
	return out
}

// Cost is what a usage costs in US dollars. known is false, and the cost 0,
// for a model that is not listed. model is the agent's: provider/model.
func (t Table) Cost(model string, u contract.Usage) (dollars float64, known bool) {
	p, known := t.find(model)
	if !known {
		return 0, false
	}
	cached := min(u.CachedTokens, u.PromptTokens) // part of the prompt
	output := u.CompletionTokens
	if u.ReasoningTokens > output {
		output += u.ReasoningTokens // a server that counts it beside the rest
	}
	total := float64(u.PromptTokens-cached)*p.Input + float64(cached)*p.cached() + float64(output)*p.Output
	return total / 1e6, true
}

// find is the price of a name: its own, or the longest * entry's.
func (t Table) find(model string) (best Price, found bool) {
	if p, ok := t.Models[model]; ok {
		return p, true
	}
	longest := -1
	for name, p := range t.Models {
		prefix, wild := strings.CutSuffix(name, "*")
		if wild && len(prefix) > longest && strings.HasPrefix(model, prefix) {
			best, found, longest = p, true, len(prefix)
		}
	}
	return best, found
}

func (p Price) cached() float64 {
	if p.Cached == nil {
		return p.Input
	}
	return *p.Cached
}
