package mask

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkNew is what each tool call pays for ten secrets and a result of 4 KB.
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
