package sqlquery

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// maxMemory bounds what one connection may hold, sorts and temporary tables
// included: nothing of a query goes to disk. The engine is told a little less, so
// that it is the one to say no.
const (
	maxMemory = 64 << 20
	maxHeap   = maxMemory - 8<<20
)

// guard makes a connection one that can only read, whatever it is asked. Each
// measure stands without the others; the file is opened read-only besides.
func guard(conn *sqlite3.Conn) error {
	for _, set := range []struct {
		option sqlite3.DBConfig
		on     bool
	}{
		{sqlite3.DBCONFIG_DEFENSIVE, true},
		{sqlite3.DBCONFIG_TRUSTED_SCHEMA, false}, // a view of the file's author calls no function with effects
		{sqlite3.DBCONFIG_ENABLE_TRIGGER, false},
		{sqlite3.DBCONFIG_WRITABLE_SCHEMA, false},
	} {
		if _, err := conn.Config(set.option, set.on); err != nil {
			return fmt.Errorf("option %d: %w", set.option, err)
		}
	}
	for _, l := range []struct {
		category sqlite3.LimitCategory
		most     int
	}{
		{sqlite3.LIMIT_LENGTH, maxValue},
		{sqlite3.LIMIT_ATTACHED, 0},
		{sqlite3.LIMIT_EXPR_DEPTH, 200},
		{sqlite3.LIMIT_COMPOUND_SELECT, 100},
		{sqlite3.LIMIT_VDBE_OP, 250_000},
		{sqlite3.LIMIT_LIKE_PATTERN_LENGTH, 500},
		{sqlite3.LIMIT_WORKER_THREADS, 0},
	} {
		conn.Limit(l.category, l.most)
	}
	conn.HardHeapLimit(maxHeap)
	if err := replaceFunctions(conn); err != nil {
		return err
	}
	if err := conn.Exec("PRAGMA temp_store=MEMORY; PRAGMA query_only=ON; PRAGMA cell_size_check=ON"); err != nil {
		return err
	}
	if ro, _ := conn.ReadOnly("main"); !ro {
		return errors.New("the file is not open read-only")
	}
	return conn.SetAuthorizer(authorize)
}

// readingPragmas tell about the schema.
var readingPragmas = []string{"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list", "collation_list", "function_list"}

// authorize is asked by the engine for each thing that a statement would do,
// when it is compiled. What is not known to read is denied.
func authorize(action sqlite3.AuthorizerActionCode, name3rd, name4th, _, _ string) sqlite3.AuthorizerReturnCode {
	switch action {
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_READ, sqlite3.AUTH_RECURSIVE:
		return sqlite3.AUTH_OK
	case sqlite3.AUTH_FUNCTION:
		if !slices.Contains(unbounded, name4th) {
			return sqlite3.AUTH_OK
		}
	case sqlite3.AUTH_PRAGMA:
		if slices.Contains(readingPragmas, name3rd) {
			return sqlite3.AUTH_OK
		}
	}
	return sqlite3.AUTH_DENY
}
