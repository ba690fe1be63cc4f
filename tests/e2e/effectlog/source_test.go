package effectlog

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/turnkeel/turnkeel/agenttest"
	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/foldcache"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// uneven is a model whose steps ask for one to five calls at once.
func uneven(n int) agenttest.Script {
	return agenttest.Script{Hook: func(_ context.Context, r agenttest.ModelRequest) *agenttest.Step {
		if r.Step > n {
			return &agenttest.Step{Text: "done"}
		}
		var calls []agenttest.ScriptCall
		for i := range 1 + r.Step*7%5 {
			calls = append(calls, agenttest.ScriptCall{ID: "same", Name: "look", Raw: `{"n":` + strconv.Itoa(10*r.Step+i) + `}`})
		}
		return &agenttest.Step{Calls: calls}
	}}
}

func parallelEcho() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[number, string]{
		Name: "look", Description: "Looks.", Effects: tooldefs.None, ParallelSafe: tooldefs.Always,
		Handler: func(_ context.Context, _ *tooldefs.Call, in number) (string, error) {
			return strings.Repeat("r", in.N), nil
		},
	})
}

// Attempts of one run in any order and at once, some of them long gone, each
// see the fold as it was at their own scheduled event: with a cache, with one
// that holds next to nothing, and without.
func TestSource_EveryAttemptSeesItsOwnCut(t *testing.T) {
	t.Parallel()
	const n = 12
	s := newStack(t, options{tools: []*tooldefs.Tool{parallelEcho()}, script: uneven(n)})
	out := s.run("go")
	if out.err != nil || out.result.Steps != n+1 {
		t.Fatalf("%+v, %v", out.result, out.err)
	}
	want := map[int][]contract.Message{}
	for i, e := range out.events {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() != contract.ActivityCallModel {
			continue
		}
		run, err := fold.Build(out.events[:i+1], nil)
		if err != nil {
			t.Fatal(err)
		}
		in := run.Steps[len(run.Steps)-1].Input
		if want[in.Step], err = run.Prompt(in, 1000); err != nil {
			t.Fatal(err)
		}
	}
	for name, size := range map[string]int64{"cache": 0, "tiny cache": 20_000, "no cache": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := foldcache.New(foldcache.Options{Bytes: size})
			var group sync.WaitGroup
			for worker := range 6 {
				group.Go(func() {
					for i := range 2 * (n + 1) {
						// Mostly forward, with retries and attempts of steps gone by.
						step := 1 + (i/2+worker*i%3)%(n+1)
						got, err := promptAt(t, s, source, out, step)
						if err != nil {
							t.Errorf("step %d: %v", step, err)
						} else if diff := cmp.Diff(want[step], got); diff != "" {
							t.Errorf("step %d: %s", step, diff)
						}
					}
				})
			}
			group.Wait()
		})
	}
	if _, err := promptAt(t, s, foldcache.New(foldcache.Options{}), out, n+2); err == nil {
		t.Error("an activity that is not in the history has a fold")
	}
}

func promptAt(t testing.TB, s *stack, source *foldcache.Source, out outcome, step int) ([]contract.Message, error) {
	t.Helper()
	f, err := source.At(t.Context(), s.client.WorkflowService(), foldcache.Place{
		Namespace: server.Namespace, WorkflowID: out.id, RunID: out.runID, ActivityID: contract.ModelActivityID(step),
	})
	if err != nil {
		return nil, err
	}
	defer f.Release()
	return f.Run.Prompt(f.Run.Steps[len(f.Run.Steps)-1].Input, 1000)
}

// Steps of different width cost some more reading, and not much.
func TestFold_ReadsOfUnevenSteps(t *testing.T) {
	t.Parallel()
	const n = 60
	s := newStack(t, options{tools: []*tooldefs.Tool{parallelEcho()}, script: uneven(n), limits: contract.Limits{MaxSteps: n + 1}})
	out := s.run("go")
	if out.err != nil || out.result.Steps != n+1 {
		t.Fatalf("%+v, %v", out.result, out.err)
	}
	read := s.meter.count(eventsRead)
	t.Logf("%d events read for a history of %d", read, len(out.events))
	if float64(read) > 1.2*float64(len(out.events)) {
		t.Errorf("the folds read %d events of a history of %d; want at most 1.2 times as many", read, len(out.events))
	}
}

// A retried model call is sent what the first attempt was sent, and reads
// nothing again.
func TestFold_OfARetriedAttempt(t *testing.T) {
	t.Parallel()
	s := newStack(t, options{tools: []*tooldefs.Tool{echo("found")}, script: agenttest.Script{Steps: []agenttest.Step{
		{Calls: []agenttest.ScriptCall{{Name: "look", Raw: `{"n":1}`}}},
		{Text: "done", Failures: []agenttest.StepFailure{{Status: 503}, {Status: 503}}},
	}}})
	out := s.run("go")
	if out.err != nil {
		t.Fatal(out.err)
	}
	requests := s.model.Requests()
	if len(requests) != 4 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, r := range requests[2:] {
		if string(r.Body) != string(requests[1].Body) {
			t.Errorf("attempt %d was sent\n%s\nthe first\n%s", i+2, r.Body, requests[1].Body)
		}
	}
	if read := s.meter.count(eventsRead); read > int64(len(out.events)) {
		t.Errorf("%d events read of %d", read, len(out.events))
	}
}

// A turn over a client that compresses and encrypts: the model is sent what
// the tools returned, and nothing of it stands in the history.
func TestFold_OverACodec(t *testing.T) {
	t.Parallel()
	dc := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(),
		newSealed(t), converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true}))
	s := newStack(t, options{tools: []*tooldefs.Tool{echo("the secret result")}, script: steps("look", 3), converter: dc})
	out := s.run("a secret question")
	if out.err != nil || out.result.Text != "done" {
		t.Fatalf("%+v, %v", out.result, out.err)
	}
	requests := s.model.Requests()
	last := requests[len(requests)-1]
	if len(last.Messages) != 7 || last.Messages[6].Content != "the secret result" {
		t.Errorf("the model was sent %s", last.Body)
	}
	if log := out.run.Effects(); len(log) != 3 || log[2].Text != "the secret result" {
		t.Errorf("%+v", log)
	}
	for _, e := range out.events {
		if text, err := proto.Marshal(e); err != nil || strings.Contains(string(text), "secret") {
			t.Errorf("event %d is readable: %v", e.GetEventId(), err)
		}
	}
}

// sealed is a codec that encrypts.
type sealed struct{ cipher.AEAD }

func newSealed(t *testing.T) sealed {
	t.Helper()
	block, err := aes.NewCipher([]byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return sealed{aead}
}

func (s sealed) Encode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		nonce := make([]byte, s.NonceSize())
		_, _ = rand.Read(nonce) // never fails
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{"encoding": []byte("binary/sealed")}, Data: s.Seal(nonce, nonce, plain, nil),
		}
	}
	return out, nil
}

func (s sealed) Decode(in []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(in))
	for i, p := range in {
		n := s.NonceSize()
		plain, err := s.Open(nil, p.GetData()[:n], p.GetData()[n:], nil)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(plain, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
