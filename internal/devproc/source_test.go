package devproc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestModuleDir(t *testing.T) {
	root, err := moduleDir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	user := t.TempDir()
	write(t, filepath.Join(user, "go.mod"), "module example.com/user\n\ngo 1.26.0\n\nrequire "+modulePath+
		" v0.0.0\n\nreplace "+modulePath+" => "+root+"\n", 0o644)
	t.Chdir(user)
	if got := dirAbove(t.Context()); got != "" {
		t.Errorf("above the user's module: %q", got)
	}
	if got := dirFromGoList(t.Context()); got != root {
		t.Errorf("from the user's replace: %q, want %q", got, root)
	}
	t.Chdir(t.TempDir())
	if got := dirOfSource(t.Context()); got != root {
		t.Errorf("of the source: %q, want %q", got, root)
	}
}

func TestNoSource(t *testing.T) {
	bare := t.TempDir()
	write(t, filepath.Join(bare, "go.mod"), "module "+modulePath+"\n", 0o644)
	if err := os.Mkdir(filepath.Join(bare, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(bare, "sub"))
	nowhere := func(context.Context) string { return "" }
	for want, finder := range map[string]func(context.Context) string{
		"has no devserver/":            dirAbove,
		"no checkout of " + modulePath: nowhere,
	} {
		_, err := searchModule(t.Context(), finder)
		if !errors.Is(err, ErrNoSource) {
			t.Fatalf("error %v", err)
		}
		for _, part := range []string{want, "temporal server start-dev", "TEMPORAL_ADDRESS"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
	}
}
