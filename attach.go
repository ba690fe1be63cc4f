package turnkeel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/contract"
)

// AttachedFile is a file for [Attach].
type AttachedFile struct {
	Name string // without folders; see [contract.AttachmentName]
	Type string // media type
	Text string // what it says, valid UTF-8: the agent reads this
	Data []byte // the file itself, kept beside the text; may be empty
}

// Attach puts a file into a blob store and gives the handle to put into
// [contract.Message.Attachments]. The store must be the worker's: see
// [BlobsFromEnv]. The agent must have the built-in tool read_attachment.
//
// The text is yours to extract; `starter run --attach` does it for PDF, Office
// files, HTML and text.
func Attach(ctx context.Context, store blob.Store, f AttachedFile) (contract.Attachment, error) {
	name := contract.AttachmentName(f.Name)
	if store == nil {
		return contract.Attachment{}, errors.New("attach " + name + ": there is no blob store: " + envBlobs + " must name the one that the worker uses")
	}
	index := contract.AttachmentIndex{Format: contract.AttachmentFormat, Name: name, Type: f.Type}
	err := func() (err error) {
		if index.Original, err = store.Put(ctx, f.Data); err != nil {
			return err
		}
		pages := pagesOf(f.Text)
		index.Pages = len(pages)
		for len(pages) > 0 {
			n := min(len(pages), contract.AttachmentChunkPages)
			ref, err := putJSON(ctx, store, contract.AttachmentChunk{Format: contract.AttachmentChunkFormat, Texts: pages[:n]})
			if err != nil {
				return err
			}
			index.Chunks, pages = append(index.Chunks, ref), pages[n:]
		}
		return nil
	}()
	if err != nil {
		return contract.Attachment{}, fmt.Errorf("attach %s: keep it in the blob store: %w", name, err)
	}
	ref, err := putJSON(ctx, store, index)
	if err != nil {
		return contract.Attachment{}, fmt.Errorf("attach %s: keep it in the blob store: %w", name, err)
	}
	return contract.Attachment{FileID: ref, Name: name, Type: f.Type, Bytes: int64(len(f.Data)), Pages: index.Pages}, nil
}

func putJSON(ctx context.Context, store blob.Store, v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return store.Put(ctx, data)
}

// pagesOf cuts a text into pages of so many runes; an empty text is one page.
func pagesOf(text string) []string {
	var pages []string
	for {
		end, runes := 0, 0
		for end < len(text) && runes < contract.AttachmentPageRunes {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
			runes++
		}
		pages = append(pages, text[:end])
		if text = text[end:]; text == "" {
			return pages
		}
	}
}
