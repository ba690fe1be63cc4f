//go:build race

package document

// perByte is how much memory a byte of the program takes: the race detector
// keeps what it knows of it beside it, which counts too (5 to 10 times the
// memory, says its documentation).
const perByte = 8
