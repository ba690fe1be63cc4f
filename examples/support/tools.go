// Package support is the example a newcomer reads first: three tools of a
// small shop, one file each. Two look something up and may run side by side;
// one pays money back and must not do so twice, however often a worker dies.
// It is worker-side; start at [Tools]. The agent that uses them is in
// agents/support.
package support

import (
	"context"
	"time"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// Tools are the example's tools. Refunds are paid into the file at ledgerPath,
// which is created with the first one; its folder must exist.
func Tools(ledgerPath string) []*tooldefs.Tool {
	return []*tooldefs.Tool{
		LookupOrder(),
		LookupCustomer(),
		Refund(ledgerPath),
	}
}

// lookupTime is how long the shop's pretended database takes, so that one can
// watch two lookups run at the same time.
const lookupTime = 150 * time.Millisecond

// work takes that long, or until ctx ends.
func work(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
