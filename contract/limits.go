package contract

// Defaults of [Limits].
const (
	DefaultMaxSteps            = 25
	DefaultMaxToolCallsPerStep = 64
	DefaultMaxToolConcurrency  = 8
	DefaultMaxToolResultChars  = 32_000
	DefaultMaxModelAttempts    = 10
)

// Limits bound a turn. A zero field means the default; a start may tighten
// an agent's limits but never widen them (see [Limits.Tighten]).
type Limits struct {
	// MaxSteps is how many model calls may ask for tools. When it is reached
	// one last call without tools asks for a wrap-up and the turn ends as
	// limit_reached. Default 25.
	MaxSteps int `json:"max_steps,omitempty" yaml:"max_steps"`

	// MaxToolCallsPerStep is how many calls of one answer may run; each of the
	// rest gets a result that says so. Default 64.
	MaxToolCallsPerStep int `json:"max_tool_calls_per_step,omitempty" yaml:"max_tool_calls_per_step"`

	// MaxToolConcurrency is how many parallel-safe calls of one step run at a
	// time. Default 8, at least 1.
	MaxToolConcurrency int `json:"max_tool_concurrency,omitempty" yaml:"max_tool_concurrency"`

	// MaxToolResultChars is how many runes of one tool result the model reads;
	// the history keeps the whole. Default 32,000.
	MaxToolResultChars int `json:"max_tool_result_chars,omitempty" yaml:"max_tool_result_chars"`

	// MaxWallClock ends a turn that takes longer, as timed_out. None by default.
	MaxWallClock Duration `json:"max_wall_clock,omitzero" yaml:"max_wall_clock"`

	// CountParked says whether time spent waiting for a person counts for
	// MaxWallClock. If nil, it does.
	CountParked *bool `json:"count_parked,omitempty" yaml:"count_parked"`

	// MaxAttemptsPerTask bounds the attempts of one model call. Default 10.
	MaxAttemptsPerTask int `json:"max_attempts_per_task,omitempty" yaml:"max_attempts_per_task"`

	// MaxOutputTokens bounds one model answer. None by default.
	MaxOutputTokens int `json:"max_output_tokens,omitempty" yaml:"max_output_tokens"`

	// TokenBudget ends a turn as limit_reached once prompt and completion
	// tokens of all its model calls have passed it. None by default.
	TokenBudget int `json:"token_budget,omitempty" yaml:"token_budget"`
}

// WithDefaults fills the zero fields that have a default.
func (l Limits) WithDefaults() Limits {
	fill := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	fill(&l.MaxSteps, DefaultMaxSteps)
	fill(&l.MaxToolCallsPerStep, DefaultMaxToolCallsPerStep)
	fill(&l.MaxToolConcurrency, DefaultMaxToolConcurrency)
	fill(&l.MaxToolResultChars, DefaultMaxToolResultChars)
	fill(&l.MaxAttemptsPerTask, DefaultMaxModelAttempts)
	return l
}

// Tighten is the stricter of both in every field; by may be nil.
func (l Limits) Tighten(by *Limits) Limits {
	if by == nil {
		return l
	}
	stricter := func(v *int, w int) {
		if w > 0 && (*v <= 0 || w < *v) {
			*v = w
		}
	}
	stricter(&l.MaxSteps, by.MaxSteps)
	stricter(&l.MaxToolCallsPerStep, by.MaxToolCallsPerStep)
	stricter(&l.MaxToolConcurrency, by.MaxToolConcurrency)
	stricter(&l.MaxToolResultChars, by.MaxToolResultChars)
	stricter(&l.MaxAttemptsPerTask, by.MaxAttemptsPerTask)
	stricter(&l.MaxOutputTokens, by.MaxOutputTokens)
	stricter(&l.TokenBudget, by.TokenBudget)
	if by.CountParked != nil && *by.CountParked {
		l.CountParked = by.CountParked
	}
	if by.MaxWallClock > 0 && (l.MaxWallClock <= 0 || by.MaxWallClock < l.MaxWallClock) {
		l.MaxWallClock = by.MaxWallClock
	}
	return l
}
