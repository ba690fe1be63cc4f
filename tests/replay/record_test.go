package replay

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/turnkeel/turnkeel/agenttest"
)

// Each scenario's histories replay against the code that made them, and with
// -record those that the corpus lacks join it.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			k := &keeper{T: t, dir: t.TempDir()}
			s.run(k)
			agenttest.ReplayFiles(t, filepath.Join(k.dir, "*.json"), own)
		})
	}
}

// keeper takes the histories of a scenario.
type keeper struct {
	*testing.T
	dir string
}

// keep takes a run's history, the latest run's if that is empty, and gives it.
func (k *keeper) keep(name string, b *agenttest.Bench, workflowID, runID string) *historypb.History {
	k.Helper()
	h, err := agenttest.History(k.Context(), b.Temporal, workflowID, runID)
	if err != nil {
		k.Fatal(err)
	}
	data, err := protojson.MarshalOptions{Indent: " "}.Marshal(h)
	if err != nil {
		k.Fatal(err)
	}
	data = append(identities.ReplaceAll(data, []byte(`${1}"worker"`)), '\n')
	if strings.Contains(string(data), "stackTrace") {
		k.Errorf("%s has a stack trace, which names places of this machine", name)
	}
	k.write(filepath.Join(k.dir, name+".json"), data)
	if file := filepath.Join("testdata", name+".json"); *record {
		if _, err := os.Stat(file); os.IsNotExist(err) {
			k.write(file, data)
			k.append(sums, sumOf(data)+"  "+name+".json\n")
		}
	}
	return h
}

// identities are the names of processes, which say where it was recorded.
var identities = regexp.MustCompile(`("(?:identity|workerIdentity|lastWorkerIdentity)":\s*)"[^"]*"`)

func (k *keeper) write(file string, data []byte) {
	k.Helper()
	if err := os.WriteFile(file, data, 0o644); err != nil { //nolint:gosec // a file of the repository
		k.Fatal(err)
	}
}

func (k *keeper) append(file, text string) {
	k.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // a file of the repository
	if err != nil {
		k.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		k.Error(err)
	}
	if err := f.Close(); err != nil {
		k.Fatal(err)
	}
}

// nextRun is the run that a run continued in, or "".
func nextRun(h *historypb.History) string {
	last := h.GetEvents()[len(h.GetEvents())-1]
	return last.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
}
