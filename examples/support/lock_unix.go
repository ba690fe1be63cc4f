//go:build unix && !solaris && !aix

package support

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lock waits for the file's lock and gives up when ctx ends. Closing the file
// unlocks it, and so does the end of the process.
func lock(ctx context.Context, file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if err := work(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}
