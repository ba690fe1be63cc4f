package cli

import (
	"fmt"
	"os"

	"github.com/turnkeel/turnkeel/internal/prices"
)

// envPrices names a file of the user's own prices: see [prices.Load].
const envPrices = "TURNKEEL_PRICES"

// loadPrices is the shipped table with the user's file over it.
func loadPrices() (prices.Table, error) {
	table, err := prices.Load(os.Getenv(envPrices))
	if err != nil {
		return table, fmt.Errorf("%s: %w", envPrices, err)
	}
	return table, nil
}

// usageText is a turn's tokens and, where the model's price is known, what
// they cost.
func usageText(r turnReport) string {
	u := r.Usage
	text := fmt.Sprintf("tokens: %d (prompt %d, of it cached %d; completion %d, of it reasoning %d)",
		u.Total(), u.PromptTokens, u.CachedTokens, u.CompletionTokens, u.ReasoningTokens)
	if r.CostUSD == nil {
		return text
	}
	text += fmt.Sprintf(" · about $%.4f", *r.CostUSD)
	if r.PricesAsOf != "" {
		text += " by prices as of " + r.PricesAsOf
	}
	return text
}
