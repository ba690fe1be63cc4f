package agenttest

import (
	"path/filepath"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel"
	"github.com/turnkeel/turnkeel/internal/replay"
)

// ReplayOptions say what histories are replayed against. The zero value is
// Turnkeel's workflows alone.
type ReplayOptions struct {
	// Register adds workflows of your own, as [turnkeel.Options] has it. It may
	// register activities too: they are not run.
	Register func(turnkeel.Registry)

	// DataConverter reads the payloads. If nil, the SDK's default.
	DataConverter converter.DataConverter

	// FailureConverter, Interceptors and ContextPropagators are the worker's, if
	// it has some: an interceptor may add to what a workflow does.
	FailureConverter   converter.FailureConverter
	Interceptors       []interceptor.WorkerInterceptor
	ContextPropagators []workflow.ContextPropagator
}

// Replay replays a run's history against the workflows at hand and fails the
// test if they would take another path: then a deploy would break such runs.
// It says where, and what can be done. [ReplayFiles] is for saved histories
// and workflows of your own.
func Replay(t testing.TB, h *historypb.History) {
	t.Helper()
	report(t, checker(t, ReplayOptions{}).Check(replay.Finding{}, h))
}

// ReplayFiles replays saved histories, each as a test of its own that is named
// after its file. The pattern is [filepath.Glob]'s, and no match fails the
// test: a corpus that has moved would prove nothing. A file is what `temporal
// workflow show --output json` prints, or what the Web UI downloads. A history
// that cannot be read, or is of a workflow type that is not registered, fails
// its test.
func ReplayFiles(t *testing.T, pattern string, o ReplayOptions) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no saved history matches %q (%v)", pattern, err)
	}
	c := checker(t, o)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			h, err := replay.Saved(t.Context(), file, nil)
			if err != nil {
				t.Fatal(err)
			}
			report(t, c.Check(replay.Finding{File: file}, h))
		})
	}
}

func checker(t testing.TB, o ReplayOptions) *replay.Checker {
	t.Helper()
	options := replay.Options{
		DataConverter: o.DataConverter, FailureConverter: o.FailureConverter,
		Interceptors: o.Interceptors, ContextPropagators: o.ContextPropagators,
	}
	if o.Register != nil {
		options.Register = func(r *replay.Registry) { o.Register(r) }
	}
	c, err := replay.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// report fails the test for every verdict but one.
func report(t testing.TB, f replay.Finding) {
	t.Helper()
	if f.Verdict == replay.Replays {
		return
	}
	where := ""
	if f.Where != nil {
		where = "\nwhere: " + f.Where.String()
	}
	t.Errorf("%s of %s %s: %s%s\nerror: %s\ndo: %s", f.Type, f.WorkflowID, f.RunID, f.Verdict, where, f.Error, f.Advice)
}
