//go:build !linux

package main

import (
	"errors"
	"os"
)

// openTerminal is there on Linux only.
func openTerminal() (user, program *os.File, err error) {
	return nil, nil, errors.New("--streaming needs a pseudo-terminal of Linux")
}
