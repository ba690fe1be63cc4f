package main

import (
	"math"
	"slices"
)

// interval is a range, both ends included.
type interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// quantile is the q-quantile of values, linear between neighbours; NaN of
// none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func median(values []float64) float64 { return quantile(values, 0.5) }

// medianInterval holds the median of what values were drawn from with a
// probability of at least 95 %, whatever its distribution: the order
// statistics of the sign test. ok is false for fewer than six values, of which
// even the extremes do not hold it that surely.
func medianInterval(values []float64) (_ interval, ok bool) {
	n := len(values)
	sorted := slices.Sorted(slices.Values(values))
	// The largest k with P(Binomial(n, ½) < k) ≤ 2.5 %.
	k, below := 0, 0.0
	for k < n {
		below += math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
		if below > 0.025 {
			break
		}
		k++
	}
	if k == 0 {
		return interval{}, false
	}
	return interval{sorted[k-1], sorted[n-k]}, true
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// ratios divides pair by pair: what both sides of a pair met at that moment
// cancels out.
func ratios(ours, bare []float64) []float64 {
	out := make([]float64, min(len(ours), len(bare)))
	for i := range out {
		out[i] = ours[i] / bare[i]
	}
	return out
}
