// Package tools lists the built-in tools of the stock worker. It is
// worker-side; start at [All]. Each built-in is a package of its own below this
// one, and a worker of your own may take some of them only.
package tools

import (
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/tools/sqlquery"
	"github.com/turnkeel/turnkeel/tools/websearch"
)

// All are the built-in tools, sorted by name. They cost nothing until an agent
// asks for them in builtin_tools.
func All() []tooldefs.Builtin {
	return []tooldefs.Builtin{
		sqlquery.Builtin(),
		websearch.Builtin(),
	}
}
