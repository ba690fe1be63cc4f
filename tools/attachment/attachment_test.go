package attachment_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/tooldefs"
	"github.com/turnkeel/turnkeel/tools/attachment"
)

func tool(t *testing.T, blobs tooldefs.BlobReader) *tooldefs.Tool {
	t.Helper()
	made, err := attachment.Builtin().New(tooldefs.BuiltinDeps{Blobs: blobs})
	if err != nil || len(made) != 1 {
		t.Fatalf("%d tools, %v", len(made), err)
	}
	return made[0]
}

// Y22: pages of 4,000 runes, over several blobs, none lost and none cut inside
// of a rune.
func TestReadAttachment_Pages(t *testing.T) {
	t.Parallel()
	store := blob.Folder(t.TempDir())
	var long strings.Builder
	for i := range 300_000 {
		long.WriteRune(rune('α' + i%25))
	}
	for _, tt := range []struct {
		name, text string
		pages      int
	}{
		{"empty.txt", "", 1}, {"one.txt", strings.Repeat("ä", 4_000), 1}, {"two.txt", strings.Repeat("ä", 4_001), 2}, {"long.txt", long.String(), 75},
	} {
		handle, err := turnkeel.Attach(t.Context(), store, turnkeel.AttachedFile{Name: "a/b/" + tt.name, Type: "text/plain", Text: tt.text, Data: []byte(tt.text)})
		if err != nil {
			t.Fatal(err)
		}
		if handle.Name != tt.name || handle.Pages != tt.pages || handle.Bytes != int64(len(tt.text)) {
			t.Errorf("%+v, want %d pages", handle, tt.pages)
		}
		got := ""
		for page := range tt.pages {
			text := call(t, tool(t, store), attachment.In{FileID: handle.FileID, Page: page + 1})
			_, body, _ := strings.Cut(text, "]\n")
			got += body
		}
		if tt.text == "" {
			tt.text = "[no text]"
		}
		if got != tt.text {
			t.Errorf("%s: the pages are not the text", tt.name)
		}
	}
}

func call(t *testing.T, tool *tooldefs.Tool, in attachment.In) string {
	t.Helper()
	args, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	result, err := agenttest.NewCall(t, agenttest.CallOptions{}).Run(tool, string(args))
	if err != nil {
		t.Fatal(err)
	}
	return result.Text
}

// away is a store that does not answer.
type away struct{}

func (away) Get(context.Context, string) ([]byte, error) {
	return nil, errors.New("connection refused")
}

// Y22: what cannot be read is an error that says what to do.
func TestReadAttachment_Errors(t *testing.T) {
	t.Parallel()
	store := blob.Folder(t.TempDir())
	put := func(text string) string {
		ref, err := store.Put(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	handle, err := turnkeel.Attach(t.Context(), store, turnkeel.AttachedFile{Name: "a.txt", Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		blobs tooldefs.BlobReader
		args  string
		want  string
	}{
		{"beyond the end", store, `{"file_id":"` + handle.FileID + `","page":2}`, "a.txt has 1 page(s): there is no page 2"},
		{"page 0", store, `{"file_id":"` + handle.FileID + `","page":0}`, "page"},
		{"no reference", store, `{"file_id":"a.txt"}`, "not a reference"},
		{"not there", store, `{"file_id":"` + blob.Ref([]byte("never")) + `"}`, "not found"},
		{"another blob", store, `{"file_id":"` + put("no JSON") + `"}`, "names no attached file"},
		{"another JSON", store, `{"file_id":"` + put(`{"pages":3}`) + `"}`, "names no attached file"},
		{"a lying index", store, `{"file_id":"` + put(`{"format":"turnkeel.attachment/1","name":"l","pages":3}`) + `","page":2}`, "too few parts"},
		{"a result as pages", store, `{"file_id":"` + put(`{"format":"turnkeel.attachment/1","name":"l","pages":1,"chunks":["`+put(`["a tool's result"]`)+`"]}`) + `"}`, "names no attached file"},
		{"an index as pages", store, `{"file_id":"` + put(`{"format":"turnkeel.attachment/1","name":"l","pages":1,"chunks":["`+handle.FileID+`"]}`) + `"}`, "names no attached file"},
		{"an endless page", store, `{"file_id":"` + put(`{"format":"turnkeel.attachment/1","name":"l","pages":1,"chunks":["`+put(`{"format":"turnkeel.attachment-pages/1","texts":["`+strings.Repeat("y", 4_001)+`"]}`)+`"]}`) + `"}`, "names no attached file"},
		{"a path for pages", store, `{"file_id":"` + put(`{"format":"turnkeel.attachment/1","name":"l","pages":1,"chunks":["../../x"]}`) + `"}`, "not a reference"},
		{"the file itself", store, `{"file_id":"` + blob.Ref(nil) + `"}`, "names no attached file"},
		{"a path", store, `{"file_id":"sha256:../../../etc/passwd"}`, "not a reference"},
		{"page 1e9", store, `{"file_id":"` + handle.FileID + `","page":1e9}`, "there is no page 1000000000"},
		{"half a page", store, `{"file_id":"` + handle.FileID + `","page":1.5}`, "page: must be an integer"},
		{"the last page that can be said", store, `{"file_id":"` + put(`{"format":"turnkeel.attachment/1","name":"l","pages":9223372036854775807}`) + `","page":9223372036854775807}`, "too few parts"},
		{"no store", nil, `{"file_id":"` + handle.FileID + `"}`, "TURNKEEL_BLOBS"},
		{"a store that is away", away{}, `{"file_id":"` + handle.FileID + `"}`, "connection refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := agenttest.NewCall(t, agenttest.CallOptions{}).Run(tool(t, tt.blobs), tt.args)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
