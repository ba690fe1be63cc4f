// Package usage makes both command lines strict alike about how they are
// called: what is not there is wrong usage, and the message says what is valid.
// It is for processes' main functions; start at [Strict].
package usage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Strict makes a command line refuse words that name no command, also where the
// library would print a help text and succeed: below commands that only group
// others, of help, and of completion. Call it once all commands are there.
func Strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	for _, cmd := range root.Commands() {
		switch {
		case cmd.Name() == "help":
			cmd.Args = topics
		case cmd.HasSubCommands() && !cmd.Runnable():
			cmd.Args = cobra.NoArgs
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// topics are the words after help: a command's.
func topics(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) > 0 && found.HasSubCommands() {
		err = fmt.Errorf("unknown command %q for %q", rest[0], found.CommandPath())
	}
	return err
}

// flagError says of a flag's value what would be one.
func flagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	want := map[string]string{"int": "a whole number", "duration": "a duration such as 30s or 5m", "bool": "true or false"}
	if w := want[invalid.GetFlag().Value.Type()]; w != "" {
		return fmt.Errorf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), w)
	}
	return err
}

// NoEmpty refuses arguments that are empty, as an unset variable of a script
// leaves them.
func NoEmpty(cmd *cobra.Command, args []string) error {
	for i, arg := range args {
		if strings.TrimSpace(arg) == "" {
			return fmt.Errorf("argument %d is empty: want %s", i+1, cmd.UseLine())
		}
	}
	return nil
}

// Text is what is printed of a command that was called the wrong way.
func Text(cmd *cobra.Command, err error) string {
	return fmt.Sprintf("%v\nUsage: %s\nSee: %s --help", err, cmd.UseLine(), cmd.CommandPath())
}
