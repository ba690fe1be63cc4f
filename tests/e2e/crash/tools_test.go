package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// The tools, one or two a class.
const (
	read  = "read"  // SafeToRetry, parallel-safe
	mail  = "mail"  // AtMostOnce
	note  = "note"  // AtMostOnce, parallel-safe
	pay   = "pay"   // Keyed
	order = "order" // Keyed, parallel-safe
)

// ledgerEnv tells a worker process where the ledger is.
const ledgerEnv = "TURNKEEL_TEST_LEDGER"

type itemInput struct {
	Item string `json:"item"`
}

// workerTools are the tools in a worker process.
func workerTools() []*tooldefs.Tool {
	tool := func(name string, class tooldefs.Class, effects tooldefs.Effects, parallel bool) *tooldefs.Tool {
		spec := tooldefs.Spec[itemInput, string]{
			Name: name, Description: "Sends an item.", Class: class, Effects: effects, Timeout: time.Minute,
			Handler: func(ctx context.Context, call *tooldefs.Call, _ itemInput) (string, error) {
				return send(ctx, request{Tool: name, Key: call.IdempotencyKey(), Dedupe: class == tooldefs.Keyed})
			},
		}
		if parallel {
			spec.ParallelSafe = tooldefs.Always
		}
		return tooldefs.Define(spec)
	}
	return []*tooldefs.Tool{
		tool(read, tooldefs.SafeToRetry, tooldefs.None, true),
		tool(mail, tooldefs.AtMostOnce, tooldefs.External, false),
		tool(note, tooldefs.AtMostOnce, tooldefs.External, true),
		tool(pay, tooldefs.Keyed, tooldefs.External, false),
		tool(order, tooldefs.Keyed, tooldefs.External, true),
	}
}

// send is a handler as one writes it for an HTTP API: a lost answer leaves open
// what happened.
func send(ctx context.Context, r request) (string, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return "", tooldefs.NotExecuted(err)
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv(ledgerEnv), bytes.NewReader(body))
	if err != nil {
		return "", tooldefs.NotExecuted(err)
	}
	answer, err := http.DefaultClient.Do(post)
	if err != nil {
		return "", tooldefs.Unknown(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", tooldefs.Unknown(err)
	}
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the ledger answered %s", answer.Status)
	}
	return string(text), nil
}

// script has calls of every class: three side by side, then one after the
// other those that are not parallel-safe.
func script() agenttest.Script {
	step := func(tools ...string) agenttest.Step {
		s := agenttest.Step{Text: "Working on it.", Delay: contract.Duration(50 * time.Millisecond), ChunkDelay: contract.Duration(10 * time.Millisecond)}
		for _, tool := range tools {
			s.Calls = append(s.Calls, agenttest.ScriptCall{Name: tool, Args: map[string]any{"item": tool}})
		}
		return s
	}
	return agenttest.Script{Steps: []agenttest.Step{step(read, note, order), step(mail, pay), step()}}
}
