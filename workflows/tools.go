package workflows

import (
	"fmt"
	"strconv"

	"go.temporal.io/sdk/workflow"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/stub"
)

// ToolsOptions are what a workflow's own tool calls are made with. The zero
// value calls all tools of the worker, without a policy.
type ToolsOptions struct {
	// Agent is whose tools and policy hold. If empty, every tool of the worker
	// may be called and only its own approval need holds.
	Agent string

	// Session is handed to the tools, and is what a KeyScope of a session
	// means. If empty, there is none.
	Session string

	// TaskQueue is where a Turnkeel worker serves the tools. If empty, the
	// workflow's own.
	TaskQueue string

	// Carried is what [Tools.Carry] gave in the run before. If nil, the
	// workflow has just begun.
	Carried *contract.CarriedTools
}

// Tools calls tools by name from a workflow of your own, through the same
// gates, under the same kind of keys and in the same effect log as a model's
// calls. It is workflow-side. One per workflow; its methods may be used from
// several of its coroutines.
type Tools struct {
	calls   *caller
	queue   string
	planned int // counts plans, for their activity ids
}

// NewTools makes the workflow's Tools and registers the updates decide and
// resolve for calls that wait for people. Call it before the workflow first
// blocks: after a reset, decisions are applied again before anything else.
func NewTools(ctx workflow.Context, o ToolsOptions) (*Tools, error) {
	t := &Tools{calls: newCaller(ctx), queue: o.TaskQueue}
	t.calls.agent, t.calls.session, t.calls.keepValues = o.Agent, o.Session, true
	if o.Carried != nil {
		t.calls.restore(*o.Carried)
	}
	if err := t.calls.people.register(ctx, t.calls.changed); err != nil {
		return nil, err
	}
	return t, nil
}

// Call runs a tool and gives its value: see [Value.Get]. args is a struct or map that becomes
// a JSON object, or a string that holds one.
//
// Calls made one after the other run one after the other; to run some side by
// side, make them in coroutines of your own. Identical calls are separate
// effects with keys of their own, unless the tool names its key itself: then
// they share one execution, also side by side.
//
// An error says what is known: a [*PolicyError], [*ExpiredError],
// [*InvalidCallError] or [*NotExecutedError] means that nothing happened; a
// [*ToolError] is the tool's own word; an [*OutcomeUnknownError] means that it
// may or may not have taken effect: look before you repeat it.
func (t *Tools) Call(ctx workflow.Context, name string, args any) (Value, error) {
	planned, err := t.plan(ctx, name, args)
	if err != nil {
		return Value{}, err
	}
	if planned.Run != nil && planned.Run.TaskQueue == "" {
		planned.Run.TaskQueue = t.queue
	}
	call := t.calls.adopt(toolsStep, planned)
	done, err := t.calls.alone(ctx, call)
	if err != nil {
		return valueOf(call, t.calls.notStarted(call))
	}
	defer done()
	t.calls.askAll(ctx, []*toolCall{call})
	t.calls.identify(call)
	entry, ok := t.calls.approved(ctx, call)
	if ok && !call.settled {
		entry = t.calls.run(ctx, call)
	}
	return valueOf(call, entry)
}

// toolsStep is the step that stands in the activity ids of calls made by code.
const toolsStep = 0

func (t *Tools) plan(ctx workflow.Context, name string, args any) (contract.PlannedCall, error) {
	in := contract.PlanCallInput{Agent: t.calls.agent, Tool: name, Ordinal: t.calls.ordinal + 1, First: !t.calls.scoped}
	if text, ok := args.(string); ok {
		in.Args = text
	} else {
		in.Value = contract.Value{Of: args}
	}
	t.planned++
	options := planOptions("s0.p"+strconv.Itoa(t.planned), "plan "+name)
	options.TaskQueue = t.queue
	result, err := stub.PlanCall.Start(workflow.WithActivityOptions(ctx, options), in).Result(ctx)
	if err == nil && result.Call.Name != name {
		panic(changedCode(name, result.Call.Name))
	}
	t.calls.recorded(result.Scope)
	return result.Call, err
}

// changedCode is why a workflow task fails whose code calls another tool than
// it did when the plan was recorded. Temporal compares activities by id and
// type alone, so it lets that pass: the recorded tool would run in the place of
// the one that is called, and again in its own. A panic is how a workflow task
// fails and is tried again, here by the right code.
func changedCode(called, recorded string) string {
	return fmt.Sprintf("nondeterministic workflow: the code calls the tool %q where the history has a call of %q: "+
		"keep the old path with workflow.GetVersion", called, recorded)
}

// Pending are the calls that wait for a person, for a query of your own.
func (t *Tools) Pending() []contract.Pending { return t.calls.people.list() }

// Carry is what the next run needs, when the workflow continues as new: pass
// it on in its input and give it to [NewTools] there. No call may be running.
func (t *Tools) Carry() contract.CarriedTools { return t.calls.carry() }
