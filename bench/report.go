package main

import "runtime"

// Targets: the aim, and what must be.
const (
	aimLatency, mustLatency       = 1.05, 1.10
	aimThroughput, mustThroughput = 0.95, 0.85
	mustBytes                     = 1.3
	mustEventsApart               = 1
)

// Report is the outcome of a run, in the form of --output json.
type Report struct {
	Date     string   `json:"date"`
	Machine  Machine  `json:"machine"`
	Settings Settings `json:"settings"`

	// Notes say what the numbers mean.
	Notes   []string       `json:"notes"`
	Servers []ServerReport `json:"servers"`
}

// Machine is where it ran.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

func thisMachine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version()}
}

// Settings are how much was measured.
type Settings struct {
	Pairs  int  `json:"pairs"`
	Warmup int  `json:"warmup_pairs"`
	Load   load `json:"load"`
}

// ServerReport is one server's part.
type ServerReport struct {
	Server string        `json:"server"` // tuned or stock
	Shapes []ShapeReport `json:"shapes"`
}

// ShapeReport is one shape's part. Latency and Throughput are nil where the
// shape is not timed.
type ShapeReport struct {
	Shape string `json:"shape"`
	What  string `json:"what"`

	Latency    *Compared `json:"latency_ms,omitempty"`
	Throughput *Compared `json:"turns_per_second,omitempty"`
	CPU        *Compared `json:"cpu_ms_per_turn,omitempty"`
	History    History   `json:"history"`
}

// Compared is a measure of both sides.
type Compared struct {
	Ours  Spread    `json:"ours"`
	Bare  Spread    `json:"bare"`
	Ratio float64   `json:"ratio"` // median of the paired ratios, ours to bare
	CI95  *interval `json:"ratio_ci95,omitempty"`

	Verdict verdict `json:"verdict,omitempty"`
}

// Spread is a measure of one side.
type Spread struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	N   int     `json:"n"`
}

// History is what both sides' histories weigh: medians.
type History struct {
	Turns  int     `json:"turns"` // of each side
	Ours   Weight  `json:"ours"`
	Bare   Weight  `json:"bare"`
	Serial bool    `json:"serial"`
	Floor  int     `json:"floor_events"`
	Said   int     `json:"content_bytes"`
	Events verdict `json:"events_verdict"`

	BytesToBare    float64 `json:"bytes_to_bare"`
	BytesToContent float64 `json:"bytes_to_content"`
	PayloadsToBare float64 `json:"payloads_to_bare"`
	Bytes          verdict `json:"bytes_verdict"`
}

// Weight is what one history weighs.
type Weight struct {
	Events   float64 `json:"events"`
	Bytes    float64 `json:"bytes"`
	Payloads float64 `json:"payload_bytes"`
}

// verdict is a word on a measure and its target. It decides nothing: timing
// on a shared machine must not fail a build.
type verdict string

const (
	verdictAim  verdict = "pass (aim)"
	verdictMust verdict = "pass (must)"
	verdictFail verdict = "FAIL"
)

// atMost judges a ratio that should be small, atLeast one that should be
// large.
func atMost(v, aim, must float64) verdict {
	switch {
	case v <= aim:
		return verdictAim
	case v <= must:
		return verdictMust
	}
	return verdictFail
}

func atLeast(v, aim, must float64) verdict { return atMost(-v, -aim, -must) }

// unsettled is added to a verdict when the interval holds values of both
// sides of what must be: then the run was too short or the machine too busy.
const unsettled verdict = ", unsettled"

// settle adds the doubt that the interval leaves to the verdict.
func (c *Compared) settle(must float64) {
	if c.CI95 == nil || c.CI95.Low <= must && must < c.CI95.High {
		c.Verdict += unsettled
	}
}

// compare pairs two lists of values.
func compare(values [2][]float64) *Compared {
	all := ratios(values[ours], values[bare])
	c := &Compared{Ours: spread(values[ours]), Bare: spread(values[bare]), Ratio: median(all)}
	if ci, ok := medianInterval(all); ok {
		c.CI95 = &ci
	}
	return c
}

func spread(values []float64) Spread {
	return Spread{P50: median(values), P95: quantile(values, 0.95), N: len(values)}
}

func latencyReport(t timings) *Compared {
	c := compare(t.ms)
	c.Verdict = atMost(c.Ratio, aimLatency, mustLatency)
	c.settle(mustLatency)
	return c
}

func throughputReport(r rates) (perSecond, cpuMS *Compared) {
	perSecond, cpuMS = compare(r.perSecond), compare(r.cpuMS)
	perSecond.Verdict = atLeast(perSecond.Ratio, aimThroughput, mustThroughput)
	perSecond.settle(mustThroughput)
	return perSecond, cpuMS
}

// historyReport weighs both sides against each other, against the floor and
// against the content.
func historyReport(s shape, r records) History {
	weight := func(side int) Weight {
		return Weight{median(r.events[side]), median(r.bytes[side]), median(r.payloads[side])}
	}
	h := History{Turns: len(r.events[ours]), Ours: weight(ours), Bare: weight(bare), Serial: s.Tools == 1, Floor: s.floor(), Said: s.content()}
	h.BytesToBare = h.Ours.Bytes / h.Bare.Bytes
	h.PayloadsToBare = h.Ours.Payloads / h.Bare.Payloads
	h.BytesToContent = h.Ours.Bytes / float64(h.Said)
	h.Events = verdictFail
	if h.Serial && h.Ours.Events == float64(h.Floor) ||
		!h.Serial && h.Ours.Events <= h.Bare.Events+mustEventsApart {
		h.Events = verdictAim
	}
	ratio := h.BytesToBare
	if s.Payload >= 8<<10 { // small ones are all envelope
		ratio = max(ratio, h.BytesToContent)
	}
	h.Bytes = atMost(ratio, mustBytes, mustBytes)
	return h
}

// notes say what is compared and what the numbers mean.
func notes() []string {
	return []string{
		"ours: turnkeel's turn. bare: a hand-written workflow (bench/bare.go) that schedules the same activities with the same options and payloads, on a worker of its own with the same options in the same process, on the same server, without a library around it. Each run checks that both scheduled the same.",
		"The model call of both is ours: it reads the run's history, sends the same request to the scripted model and plans the calls. What differs is workflow code and what it adds to history.",
		"latency: from before the start to the result in the client's hands, one turn at a time, ours and bare as interleaved pairs, the first to go alternating. ratio: median of the paired ratios ours/bare with its 95 % interval (order statistics); unsettled: the interval reaches over what must be.",
		"throughput: turns a second with all of a round's turns under way at once as said, rounds interleaved; ratio likewise over rounds. cpu: processor time of this process per turn (workers, clients, scripted model; not the server).",
		"events: serial turns should have the floor 5+6M+3B+3T, parallel ones at most the bare median plus 1 (a workflow task more or less is the server's doing).",
		"bytes: protobuf size of all events. content: the user's message and the model's texts once, each argument twice (said by the model, handed to the tool), each result once. Judged at 1.3: bytes against the bare twin's, and with 8 KB payloads also bytes against content (small turns are mostly event envelopes).",
	}
}
