package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/agentfile"
	"github.com/turnkeel/turnkeel/internal/document"
)

// readDocument is the command of the process that reads one file.
const readDocument = "read-document"

// readDocumentCommand is for [app.attach] alone: it reads a file from standard
// input in a process that the file may crash.
func (a *app) readDocumentCommand() *cobra.Command {
	return &cobra.Command{
		Use: readDocument + " NAME", Short: "Read the text of a document (for run --attach)", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return document.Serve(cmd.Context(), args[0], a.in, a.out)
		},
	}
}

// attachFlag is --attach of a command that says something to an agent.
func attachFlag(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(files, "attach", nil, "file that the agent may read, at most 15 MB: pdf, docx, xlsx, pptx, html, csv, json or text; may be repeated")
}

// attach puts files into the blob store that the environment names, and says
// so. Nothing is put before all of them can be read.
func (a *app) attach(ctx context.Context, agent string, paths []string) ([]contract.Attachment, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	store, err := attachStore(agent, len(paths))
	if err != nil {
		return nil, fmt.Errorf("--attach: %w", err)
	}
	var files []turnkeel.AttachedFile
	for _, path := range paths {
		file, err := a.readFile(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("--attach: %w", err)
		}
		files = append(files, file)
	}
	return a.keep(ctx, store, files)
}

// attachStore is where so many files for an agent are kept. It is an error where
// none can be.
func attachStore(agent string, files int) (blob.Store, error) {
	if files > contract.MaxAttachments {
		return nil, usageError{fmt.Errorf("at most %d files can be attached to one message", contract.MaxAttachments)}
	}
	if err := refuseAgent(agent); err != nil {
		return nil, err
	}
	store, err := turnkeel.BlobsFromEnv()
	if err == nil && store == nil {
		err = usageError{errors.New("it needs a blob store, and TURNKEEL_BLOBS=none says that there is none: set it to the worker's")}
	}
	return store, err
}

// keep puts files that were read into the store.
func (a *app) keep(ctx context.Context, store blob.Store, files []turnkeel.AttachedFile) ([]contract.Attachment, error) {
	var attachments []contract.Attachment
	for _, file := range files {
		attachment, err := turnkeel.Attach(ctx, store, file)
		if err != nil {
			return nil, err
		}
		a.say("attached %s", shownAttachment(attachment))
		attachments = append(attachments, attachment)
	}
	return attachments, nil
}

func shownAttachment(f contract.Attachment) string {
	return fmt.Sprintf("%s (%s, %d bytes, %d page(s) of text)", f.Name, f.Type, f.Bytes, f.Pages)
}

// refuseAgent refuses an agent of this folder that could not read what is
// attached. Of others the worker knows, and refuses the turn.
func refuseAgent(name string) error {
	definitions, err := agentfile.Load(turnkeel.DefaultAgentsDir)
	if err != nil {
		return nil //nolint:nilerr // no agents here, or the worker's affair
	}
	for _, d := range definitions {
		if d.Agent.Name == name && !slices.Contains(d.Builtins, contract.ToolReadAttachment) {
			return usageError{fmt.Errorf("the agent %s cannot read attachments: add %s to builtin_tools of %s", name, contract.ToolReadAttachment, d.File)}
		}
	}
	return nil
}

// readFile reads a file and its text.
func (a *app) readFile(ctx context.Context, path string) (turnkeel.AttachedFile, error) {
	data, err := bytesOf(path)
	if err != nil {
		return turnkeel.AttachedFile{}, usageError{err}
	}
	self, err := os.Executable()
	if err != nil {
		return turnkeel.AttachedFile{}, fmt.Errorf("find the program that reads files: %w", err)
	}
	name := contract.AttachmentName(path)
	text, err := document.Isolated{Command: []string{self, readDocument, "--"}}.Read(ctx, name, data)
	switch {
	case ctx.Err() != nil:
		return turnkeel.AttachedFile{}, ctx.Err()
	case err != nil:
		return turnkeel.AttachedFile{}, usageError{fmt.Errorf("%s: %w", path, err)}
	}
	for _, note := range text.Notes {
		a.say("note: %s: %s", name, note)
	}
	return turnkeel.AttachedFile{Name: name, Type: text.Type, Text: text.WithNotes(), Data: data}, nil
}

// bytesOf reads a regular file that is not too large, and no more of it than
// that if it grows meanwhile.
func bytesOf(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > document.MaxBytes:
		return nil, fmt.Errorf("%s has %d bytes; at most %d (15 MB) can be attached", path, info.Size(), document.MaxBytes)
	}
	f, err := os.Open(path) //nolint:gosec // the user's own choice
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(f, document.MaxBytes+1))
}
