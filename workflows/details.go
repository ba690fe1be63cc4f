package workflows

import (
	"fmt"
	"strings"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/effect"
)

// maxShownArgs bounds the arguments in the details; the status query has them
// whole.
const maxShownArgs = 1_000

// waitsFor is a question as the Web UI shows it, with the commands that answer
// it. Commands and arguments stand in fences: the UI makes typographic quotes
// and dashes of any others, and such a command does not run.
func waitsFor(turn effect.Scope, p contract.Pending) string {
	verb, commands := "waits for approval", decideCommands(turn, p)
	if p.Kind == contract.PendingUnknown {
		verb, commands = "waits for word of what became of it", resolveCommands(turn, p)
	}
	var b strings.Builder
	b.WriteString(fmt.Sprintf("### %s %s\n\n%s", p.Tool, verb, oneLine(p.Reason)))
	if len(p.Approvers) > 0 {
		b.WriteString(" · may decide: " + oneLine(strings.Join(p.Approvers, ", ")))
	}
	if p.Expires != nil {
		b.WriteString(" · expires " + p.Expires.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	// Canonical arguments are one line: nothing in them ends the fence.
	b.WriteString("\n\n```json\n" + contract.BoundText(p.Args, maxShownArgs) + "\n```\n\n")
	b.WriteString(commands)
	return b.String()
}

// decideCommands are what approves and what denies the call, each by itself:
// whoever copies one must not get the other with it.
func decideCommands(turn effect.Scope, p contract.Pending) string {
	var b strings.Builder
	for _, c := range []struct {
		verb    string
		approve bool
	}{{"Approve", true}, {"Deny", false}} {
		b.WriteString(c.verb + ":\n\n" + updateCommand(turn, contract.UpdateDecide,
			fmt.Sprintf(`{"approve":%t,"digest":"%s"`, c.approve, p.Digest), p.Key))
	}
	id := quoted(turn.WorkflowID)
	if strings.ContainsAny(id, "`\r\n") { // it would end the code that it stands in
		id = "TURN"
	}
	b.WriteString(fmt.Sprintf("or `starter approve %s`, `starter deny %s`: they show the call and ask.\n\n", id, id))
	return b.String()
}

// resolveCommands are what says that the call happened; the other verdicts
// take its place.
func resolveCommands(turn effect.Scope, p contract.Pending) string {
	return fmt.Sprintf("It happened (else: `%s`, `%s`):\n\n", contract.VerdictDidNotHappen, contract.VerdictCannotTell) +
		updateCommand(turn, contract.UpdateResolve, fmt.Sprintf(`{"verdict":"%s"`, contract.VerdictHappened), p.Key)
}

// updateCommand sends an update with the temporal CLI, for a shell. Who
// decides is the user of the shell. The key has a line of its own, so that the
// rest fits the Web UI's column.
func updateCommand(turn effect.Scope, update, input, key string) string {
	namespace := ""
	if turn.Namespace != "default" {
		namespace = " --namespace " + quoted(turn.Namespace)
	}
	command := fmt.Sprintf("temporal workflow update execute --name %s%s \\\n"+
		"  --workflow-id %s \\\n  --input '%s,\n\"by\":\"'\"$USER\"'\",\n\"key\":\"%s\"}'\n",
		update, namespace, quoted(turn.WorkflowID), input, key)
	fence := "```"
	for strings.Contains(command, fence) { // an id may have lines of its own
		fence += "`"
	}
	return fence + "sh\n" + command + fence + "\n\n"
}

// quoted is a word for a shell: an id may be anything that its starter chose.
func quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// oneLine keeps a text from looking like another part of the details.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
