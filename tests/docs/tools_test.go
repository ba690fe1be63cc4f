package docs

import (
	"path/filepath"
	"strings"
	"testing"
)

// What docs/tools.md leaves to the reader: the input and output, and the bank.
const (
	toolsPagePackage = `package refunds

import (
	"context"
	"errors"

	"github.com/turnkeel/turnkeel/tooldefs"
)

type RefundIn struct {
	OrderID string ` + "`json:\"order_id\"`" + `
	Cents   int    ` + "`json:\"cents\"`" + `
}

type RefundOut struct {
	RefundID string ` + "`json:\"refund_id\"`" + `
}

type bank struct{}

func (bank) Refund(_ context.Context, order string, cents int, key string) (string, error) {
	if cents < 1 || key == "" {
		return "", errors.New("nothing to refund")
	}
	return "r_" + order, nil
}

var payments bank

`
	toolsPageTest = `package refunds

import (
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel/agenttest"
)

`
)

// The tool and the test of docs/tools.md, in a module of their own: it compiles
// and passes.
func TestToolsPage(t *testing.T) {
	t.Parallel()
	blocks := strings.Split(documents(t)["docs/tools.md"], "```go\n")[1:]
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of Go, and this test knows two", len(blocks))
	}
	for i, b := range blocks {
		blocks[i], _, _ = strings.Cut(b, "```")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "refund.go"), toolsPagePackage+blocks[0])
	write(t, filepath.Join(dir, "refund_test.go"), toolsPageTest+blocks[1])
	writeModule(t, dir)
	if out := run(t, dir, "go", "test", "-mod=mod", "-v", "."); !strings.Contains(out, "--- PASS: TestRefund") {
		t.Errorf("the page's test said:\n%s", out)
	}
	if formatted := run(t, dir, "gofmt", "-l", "."); formatted != "" {
		t.Errorf("not formatted: %s", formatted)
	}
}
