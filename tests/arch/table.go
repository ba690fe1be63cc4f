package arch

// Row says what the non-test files of a package may import. A pattern is a
// path relative to the module, "." for its root package; "tools/*" matches one
// level below tools and "tests/..." everything below tests.
type Row struct {
	Package string   // the package the row is about, or a pattern
	Ours    []string // packages of this module it may import: all others are forbidden
	Never   []Ban    // what it must not import from outside this module
	Why     string   // shown when the row is broken
}

// Ban is a named group of import paths outside this module. An entry bans the
// path itself and everything below it.
type Ban struct {
	Name   string
	Paths  []string
	Except []string // lifted from the ban again, with everything below
}

var (
	temporal   = Ban{Name: "Temporal", Paths: []string{"go.temporal.io"}}
	thirdParty = Ban{Name: "a library outside the standard library", Paths: []string{"*.*/"}}
	inOut      = Ban{Name: "I/O", Paths: []string{
		"bufio", "crypto/rand", "crypto/tls", "database/sql", "embed", "log", "math/rand",
		"net", "os", "plugin", "syscall", "testing",
	}, Except: []string{"net/url"}}
	workflowSide = Ban{Name: "the workflow side of Temporal's SDK", Paths: []string{"go.temporal.io/sdk/workflow"}}
	dialsOut     = Ban{Name: "Temporal's client and worker", Paths: []string{
		"go.temporal.io/sdk/client", "go.temporal.io/sdk/worker", "go.temporal.io/sdk/activity",
	}}
	nonDeterministic = Ban{Name: "what a workflow must not touch", Paths: []string{
		"bufio", "crypto/rand", "database/sql", "embed", "encoding/json", "log", "maps", "math/rand",
		"net", "os", "os/signal", "plugin", "reflect", "runtime", "sync", "syscall", "testing",
		"go.temporal.io/api/workflowservice",
	}}
)

// packages is the import table of docs/architecture.md. Every package of the
// module has a row.
var packages = []Row{
	{
		Package: "contract",
		Never:   []Ban{temporal, thirdParty, inOut},
		Why:     "contract is what stands in history: pure data, readable without Temporal",
	},
	{
		Package: "blob",
		Never:   []Ban{temporal, thirdParty},
		Why:     "a blob store is bytes under their digest; it knows nothing of turns",
	},
	{
		Package: "blob/blobtest",
		Ours:    []string{"blob"},
		Never:   []Ban{temporal, thirdParty},
		Why:     "it holds any store to the interface alone",
	},
	{
		Package: "blob/s3",
		Ours:    []string{"blob", "internal/mask"},
		Never:   []Ban{temporal},
		Why:     "a blob store is bytes under their digest; it knows nothing of turns",
	},
	{
		Package: "internal/effect",
		Ours:    []string{"contract"},
		Never:   []Ban{temporal, thirdParty, inOut},
		Why:     "keys and outcomes are computed on both sides of the determinism boundary, so from data alone",
	},
	{
		Package: "internal/policy",
		Ours:    []string{"contract"},
		Never:   []Ban{temporal, thirdParty, inOut},
		Why:     "a policy decides from data, so that `policy test` needs no server",
	},
	{
		Package: "internal/schema",
		Ours:    []string{"contract"},
		Never:   []Ban{temporal, {Name: "the network and files", Paths: []string{"net/http", "os"}}},
		Why:     "a schema that could fetch a $ref would reach the network from a tool definition",
	},
	{
		Package: "internal/fold",
		Ours:    []string{"contract", "internal/effect"},
		Never:   []Ban{workflowSide, dialsOut, inOut},
		Why:     "the fold reads events it is given: who fetches them is the caller's business",
	},
	{
		Package: "internal/conversation",
		Ours:    []string{"blob", "contract", "internal/fold"},
		Never:   []Ban{workflowSide, dialsOut},
		Why:     "it fetches a session's events with a client it is handed: workers, the starter and the test kit read the same",
	},
	{
		Package: "internal/foldcache",
		Ours:    []string{"blob", "internal/conversation", "internal/fold"},
		Never:   []Ban{workflowSide, dialsOut},
		Why:     "it fetches events for the fold with a client it is handed, and decides nothing about them",
	},
	{
		Package: "internal/lineage",
		Ours:    []string{"contract", "internal/effect", "internal/fold"},
		Never:   []Ban{workflowSide, inOut},
		Why:     "a lineage is read from histories: who asks, and what is done about it, is the caller's business",
	},
	{
		Package: "internal/stub",
		Ours:    []string{"contract"},
		Never: []Ban{inOut, {
			Name: "anything but Temporal's workflow and activity packages", Paths: []string{"*.*/"},
			Except: []string{"go.temporal.io/sdk/workflow", "go.temporal.io/sdk/activity", "go.temporal.io/sdk/temporal"},
		}},
		Why: "a stub declares an activity for both sides: it may drag neither into the other",
	},
	{
		Package: "workflows",
		Ours:    []string{"contract", "internal/stub", "internal/effect"},
		Never: []Ban{nonDeterministic, dialsOut, {
			Name: "a library other than Temporal's SDK", Paths: []string{"*.*/"}, Except: []string{"go.temporal.io"},
		}},
		Why: "workflow code is replayed: it moves recorded data and nothing else, the rest happens in activities",
	},
	{
		Package: "tooldefs",
		Ours:    []string{"contract", "internal/schema"},
		Never:   []Ban{temporal},
		Why:     "a tool author's package must be testable without Temporal",
	},
	{
		Package: "activities",
		Ours: []string{
			"blob", "contract", "internal/conversation", "internal/stub", "internal/effect", "internal/fold", "internal/foldcache", "internal/lineage",
			"internal/schema", "internal/logging", "internal/mask", "internal/policy", "internal/secrets", "internal/wire", "internal/wire/providers", "tooldefs",
		},
		Why: "activities are worker-side: they know the model, the tools and history, never the workflow's code",
	},
	{
		Package: "internal/wire",
		Ours:    []string{"contract", "internal/mask", "internal/wire/providers"},
		Never:   []Ban{temporal},
		Why:     "the wire speaks to a model endpoint and knows nothing of who retries it",
	},
	{
		Package: "internal/wire/providers",
		Ours:    []string{"contract"},
		Never:   []Ban{temporal, thirdParty, inOut},
		Why:     "what is known of each provider is data",
	},
	{
		Package: "internal/secrets",
		Ours:    []string{"contract"},
		Never:   []Ban{temporal, thirdParty, inOut},
		Why:     "the client and the worker look for the same values; whose environment it is they say",
	},
	{
		Package: "internal/prices",
		Ours:    []string{"contract"},
		Never:   []Ban{temporal},
		Why:     "what tokens cost is a table",
	},
	{
		Package: "tools",
		Ours:    []string{"tooldefs", "tools/*"},
		Never:   []Ban{temporal},
		Why:     "it lists the built-in tools for who offers all of them; a worker that wants one imports that one",
	},
	{
		Package: "tools/attachment",
		Ours:    []string{"blob", "contract", "tooldefs"},
		Never:   []Ban{temporal},
		Why:     "it reads what was put into the blob store when a file was attached, whose form contract holds; no other tool",
	},
	{
		Package: "tools/*",
		Ours:    []string{"tooldefs"},
		Never:   []Ban{temporal},
		Why:     "a built-in tool is what any user could write: the public tool API and nothing more, no other tool",
	},
	{
		Package: "mcptools",
		Ours:    []string{"tooldefs", "internal/child", "internal/mask", "internal/schema"},
		Never:   []Ban{temporal},
		Why:     "MCP tools are tools like any other: the public tool API, and what runs, masks and validates what a server does",
	},
	{
		Package: "examples/support",
		Ours:    []string{"tooldefs"},
		Never:   []Ban{temporal},
		Why:     "an example shows the public tool API alone",
	},
	{
		Package: "examples/tools",
		Ours:    []string{".", "agenttest", "contract", "internal/conn", "internal/fold", "internal/logging", "tooldefs", "workflows"},
		Why:     "the tools show the public tool API; around them stands a whole program, with what only this module has",
	},
	{
		Package: "internal/yamlbound",
		Never:   []Ban{temporal},
		Why:     "what is too much to parse is said in one place",
	},
	{
		Package: "internal/scripted",
		Ours:    []string{"contract", "internal/yamlbound"},
		Never:   []Ban{temporal, {Name: "the testing package", Paths: []string{"testing"}}},
		Why:     "it plays a model for workers and for tests, and knows neither",
	},
	{
		Package: "internal/agentfile",
		Ours:    []string{"contract", "internal/schema", "internal/policy", "internal/scripted", "internal/yamlbound"},
		Never:   []Ban{temporal},
		Why:     "agent.yaml becomes a contract.Agent; that needs no server",
	},
	{
		Package: "internal/codec",
		Ours:    []string{"contract"},
		Never:   []Ban{workflowSide},
		Why:     "the codec sees payloads, not workflows",
	},
	{
		Package: "internal/conn",
		Ours:    []string{"contract", "internal/codec", "internal/logging"},
		Never:   []Ban{workflowSide},
		Why:     "a connection is made of the environment, not of what will run over it",
	},
	{
		Package: "internal/replay",
		Ours:    []string{"contract", "internal/conn", "workflows"},
		Why:     "a replay needs histories and workflow code: no activity, no tool, no model",
	},
	{
		Package: "internal/logging",
		Never:   []Ban{workflowSide, dialsOut},
		Why:     "everything may log, so the logger may import nothing of ours",
	},
	{
		Package: "internal/child",
		Never:   []Ban{temporal, thirdParty},
		Why:     "it starts processes and knows nothing of what they are",
	},
	{
		Package: "internal/mask",
		Never:   []Ban{temporal, thirdParty, {Name: "files and the network", Paths: []string{"os", "net/http"}}},
		Why:     "it takes values out of texts it is given",
	},
	{
		Package: "internal/document",
		Ours:    []string{"internal/child"},
		Never:   []Ban{temporal},
		Why:     "it makes text of files, and knows nothing of what for",
	},
	{
		Package: "internal/devproc",
		Ours:    []string{"internal/child"},
		Why:     "it runs the devserver as a process and must stay usable from every test",
	},
	{
		Package: "internal/toolbin/...",
		Ours:    []string{"internal/devproc", "internal/toolbin"},
		Why:     "it builds programs for tests and knows nothing of what they are used for",
	},
	{
		Package: "internal/debian",
		Never:   []Ban{temporal, thirdParty},
		Why:     "it installs programs for tests and knows nothing of what they are used for",
	},
	{
		Package: ".",
		Ours: []string{
			"blob", "blob/s3", "contract", "tooldefs", "workflows", "activities", "mcptools", "internal/agentfile", "internal/codec",
			"internal/conn", "internal/effect", "internal/fold", "internal/lineage", "internal/logging", "internal/mask", "internal/policy",
			"internal/replay", "internal/schema", "internal/scripted", "internal/secrets", "internal/stub", "internal/usage", "internal/wire", "internal/wire/providers",
		},
		Why: "the embedding API joins all parts, but takes no command line, test kit or dev server into a user's binary",
	},
	{
		Package: "worker",
		Ours:    []string{".", "tools", "tools/*", "mcptools", "internal/cli", "examples/support"},
		Why:     "the stock worker is what a user could write: the embedding API and a list of tools",
	},
	{
		Package: "agenttest",
		Ours:    []string{".", "contract", "tooldefs", "workflows", "internal/conn", "internal/conversation", "internal/devproc", "internal/fold", "internal/lineage", "internal/replay", "internal/scripted", "internal/wire"},
		Why:     "users test their tools with it, and replay what ran; the server is a process, never linked in",
	},
	{
		Package: "internal/usage",
		Never:   []Ban{temporal},
		Why:     "how a command was called is wrong or right before anything is reached",
	},
	{
		Package: "internal/cli",
		Ours: []string{
			".", "agenttest", "blob", "contract", "internal/agentfile", "internal/conn", "internal/conversation", "internal/devproc", "internal/document", "internal/effect",
			"internal/fold", "internal/lineage", "internal/logging", "internal/policy", "internal/prices", "internal/replay", "internal/scripted", "internal/usage", "examples/support",
			"tooldefs",
			"tools",
		},
		Why: "the command line is a client of turns: what a worker does it asks the worker to do",
	},
	{
		Package: "starter",
		Ours:    []string{".", "contract", "internal/agentfile", "internal/cli", "internal/conn", "internal/fold"},
		Why:     "starter is the command line's main function",
	},
	{
		Package: "bench",
		Ours:    []string{"..."},
		Why:     "the benchmark sets a bare workflow beside ours; nothing may look at it",
	},
	{
		Package: "tests/...",
		Ours:    []string{"..."},
		Why:     "tests may look at everything; nothing may look at them",
	},
}

// Library says where a library may be imported outside of tests. An import
// path that is the library's or below it counts.
type Library struct {
	Path     string
	Packages []string
	Why      string
}

// libraries keeps each library behind one package, so that it can be replaced
// there.
var libraries = []Library{
	{"github.com/sashabaranov/go-openai", []string{"internal/wire"}, "the wire's types stop at the adapter"},
	{"github.com/xeipuuv/gojsonschema", []string{"internal/schema"}, "it panics and overflows the stack on some schemas: internal/schema guards it"},
	{"github.com/invopop/jsonschema", []string{"internal/schema", "tooldefs"}, "a tool's schema comes from its argument struct in one place"},
	{"github.com/goccy/go-yaml", []string{"internal/agentfile", "internal/scripted", "internal/yamlbound", "agenttest", "internal/cli", "internal/prices"}, "one YAML reader, strict about unknown keys"},
	{"github.com/ncruces/go-sqlite3", []string{"tools/sqlquery"}, "what may be asked of a database is decided in one place"},
	{"github.com/jackc/pgx/v5", []string{"tools/sqlquery", "tests/postgres"}, "what may be asked of a database is decided in one place"},
	{"github.com/ledongthuc/pdf", []string{"internal/document"}, "it trusts the file: internal/document reads in a process of its own"},
	{"github.com/aws", []string{"blob/s3"}, "its signer and its credentials, and nothing else of it"},
	{"github.com/spf13/cobra", []string{".", "internal/cli", "internal/replay", "internal/usage"}, "commands live in turnkeel.Main and in internal/cli; both have replay, and are strict alike"},
	{"github.com/spf13/pflag", []string{"internal/usage"}, "what is wrong with a flag is said in one place"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"mcptools"}, "MCP's types stop at the tools that are made of them"},
	{"go.temporal.io/sdk/contrib/envconfig", []string{"internal/conn"}, "one reading of Temporal's environment conventions"},
	{"github.com/stretchr/testify", nil, "only tests use it, where Temporal's mocks need it"},
	{"github.com/google/go-cmp", []string{"agenttest", "tests/..."}, "it may panic: tests only"},
}
