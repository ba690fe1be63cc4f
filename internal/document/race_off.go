//go:build !race

package document

// perByte is how much memory a byte of the program takes.
const perByte = 1
