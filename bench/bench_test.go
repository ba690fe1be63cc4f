package main

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/turnkeel/turnkeel/contract"
)

func TestQuantile(t *testing.T) {
	t.Parallel()
	values := []float64{4, 1, 3, 2}
	for _, c := range []struct{ q, want float64 }{{0, 1}, {0.5, 2.5}, {1, 4}, {0.95, 3.85}} {
		if got := quantile(values, c.q); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("quantile %v is %v, want %v", c.q, got, c.want)
		}
	}
	if values[0] != 4 {
		t.Error("the values were sorted in place")
	}
	if !math.IsNaN(quantile(nil, 0.5)) {
		t.Error("no values have a quantile")
	}
}

// The ranks are those of the tables of the sign test.
func TestMedianInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n         int
		low, high float64
		ok        bool
	}{{5, 0, 0, false}, {6, 1, 6, true}, {10, 2, 9, true}, {20, 6, 15, true}, {100, 40, 61, true}} {
		var values []float64
		for i := range c.n {
			values = append(values, float64(c.n-i))
		}
		got, ok := medianInterval(values)
		if ok != c.ok || got != (interval{c.low, c.high}) {
			t.Errorf("%d values: %v, %v; want %v – %v, %v", c.n, got, ok, c.low, c.high, c.ok)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	c := compare([2][]float64{{11, 22, 33}, {10, 20, 30}})
	if math.Abs(c.Ratio-1.1) > 1e-9 || c.CI95 != nil || c.Ours.P50 != 22 || c.Bare.P50 != 20 || c.Ours.N != 3 {
		t.Errorf("%+v", c)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	many := func(v float64) (out [2][]float64) {
		for range 100 {
			out[ours], out[bare] = append(out[ours], v), append(out[bare], 1)
		}
		return out
	}
	for _, c := range []struct {
		ratio               float64
		latency, throughput verdict
	}{
		{1.04, verdictAim, verdictAim},
		{1.08, verdictMust, verdictAim},
		{1.2, verdictFail, verdictAim},
		{0.9, verdictAim, verdictMust},
		{0.8, verdictAim, verdictFail},
	} {
		if got := latencyReport(timings{ms: many(c.ratio)}).Verdict; got != c.latency {
			t.Errorf("latency %v: %q, want %q", c.ratio, got, c.latency)
		}
		if got, _ := throughputReport(rates{perSecond: many(c.ratio), cpuMS: many(1)}); got.Verdict != c.throughput {
			t.Errorf("throughput %v: %q, want %q", c.ratio, got.Verdict, c.throughput)
		}
	}
	few := timings{ms: [2][]float64{{1}, {1}}}
	if got := latencyReport(few).Verdict; got != verdictAim+unsettled {
		t.Errorf("one pair: %q", got)
	}
}

func TestHistoryReport(t *testing.T) {
	t.Parallel()
	pair := func(o, b float64) [2][]float64 { return [2][]float64{{o}, {b}} }
	serial, parallel := shapes[0], shapes[1]
	for _, c := range []struct {
		name          string
		shape         shape
		events, bytes [2][]float64
		want          [2]verdict
	}{
		{"the floor", serial, pair(23, 23), pair(100, 100), [2]verdict{verdictAim, verdictAim}},
		{"over the floor as the twin", serial, pair(24, 24), pair(120, 100), [2]verdict{verdictFail, verdictAim}},
		{"one more than the twin", parallel, pair(45, 44), pair(131, 100), [2]verdict{verdictAim, verdictFail}},
		{"two more than the twin", parallel, pair(46, 44), pair(100, 100), [2]verdict{verdictFail, verdictAim}},
		{"too much beside its content", shapes[2], pair(23, 23), pair(50_000, 50_000), [2]verdict{verdictAim, verdictFail}},
	} {
		h := historyReport(c.shape, records{events: c.events, bytes: c.bytes, payloads: pair(1, 1)})
		if got := [2]verdict{h.Events, h.Bytes}; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestShapes(t *testing.T) {
	t.Parallel()
	s := shapes[0]
	if s.floor() != 23 || shapes[1].floor() != 44 {
		t.Errorf("floors %d and %d", s.floor(), shapes[1].floor())
	}
	if want := len(s.message()) + len(firstText) + len(secondText) + 3*s.Payload; s.content() != want {
		t.Errorf("content %d, want %d", s.content(), want)
	}
	if s.Tools > contract.DefaultMaxToolConcurrency || shapes[1].Tools > contract.DefaultMaxToolConcurrency {
		t.Error("the twin knows no bound, so no shape may need one")
	}
	for _, s := range shapes {
		for i := range s.Tools {
			if n := len(s.args(i)); n != s.Payload {
				t.Errorf("%s: call %d has %d bytes of arguments, want %d", s.Name, i, n, s.Payload)
			}
		}
	}
}

func scheduledEvent(id, input string, timeout time.Duration) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
		Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityId: id, StartToCloseTimeout: durationpb.New(timeout),
				Input:  &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: []byte(input)}}},
				Header: &commonpb.Header{Fields: map[string]*commonpb.Payload{"h": {Data: []byte("12")}}},
			},
		},
	}
}

func TestWeigh(t *testing.T) {
	t.Parallel()
	got := weigh([]*historypb.HistoryEvent{scheduledEvent("a", "123", 0), scheduledEvent("b", "4567", 0)})
	if got.events != 2 || got.payloads != 11 || got.bytes <= got.payloads {
		t.Errorf("%+v", got)
	}
}

func TestSameWork(t *testing.T) {
	t.Parallel()
	base := []*historypb.HistoryEvent{scheduledEvent("a", "123", time.Second)}
	for _, c := range []struct {
		name  string
		other *historypb.HistoryEvent
		want  string // part of the error
	}{
		{"same", scheduledEvent("a", "456", time.Second), ""},
		{"another id", scheduledEvent("b", "123", time.Second), "one side only"},
		{"more input", scheduledEvent("a", "1234", time.Second), "bytes of input"},
		{"another option", scheduledEvent("a", "123", time.Minute), "other options"},
	} {
		err := sameWork(base, []*historypb.HistoryEvent{c.other})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if sameWork(base, nil) == nil {
		t.Error("a missing activity is the same work")
	}
}

func TestTimePairs(t *testing.T) {
	t.Parallel()
	var ran []string
	side := func(name string) runner {
		return func(context.Context, shape) (ended, error) {
			ran = append(ran, name)
			return ended{id: name, took: 2 * time.Millisecond}, nil
		}
	}
	got, err := timePairs(t.Context(), sides{side("o"), side("b")}, shapes[0], 1, 2, func(int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"o", "b", "b", "o", "o", "b"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	if diff := cmp.Diff([2][]float64{{2, 2}, {2, 2}}, got.ms); diff != "" || len(got.last[bare]) != 2 {
		t.Errorf("%v, %d turns kept", diff, len(got.last[bare]))
	}
}

func TestFlood(t *testing.T) {
	t.Parallel()
	var now, peak, all atomic.Int32
	run := func(context.Context, shape) (ended, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
		}
		all.Add(1)
		time.Sleep(time.Millisecond) // let others overlap: the bound is what is tested
		return ended{}, nil
	}
	if err := flood(t.Context(), run, shapes[0], load{Turns: 40, AtOnce: 4}); err != nil {
		t.Fatal(err)
	}
	if peak.Load() > 4 || all.Load() != 40 {
		t.Errorf("peak %d of %d turns; want at most 4 of 40", peak.Load(), all.Load())
	}
	broken := errors.New("broken")
	err := flood(t.Context(), func(context.Context, shape) (ended, error) { return ended{}, broken }, shapes[0], load{Turns: 9, AtOnce: 3})
	if !errors.Is(err, broken) {
		t.Errorf("a failed turn gives %v", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args    string
		servers []string
		wrong   bool
	}{
		{"", []string{"tuned", "stock"}, false},
		{"--stock=false", []string{"tuned"}, false},
		{"--only stock --quick --output json", []string{"stock"}, false},
		{"--only other", nil, true},
		{"--output xml", nil, true},
		{"--pairs 0", nil, true},
		{"more", nil, true},
	} {
		got, err := parse(strings.Fields(c.args), io.Discard)
		if (err != nil) != c.wrong || !c.wrong && !slices.Equal(got.servers, c.servers) {
			t.Errorf("%q: %v, %v", c.args, got.servers, err)
		}
	}
}

func TestPrintTable(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	pair := [2][]float64{{1.02}, {1}}
	times, cpuTimes := throughputReport(rates{perSecond: pair, cpuMS: pair})
	report := Report{Servers: []ServerReport{{Server: serverTuned, Shapes: []ShapeReport{{
		Shape: "x", Latency: latencyReport(timings{ms: pair}), Throughput: times, CPU: cpuTimes,
		History: historyReport(shapes[0], records{events: pair, bytes: pair, payloads: pair}),
	}}}}, Notes: []string{"a note"}}
	if err := printTable(&out, report); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tuned server", "latency p50, ms", "1.020", "must ≤ 1.10", "must ≥ 0.85", "the floor", "- a note"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}
