// Package activities is the worker side of a turn: it calls the model, plans
// the calls the model asks for, and runs tools under their deadline, their
// heartbeat and their class. Everything that may differ between two deploys
// is evaluated here and goes back to the workflow as recorded data.
//
// The entry point is [New]; [Activities.Register] gives a worker one activity
// type per tool beside [contract.ActivityCallModel].
package activities
