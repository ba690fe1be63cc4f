package activities_test

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkactivity "go.temporal.io/sdk/activity"
	sdkclient "go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/turnkeel/turnkeel/internal/fold"
	"github.com/turnkeel/turnkeel/internal/lineage"
)

// noServer stands in for the server that the unit-test environment lacks: it
// knows the running activity as started for the first time, unless traces say
// more of it, and has no history. What a real one says is tested in
// tests/e2e/lineage.
type noServer struct {
	traces func(*workflowpb.PendingActivityInfo)
}

var errNoServer = errors.New("there is no server")

func (s noServer) service(context.Context) lineage.Service { return s }

func (s noServer) DescribeWorkflowExecution(ctx context.Context, _, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	info := sdkactivity.GetInfo(ctx)
	p := &workflowpb.PendingActivityInfo{
		ActivityId: info.ActivityID, Attempt: info.Attempt, ScheduledTime: timestamppb.New(info.ScheduledTime),
	}
	if s.traces != nil {
		s.traces(p)
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{PendingActivities: []*workflowpb.PendingActivityInfo{p}}, nil
}

func (noServer) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return nil, errNoServer
}

func (noServer) GetWorkflowHistory(context.Context, string, string, bool, enumspb.HistoryEventFilterType) sdkclient.HistoryEventIterator {
	return noHistory{}
}

// Fold implements [activities.Transcripts].
func (noServer) Fold(context.Context) (*fold.Run, func(), error) { return nil, nil, errNoServer }

type noHistory struct{}

func (noHistory) HasNext() bool                          { return true }
func (noHistory) Next() (*historypb.HistoryEvent, error) { return nil, errNoServer }
