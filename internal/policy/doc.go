// Package policy decides whether a planned tool call may run, by the rules of
// its agent. It is pure: a policy, a call and what was counted before go in as
// data, a verdict comes out, so that a policy can be tested without a server.
// Start at [New] and [Policy.Decide].
//
// Evaluation is total. It never panics, its time is bounded (regexes are RE2,
// and the work on one call has a budget), and whatever cannot be read or
// decided denies the call.
package policy
