package agentfile

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// Builtin is what a definition needs to know of a built-in tool that the worker
// offers.
type Builtin struct {
	Name        string
	Env         []string          // required of an agent that asks for it
	OptionalEnv map[string]string // name to the value it has when it is not set

	// FromFile, if not nil, reads a value that the agent's file in dir gives.
	FromFile func(dir, variable, value string) string
}

func (r *reader) builtins(n ast.Node, def *Definition) {
	for i, item := range r.filled(n, "builtin_tools", "a list of built-in tools' names") {
		what := fmt.Sprintf("builtin_tools[%d]", i)
		name, ok := r.text(item, what)
		switch {
		case !ok, !r.checkTool(at(item), what, name):
		case slices.Contains(def.Builtins, name):
			r.report(at(item), "%s: %s stands a second time", what, quote(name))
		default:
			def.Builtins = append(def.Builtins, name)
			def.builtinsAt = append(def.builtinsAt, at(item))
		}
	}
}

// Grant folds in what the built-in tools that the agent asks for need: their
// variables are those of the agent. The error is an [Errors] about names that
// the worker does not offer; the definition is good for further checks then.
//
// own are the worker's own tools, which belong into another list.
func (d Definition) Grant(offered []Builtin, own []string) (Definition, error) {
	var problems Errors
	names := make([]string, len(offered))
	for i, b := range offered {
		names[i] = b.Name
	}
	d.Env = d.Env.clone()
	d.envAt = slices.Clone(d.envAt)
	for i, name := range d.Builtins {
		where := d.builtinsAt[i]
		offer := slices.Index(names, name)
		if offer < 0 {
			problems = append(problems, problem(d.File, where, "builtin_tools[%d]: %s", i, unknownBuiltin(name, names, own)))
			continue
		}
		d.fromFile(offered[offer])
		for _, variable := range offered[offer].Env {
			if value, optional := d.Env.Optional[variable]; optional && value == "" {
				delete(d.Env.Optional, variable) // the tool cannot do without
			}
			d.require(variable, where)
		}
		for variable, value := range offered[offer].OptionalEnv {
			if !d.Env.declares(variable) {
				d.Env.Optional[variable] = value
			}
		}
	}
	// Without built-in tools the file itself was told; with an unknown one it may
	// be a variable of that.
	if len(d.Builtins) > 0 && len(problems) == 0 {
		problems = append(problems, d.undeclaredBinds()...)
	}
	return d, problems.orNil()
}

// fromFile has a built-in tool read the values that the file gives its variables.
func (d *Definition) fromFile(b Builtin) {
	if b.FromFile == nil {
		return
	}
	for _, variable := range slices.Concat(b.Env, slices.Sorted(maps.Keys(b.OptionalEnv))) {
		if value := d.Env.Optional[variable]; value != "" {
			d.Env.Optional[variable] = b.FromFile(filepath.Dir(d.File), variable, value)
		}
	}
}

// unknownBuiltin says what to do about a name that this worker does not offer.
func unknownBuiltin(name string, offered, own []string) string {
	if later := laterTool(name, "builtin_tools"); later != "" {
		return later
	}
	if slices.Contains(own, name) {
		return name + " is a tool of the worker's own; name it in tools"
	}
	if len(offered) == 0 {
		return fmt.Sprintf("this worker has no built-in tool %s: it has none", quote(name))
	}
	text := fmt.Sprintf("this worker has no built-in tool %s", quote(name))
	if near := nearest(name, offered); near != "" {
		text += "; did you mean " + quote(near) + "?"
	}
	return text + validNames(offered)
}

// laterTool says of a tool of a feature to come that it is one, "" of any other;
// key is where it was named.
func laterTool(name, key string) string {
	switch name {
	case "bash", "read_file", "write_file", "edit_file":
		return name + ` comes with "sandbox: true", not by ` + key + `, and is not available yet; remove it`
	case "run_process", "check_run", "call_agent":
		return name + " is not available yet; remove it"
	}
	return ""
}

// require declares a variable that env does not name.
func (d *Definition) require(variable string, at place) {
	if d.Env.declares(variable) {
		return
	}
	d.Env.Required = append(d.Env.Required, variable)
	d.envAt = append(d.envAt, at)
}

// undeclaredBinds are the bindings of names that nothing declares.
func (d Definition) undeclaredBinds() Errors {
	var problems Errors
	declared := slices.Concat(d.Env.Required, slices.Sorted(maps.Keys(d.Env.Optional)))
	for _, name := range slices.Sorted(maps.Keys(d.Env.Bind)) {
		if !slices.Contains(declared, name) {
			problems = append(problems, problem(d.File, d.bindAt[name], "env.bind: %s is neither required nor optional%s", quote(name), didYouMean(name, declared)))
		}
	}
	return problems
}
