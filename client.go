package turnkeel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	sdkclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
)

// Client starts turns and finds them again. It is safe for concurrent use and
// owns nothing: closing the Temporal client is the caller's.
type Client struct {
	temporal  sdkclient.Client
	namespace string
	queue     string

	secrets    []string // variables whose values no input may hold
	attributes sync.Once
	known      []string // search attributes of ours that the cluster has
}

// ClientOptions say where turns go. The zero value is a stock worker's.
type ClientOptions struct {
	// Namespace is the Temporal client's own. Defaults to "default".
	Namespace string

	// TaskQueue is the worker's. Defaults to [contract.DefaultTaskQueue].
	TaskQueue string

	// Secrets are environment variables, beside the usual ones of the known
	// providers' keys and this process's own for the cluster and the bucket: an
	// input, comment or reason that holds the value of one set in this process, of
	// at least 8 bytes, is refused as a [SecretError] before it is sent.
	Secrets []string
}

// NewClient wraps a Temporal client.
func NewClient(c sdkclient.Client, o ClientOptions) *Client {
	if o.Namespace == "" {
		o.Namespace = sdkclient.DefaultNamespace
	}
	if o.TaskQueue == "" {
		o.TaskQueue = contract.DefaultTaskQueue
	}
	return &Client{temporal: c, namespace: o.Namespace, queue: o.TaskQueue, secrets: secretNames(o.Secrets)}
}

// TurnRequest is a turn to start.
type TurnRequest struct {
	// TurnID is the workflow id. The same id again is the same turn: Start then
	// returns the running or finished one and nothing runs twice. If empty, a
	// new one is made.
	TurnID string

	// Input is what the turn is about. It lives in the history: no secrets (see
	// [ClientOptions.Secrets]).
	Input contract.TurnInput
}

// Turn is a started turn.
type Turn struct {
	ID    string // workflow id
	RunID string // of the run that Start began or found

	// Existed says that a turn of this id was there already.
	Existed bool

	run    sdkclient.WorkflowRun
	client sdkclient.Client
}

// Start starts a turn and returns at once.
func (c *Client) Start(ctx context.Context, r TurnRequest) (*Turn, error) {
	if err := c.refuseSecrets(r.Input.Messages, r.Input.Base); err != nil {
		return nil, err
	}
	if r.TurnID == "" {
		r.TurnID = "turn-" + r.Input.Agent + "-" + strings.ToLower(rand.Text()[:12])
	}
	options := sdkclient.StartWorkflowOptions{
		ID:                       r.TurnID,
		TaskQueue:                c.queue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		StaticSummary:            summaryOf(r.Input),
		TypedSearchAttributes:    c.searchAttributes(ctx, r.Input),

		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}
	run, err := c.temporal.ExecuteWorkflow(ctx, options, contract.WorkflowTurn, r.Input)
	var exists *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &exists):
		run = c.temporal.GetWorkflow(ctx, r.TurnID, exists.RunId)
		return &Turn{ID: r.TurnID, RunID: exists.RunId, Existed: true, run: run, client: c.temporal}, nil
	case err != nil:
		return nil, fmt.Errorf("start turn %s: %w", r.TurnID, err)
	}
	return &Turn{ID: run.GetID(), RunID: run.GetRunID(), run: run, client: c.temporal}, nil
}

// Turn is a handle on a turn that was started earlier; runID may be empty for
// the latest run.
func (c *Client) Turn(ctx context.Context, turnID, runID string) *Turn {
	return &Turn{ID: turnID, RunID: runID, Existed: true, run: c.temporal.GetWorkflow(ctx, turnID, runID), client: c.temporal}
}

// Result waits for the turn's end. A failed or canceled turn gives its result
// as far as it has one, and the error.
func (t *Turn) Result(ctx context.Context) (contract.TurnResult, error) {
	var result contract.TurnResult
	err := t.run.Get(ctx, &result)
	if err == nil {
		return result, nil
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.HasDetails() && app.Type() == contract.ErrTurnFailed {
		_ = app.Details(&result)
		return result, err
	}
	var canceled *temporal.CanceledError
	if errors.As(err, &canceled) && canceled.HasDetails() {
		_ = canceled.Details(&result)
	}
	return result, err
}

// summaryOf is the turn's one line in the Web UI: agent and first words.
func summaryOf(in contract.TurnInput) string {
	s := in.Agent
	if len(in.Messages) > 0 {
		s += ": " + strings.Join(strings.Fields(in.Messages[0].Content), " ")
	}
	const limit = 120
	if runes := []rune(strings.ToValidUTF8(s, "")); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}

var (
	agentKey   = temporal.NewSearchAttributeKeyKeyword(contract.AttributeAgent)
	sessionKey = temporal.NewSearchAttributeKeyKeyword(contract.AttributeSession)
)

// ours are the search attributes that Turnkeel writes.
var ours = []string{contract.AttributeAgent, contract.AttributeSession, contract.AttributeStatus, contract.AttributePending}

// knownAttributes are those of ours that the cluster has. One that does not
// tell is one that may lack them.
func (c *Client) knownAttributes(ctx context.Context) []string {
	c.attributes.Do(func() {
		known, err := c.temporal.OperatorService().ListSearchAttributes(ctx,
			&operatorservice.ListSearchAttributesRequest{Namespace: c.namespace})
		if err != nil {
			return
		}
		for _, name := range ours {
			if _, has := known.GetCustomAttributes()[name]; has {
				c.known = append(c.known, name)
			}
		}
	})
	return c.known
}

// searchAttributes sets only those the cluster is known to have: an unknown
// one would make the server refuse the start.
func (c *Client) searchAttributes(ctx context.Context, in contract.TurnInput) temporal.SearchAttributes {
	var updates []temporal.SearchAttributeUpdate
	for _, name := range c.knownAttributes(ctx) {
		switch {
		case name == contract.AttributeAgent && in.Agent != "":
			updates = append(updates, agentKey.ValueSet(in.Agent))
		case name == contract.AttributeSession && in.Session != "":
			updates = append(updates, sessionKey.ValueSet(in.Session))
		}
	}
	return temporal.NewSearchAttributes(updates...)
}
