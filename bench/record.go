package main

import (
	"context"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// record is what a history weighs.
type record struct {
	events   int
	bytes    int // of all events, as protobuf: what the server stores and sends
	payloads int // of the data inside all payloads
}

func weigh(events []*historypb.HistoryEvent) record {
	r := record{events: len(events)}
	for _, e := range events {
		r.bytes += proto.Size(e)
		r.payloads += payloadBytes(e.ProtoReflect())
	}
	return r
}

// payloadBytes is the data of every payload in m, however deep: inputs,
// results, summaries, search attributes.
func payloadBytes(m protoreflect.Message) int {
	if p, ok := m.Interface().(*commonpb.Payload); ok {
		return len(p.GetData())
	}
	n := 0
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			if f.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
					n += payloadBytes(v.Message())
					return true
				})
			}
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				n += payloadBytes(v.List().Get(i).Message())
			}
		default:
			n += payloadBytes(v.Message())
		}
		return true
	})
	return n
}

// records are what the histories of both sides weigh, value by value.
type records struct {
	events, bytes, payloads [2][]float64
}

// weighTurns reads and weighs the histories of both sides' turns, and checks
// that the two did the same work.
func weighTurns(ctx context.Context, read func(context.Context, ended) ([]*historypb.HistoryEvent, error), turns [2][]ended) (records, error) {
	var out records
	var first [2][]*historypb.HistoryEvent
	for side := range turns {
		for _, turn := range turns[side] {
			events, err := read(ctx, turn)
			if err != nil {
				return out, fmt.Errorf("read the history of %s: %w", turn.id, err)
			}
			if first[side] == nil {
				first[side] = events
			}
			r := weigh(events)
			out.events[side] = append(out.events[side], float64(r.events))
			out.bytes[side] = append(out.bytes[side], float64(r.bytes))
			out.payloads[side] = append(out.payloads[side], float64(r.payloads))
		}
	}
	if err := sameWork(first[ours], first[bare]); err != nil {
		return out, fmt.Errorf("the twin is no twin any more, mend bench/bare.go: %w", err)
	}
	return out, nil
}

// sameWork says where two histories schedule different activities, different
// options, or payloads of different size. It is what keeps the comparison
// honest while the workflow changes.
func sameWork(a, b []*historypb.HistoryEvent) error {
	left, right := scheduled(a), scheduled(b)
	if len(left) != len(right) {
		return fmt.Errorf("%d activities against %d", len(left), len(right))
	}
	var all []error
	for id, l := range left {
		r, ok := right[id]
		if !ok {
			all = append(all, fmt.Errorf("activity %s is scheduled on one side only", id))
			continue
		}
		all = append(all, sameActivity(id, l, r))
	}
	return errors.Join(all...)
}

func sameActivity(id string, l, r *historypb.HistoryEvent) error {
	if x, y := payloadBytes(l.ProtoReflect()), payloadBytes(r.ProtoReflect()); x != y {
		return fmt.Errorf("activity %s has %d bytes of input and summary against %d", id, x, y)
	}
	x, y := options(l), options(r)
	if !proto.Equal(x, y) {
		return fmt.Errorf("activity %s has other options:\n%v\n%v", id, x, y)
	}
	return nil
}

// options is the scheduled event without what differs between any two turns.
func options(e *historypb.HistoryEvent) *historypb.ActivityTaskScheduledEventAttributes {
	a := proto.CloneOf(e.GetActivityTaskScheduledEventAttributes())
	a.Input, a.TaskQueue, a.WorkflowTaskCompletedEventId = nil, nil, 0
	return a
}

func scheduled(events []*historypb.HistoryEvent) map[string]*historypb.HistoryEvent {
	found := map[string]*historypb.HistoryEvent{}
	for _, e := range events {
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			found[e.GetActivityTaskScheduledEventAttributes().GetActivityId()] = e
		}
	}
	return found
}
