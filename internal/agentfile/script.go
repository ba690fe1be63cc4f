package agentfile

import (
	"io/fs"
	"path"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/turnkeel/turnkeel/internal/scripted"
)

// MaxScriptBytes bounds the file that plays a model.
const MaxScriptBytes = 1 << 20

func isScripted(model string) bool {
	return model == strings.TrimSuffix(scripted.Prefix, "/") || strings.HasPrefix(model, scripted.Prefix)
}

// scriptName reads scripted/<file>, and is "" after a report.
func (r *reader) scriptName(n ast.Node, model string) string {
	name := strings.TrimPrefix(model, scripted.Prefix)
	if !strings.HasPrefix(model, scripted.Prefix) || strings.ContainsAny(name, "\n\\") || !fs.ValidPath(name) || name == "." {
		r.report(at(n), "model: want the name of a script in the agent's folder, like scripted/demo.yaml, found %s", quote(model))
		return ""
	}
	return model
}

// noting has a field keep the place of its value.
func noting(fields []field, name string, to *place) {
	for i, f := range fields {
		if f.name == name {
			fields[i].read = func(n ast.Node) {
				if m, ok := n.(*ast.MappingNode); !ok || len(m.Values) > 0 {
					*to = at(n)
				}
				f.read(n)
			}
		}
	}
}

// script reads the script of an agent whose model is one.
func (r *reader) script(fsys fs.FS, folder string, def *Definition, modelAt, endpointAt place) {
	name, ok := strings.CutPrefix(def.Agent.Model, scripted.Prefix)
	if !ok {
		return
	}
	if endpointAt != (place{}) {
		r.report(endpointAt, "endpoint: a scripted model has no address; remove endpoint, or name another model")
	}
	file := path.Join(path.Dir(r.file), name)
	data, size, err := readFile(fsys, path.Join(folder, name), MaxScriptBytes)
	switch {
	case err != nil:
		r.report(modelAt, "model: cannot read the script %s (%s)", file, reason(err))
		return
	case size > MaxScriptBytes:
		r.report(modelAt, "model: the script %s is %d bytes long, at most %d are allowed", file, size, MaxScriptBytes)
		return
	}
	script, problems := scripted.Read(data)
	for _, p := range problems {
		r.problems = append(r.problems, problem(file, place{p.Line, p.Column}, "%s", p.Text))
	}
	def.Script, def.ScriptFile = &script, file
}
