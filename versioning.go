package turnkeel

import (
	"errors"
	"fmt"
	"strings"

	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The environment of [VersioningFrom].
const (
	envBuildID    = "TURNKEEL_BUILD_ID"
	envDeployment = "TURNKEEL_DEPLOYMENT"
	envVersioning = "TURNKEEL_VERSIONING"

	autoUpgrade = "auto-upgrade" // values of envVersioning
	pinned      = "pinned"
)

// Versioning makes a worker one version of a Temporal worker deployment:
// Temporal then routes turns by version. See docs/deploys.md. The zero value
// is an unversioned worker.
type Versioning struct {
	// BuildID names this build: a commit or an image tag. If empty, the worker is
	// unversioned.
	BuildID string

	// Deployment is the name that all builds of one worker share, without "."
	// and ":". Defaults to the task queue.
	Deployment string

	// Pinned keeps a turn on the build that it began on; then that build must be
	// kept up until its turns have ended, however long they are parked. If false,
	// a turn goes on with the current build: a turn parked for a month needs no
	// worker of last month, but its history must replay (`replay --all`).
	//
	// Sessions have no end, so they upgrade in any case.
	Pinned bool
}

// VersioningFrom reads the environment: TURNKEEL_BUILD_ID makes a worker a
// version, TURNKEEL_DEPLOYMENT names its deployment, TURNKEEL_VERSIONING is
// "auto-upgrade" (the default) or "pinned". [Main] and [Run] do so with
// [os.Getenv] when [Options.Versioning] is zero.
func VersioningFrom(getenv func(string) string) (Versioning, error) {
	v := Versioning{BuildID: getenv(envBuildID), Deployment: getenv(envDeployment)}
	behavior := getenv(envVersioning)
	switch behavior {
	case "", autoUpgrade:
	case pinned:
		v.Pinned = true
	default:
		return v, fmt.Errorf("%s is %q: want %s or %s", envVersioning, behavior, autoUpgrade, pinned)
	}
	if v.BuildID == "" && (v.Deployment != "" || behavior != "") {
		return v, fmt.Errorf("%s or %s is set and %s is not: set it to this build's name, or unset the others for an unversioned worker",
			envDeployment, envVersioning, envBuildID)
	}
	return v, nil
}

// DeploymentOptions are the Temporal worker's, for a worker of that task queue:
// what [Run] sets, for a worker that [Register] is used with. The zero value
// gives none.
func (v Versioning) DeploymentOptions(taskQueue string) (sdkworker.DeploymentOptions, error) {
	if v == (Versioning{}) {
		return sdkworker.DeploymentOptions{}, nil
	}
	if v.BuildID == "" {
		return sdkworker.DeploymentOptions{}, errors.New("versioning needs a build id")
	}
	if v.Deployment == "" {
		v.Deployment = taskQueue
	}
	if strings.ContainsAny(v.Deployment, ".:") {
		return sdkworker.DeploymentOptions{}, fmt.Errorf("the deployment's name %q has a dot or a colon, which Temporal refuses: name it with %s", v.Deployment, envDeployment)
	}
	behavior := workflow.VersioningBehaviorAutoUpgrade
	if v.Pinned {
		behavior = workflow.VersioningBehaviorPinned
	}
	return sdkworker.DeploymentOptions{
		UseVersioning:             true,
		Version:                   sdkworker.WorkerDeploymentVersion{DeploymentName: v.Deployment, BuildID: v.BuildID},
		DefaultVersioningBehavior: behavior,
	}, nil
}
