package activities

import (
	"context"

	sdkactivity "go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/turnkeel/turnkeel/contract"
)

// DynamicRegistry is the part of a worker that takes an activity for all types
// it has no other for.
type DynamicRegistry interface {
	RegisterDynamicActivity(fn any, options sdkactivity.DynamicRegisterOptions)
}

// RegisterLacking has the worker answer for tools that it lacks. Without it the
// SDK refuses their calls, which reads as "certainly not executed" also where
// an earlier start, or a run before a reset, has acted.
func (a *Activities) RegisterLacking(r DynamicRegistry) {
	r.RegisterDynamicActivity(a.lacking, sdkactivity.DynamicRegisterOptions{})
}

// lacking is a call of a tool that this worker has not. What is known of the
// call does not need the tool: an AtMostOnce call that may have been started
// before is unknown, one that an earlier run has recorded is what it was. Any
// other did not start here.
func (a *Activities) lacking(ctx context.Context, args converter.EncodedValues) (contract.ToolResult, error) {
	kind := sdkactivity.GetInfo(ctx).ActivityType.Name
	tool, ok := contract.ToolOfActivity(kind)
	var in contract.ToolInput
	if !ok || args.Get(&in) != nil {
		return contract.ToolResult{}, notRegistered(kind)
	}
	if err := a.refuse(ctx, tool, in); err != nil {
		return contract.ToolResult{}, err
	}
	stop := startHeartbeat(ctx, streamOf(in.Stream), heartbeatInterval)
	defer stop()
	if result, settled, err := a.recordedCall(ctx, tool, in); settled {
		return result, err
	}
	return contract.ToolResult{}, notRegistered(kind)
}

// notRegistered is what the SDK says of an activity type that a worker lacks.
// It may be retried, as the SDK's own may: another worker may have it.
func notRegistered(kind string) error {
	return temporal.NewApplicationError("unable to find activityType="+kind+" on this worker", contract.ErrSDKNotRegistered)
}
