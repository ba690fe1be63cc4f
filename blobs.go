package turnkeel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnkeel/turnkeel/blob"
	"github.com/turnkeel/turnkeel/blob/s3"
)

// The environment of the stock blob store.
const (
	envBlobs    = "TURNKEEL_BLOBS"
	envDataHome = "XDG_DATA_HOME"

	noBlobs = "none" // a value of envBlobs
)

// BlobsFromEnv is the blob store of a stock worker: the folder that
// TURNKEEL_BLOBS names, or the bucket if it is an address as s3://bucket/prefix
// (with the variables that [s3.FromEnv] reads), else $XDG_DATA_HOME/turnkeel/blobs, else
// ~/.local/share/turnkeel/blobs. TURNKEEL_BLOBS=none gives nil: no store. It is
// an error when the environment names no folder at all. The folder is made
// when the first blob comes.
//
// A folder of one machine serves the workers of that machine: with workers on
// several, TURNKEEL_BLOBS names a folder or a bucket that they share.
func BlobsFromEnv() (blob.Store, error) { return blobsFrom(os.Getenv) }

func blobsFrom(getenv func(string) string) (blob.Store, error) {
	dir := getenv(envBlobs)
	switch {
	case dir == noBlobs:
		return nil, nil
	case strings.HasPrefix(dir, s3.Scheme):
		store, err := s3.FromEnv(dir, getenv)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", envBlobs, err)
		}
		return store, nil
	case strings.Contains(dir, "://"): // else it would be a folder of that name
		kind, _, _ := strings.Cut(dir, "://")
		return nil, fmt.Errorf("%s: there is no store of the kind %.20q: name a folder, %sbucket/prefix, or %s", envBlobs, kind, s3.Scheme, noBlobs)
	case dir != "":
		return blob.Folder(dir), nil
	}
	data := getenv(envDataHome)
	if !filepath.IsAbs(data) { // the XDG rules: then it is to be ignored
		home := getenv("HOME")
		if home == "" {
			return nil, errors.New("no folder for large results and transcripts: set " + envBlobs + " to one, or to " + noBlobs)
		}
		data = filepath.Join(home, ".local", "share")
	}
	return blob.Folder(filepath.Join(data, "turnkeel", "blobs")), nil
}
