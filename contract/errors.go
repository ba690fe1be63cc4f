package contract

// Types of the application errors that cross the activity boundary. The
// workflow tells failures apart by these and by nothing else.
const (
	// Tools. Their details are a [ToolFailure].
	ErrToolFailed      = "turnkeel.ToolFailed"      // the handler said so: definite
	ErrToolUnknown     = "turnkeel.ToolUnknown"     // may or may not have taken effect
	ErrToolTimedOut    = "turnkeel.ToolTimedOut"    // a SafeToRetry call ran out of time
	ErrToolTransient   = "turnkeel.ToolTransient"   // the handler asks for another attempt
	ErrToolNotExecuted = "turnkeel.ToolNotExecuted" // certainly nothing happened
	ErrToolRefused     = "turnkeel.ToolRefused"     // not certainly the first start: the wrapper did not run it
	ErrToolInterrupted = "turnkeel.ToolInterrupted" // cut while it ran

	// Model calls.
	ErrAgentUnknown        = "turnkeel.AgentUnknown"
	ErrModelUnavailable    = "turnkeel.ModelUnavailable" // retried
	ErrModelAuth           = "turnkeel.ModelAuth"
	ErrModelQuota          = "turnkeel.ModelQuota"
	ErrModelBadRequest     = "turnkeel.ModelBadRequest"
	ErrModelContextTooLong = "turnkeel.ModelContextTooLong"
	ErrModelRefused        = "turnkeel.ModelRefused"
	ErrModelBadGeneration  = "turnkeel.ModelBadGeneration" // asked again in vain: its calls could not be read
	ErrAnswerTooLarge      = "turnkeel.AnswerTooLarge"

	// ErrSecretInInput is a turn whose input holds the value of a variable that
	// the worker's agents declare. The turn's reason begins with
	// [ReasonSecretInInput].
	ErrSecretInInput = "turnkeel.SecretInInput"

	// ErrAttachments is a turn whose attachments the worker's agent cannot read:
	// it lacks the tool, or the worker's blob store lacks the file.
	ErrAttachments = "turnkeel.AttachmentsRefused"

	// A blob that history refers to and that is damaged.
	ErrBlobMissing = "turnkeel.BlobUnavailable"

	// Turns. Its details are a [TurnResult].
	ErrTurnFailed = "turnkeel.TurnFailed"
	ErrBadInput   = "turnkeel.BadInput"

	// ErrSDKPayloadSize is the type the Temporal SDK gives an oversized
	// payload. It would be retried, and the effect repeated, so every retry
	// policy of ours lists it. Source: sdk-go v1.51.0, observed.
	ErrSDKPayloadSize = "payloadSizeError"

	// ErrSDKNotRegistered is the type the SDK gives a task whose activity type
	// the worker lacks: nothing was started.
	ErrSDKNotRegistered = "ActivityNotRegisteredError"
)
