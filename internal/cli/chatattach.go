package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/contract"
)

// chatHelp is what /help says.
const chatHelp = `/attach FILE   has a file go with your next message; again for one more
/attach        shows the files that will go with it
/drop N        takes the Nth of them back, /drop all of them
/help          shows this
Everything else is a message; begin it with a space if its first word is one of these.`

// command does what a line says that is a command, and is false for a message. It
// fails in words only: the chat goes on. What comes through a pipe may be
// another's words, which must not have files of this machine read.
func (c *chat) command(ctx context.Context, line string) bool {
	word, rest := line, ""
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		word, rest = line[:i], line[i:]
	}
	if !slices.Contains([]string{"/attach", "/drop", "/help"}, word) || strings.Contains(line, "\n") {
		return false
	}
	if !c.asks {
		fmt.Fprintf(c.errOut, "note: %s is a command at a terminal only and was sent as a message; from a pipe, --attach names files\n", word)
		return false
	}
	rest = strings.TrimSpace(rest)
	var err error
	switch {
	case word == "/help":
		c.say("%s", chatHelp)
	case word == "/drop":
		err = c.drop(rest)
	case rest == "":
		c.listFiles()
	default:
		err = c.addFile(ctx, typedPath(rest))
	}
	if err != nil {
		c.tellError(err)
	}
	return true
}

// addFile reads a file that is to go with the next message. Nothing leaves the
// process before that is sent.
func (c *chat) addFile(ctx context.Context, path string) error {
	if _, err := attachStore(c.agent, len(c.files)+1); err != nil {
		return err
	}
	var file turnkeel.AttachedFile
	err := c.breakable(ctx, func(ctx context.Context) (err error) {
		file, err = c.readFile(ctx, path)
		return err
	})
	if errors.Is(err, errBreak) {
		return errors.New("given up: the file is not attached")
	}
	if err != nil {
		return err
	}
	c.files = append(c.files, file)
	c.say("%s goes with your next message", c.shownFile(len(c.files)-1))
	return nil
}

func (c *chat) shownFile(i int) string {
	f := c.files[i]
	return fmt.Sprintf("file %d: %s (%s, %d bytes)", i+1, f.Name, f.Type, len(f.Data))
}

func (c *chat) listFiles() {
	if len(c.files) == 0 {
		c.say("no file is attached; /attach FILE attaches one")
	}
	for i := range c.files {
		c.say("%s", c.shownFile(i))
	}
}

// drop takes back the file of that number, or all if there is none.
func (c *chat) drop(number string) error {
	switch n, err := strconv.Atoi(number); {
	case len(c.files) == 0:
		return errors.New("no file is attached")
	case number == "":
		c.say("dropped %d file(s)", len(c.files))
		c.files = nil
	case err != nil || n < 1 || n > len(c.files):
		return fmt.Errorf("/drop %s: want a number from 1 to %d, or none for all", number, len(c.files))
	default:
		c.say("dropped %s", c.files[n-1].Name)
		c.files = slices.Delete(c.files, n-1, n)
	}
	return nil
}

// filesWaiting stands before the prompt.
func (c *chat) filesWaiting() string {
	if len(c.files) == 0 {
		return ""
	}
	return fmt.Sprintf("[%d file(s)] ", len(c.files))
}

// keepFiles puts the files of the next message into the blob store. They stay
// attached until the message is taken.
func (c *chat) keepFiles(ctx context.Context) (attachments []contract.Attachment, err error) {
	if len(c.files) == 0 {
		return nil, nil
	}
	store, err := attachStore(c.agent, len(c.files))
	if err != nil {
		return nil, c.stillAttached(err)
	}
	err = c.breakable(ctx, func(ctx context.Context) (err error) {
		attachments, err = c.keep(ctx, store, c.files)
		return err
	})
	switch {
	case errors.Is(err, errBreak):
		return nil, errors.New("given up: the message was not sent; its files stay attached")
	case err != nil:
		return nil, c.stillAttached(err)
	}
	return attachments, nil
}

// stillAttached says of a message that was not taken what its next try sends.
func (c *chat) stillAttached(err error) error {
	if len(c.files) == 0 {
		return err
	}
	return fmt.Errorf("%w\nthe files stay attached: /drop takes them back", err)
}

// typedPath is the path that a person typed, or a terminal typed for a file
// that was dropped on it: quoted, with backslashes, or with ~ for home.
func typedPath(text string) string {
	if n := len(text); n > 1 && (text[0] == '\'' || text[0] == '"') && text[n-1] == text[0] {
		text = text[1 : n-1]
	} else if _, err := os.Lstat(text); err != nil {
		text = unescaped(text)
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return text
}

// unescaped is text without the backslashes that quote the next character.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
