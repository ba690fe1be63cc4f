// Package contract holds everything Turnkeel writes into a Temporal history:
// names, inputs, results, updates, queries and error types.
//
// It is pure data. It knows nothing of Temporal, of the network or of the
// other packages of this module, so that a program in any language can be
// held against it, and so that the deterministic side (workflows) and the
// worker side (activities) meet in one place.
//
// Nothing here ever changes its meaning: fields are added, names are kept.
// Every enum is a string, and a reader must accept a value it does not know.
// Lists carry order; no map is ever ranged over by a workflow.
//
// Start reading at [TurnInput], [CallModelResult], [PlannedCall] and
// [ToolInput]: a turn is a workflow that moves these four.
package contract
