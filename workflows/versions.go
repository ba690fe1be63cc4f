package workflows

// Every workflow.GetVersion id of this package stands here, with the date it
// came, the reason, and when it may go. There is none yet: no history
// recorded by a released version needs one.
