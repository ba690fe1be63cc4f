package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

const readyLimit = 30 * time.Second

// awaitReady asks, as a client would, each of the parts that a client depends on. The namespace and its search
// attributes cannot be missing from a cache, because they were in the database before the server started.
func awaitReady(ctx context.Context, cfg *devConfig, opts options) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	conn, err := grpc.NewClient(cfg.address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	frontend := workflowservice.NewWorkflowServiceClient(conn)
	for _, part := range []struct {
		name  string
		probe func(context.Context) error
	}{
		{"the namespace", func(ctx context.Context) error {
			_, err := frontend.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
			return err
		}},
		{"visibility", func(ctx context.Context) error { return probeVisibility(ctx, frontend, opts) }},
		{"history", func(ctx context.Context) error { return probeHistory(ctx, frontend) }},
		{"matching", func(ctx context.Context) error {
			_, err := frontend.DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
				Namespace:     namespace,
				TaskQueue:     &taskqueuepb.TaskQueue{Name: "devserver-readiness"},
				TaskQueueType: enumspb.TASK_QUEUE_TYPE_WORKFLOW,
			})
			return err
		}},
		{"the Web UI", func(ctx context.Context) error { return probeUI(ctx, cfg) }},
	} {
		if err := await(ctx, part.probe); err != nil {
			return fmt.Errorf("%s of the Temporal server did not become ready: %s", part.name, oneLine(err))
		}
	}
	return nil
}

// await repeats a probe until it succeeds; its last error is worth more than "deadline exceeded".
func await(ctx context.Context, probe func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := probe(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// probeVisibility names every attribute in its query: an unknown one is an error.
func probeVisibility(ctx context.Context, frontend workflowservice.WorkflowServiceClient, opts options) error {
	query := `WorkflowId = "devserver-readiness"`
	for name := range opts.SearchAttributes {
		query += fmt.Sprintf(" AND `%s` IS NULL", name)
	}
	_, err := frontend.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: namespace, PageSize: 1, Query: query,
	})
	return err
}

// probeHistory asks for a workflow that does not exist: only a history service that owns the shard can know.
func probeHistory(ctx context.Context, frontend workflowservice.WorkflowServiceClient) error {
	_, err := frontend.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: namespace,
		Execution: &commonpb.WorkflowExecution{WorkflowId: "devserver-readiness"},
	})
	if status.Code(err) == codes.NotFound {
		return nil
	}
	return err
}

func probeUI(ctx context.Context, cfg *devConfig) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+cfg.uiAddress()+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", resp.Status)
	}
	return nil
}
