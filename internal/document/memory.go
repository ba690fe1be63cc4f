package document

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// exitMemory is the exit code of a process that took too much memory.
const exitMemory = 9

// limitProcess bounds this process: it ends when it takes too much memory or
// stack. The function it returns ends the looking.
func limitProcess() (stop func()) {
	debug.SetMaxStack(64 << 20)
	debug.SetMemoryLimit(maxMemory / 2) // collect before it comes to that
	limitData()
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if inUse() > maxMemory {
					os.Exit(exitMemory)
				}
			}
		}
	}()
	return func() { close(done) }
}

// inUse is the memory that Go's runtime has from the system.
func inUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}
