package sqlquery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// The server's codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	codeCanceled    = "57014" // by statement_timeout, since we look at our own context first
	codeReadOnly    = "25006"
	codeSyntax      = "42601"
	codeCursor      = "0A000" // what a cursor cannot be for: WITH that changes data
	codeParameters  = "08P01" // the query has some, and none are sent
	classConnection = "08"
	classLogin      = "28"
	classResources  = "53"
	classOperator   = "57" // shutdown, starting up
	classRollback   = "40" // conflicts with recovery, deadlocks
)

// postgresError says what an error of a query means for the call.
func postgresError(err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pg):
		return serverError(pg)
	case isTooLong(err):
		return fmt.Errorf("a row is larger than %d bytes; select fewer or shorter columns", maxMessage)
	case errors.Is(err, errReadOnly), !lost(err):
		return err
	}
	return tooldefs.Transient(errors.New("the connection to the database was lost"), 0)
}

// serverError has the server's own words, which the model can act on.
func serverError(pg *pgconn.PgError) error {
	text := short(pg.Message)
	if pg.Hint != "" {
		text += "; hint: " + pg.Hint
	}
	if at := int(pg.Position) - utf8.RuneCountInString(declare); at > 0 {
		text += fmt.Sprintf(" (at character %d)", at)
	}
	text += " (SQLSTATE " + pg.Code + ")"
	switch pg.Code {
	case codeCanceled:
		return errors.New("the server ended the query: " + text + "; ask for less: filter, aggregate, or use an indexed column")
	case codeReadOnly, codeCursor:
		return fmt.Errorf("%w: %s", errReadOnly, text)
	case codeParameters:
		return errParameters
	case codeSyntax:
		return errors.New(text + "; one SELECT statement is run, and nothing else")
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case classConnection, classResources, classOperator, classRollback:
		return tooldefs.Transient(errors.New(text), 0)
	}
	return errors.New(text)
}

// short bounds an engine's message, which may quote a whole value.
func short(text string) string {
	const most = 500 // runes
	if len(text) <= most {
		return text
	}
	if runes := []rune(text[:min(len(text), 4*most)]); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text[:min(len(text), 4*most)]
}

// connectError is for the model without the address, which the log has.
func connectError(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		said := fmt.Sprintf("the database refuses the connection: %s (SQLSTATE %s)", strings.ReplaceAll(pg.Message, "\n", " "), pg.Code)
		if class := pg.Code[:min(2, len(pg.Code))]; class == classResources || class == classOperator {
			return tooldefs.Transient(errors.New(said), 0)
		}
		return fmt.Errorf("%s; see %s", said, URLVariable)
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("connecting to the database: %w", context.Canceled)
	}
	return tooldefs.Transient(tooldefs.Public("the database of "+URLVariable+" cannot be reached", err), 0)
}

// lost says that the connection broke.
func lost(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}

// isTooLong says that the server sent a row larger than maxMessage.
func isTooLong(err error) bool {
	_, ok := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err)
	return ok
}
