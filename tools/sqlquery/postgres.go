package sqlquery

import (
	"context"
	"errors"
	"time"

	"github.com/turnkeel/turnkeel/tooldefs"
)

func queryPostgres(_, _ context.Context, _ *tooldefs.Call, _ time.Duration, _ source, _ string, _ *table) error {
	return errors.New("PostgreSQL is not served yet; use SQLite")
}
