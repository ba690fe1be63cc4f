package turnkeel

import (
	"testing"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/blob/s3"
)

func TestBlobsFrom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		env  map[string]string
		want string // "" for no store
		bad  bool
	}{
		{"named", map[string]string{"TURNKEEL_BLOBS": "/shared/blobs", "XDG_DATA_HOME": "/data", "HOME": "/h"}, "/shared/blobs", false},
		{"the data home", map[string]string{"XDG_DATA_HOME": "/data", "HOME": "/h"}, "/data/turnkeel/blobs", false},
		{"a data home that is not absolute", map[string]string{"XDG_DATA_HOME": "data", "HOME": "/h"}, "/h/.local/share/turnkeel/blobs", false},
		{"the home", map[string]string{"HOME": "/h"}, "/h/.local/share/turnkeel/blobs", false},
		{"none", map[string]string{"TURNKEEL_BLOBS": "none", "HOME": "/h"}, "", false},
		{"nowhere", nil, "", true},
		{"a bucket", map[string]string{"TURNKEEL_BLOBS": "s3://b-1/p", "AWS_ENDPOINT_URL": "http://h:1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}, "http://h:1/b-1/p", false},
		{"another kind of store", map[string]string{"TURNKEEL_BLOBS": "gs://b-1/p", "HOME": "/h"}, "", true},
		{"a folder as a URL", map[string]string{"TURNKEEL_BLOBS": "file:///shared", "HOME": "/h"}, "", true},
		{"a bucket in capitals", map[string]string{"TURNKEEL_BLOBS": "S3://b-1/p", "HOME": "/h"}, "", true},
		{"a bucket without keys", map[string]string{"TURNKEEL_BLOBS": "s3://b-1/p", "HOME": "/h"}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store, err := blobsFrom(func(name string) string { return c.env[name] })
			if (err != nil) != c.bad {
				t.Fatal(err)
			}
			got := ""
			switch store := store.(type) {
			case *blob.FolderStore:
				got = store.Dir()
			case *s3.Store:
				got = store.Address()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
