// Package fold is the one place that turns a Temporal history into meaning:
// the prompt of the next model call, the effect log and the story of a turn
// all come from it. It is pure: it is handed events and reads nothing itself.
//
// The entry points are [Build], for a whole history, and [New] with [Run.Add],
// for one that grows. [Pack] and [Unpack] are the form in which a transcript
// travels to the run that continues a turn.
//
// The fold resolves and never decides: the input of each model call names, for
// every call of the step before, the recorded result it stands for or the
// words the workflow chose, so workflow and fold cannot disagree.
package fold
