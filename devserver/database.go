package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	schema "go.temporal.io/server/schema/sqlite"
)

// prepareDatabase brings the file to where the server can start from it: schema, namespace, search attributes.
// It happens before the server starts, so that no service has cached anything yet and a workflow that is started
// right after the announcement finds all of it.
func prepareDatabase(ctx context.Context, cfg *devConfig, opts options) error {
	if err := createSchema(ctx, cfg.db); err != nil {
		return fmt.Errorf("database %s: %s", cfg.db, oneLine(err))
	}
	if err := ensureNamespace(ctx, cfg, opts); err != nil {
		return fmt.Errorf("database %s: namespace %s: %w", cfg.db, namespace, err)
	}
	return nil
}

// createSchema creates all tables in one transaction. Temporal's own way is a statement at a time: killed in
// between, it takes the rest for done at the next start.
func createSchema(ctx context.Context, file string) error {
	db, err := openDirectly(file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var tables, stamp int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table'`).Scan(&tables); err != nil {
		return err
	}
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&stamp); err != nil {
		return err
	}
	if tables > 0 {
		return checkStamp(stamp)
	}
	if err := schema.SetupSchemaOnDB(schemaTx{Tx: tx}); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, schemaStamp())); err != nil {
		return err
	}
	return tx.Commit()
}

// checkStamp refuses a file of another schema version, which would fail later and less clearly: for SQLite the
// server brings no migrations. Unstamped files (of `temporal server start-dev`, say) are taken as they are.
func checkStamp(stamp int) error {
	if stamp == 0 || stamp == schemaStamp() {
		return nil
	}
	return fmt.Errorf("was made by another version of the Temporal server (schema %d, this one needs %d); "+
		"delete it or name another file with --db", stamp, schemaStamp())
}

// schemaStamp is the version of both schemas in one number, as it fits into SQLite's user_version: "0.11" and
// "0.1" make 110001.
func schemaStamp() int {
	stamp := 0
	for _, version := range []string{schema.Version, schema.VisibilityVersion} {
		var major, minor int
		_, _ = fmt.Sscanf(version, "%d.%d", &major, &minor) // a constant of the server
		stamp = stamp*10000 + major*100 + minor
	}
	return stamp
}

// schemaTx is as much of an AdminDB as creating the schema needs.
type schemaTx struct {
	sqlplugin.AdminDB
	*sql.Tx
}

func (s schemaTx) Exec(stmt string, args ...any) error {
	_, err := s.Tx.Exec(stmt, args...)
	return err
}

func openDirectly(file string) (*sql.DB, error) {
	// The driver is registered by the server's SQLite plugin.
	return sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode=wal&_pragma=synchronous=normal&_pragma=busy_timeout=5000")
}

// checkpoint folds the write-ahead log into the file, so that after a clean stop the one file is all there is.
// Without it nothing is lost, so it gets little time and its failure is no error.
func checkpoint(file string, limit time.Duration) {
	db, err := openDirectly(file)
	if err != nil {
		return
	}
	defer func() { _ = db.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_, _ = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
}
