//go:build !unix || solaris || aix

package support

import (
	"context"
	"errors"
	"os"
)

// lock refuses: without a lock two processes could pay the same refund.
func lock(context.Context, *os.File) error {
	return errors.New("the refund ledger needs a system with flock")
}
