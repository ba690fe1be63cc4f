// Package attachment is the built-in tool read_attachment: an agent reads the
// files that a user attached to a message. It is worker-side and reads what was
// put into the blob store when the file was attached; it parses no file. Entry
// point: [Builtin].
package attachment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// In is what the model gives.
type In struct {
	FileID string `json:"file_id" jsonschema:"description=The file_id that stands beside the attached file's name in the user's message"`
	Page   int    `json:"page" jsonschema:"description=Which page of the text to read; a page has 4000 characters,minimum=1,default=1"`
}

// Builtin offers the tool read_attachment. It is a read of the worker's own
// store: safe to repeat, and safe beside others.
func Builtin() tooldefs.Builtin {
	return tooldefs.Builtin{
		Name: contract.ToolReadAttachment,
		New: func(d tooldefs.BuiltinDeps) ([]*tooldefs.Tool, error) {
			return []*tooldefs.Tool{define(d.Blobs)}, nil
		},
	}
}

func define(blobs tooldefs.BlobReader) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[In, string]{
		Name: contract.ToolReadAttachment,
		Description: "Reads the text of a file that the user attached, one page of 4000 characters at a time. " +
			"Images and scanned pages are not read: there is no OCR.",
		Effects: tooldefs.None, Class: tooldefs.SafeToRetry, ParallelSafe: tooldefs.Always,
		Handler: func(ctx context.Context, _ *tooldefs.Call, in In) (string, error) {
			return read(ctx, blobs, in)
		},
	})
}

func read(ctx context.Context, blobs tooldefs.BlobReader, in In) (string, error) {
	if blobs == nil {
		return "", errors.New("this worker has no blob store: set TURNKEEL_BLOBS to the one that the file was put into")
	}
	var index contract.AttachmentIndex
	if err := get(ctx, blobs, in.FileID, &index); err != nil {
		return "", err
	}
	if index.Format != contract.AttachmentFormat {
		return "", notAttached(in.FileID)
	}
	index.Name = contract.AttachmentName(index.Name) // whoever made the blob
	if in.Page < 1 || in.Page > index.Pages {
		return "", fmt.Errorf("%s has %d page(s): there is no page %d", index.Name, index.Pages, in.Page)
	}
	chunk := (in.Page - 1) / contract.AttachmentChunkPages
	if chunk >= len(index.Chunks) {
		return "", fmt.Errorf("the index of %s names too few parts", index.Name)
	}
	var pages contract.AttachmentChunk
	if err := get(ctx, blobs, index.Chunks[chunk], &pages); err != nil {
		return "", err
	}
	if pages.Format != contract.AttachmentChunkFormat {
		return "", notAttached(in.FileID)
	}
	at := (in.Page - 1) % contract.AttachmentChunkPages
	if at >= len(pages.Texts) {
		return "", fmt.Errorf("page %d of %s is missing in the blob store", in.Page, index.Name)
	}
	head := fmt.Sprintf("[%s, page %d of %d]\n", index.Name, in.Page, index.Pages)
	switch text := pages.Texts[at]; {
	case text == "":
		return head + "[no text]", nil
	case utf8.RuneCountInString(text) > contract.AttachmentPageRunes:
		return "", notAttached(in.FileID)
	default:
		return head + text, nil
	}
}

func notAttached(ref string) error {
	return fmt.Errorf("%.100q names no attached file: take the file_id from the user's message", ref)
}

// get reads a blob's JSON. What is not JSON is no attachment of ours.
func get(ctx context.Context, blobs tooldefs.BlobReader, ref string, v any) error {
	data, err := blobs.Get(ctx, ref)
	if err != nil {
		err = fmt.Errorf("read the attached file: %w", err)
		if errors.Is(err, blob.ErrBadRef) || errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrCorrupt) || ctx.Err() != nil {
			return err
		}
		return tooldefs.Transient(err, time.Second)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return notAttached(ref)
	}
	return nil
}
