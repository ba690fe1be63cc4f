package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel/internal/usage"
)

// app is one run of the command line.
type app struct {
	in     io.Reader
	out    io.Writer
	errOut io.Writer

	output   string // text or json
	webUI    string
	runsCode bool // the arguments were right and a command's own code runs
}

// Main runs the command line and returns the exit code. SIGINT and SIGTERM end
// what it does in an orderly way; a second one ends the process at once.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() { // the second signal is the system's own
		<-ctx.Done()
		stop()
	}()
	a := &app{in: in, out: out, errOut: errOut}
	cmd := a.root()
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	called, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		return ExitDone
	}
	code := exitCode(err)
	var left leftError
	switch {
	case errors.As(err, &left):
		fmt.Fprintln(errOut, left)
		return ExitInterrupted
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "interrupted; everything that was started here has been stopped")
		return ExitInterrupted
	case !a.runsCode:
		fmt.Fprintln(errOut, usage.Text(called, err))
		return ExitUsage
	default:
		fmt.Fprintln(errOut, err)
		return code
	}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "starter",
		Short: "Start, follow, decide and show agent turns",
		Long: `Starts, follows, decides and shows agent turns.

It connects by Temporal's environment conventions: TEMPORAL_ADDRESS,
TEMPORAL_NAMESPACE, TEMPORAL_TLS…, TEMPORAL_API_KEY, or a profile of
temporal.toml named by TEMPORAL_PROFILE.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found or unreachable,
4 waiting for a person (with --no-wait), 130 interrupted by a signal.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if a.output != "text" && a.output != "json" {
				return fmt.Errorf("--output %q: want text or json", a.output)
			}
			if cmd.Annotations[messageWords] == "" {
				if err := usage.NoEmpty(cmd, args); err != nil {
					return err
				}
			}
			a.runsCode = true
			return nil
		},
	}
	root.PersistentFlags().StringVarP(&a.output, "output", "o", "text", "text, or json (JSON only on standard output)")
	root.PersistentFlags().StringVar(&a.webUI, "web-ui", os.Getenv("TURNKEEL_WEB_UI"),
		"address of the Temporal Web UI, for links (default: port 8233 of the server's host; environment TURNKEEL_WEB_UI)")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	root.AddCommand(a.demoCommand(), a.devCommand(), a.runCommand(), a.showCommand(), a.effectsCommand(), a.forkCommand(),
		a.listCommand(), a.policyCommand(), a.checkCommand(), a.toolsCommand(), a.workerCommand(), a.pendingCommand(), a.decideCommand(true), a.decideCommand(false),
		a.resolveCommand(), a.interruptCommand(), a.cancelCommand(), a.watchCommand(), a.setupCommand(), a.sendCommand(), a.chatCommand(),
		a.replayCommand(), a.readDocumentCommand())
	usage.Strict(root)
	return root
}

// messageWords is the annotation of commands whose arguments are a message's
// words: each may be empty.
const messageWords = "message words"

func takesMessage() map[string]string { return map[string]string{messageWords: "yes"} }

func (a *app) json() bool { return a.output == "json" }

// say writes what happens on the way: to standard output for people, to
// standard error when standard output is JSON.
func (a *app) say(format string, args ...any) {
	w := a.out
	if a.json() {
		w = a.errOut
	}
	fmt.Fprintln(w, plain(fmt.Sprintf(format, args...)))
}

// visible shows JSON text with every character that a terminal would not
// show, or would show as another, as its JSON escape: it still is the same
// value, and what is seen is what it says.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n': // between the values of indented JSON
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, "\\u%04x\\u%04x", high, low)
		default:
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// plain drops control characters: what a model or a tool says must not steer
// the terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}
