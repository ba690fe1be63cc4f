package schema

// Bounds on schemas and values. They are far above what tools need and keep
// the worst case of one validation within about a second.
const (
	maxSchemaBytes = 256 << 10
	maxSchemaDepth = 64
	maxSchemaNodes = 5_000

	maxArgsBytes  = 1 << 20
	maxArgsDepth  = 64
	maxArgsValues = 20_000

	maxValueBytes  = 64 << 20
	maxValueDepth  = 512
	maxValueValues = 2_000_000

	maxNumberLength = 400

	maxPatternLength = 1_000
	maxPatternInsts  = 5_000
	maxNamePatterns  = 16 // patternProperties of one schema object

	// budget is how many visits of a schema node by a value one validation
	// may cost; an exponential schema runs out of it instead of hanging.
	budget = 200_000

	// findingCost is what the validator's wording of one finding costs, in
	// visits.
	findingCost = 16

	// maxDefaultBytes bounds what the defaults of a schema add to one value.
	maxDefaultBytes = maxArgsBytes

	maxProblems     = 20
	maxProblemBytes = 300
	maxPathBytes    = 200
)

// limits bounds one parse.
type limits struct {
	bytes, depth, values int
}

func schemaLimits() limits { return limits{maxSchemaBytes, maxSchemaDepth, maxArgsValues} }
func argsLimits() limits   { return limits{maxArgsBytes, maxArgsDepth, maxArgsValues} }
func valueLimits() limits  { return limits{maxValueBytes, maxValueDepth, maxValueValues} }
