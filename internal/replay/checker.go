package replay

import (
	"fmt"
	"sync"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/workflows"
)

// Options say what is replayed against. The zero value is a stock worker.
type Options struct {
	// Register registers workflows beside Turnkeel's own. It is called once.
	Register func(*Registry)

	// DataConverter reads the payloads. If nil, the SDK's default.
	DataConverter converter.DataConverter

	// FailureConverter, Interceptors and ContextPropagators are the worker's, if
	// it has some.
	FailureConverter   converter.FailureConverter
	Interceptors       []interceptor.WorkerInterceptor
	ContextPropagators []workflow.ContextPropagator
}

// Checker replays histories against the workflows of this binary. It is safe
// for concurrent use.
type Checker struct {
	registry *Registry
	data     converter.DataConverter
	custom   bool // the converter is not the SDK's default
}

// New makes a checker. Its error is a registration that the SDK refuses: two
// workflows of one name, or one that is no function.
func New(o Options) (_ *Checker, err error) {
	replayer, err := sdkworker.NewWorkflowReplayerWithOptions(sdkworker.WorkflowReplayerOptions{
		DataConverter: o.DataConverter, FailureConverter: o.FailureConverter,
		Interceptors: o.Interceptors, ContextPropagators: o.ContextPropagators,
		DisableRegistrationAliasing: true, // as turnkeel.SetWorkerDefaults does
		DisableDeadlockDetection:    true, // a busy machine is no other path
	})
	if err != nil {
		return nil, fmt.Errorf("make the replayer: %w", err)
	}
	c := &Checker{registry: &Registry{replayer: replayer}, data: o.DataConverter, custom: o.DataConverter != nil}
	if !c.custom {
		c.data = converter.GetDefaultDataConverter()
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("register the workflows: %v", p)
		}
	}()
	workflows.Register(c.registry)
	if o.Register != nil {
		o.Register(c.registry)
	}
	return c, nil
}

// Types are the workflow types that can be replayed, in the order of their
// registration; all is true when the binary takes every type.
func (c *Checker) Types() (types []string, all bool) { return c.registry.types, c.registry.dynamic }

// Check replays one history. Ids that the history does not hold are taken from
// the finding that is handed in, which comes back with its verdict.
func (c *Checker) Check(f Finding, h *historypb.History) Finding {
	f.Events = len(h.GetEvents())
	if f.Events == 0 || h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes() == nil {
		return unreadable(f, "it does not begin with WorkflowExecutionStarted", "save the whole history, from its first event on")
	}
	f = identified(f, h.GetEvents()[0])
	if !c.registry.knows(f.Type) {
		f.Verdict = NotOurs
		f.Advice = fmt.Sprintf("this binary has no workflow of type %q: replay it with the worker that registers it", f.Type)
		return f
	}
	if err := whole(h.GetEvents()); err != nil {
		return unreadable(f, err.Error(), err.advice)
	}
	if err := c.readable(h); err != nil {
		return unreadable(f, err.Error(), err.advice)
	}
	if err := c.replay(f, h.GetEvents()); err != nil {
		f.Verdict, f.Error = Breaks, err.Error()
		f.Where = c.locate(f, h.GetEvents(), f.Error)
		f.Advice = adviceOnBreak(f)
		return f
	}
	f.Verdict = Replays
	return f
}

func unreadable(f Finding, problem, advice string) Finding {
	f.Verdict, f.Error, f.Advice = Unreadable, problem, advice
	return f
}

// identified fills in what the first event says of the run. A run made by a
// reset has the id of the run that it was made from in its first event.
func identified(f Finding, first *historypb.HistoryEvent) Finding {
	started := first.GetWorkflowExecutionStartedEventAttributes()
	f.Type = started.GetWorkflowType().GetName()
	if f.WorkflowID == "" {
		f.WorkflowID = started.GetWorkflowId()
	}
	if f.RunID == "" {
		f.RunID = started.GetOriginalExecutionRunId()
	}
	return f
}

// replay is nil for events that the code accounts for. A run that no worker
// has taken up yet has nothing that could differ.
func (c *Checker) replay(f Finding, events []*historypb.HistoryEvent) (err error) {
	if completedTasks(events) == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the replay panicked: %v", p)
		}
	}()
	return c.registry.replayer.ReplayWorkflowHistoryWithOptions(quiet{}, &historypb.History{Events: events},
		sdkworker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{ID: f.WorkflowID, RunID: f.RunID}})
}

// unreadableError is why a history cannot be judged, and what to do.
type unreadableError struct{ problem, advice string }

func (e *unreadableError) Error() string { return e.problem }

// whole looks for what no server records and for what this binary is too old
// for: such events say nothing of the code. Nil if there is nothing of it.
func whole(events []*historypb.HistoryEvent) *unreadableError {
	for i, e := range events {
		if want := int64(i) + 1; e.GetEventId() != want {
			return &unreadableError{fmt.Sprintf("event %d stands where event %d should be", e.GetEventId(), want),
				"the history was cut or edited: save it anew with: temporal workflow show --workflow-id ID --output json"}
		}
		if _, known := enumspb.EventType_name[int32(e.GetEventType())]; !known || e.GetEventType() == enumspb.EVENT_TYPE_UNSPECIFIED {
			if !e.GetWorkerMayIgnore() {
				return &unreadableError{fmt.Sprintf("event %d is of a type that is unknown here", e.GetEventId()),
					"a newer server recorded it: build this binary with a newer Temporal SDK"}
			}
		}
	}
	return nil
}

// readable looks at the payloads of the first event: what encoded those has
// encoded all. Nil if they can be decoded.
func (c *Checker) readable(h *historypb.History) *unreadableError {
	for _, p := range h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads() {
		var raw converter.RawValue
		if err := c.data.FromPayload(p, &raw); err != nil {
			return &unreadableError{"its input cannot be decoded: " + err.Error(),
				"check the codec server that TEMPORAL_CODEC_ENDPOINT names, or the data converter"}
		}
		encoding := string(raw.Payload().GetMetadata()[converter.MetadataEncoding])
		switch {
		case encoding == "":
			return &unreadableError{"its input has no encoding",
				"it was saved decoded, and cannot be replayed so: download it from the Web UI encoded, or take: temporal workflow show --workflow-id ID --output json"}
		case !c.custom && !knownEncodings()[encoding]:
			return &unreadableError{fmt.Sprintf("its input has the encoding %q", encoding),
				"use the worker's own binary with its data converter (turnkeel.Options.DataConverter), or name a codec server with TEMPORAL_CODEC_ENDPOINT"}
		}
	}
	return nil
}

// knownEncodings are those of the SDK's default converter.
var knownEncodings = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		converter.MetadataEncodingNil: true, converter.MetadataEncodingBinary: true, converter.MetadataEncodingJSON: true,
		converter.MetadataEncodingProto: true, converter.MetadataEncodingProtoJSON: true,
	}
})

// quiet drops the SDK's log: the verdict says it.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
