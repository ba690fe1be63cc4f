package agentfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Env is the environment variables an agent's tools may read. None of it is
// part of [Definition.Agent]: it is neither recorded nor digested.
type Env struct {
	Required []string          // must be set and not empty when the worker starts
	Optional map[string]string // name to the value it has when it is not set
	Bind     map[string]string // declared name to the name of the variable that holds it
}

func (e Env) clone() Env {
	optional := maps.Clone(e.Optional)
	if optional == nil {
		optional = map[string]string{}
	}
	return Env{Required: slices.Clone(e.Required), Optional: optional, Bind: e.Bind}
}

func (e Env) declares(name string) bool {
	_, optional := e.Optional[name]
	return optional || slices.Contains(e.Required, name)
}

// Names are the declared variables, sorted.
func (e Env) Names() []string {
	names := slices.AppendSeq(slices.Clone(e.Required), maps.Keys(e.Optional))
	slices.Sort(names)
	return names
}

// Lookup gives the value of a declared variable; declared is false for any
// other name. lookup is [os.LookupEnv] or the like. An optional variable that
// is unset or empty has the value the file gives it.
func (e Env) Lookup(name string, lookup func(string) (string, bool)) (value string, declared bool) {
	if !e.declares(name) {
		return "", false
	}
	if value, _ := lookup(e.variable(name)); value != "" {
		return value, true
	}
	return e.Optional[name], true
}

// Variables are the names of the variables that hold the declared values.
func (e Env) Variables() []string {
	var names []string
	for _, name := range slices.Concat(e.Required, slices.Sorted(maps.Keys(e.Optional))) {
		names = append(names, e.variable(name))
	}
	return names
}

func (e Env) variable(name string) string {
	if bound, ok := e.Bind[name]; ok {
		return bound
	}
	return name
}

// CheckEnv says, in one [Errors], which required variables of which agents
// are missing, empty or nothing but white space, which is no key or address. It
// never shows a value.
func CheckEnv(defs []Definition, lookup func(string) (string, bool)) error {
	var problems Errors
	for _, def := range defs {
		for i, name := range def.Env.Required {
			if value, _ := def.Env.Lookup(name, lookup); strings.TrimSpace(value) != "" {
				continue
			}
			var where place
			if i < len(def.envAt) {
				where = def.envAt[i]
			}
			asName := ""
			if variable := def.Env.variable(name); variable != name {
				asName = fmt.Sprintf(" (bound to %s)", variable)
			}
			problems = append(problems, problem(def.File, where, "agent %s requires the environment variable %s%s, which is not set or empty", def.Agent.Name, name, asName))
		}
	}
	return problems.orNil()
}

func (r *reader) env(n ast.Node, def *Definition) {
	e := &def.Env
	def.bindAt = map[string]place{}
	r.mapping(n, "env", []field{
		{"required", func(n ast.Node) {
			for i, item := range r.list(n, "env.required", "a list of variable names") {
				if name := r.variable(item, fmt.Sprintf("env.required[%d]", i)); name != "" {
					e.Required = append(e.Required, name)
					def.envAt = append(def.envAt, at(item))
				}
			}
		}},
		{"optional", func(n ast.Node) {
			e.Optional = map[string]string{}
			r.entries(n, "env.optional", func(key string, keyAt place, value ast.Node) {
				if !r.checkVariable(keyAt, "env.optional", key) {
					return // not even named: it may be the secret itself
				}
				if text, ok := r.text(value, "env.optional."+key); ok {
					e.Optional[key] = text
				}
			})
		}},
		{"bind", func(n ast.Node) {
			e.Bind = map[string]string{}
			r.entries(n, "env.bind", func(key string, keyAt place, value ast.Node) {
				if !r.checkVariable(keyAt, "env.bind", key) {
					return
				}
				if name := r.variable(value, "env.bind."+key); name != "" {
					e.Bind[key], def.bindAt[key] = name, keyAt
				}
			})
		}},
	})
	r.checkEnv(def)
}

func (r *reader) checkEnv(def *Definition) {
	e := def.Env
	for i, name := range e.Required {
		_, optional := e.Optional[name]
		switch {
		case optional:
			r.report(def.envAt[i], "env: %s is both required and optional; keep one", name)
		case slices.Contains(e.Required[:i], name):
			r.report(def.envAt[i], "env: %s is required twice", name)
		}
	}
}

// foldEnv declares what the rest of the file needs. A binding that nothing
// declares is told here, unless a built-in tool may have declared it: then
// [Definition.Grant] tells.
func (r *reader) foldEnv(def *Definition) {
	for _, s := range def.MCP {
		for _, v := range s.needEnv {
			def.require(v.name, v.at)
		}
	}
	if len(def.Builtins) == 0 {
		r.problems = append(r.problems, def.undeclaredBinds()...)
	}
}

// variable reads the name of an environment variable. What is no name is not
// repeated: it may be the secret itself.
func (r *reader) variable(n ast.Node, what string) string {
	text, ok := r.text(n, what)
	if !ok || !r.checkVariable(at(n), what, text) {
		return ""
	}
	return text
}

func (r *reader) checkVariable(at place, what, name string) bool {
	if regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`).MatchString(name) {
		return true
	}
	r.report(at, "%s: want the name of an environment variable, like OPENAI_API_KEY, never its value", what)
	return false
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// CheckToolEnv says which variables the agent's Go tools may ask for and its
// env does not declare: such a tool would read nothing. own are all Go tools of
// the worker, envOf gives a tool's own list.
func (d Definition) CheckToolEnv(own []string, envOf func(tool string) []string) error {
	var problems Errors
	check := func(tool string, at place) {
		for _, name := range envOf(tool) {
			if !d.Env.declares(name) {
				problems = append(problems, problem(d.File, at,
					"tools: %s reads the environment variable %s; declare it in env.required or env.optional", tool, name))
			}
		}
	}
	for i, tool := range d.ToolNames {
		if tool != AllTools {
			check(tool, d.toolsAt[i])
			continue
		}
		for _, tool := range own {
			check(tool, d.toolsAt[i])
		}
	}
	return problems.orNil()
}
