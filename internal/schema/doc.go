// Package schema validates and canonicalises JSON against a JSON Schema that
// nobody has to trust. It is pure: no network, no files, no clock, nothing
// else of ours. The entry points are [Compile] and [Schema.Accept].
//
// The validator underneath is gojsonschema, which fetches remote references,
// overflows the stack on a cyclic one, panics on huge exponents and ignores
// newer keywords. So it never sees a foreign schema: [Compile] translates what
// it understands into a draft-7 document of its own making and refuses the
// rest with a reason, and a value is measured against a budget before it is
// validated. What is validated, recorded, hashed and handed to a tool is one
// canonical text.
package schema
