package sqlquery

import (
	"encoding/json"
	"fmt"
	"strings"
)

// table gathers rows up to the bounds.
type table struct {
	limit int
	bytes int
	out   Table
	cut   bool // a value was
}

func newTable(limit int) *table {
	return &table{limit: limit, out: Table{Columns: []string{}, Rows: [][]any{}}}
}

// columns takes the names, which count as bytes.
func (t *table) columns(names []string) error {
	if len(names) > MaxColumns {
		return fmt.Errorf("the query has %d columns, and at most %d are returned; name the ones you need", len(names), MaxColumns)
	}
	for _, name := range names {
		t.out.Columns = append(t.out.Columns, t.text(name))
	}
	data, err := json.Marshal(t.out.Columns)
	if t.bytes = len(data); err != nil || t.bytes > MaxBytes {
		return fmt.Errorf("the names of the columns alone have more than %d bytes; give them shorter ones, with AS", MaxBytes)
	}
	return nil
}

// add takes a row; false says that it did not fit, and so will no other.
func (t *table) add(row []any) bool {
	if len(t.out.Rows) == t.limit {
		t.truncate(fmt.Sprintf("there are more rows than the limit of %d", t.limit))
		return false
	}
	size := MaxBytes + 1
	if data, err := json.Marshal(row); err == nil {
		size = len(data) + len(",")
	}
	if t.bytes+size > MaxBytes {
		t.truncate(fmt.Sprintf("the rows after these are left out: a result has at most %d bytes; select fewer columns or aggregate", MaxBytes))
		return false
	}
	t.bytes += size
	t.out.Rows = append(t.out.Rows, row)
	return true
}

// text bounds one value.
func (t *table) text(s string) string {
	const bytes = 4 * MaxCell // of as many runes at most
	if len(s) <= MaxCell {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	whole := len(s) <= bytes
	if !whole {
		s = s[:bytes]
	}
	runes := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if whole && len(runes) <= MaxCell {
		return string(runes)
	}
	t.cut = true
	return string(runes[:MaxCell-1]) + "…"
}

func (t *table) truncate(why string) {
	t.out.Truncated, t.out.Note = true, why
}

func (t *table) done() Table {
	if t.cut {
		t.out.Truncated = true
		t.out.Note = strings.TrimPrefix(t.out.Note+fmt.Sprintf("; values longer than %d characters are cut, which ends in …", MaxCell), "; ")
	}
	return t.out
}
