package contract

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// Attachment is the handle of a file that a user message carries: history holds
// it, the blob store the file. [TextAttachments] is what the model reads of it.
type Attachment struct {
	// FileID is the reference of the blob that holds an [AttachmentIndex]. The
	// tool [ToolReadAttachment] takes it.
	FileID string `json:"file_id"`

	Name  string `json:"name"`            // the file's name, without folders
	Type  string `json:"type"`            // its media type, as "application/pdf"
	Bytes int64  `json:"bytes"`           // its size
	Pages int    `json:"pages,omitempty"` // of [AttachmentPageRunes] of text each
}

// AttachmentIndex says where an attached file's text is. It is the JSON of the
// blob that a file id names.
type AttachmentIndex struct {
	Format   string `json:"format"`   // [AttachmentFormat]
	Name     string `json:"name"`     // as in the handle
	Type     string `json:"type"`     // as in the handle
	Original string `json:"original"` // reference of the file as it was attached
	Pages    int    `json:"pages"`

	// Chunks are the references of the text: each of the JSON of an
	// [AttachmentChunk] of [AttachmentChunkPages] pages, the last one of what is
	// left.
	Chunks []string `json:"chunks"`
}

// AttachmentChunk is some of an attached file's pages.
type AttachmentChunk struct {
	Format string   `json:"format"` // [AttachmentChunkFormat]
	Texts  []string `json:"texts"`  // at most [AttachmentPageRunes] each
}

const (
	// AttachmentFormat tells an index from any other blob.
	AttachmentFormat = "turnkeel.attachment/1"

	// AttachmentChunkFormat tells pages from any other blob: an index that
	// somebody made up cannot have, say, a tool's result read as a file.
	AttachmentChunkFormat = "turnkeel.attachment-pages/1"

	// AttachmentPageRunes is the length of a page, in runes. The pages of a PDF
	// are marked in the text and are not these.
	AttachmentPageRunes = 4_000

	// AttachmentChunkPages is how many pages one blob holds.
	AttachmentChunkPages = 64

	// MaxAttachments bounds the files of one message.
	MaxAttachments = 100

	// ToolReadAttachment is the built-in tool without which a turn with
	// attachments is refused.
	ToolReadAttachment = "read_attachment"
)

// AttachmentName is a path's last part as it may be shown and recorded: valid,
// at most 200 runes, with "_" for what a terminal would not show, or would show
// as another text.
func AttachmentName(file string) string {
	return BoundText(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return '_'
		}
		return r
	}, filepath.Base(filepath.ToSlash(file))), 200)
}

// TextAttachments is what the model reads of a message's attachments, after
// its text.
func TextAttachments(attachments []Attachment) string {
	text := ""
	for _, a := range attachments {
		text += fmt.Sprintf("\n\n[attached file %q, %s, %d bytes, %d page(s) of text: call %s with file_id %q to read it]",
			BoundText(a.Name, 200), BoundText(a.Type, 100), a.Bytes, a.Pages, ToolReadAttachment, BoundText(a.FileID, 100))
	}
	return text
}
