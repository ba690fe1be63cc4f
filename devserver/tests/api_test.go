package tests

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

func TestUpdates(t *testing.T) {
	t.Parallel()
	c := start(t, newDB(t)).client()
	work(t, c)
	ctx := within(t, 30*time.Second)

	// Update with start: the first one starts the workflow, the second finds it.
	for want := 5; want <= 10; want += 5 {
		handle, err := c.UpdateWithStartWorkflow(ctx, sdkclient.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: c.NewWithStartWorkflowOperation(sdkclient.StartWorkflowOptions{
				ID: "counter", TaskQueue: taskQueue,
				WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			}, counter),
			UpdateOptions: sdkclient.UpdateWorkflowOptions{
				UpdateName: "add", Args: []any{5}, WaitForStage: sdkclient.WorkflowUpdateStageCompleted,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		var sum int
		if err := handle.Get(ctx, &sum); err != nil || sum != want {
			t.Errorf("update with start: %d, %v; want %d", sum, err, want)
		}
	}

	// Asynchronous: accepted first, the result later.
	handle, err := c.UpdateWorkflow(ctx, sdkclient.UpdateWorkflowOptions{
		WorkflowID: "counter", UpdateName: "add", Args: []any{1}, WaitForStage: sdkclient.WorkflowUpdateStageAccepted,
	})
	if err != nil {
		t.Fatal(err)
	}
	var sum int
	if err := handle.Get(ctx, &sum); err != nil || sum != 11 {
		t.Errorf("asynchronous update: %d, %v", sum, err)
	}
	answer, err := c.QueryWorkflow(ctx, "counter", "", "sum")
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Get(&sum); err != nil || sum != 11 {
		t.Errorf("query: %d, %v", sum, err)
	}
}

// Pause, unpause, reset and new options of an activity that keeps failing.
func TestActivityOperations(t *testing.T) {
	t.Parallel()
	c := start(t, newDB(t)).client()
	ctx := within(t, 50*time.Second)
	var attempts atomic.Int64
	var mayPass atomic.Bool
	stubborn := func(context.Context) error {
		attempts.Add(1)
		if mayPass.Load() {
			return nil
		}
		return fmt.Errorf("not today")
	}
	w := sdkworker.New(c, taskQueue, sdkworker.Options{})
	w.RegisterWorkflow(operated)
	w.RegisterActivityWithOptions(stubborn, named("stubborn"))
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	run(t, c, "operated", operated)
	failing := func() error {
		if attempts.Load() == 0 {
			return errNotYet
		}
		return nil
	}
	eventually(t, 20*time.Second, failing)

	service, execution := c.WorkflowService(), &commonpb.WorkflowExecution{WorkflowId: "operated"}
	if _, err := service.PauseActivity(ctx, &workflowservice.PauseActivityRequest{
		Namespace: "default", Execution: execution, Identity: "test", Reason: "a look",
		Activity: &workflowservice.PauseActivityRequest_Id{Id: "a"},
	}); err != nil {
		t.Fatal(err)
	}
	described, err := c.DescribeWorkflowExecution(ctx, "operated", "")
	if err != nil {
		t.Fatal(err)
	}
	if a := described.GetPendingActivities(); len(a) != 1 || !a[0].GetPaused() {
		t.Errorf("after the pause: %v", a)
	}
	updated, err := service.UpdateActivityOptions(ctx, &workflowservice.UpdateActivityOptionsRequest{
		Namespace: "default", Execution: execution, Identity: "test",
		Activity:        &workflowservice.UpdateActivityOptionsRequest_Id{Id: "a"},
		ActivityOptions: &activitypb.ActivityOptions{StartToCloseTimeout: durationpb.New(77 * time.Second)},
		UpdateMask:      &fieldmaskpb.FieldMask{Paths: []string{"start_to_close_timeout"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := updated.GetActivityOptions().GetStartToCloseTimeout().AsDuration(); got != 77*time.Second {
		t.Errorf("the new timeout is %s", got)
	}
	mayPass.Store(true)
	if _, err := service.ResetActivity(ctx, &workflowservice.ResetActivityRequest{
		Namespace: "default", Execution: execution, Identity: "test",
		Activity: &workflowservice.ResetActivityRequest_Id{Id: "a"},
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.GetWorkflow(ctx, "operated", "").Get(ctx, nil); err != nil {
		t.Errorf("after the reset: %v", err)
	}
}

// A worker deployment: a versioned worker appears, becomes current and gets the work.
func TestWorkerDeployment(t *testing.T) {
	t.Parallel()
	c := start(t, newDB(t)).client()
	ctx := within(t, 60*time.Second)
	version := sdkworker.WorkerDeploymentVersion{DeploymentName: "agents", BuildID: "b1"}
	w := sdkworker.New(c, taskQueue, sdkworker.Options{DeploymentOptions: sdkworker.DeploymentOptions{
		UseVersioning: true, Version: version, DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
	}})
	w.RegisterWorkflow(sleeper)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	deployment := c.WorkerDeploymentClient().GetHandle("agents")
	eventually(t, 40*time.Second, func() error {
		_, err := deployment.SetCurrentVersion(ctx, sdkclient.WorkerDeploymentSetCurrentVersionOptions{BuildID: "b1"})
		return err
	})
	if err := run(t, c, "versioned", sleeper, time.Millisecond).Get(ctx, nil); err != nil {
		t.Fatal(err)
	}
	described, err := c.DescribeWorkflowExecution(ctx, "versioned", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := described.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId(); got != "b1" {
		t.Errorf("the workflow ran on build %q", got)
	}
}
