package agentfile

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/turnkeel/turnkeel/contract"
)

// AllTools, as the value of tools or as its only item, stands for every tool
// of the worker.
const AllTools = "all"

// definition reads one agent; ok is false when the file is no mapping at all.
func (r *reader) definition(data []byte, folder string, fsys fs.FS) (def Definition, ok bool) {
	root := r.parse(data)
	if root == nil {
		return Definition{}, false
	}
	if _, isMapping := root.(*ast.MappingNode); !isMapping {
		r.wrongType(root, "", "a mapping of keys to values")
		return Definition{}, false
	}
	def = Definition{File: r.file, Agent: contract.Agent{Name: folder}}
	instructions := instructionsFile{name: InstructionsName}
	var modelAt, endpointAt place
	fields := r.agentFields(&def, &instructions)
	noting(fields, "model", &modelAt)
	noting(fields, "endpoint", &endpointAt)
	seen := r.mapping(root, "", fields)
	if !seen["model"] {
		r.report(place{1, 1}, "model is missing; add for example: model: openai/gpt-4o-mini")
	}
	if !seen["name"] {
		r.checkName(place{}, "the folder's name, which is the agent's unless name is given,", folder)
	}
	r.foldEnv(&def)
	def.modelAt, def.addressed = modelAt, r.addressed
	def.Agent.Instructions = r.instructions(fsys, folder, instructions)
	r.script(fsys, folder, &def, modelAt, endpointAt)
	def.Agent.Digest = Digest(def.Agent)
	return def, true
}

func (r *reader) agentFields(def *Definition, instructions *instructionsFile) []field {
	a := &def.Agent
	fields := []field{
		{"name", func(n ast.Node) { a.Name = r.name(n, a.Name) }},
		{"model", func(n ast.Node) { a.Model = r.model(n) }},
		{"endpoint", func(n ast.Node) { a.Endpoint = r.endpoint(n) }},
		{"temperature", func(n ast.Node) {
			if v, ok := r.number(n, "temperature", 0, 2); ok {
				a.Temperature = &v
			}
		}},
		{"max_output_tokens", func(n ast.Node) { r.maxOutputTokens(n, "max_output_tokens", &a.Limits) }},
		{"reasoning_effort", func(n ast.Node) {
			a.ReasoningEffort = r.oneOf(n, "reasoning_effort", "none", "minimal", "low", "medium", "high", "xhigh")
		}},
		{"context_window", func(n ast.Node) { a.ContextWindow = r.count(n, "context_window") }},
		{"instructions", func(n ast.Node) { *instructions = r.instructionsKey(n) }},
		{"tools", func(n ast.Node) { r.tools(n, def) }},
		{"builtin_tools", func(n ast.Node) { r.builtins(n, def) }},
		{"mcp_servers", func(n ast.Node) { r.mcpServers(n, def) }},
		{"limits", func(n ast.Node) { r.limits(n, &a.Limits) }},
		{"env", func(n ast.Node) { r.env(n, def) }},
		{"policy", func(n ast.Node) { r.policy(n, def) }},
		{"approvals", func(n ast.Node) { r.approvals(n, a) }},
	}
	for _, later := range laterKeys() {
		fields = append(fields, field{later, func(n ast.Node) { r.later(later, n) }})
	}
	return fields
}

func (r *reader) name(n ast.Node, fallback string) string {
	text, ok := r.text(n, "name")
	if !ok || !r.checkName(at(n), "name", text) {
		return fallback
	}
	return text
}

func (r *reader) checkName(at place, what, name string) bool {
	if regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`).MatchString(name) {
		return true
	}
	r.report(at, "%s must be lower-case letters, digits and _, begin with a letter and have at most 41 characters, found %s", what, quote(name))
	return false
}

// model wants provider/model; which providers there are is not known here.
func (r *reader) model(n ast.Node) string {
	text, ok := r.text(n, "model")
	if !ok {
		return ""
	}
	if isScripted(text) {
		return r.scriptName(n, text)
	}
	if !regexp.MustCompile(`^[a-z][a-z0-9_.-]*/[^\s/]\S*$`).MatchString(text) {
		r.report(at(n), "model: want <provider>/<model>, like openai/gpt-4o-mini, found %s", quote(text))
		return ""
	}
	return text
}

// baseURL never repeats a URL that it refuses: it may hold a password.
func (r *reader) baseURL(n ast.Node) string {
	const what = "endpoint.base_url"
	text, ok := r.text(n, what)
	if !ok {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || !isWeb(u) {
		r.report(at(n), "%s: want a URL like https://api.openai.com/v1", what)
		return ""
	}
	if u.User != nil || strings.ContainsAny(text, "?#") {
		r.report(at(n), "%s: must have no user, query or fragment, since it is recorded; name the key's variable in api_key_env", what)
		return ""
	}
	return text
}

func isWeb(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

func (r *reader) limits(n ast.Node, l *contract.Limits) {
	count := func(name string, to *int) field {
		return field{name, func(n ast.Node) { *to = r.count(n, "limits."+name) }}
	}
	r.mapping(n, "limits", []field{
		count("max_steps", &l.MaxSteps),
		count("max_tool_calls_per_step", &l.MaxToolCallsPerStep),
		count("max_tool_concurrency", &l.MaxToolConcurrency),
		count("max_tool_result_chars", &l.MaxToolResultChars),
		{"max_wall_clock", func(n ast.Node) { l.MaxWallClock = contract.Duration(r.duration(n, "limits.max_wall_clock")) }},
		count("max_attempts_per_task", &l.MaxAttemptsPerTask),
		{"max_output_tokens", func(n ast.Node) { r.maxOutputTokens(n, "limits.max_output_tokens", l) }},
		count("token_budget", &l.TokenBudget),
	})
}

// maxOutputTokens has two places in the file and one in the contract.
func (r *reader) maxOutputTokens(n ast.Node, what string, l *contract.Limits) {
	if l.MaxOutputTokens != 0 {
		r.report(at(n), "%s: given twice, at the top and in limits; keep one", what)
		return
	}
	l.MaxOutputTokens = r.count(n, what)
}

func (r *reader) tools(n ast.Node, def *Definition) {
	if text, ok := textOf(n); ok && text == AllTools {
		def.ToolNames, def.toolsAt = []string{AllTools}, []place{at(n)}
		return
	}
	for i, item := range r.list(n, "tools", "a list of tool names, or all") {
		what := fmt.Sprintf("tools[%d]", i)
		text, ok := r.text(item, what)
		switch {
		case !ok:
		case !r.checkTool(at(item), what, text):
		case slices.Contains(def.ToolNames, text):
			r.report(at(item), "%s: %s stands a second time", what, quote(text))
		default:
			def.ToolNames = append(def.ToolNames, text)
			def.toolsAt = append(def.toolsAt, at(item))
		}
	}
	if slices.Contains(def.ToolNames, AllTools) {
		if len(def.ToolNames) > 1 {
			r.report(at(n), "tools: %s stands alone; it has every tool already", AllTools)
		}
		return
	}
	def.Agent.Tools = slices.Clone(def.ToolNames)
}

// toolName is the form that providers take.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (r *reader) checkTool(at place, what, name string) bool {
	if toolName.MatchString(name) {
		return true
	}
	r.report(at, "%s: %s is no tool's name", what, quote(name))
	return false
}

// instructionsFile is the file to read the instructions from.
type instructionsFile struct {
	name  string
	at    place
	asked bool // the file names it, so it must be there
}

func (r *reader) instructionsKey(n ast.Node) instructionsFile {
	text, ok := r.text(n, "instructions")
	if !ok {
		return instructionsFile{}
	}
	if strings.ContainsAny(text, "\n\\") || !fs.ValidPath(text) || text == "." {
		r.report(at(n), "instructions: want the name of a file in the agent's folder, like %s, found %s", InstructionsName, quote(text))
		return instructionsFile{}
	}
	return instructionsFile{name: text, at: at(n), asked: true}
}

// instructions reads the text with line ends as \n, so that a checkout on
// another system has the same digest.
func (r *reader) instructions(fsys fs.FS, folder string, f instructionsFile) string {
	if f.name == "" {
		return ""
	}
	data, size, err := readFile(fsys, path.Join(folder, f.name), MaxInstructionsBytes)
	switch {
	case err == nil:
	case isNotExist(err):
		r.missingInstructions(fsys, folder, f)
		return ""
	default:
		r.report(f.at, "instructions: cannot read %s (%s)", path.Join(path.Dir(r.file), f.name), reason(err))
		return ""
	}
	text := strings.TrimSpace(strings.NewReplacer("\ufeff", "", "\r\n", "\n").Replace(string(data)))
	switch {
	case size > MaxInstructionsBytes:
		r.report(f.at, "instructions: %s is %d bytes long, at most %d are allowed", f.name, size, MaxInstructionsBytes)
	case text == "":
		r.report(f.at, "instructions: %s is empty; write something or remove it", f.name)
	case text != contract.BoundText(text, MaxInstructionsBytes):
		r.report(f.at, "instructions: %s is not UTF-8 text", f.name)
	}
	return text
}
