// Package oneproc runs turns of large parts on a worker with one processor:
// where code of a workflow does work of that size, the SDK's deadlock detector
// ends its task.
package oneproc

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

var server agenttest.Server

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	os.Exit(agenttest.RunMain(m, &server))
}

// wideSchema has as many properties as a schema of about that many bytes can.
func wideSchema(bytes int) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","required":["field_0"],"properties":{`)
	for i := 0; b.Len() < bytes; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"field_%d":{"type":"string","maxLength":%d,"description":"%s"}`, i, 10+i, strings.Repeat("what it is for ", 3))
	}
	b.WriteString("}}")
	return json.RawMessage(b.String())
}

// C09: fifty calls of one answer against a schema as large as one may be, with
// 1.5 MB of transcript behind them, on one processor: no task of the workflow
// fails or is late.
func TestLoad_FiftyCallsOnALargeSchema(t *testing.T) {
	t.Parallel()
	const n = 50
	wide := func(name string, schema json.RawMessage, result string) (*tooldefs.Tool, error) {
		return tooldefs.Wrap(tooldefs.WrapSpec{
			Name: name, Description: "Takes much.", Schema: schema, Class: tooldefs.Keyed,
			ParallelSafe: func(string) bool { return true },
			Invoke:       func(context.Context, *tooldefs.Call, json.RawMessage) (any, error) { return result, nil },
		})
	}
	if _, err := wide("larger", wideSchema(2<<20), ""); err == nil || !strings.Contains(err.Error(), "KiB") && !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a schema of 2 MB: %v", err)
	}
	fields, err := wide("fields", wideSchema(250<<10), "taken")
	if err != nil {
		t.Fatal(err)
	}
	look, err := wide("look", nil, strings.Repeat("a line of what was found\n", 60_000))
	if err != nil {
		t.Fatal(err)
	}
	var asked []agenttest.ScriptCall
	for i := range n {
		args := map[string]any{}
		for f := range 200 {
			args[fmt.Sprint("field_", f)] = fmt.Sprint("v", i)
		}
		if i%10 == 9 {
			args["field_0"] = strings.Repeat("too long", 1000)
		}
		asked = append(asked, agenttest.ScriptCall{Name: "fields", Args: args})
	}
	b := agenttest.NewBench(t, agenttest.BenchOptions{
		Server: server, Tools: []*tooldefs.Tool{fields, look},
		Agent: contract.Agent{Limits: contract.Limits{MaxToolCallsPerStep: n, MaxToolConcurrency: 16}},
		Script: agenttest.Script{Steps: []agenttest.Step{
			{Calls: []agenttest.ScriptCall{{Name: "look"}}}, {Calls: asked}, {Text: "done"},
		}},
	})
	out := b.Run("go")
	if out.Err != nil || out.Result.Status != contract.StatusCompleted || out.Result.Effects.Done != 1+n-n/10 {
		t.Fatalf("%+v, %v", out.Result, out.Err)
	}
	for _, e := range out.History.GetEvents() {
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
			t.Errorf("event %d: %s %v", e.GetEventId(), e.GetEventType(), e.GetWorkflowTaskFailedEventAttributes().GetFailure())
		default:
		}
	}
}
