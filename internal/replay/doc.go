// Package replay says whether recorded runs survive a deploy: it replays their
// histories against the workflows of the binary it is part of, without running
// an activity or writing anything. It is worker-side; start at [New] for a
// [Checker] of single histories and at [Run] for what the replay commands do.
package replay
