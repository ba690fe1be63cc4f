package mask

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkNew is what the first tool call pays for ten secrets and a result of 4 KB.
func BenchmarkNew(b *testing.B) {
	values := map[string]string{}
	for i := range 10 {
		values[fmt.Sprint("KEY_", i)] = fmt.Sprintf("tvly-%d-0123456789abcdef0123456789", i)
	}
	text := strings.Repeat("a text of some words… ", 200)
	for b.Loop() {
		New(values).Text(text)
	}
}

// BenchmarkText is what a result of 1 MB with many marks of cuts costs.
func BenchmarkText(b *testing.B) {
	m := New(map[string]string{"KEY": "tvly-dev-0123456789abcdef0123456789", "DSN": "postgres://me:passw0rd@db.internal:5432/shop"})
	text := strings.Repeat("a line of a log... and more… of it\n", 30_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.Text(text)
	}
}
