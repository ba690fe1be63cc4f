package activities

import (
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"sync"

	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/logging"
	"github.com/turnkeel/turnkeel/internal/mask"
	"github.com/turnkeel/turnkeel/tooldefs"
)

// What a tool returns, says, shows and logs is recorded or kept. The values of
// the variables that it may know are taken out of it first: a handler that puts
// a request's address into its error does not think of the key in it.

// maskOf takes out the values that tools of the agent may know.
func (a *Activities) maskOf(agent string) mask.Mask {
	if a.secrets == nil {
		return mask.Mask{}
	}
	return a.masks.of(agent, a.secrets(agent), mask.New)
}

// sureMask takes those values out of what the model says, where everyday words
// must stay.
func (a *Activities) sureMask(agent string) mask.Mask {
	if a.secrets == nil {
		return mask.Mask{}
	}
	return a.masks.of("sure "+agent, a.secrets(agent), mask.Sure) // no agent's name has a blank
}

// masks keeps the latest mask of each agent, since one takes milliseconds to
// make. It is safe for concurrent use; the zero value is ready.
type masks struct {
	mu   sync.Mutex
	last map[string]keptMask
}

type keptMask struct {
	values map[string]string
	mask   mask.Mask
}

// of is the mask of these values, made if the last one was of others.
func (k *masks) of(name string, values map[string]string, make func(map[string]string) mask.Mask) mask.Mask {
	k.mu.Lock()
	defer k.mu.Unlock()
	if had, ok := k.last[name]; ok && maps.Equal(had.values, values) {
		return had.mask
	}
	if k.last == nil {
		k.last = map[string]keptMask{}
	}
	m := make(values)
	k.last[name] = keptMask{maps.Clone(values), m}
	return m
}

func maskedResult(m mask.Mask, r contract.ToolResult) contract.ToolResult {
	r.Text = m.Text(r.Text)
	if len(r.JSON) > 0 {
		r.JSON = m.JSON(r.JSON)
	}
	return r
}

// maskedError has the meaning of err and other words. They are masked before
// they are cut: half of a secret is not recognised any more.
func maskedError(m mask.Mask, err error) error {
	if err == nil || m.Empty() {
		return err
	}
	if _, panicked := errors.AsType[*tooldefs.PanicError](err); panicked {
		return err // its words are for nobody
	}
	words, public := tooldefs.PublicText(err)
	if !public {
		words = errorText(err)
	}
	return tooldefs.Public(m.Text(words), err)
}

// errorText is an error's words, even of one whose Error method panics.
func errorText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = "an error without a text"
		}
	}()
	return err.Error()
}

// maskedProgress shows a tool's progress without the values.
func maskedProgress(m mask.Mask, show func(json.RawMessage)) func(json.RawMessage) {
	if m.Empty() {
		return show
	}
	return func(data json.RawMessage) { show(m.JSON(data)) }
}

// masked is the log of a call, without the values.
func masked(l *zap.Logger, m mask.Mask) *slog.Logger {
	return slog.New(m.Handler(logging.Slog(l).Handler()))
}
