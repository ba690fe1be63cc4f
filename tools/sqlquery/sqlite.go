package sqlquery

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// busyWait is how long a query waits for somebody who writes.
const busyWait = 2 * time.Second

// querySQLite asks the file, over a connection of its own.
func querySQLite(ctx context.Context, file, query string, result *table) (err error) {
	defer recoverMemory(&err)
	conn, err := openSQLite(ctx, file)
	if err != nil {
		return err
	}
	defer release(conn.Close)
	stmt, err := prepareOne(conn, query)
	if err != nil {
		return err
	}
	defer release(stmt.Close) // its error is that of the last step
	names := make([]string, stmt.ColumnCount())
	for i := range names {
		names[i] = stmt.ColumnName(i)
	}
	if err := result.columns(names); err != nil {
		return err
	}
	for stmt.Step() {
		row := make([]any, len(names))
		for i := range row {
			row[i] = sqliteValue(stmt, i, result)
		}
		if !result.add(row) {
			return nil
		}
	}
	return sqliteError(stmt.Err())
}

// errMemory is a query that reached maxMemory.
var errMemory = errors.New("the query needs more memory than it may have; ask for less: filter, aggregate, or sort less")

// recoverMemory makes an error of the panic with which the driver says that the
// engine is out of memory. Any other panic goes on.
func recoverMemory(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		if !strings.Contains(p.Error(), "out of memory") {
			panic(p)
		}
		*err = errMemory
	default:
		panic(p)
	}
}

// release closes what was only read from, also after the engine ran out of
// memory: the memory of the connection is given back then.
func release(closing func() error) {
	var ignored error
	defer recoverMemory(&ignored)
	_ = closing()
}

// openSQLite opens a file that is there, for reading. ctx ends whatever the
// connection does.
func openSQLite(ctx context.Context, file string) (*sqlite3.Conn, error) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = errors.New("not a regular file")
		}
		return nil, tooldefs.Public(fmt.Sprintf("there is no database file where %s points; the worker's log has the path. "+
			"A relative path starts in the worker's folder, and one in an agent.yaml in the folder of that file", URLVariable), fmt.Errorf("%s: %w", file, err))
	}
	address := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "mode=ro"}
	conn, err := sqlite3.OpenContext(sqlite3.WithMaxMemory(ctx, maxMemory), address.String())
	if err != nil {
		return nil, sqliteError(err)
	}
	conn.SetInterrupt(ctx)
	if err := errors.Join(guard(conn), conn.BusyTimeout(busyWait)); err != nil {
		_ = conn.Close()
		return nil, sqliteError(err)
	}
	return conn, nil
}

// prepareOne compiles the query, and finds that nothing stands behind it: the
// engine says where a statement ends.
func prepareOne(conn *sqlite3.Conn, query string) (*sqlite3.Stmt, error) {
	stmt, tail, err := conn.Prepare(query)
	if err != nil {
		return nil, sqliteError(err)
	}
	if stmt == nil {
		return nil, errors.New("the query holds no statement")
	}
	for tail != "" {
		var second *sqlite3.Stmt
		second, tail, err = conn.Prepare(tail)
		if second != nil || err != nil {
			return nil, errors.Join(errors.New("the query holds more than one statement; send one"), second.Close(), stmt.Close())
		}
	}
	switch {
	case !stmt.ReadOnly():
		err = errReadOnly
	case stmt.BindCount() > 0: // which the engine would take for NULL
		err = errParameters
	default:
		return stmt, nil
	}
	return nil, errors.Join(err, stmt.Close())
}

// errReadOnly is for what no engine would name better.
var errReadOnly = errors.New("only statements that read are run")

// errParameters is for a query with parts that nobody fills in.
var errParameters = errors.New("the query has parameters, like $1 or ?: write the values into it")

// sqliteValue is one value of the current row.
func sqliteValue(stmt *sqlite3.Stmt, column int, result *table) any {
	switch stmt.ColumnType(column) {
	case sqlite3.INTEGER:
		return stmt.ColumnInt64(column)
	case sqlite3.FLOAT:
		if f := stmt.ColumnFloat(column); !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f
		}
		return stmt.ColumnText(column)
	case sqlite3.TEXT:
		return result.text(string(head(stmt.ColumnRawText(column))))
	case sqlite3.BLOB:
		return result.text("0x" + hex.EncodeToString(head(stmt.ColumnRawBlob(column))))
	}
	return nil
}

// head is as much of a long value as can be shown of it, and a byte more.
func head(data []byte) []byte { return data[:min(len(data), 4*MaxCell+1)] }

// sqliteError says what an error means for the call.
func sqliteError(err error) error {
	if err == nil {
		return nil
	}
	text := short(strings.TrimPrefix(err.Error(), "sqlite3: "))
	switch {
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		return tooldefs.Transient(fmt.Errorf("the database is being written to: %s", text), 0)
	case errors.Is(err, sqlite3.READONLY_ROLLBACK), errors.Is(err, sqlite3.READONLY_RECOVERY), errors.Is(err, sqlite3.READONLY_CANTINIT):
		return fmt.Errorf("the database where %s points was left in the middle of a write, which only its own program may finish: open it once with that", URLVariable)
	case errors.Is(err, sqlite3.AUTH), errors.Is(err, sqlite3.READONLY):
		return fmt.Errorf("%w: %s", errReadOnly, text)
	case errors.Is(err, sqlite3.NOMEM), errors.Is(err, sqlite3.FULL):
		return errMemory
	case errors.Is(err, sqlite3.NOTADB), errors.Is(err, sqlite3.CANTOPEN):
		return fmt.Errorf("the file where %s points cannot be read as a database: %s", URLVariable, text)
	}
	return errors.New(text)
}
