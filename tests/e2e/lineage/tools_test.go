package lineage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// The tools of these tests, one a class; all send their item to the ledger.
const (
	once  = "once"  // AtMostOnce
	keyed = "keyed" // Keyed
	read  = "read"  // SafeToRetry
	fresh = "fresh" // SafeToRetry, NoReplay
	deaf  = "deaf"  // AtMostOnce, and ignores its ctx
	tells = "tells" // AtMostOnce, and shows progress first
	gated = "gated" // AtMostOnce, and a person must allow it
	asked = "asked" // AtMostOnce; the ledger can be asked what became of a call

	// On another task queue: see world.serveElsewhere.
	elsewhere      = "elsewhere"       // AtMostOnce
	elsewhereKeyed = "elsewhere_keyed" // Keyed
)

// announced begins the items that a handler tells the ledger of before it sends
// them.
const announced = "announced "

// planted is the progress of the tool that tells.
const planted = "planted-progress"

type itemInput struct {
	Item string `json:"item"`
}

// toolset are the tools, with a timeout for each call.
func toolset(url string, timeout time.Duration) []*tooldefs.Tool {
	spec := func(name string, class tooldefs.Class, change func(*tooldefs.Spec[itemInput, string])) *tooldefs.Tool {
		s := tooldefs.Spec[itemInput, string]{
			Name: name, Description: "Sends an item.", Class: class, Timeout: timeout,
			Handler: func(ctx context.Context, call *tooldefs.Call, in itemInput) (string, error) {
				return send(ctx, url, name, call, in)
			},
		}
		if change != nil {
			change(&s)
		}
		return tooldefs.Define(s)
	}
	none := func(s *tooldefs.Spec[itemInput, string]) { s.Effects = tooldefs.None }
	return []*tooldefs.Tool{
		spec(once, tooldefs.AtMostOnce, nil),
		spec(keyed, tooldefs.Keyed, nil),
		spec(read, tooldefs.SafeToRetry, none),
		spec(fresh, tooldefs.SafeToRetry, func(s *tooldefs.Spec[itemInput, string]) { s.Effects, s.NoReplay = tooldefs.None, true }),
		spec(deaf, tooldefs.AtMostOnce, func(s *tooldefs.Spec[itemInput, string]) {
			s.Handler = func(ctx context.Context, call *tooldefs.Call, in itemInput) (string, error) {
				return send(context.WithoutCancel(ctx), url, deaf, call, in)
			}
		}),
		spec(tells, tooldefs.AtMostOnce, func(s *tooldefs.Spec[itemInput, string]) {
			s.Handler = func(ctx context.Context, call *tooldefs.Call, in itemInput) (string, error) {
				call.Progress(planted)
				return send(ctx, url, tells, call, in)
			}
		}),
		spec(gated, tooldefs.AtMostOnce, func(s *tooldefs.Spec[itemInput, string]) { s.Approval = tooldefs.Always }),
		spec(asked, tooldefs.AtMostOnce, func(s *tooldefs.Spec[itemInput, string]) {
			s.Reconcile = func(context.Context, *tooldefs.Call, itemInput) (tooldefs.Reconciled[string], error) {
				return tooldefs.Happened("it is in the ledger"), nil
			}
		}),
		spec(elsewhere, tooldefs.AtMostOnce, func(s *tooldefs.Spec[itemInput, string]) { s.TaskQueue = elsewhereQueue(url) }),
		spec(elsewhereKeyed, tooldefs.Keyed, func(s *tooldefs.Spec[itemInput, string]) { s.TaskQueue = elsewhereQueue(url) }),
		spec("wide", tooldefs.Keyed, func(s *tooldefs.Spec[itemInput, string]) {
			s.ParallelSafe = func(string) bool { return true }
		}),
	}
}

// elsewhereQueue is a queue of the test's own, named after its ledger.
func elsewhereQueue(url string) string { return "elsewhere-" + strings.TrimPrefix(url, "http://") }

// send is a handler as one writes it for an HTTP API. A lost answer leaves
// open what happened, and the handler says so.
func send(ctx context.Context, url, tool string, call *tooldefs.Call, in itemInput) (string, error) {
	a := arrival{Tool: tool, Item: in.Item, Key: call.IdempotencyKey(), Attempt: call.Attempt()}
	if strings.HasPrefix(in.Item, announced) {
		a.Before = true
		if _, err := post(ctx, url, tool, a); err != nil {
			return "", tooldefs.NotExecuted(err)
		}
		a.Before = false
	}
	return post(ctx, url, tool, a)
}

func post(ctx context.Context, url, tool string, a arrival) (string, error) {
	body, err := json.Marshal(a)
	if err != nil {
		return "", tooldefs.NotExecuted(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", tooldefs.NotExecuted(err)
	}
	answer, err := http.DefaultClient.Do(request)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && tool == keyed:
		return "", tooldefs.Transient(err, time.Millisecond)
	case err != nil:
		return "", tooldefs.Unknown(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", tooldefs.Unknown(err)
	}
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%w: %s", errRefused, text)
	}
	return string(text), nil
}

var errRefused = errors.New("the other side refused")

// call is a call of the scripted model.
func call(tool, item string) agenttest.ScriptCall {
	return agenttest.ScriptCall{Name: tool, Args: map[string]any{"item": item}}
}

// script is one model answer with these calls each, and a last one.
func script(steps ...[]agenttest.ScriptCall) agenttest.Script {
	var s agenttest.Script
	for _, calls := range steps {
		s.Steps = append(s.Steps, agenttest.Step{Calls: calls})
	}
	s.Steps = append(s.Steps, agenttest.Step{Text: "done"}, agenttest.Step{Text: "done"})
	return s
}

func calls(c ...agenttest.ScriptCall) []agenttest.ScriptCall { return c }
