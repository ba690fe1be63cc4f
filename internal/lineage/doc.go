// Package lineage finds what the runs of one turn have recorded: after a
// `temporal workflow reset`, what was done before it. It is worker-side and
// client-side; it reads histories and changes nothing.
//
// A lineage is all runs of a workflow id that have the same first run id. A
// reset makes a sibling that no link of the newest run leads to (A is reset to
// B, B acts, A is reset again to C), so it is found by following links and by
// listing the workflow id's runs.
//
// The entry points are [Read], which gives the runs, and [Index], which
// answers what they say of one call or one model answer: see [Index.Call].
package lineage
