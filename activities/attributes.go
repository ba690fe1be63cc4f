package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	sdkactivity "go.temporal.io/sdk/activity"
	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
)

// askAttributesEvery is how often a cluster is asked which search attributes
// it has: someone may add them while the worker runs.
const askAttributesEvery = time.Minute

// knownAttributes remembers which search attributes of ours the cluster has. A
// worker has one namespace. Safe for concurrent use.
type knownAttributes struct {
	mu    sync.Mutex
	asked time.Time
	names []string
	told  bool // what is missing has been said
}

// of is what a turn may write. A cluster that does not tell is one that may
// lack them: a missing one would fail the turn's workflow task for ever.
func (k *knownAttributes) of(ctx context.Context, logger *zap.Logger) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.asked) < askAttributesEvery {
		return k.names
	}
	client := sdkactivity.GetClient(ctx)
	known, err := client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{
		Namespace: sdkactivity.GetInfo(ctx).Namespace,
	})
	if err != nil {
		return k.names
	}
	k.asked, k.names = time.Now(), nil
	var missing []string
	for _, name := range []string{contract.AttributeAgent, contract.AttributeSession, contract.AttributeStatus, contract.AttributePending} {
		_, has := known.GetCustomAttributes()[name]
		switch {
		case !has:
			missing = append(missing, name)
		case name == contract.AttributeStatus || name == contract.AttributePending: // the others come with the start
			k.names = append(k.names, name)
		}
	}
	if len(missing) > 0 && !k.told {
		k.told = true
		logger.Warn("the namespace lacks search attributes: turns work, but are not found by them; `starter setup` adds them",
			zap.Strings("missing", missing))
	}
	return k.names
}
