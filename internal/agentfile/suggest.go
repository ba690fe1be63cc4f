package agentfile

import (
	"slices"
	"strings"
)

// didYouMean is "; did you mean "x"?" for the nearest of the names that could
// be a slip of the pen, and otherwise the list of them.
func didYouMean(name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return "; did you mean " + quote(near) + "?"
	}
	return validNames(names)
}

// validNames is the list of what would have been right, sorted.
func validNames(names []string) string {
	if len(names) == 0 {
		return ""
	}
	sorted := slices.Sorted(slices.Values(names))
	return "; valid: " + bound(strings.Join(sorted, ", "), 600)
}

// nearest is the name within a third of its length in edits, or one that
// differs only in case, dashes and underscores; empty if there is none.
func nearest(name string, names []string) string {
	best, bestDistance := "", 0
	plain := plainName(name)
	for _, candidate := range names {
		d := distance(plain, plainName(candidate))
		if d > max(1, len(candidate)/3) {
			continue
		}
		if best == "" || d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

func plainName(s string) string {
	if len(s) > 100 {
		s = s[:100]
	}
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
}

// distance counts insertions, deletions, replacements and swaps of
// neighbours (optimal string alignment).
func distance(a, b string) int {
	before, prev := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, prev[j]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(b)]
}

func quote(s string) string { return `"` + bound(s, 80) + `"` }

func bound(s string, limit int) string {
	runes := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(runes) <= limit {
		return string(runes)
	}
	return string(runes[:limit]) + "…"
}
