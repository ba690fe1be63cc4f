// Package scripted plays a model from a [Script]: [NewModel] is the model,
// [NewClient] asks it within the process, [Start] puts it on an address. It is
// what agenttest and the agents whose model is scripted/<file> have in common.
package scripted
