// Command starter starts, follows and shows agent turns, and runs the demo.
package main

import (
	"os"

	"github.com/turnkeel/turnkeel/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
