package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/turnkeel/turnkeel/contract"
	"github.com/turnkeel/turnkeel/internal/wire"
)

// maxReasks is how often, within one attempt, a model is asked again because
// its endpoint could not read what it wrote.
const maxReasks = 2

// asked is an answer, and what asking for it came to.
type asked struct {
	wire.Answer // its usage is that of all asks together

	origin  string // of the endpoint: see [contract.Message.Origin]
	warning string // what an operator should know
}

// ask is the one place that calls a model. It asks again at once in two cases
// only: when the model wrote a call that its endpoint could not read, at most
// [maxReasks] times, with what was wrong appended; and once, with a plainer
// transcript, when the endpoint refused our own. Everything else is an error
// with its type, and Temporal's to retry.
//
// A transcript that does not fit ends as [contract.ErrModelContextTooLong],
// whoever noticed it: compaction would shorten request.Messages there and ask
// once more.
//
// shown gets each piece of text; it begins anew with each ask.
func (a *Activities) ask(ctx context.Context, model *wire.Client, agent contract.Agent, request wire.Request, shown *stream) (asked, error) {
	out := asked{origin: model.Origin()}
	var spent contract.Usage
	messages := request.Messages
	m := a.sureMask(agent.Name)
	for n, reasks := 1, 0; ; n++ {
		if n > 1 {
			shown.restart()
		}
		answer, err := model.Complete(ctx, request, shown.onDelta(m))
		if err == nil {
			out.Answer = maskedAnswer(m, answer)
			if err := a.checkPrompt(&out, agent); err != nil {
				return asked{}, err
			}
			out.Usage = spent.Add(answer.Usage)
			return out, nil
		}
		var failed *wire.Error
		if ctx.Err() != nil || !errors.As(err, &failed) {
			return asked{}, wireError(ctx, err, n)
		}
		spent = spent.Add(failed.Usage)
		if failed.Action() == wire.ActionReask && reasks < maxReasks {
			reasks++
			request.Messages = append(slices.Clip(messages), feedback(failed))
			a.logger.Warn("the model is asked again", zap.String("agent", agent.Name), zap.Error(failed))
			continue
		}
		plain, changed := model.Repair(request, failed)
		if !changed {
			return asked{}, wireError(ctx, a.withKeyHint(failed, agent), n)
		}
		request, messages = plain, plain.Messages
		out.warning = contract.BoundText("the endpoint refused the transcript, and was sent a plainer one: "+failed.Error(), contract.MaxErrorText)
		a.logger.Warn("the endpoint refused the transcript; it is sent a plainer one, once", zap.String("agent", agent.Name), zap.Error(failed))
	}
}

// feedback tells the model what was wrong with an answer that its endpoint
// could not read. The answer itself is not repeated as the assistant's: it is
// no legal message.
func feedback(e *wire.Error) contract.Message {
	why := e.Message
	if e.Generation != "" {
		why += "\nYou wrote: " + e.Generation
	}
	return contract.Message{Role: contract.RoleUser, Content: contract.TextReask(why)}
}

// checkPrompt compares the prompt that the endpoint says it read with the one
// it was sent. Some servers cut its beginning, which holds the instructions
// and the tools, and answer with status 200.
func (a *Activities) checkPrompt(out *asked, agent contract.Agent) error {
	provider, _ := providerOf(agent)
	windows := append(slices.Clip(provider.Windows), agent.ContextWindow)
	window, verdict := judgePrompt(out.Estimate, out.Usage.PromptTokens, windows)
	if verdict == promptFits {
		return nil
	}
	text := fmt.Sprintf("the endpoint read %d tokens of a prompt of about %d", out.Usage.PromptTokens, out.Estimate)
	if verdict == promptSuspect {
		out.warning = text + ": it may have cut its beginning; check the server's context window"
		a.logger.Warn(out.warning, zap.String("agent", agent.Name))
		return nil
	}
	text += fmt.Sprintf(": it cut its beginning to fit its window of %d; nothing of the answer was used. Raise the server's window (Ollama: OLLAMA_CONTEXT_LENGTH) or send less", window)
	return modelFailure(contract.ErrModelContextTooLong, text, contract.ModelFailure{
		Kind: string(wire.KindContextTooLong), PromptTokens: out.Estimate, Window: window,
	}, 0)
}

// promptVerdict says whether an endpoint read the whole prompt.
type promptVerdict int

const (
	promptFits promptVerdict = iota
	promptSuspect
	promptCut
)

// minJudged is the prompt, in tokens, below which an estimate is too rough to
// conclude anything from.
const minJudged = 1000

// judgePrompt compares an estimate with what was reported. Far less than the
// estimate is suspect, since texts differ in how many tokens they are, and
// some servers leave out what they had cached; with the count at a window's
// size it is certain.
func judgePrompt(estimate, reported int, windows []int) (window int, v promptVerdict) {
	if reported <= 0 || estimate < minJudged {
		return 0, promptFits
	}
	for _, w := range windows {
		if w > 0 && reported <= w && reported > w-w/50 && estimate > w {
			window = w
		}
	}
	switch {
	case window > 0 && estimate >= reported+reported/2:
		return window, promptCut
	case estimate >= 2*reported, window > 0 && reported == window:
		return window, promptSuspect
	}
	return 0, promptFits
}

// comeBack says when, for an endpoint that asks for longer than we wait.
func comeBack(after time.Duration) string {
	return fmt.Sprintf("; the endpoint asks to come back after %s (at %s)",
		after.Round(time.Second), time.Now().Add(after).UTC().Format(time.RFC3339))
}
