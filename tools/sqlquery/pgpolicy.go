package sqlquery

// The policy asks the server's catalogue what a query reaches, and which of that
// may have effects that a read-only transaction does not hold back. It runs with
// pg_catalog as the search path, in two steps: most queries need the first alone.
//
// Both end with the verdict. Parameters 1 to 6 are the lists of pgfunctions.go, and
// 7 the names that are called. Identifiers from 16384 on are not the server's own.
const (
	// named is what the query's names and operators may mean: functions, by the
	// calls' schemas (8), names (7) and whether they are written like a column of something (9);
	// relations and types, by all words (10) in the search path (12) or a schema that
	// is a word too; operators, as a part of 11. A table of plain columns is left out.
	named = `WITH scope AS (
  SELECT oid FROM pg_namespace WHERE nspname = ANY($12::text[]::name[]) OR nspname = ANY($10::text[]::name[])
), reach(kind, id) AS MATERIALIZED (
  SELECT 'f', p.oid FROM unnest($8::text[], $7::text[], $9::text[]) AS c(schema, name, field)
    JOIN pg_proc p ON p.proname IN (c.name::name, lower(c.name)::name)
    WHERE (c.schema = '' OR p.pronamespace IN (to_regnamespace(quote_ident(c.schema)), to_regnamespace(quote_ident(lower(c.schema)))))
    AND (c.field = '' OR p.pronargs - p.pronargdefaults <= 1 AND p.pronargs > 0
      AND (c.field = 'any' OR p.proargtypes[0] >= 16384 OR p.proargtypes[0] IN (2249, 2276, 2283, 2776, 5077, 5079)))
  UNION SELECT 'r', c.oid FROM unnest($10::text[]) w JOIN pg_class c ON c.relname IN (w::name, lower(w)::name) WHERE c.relnamespace IN (SELECT oid FROM scope)
    AND (c.oid < 16384 OR c.relkind IN ('v', 'f') OR c.relrowsecurity OR c.relhassubclass
      OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND atttypid >= 16384))
  UNION SELECT 't', t.oid FROM unnest($10::text[]) w JOIN pg_type t ON t.typname IN (w::name, lower(w)::name)
    WHERE t.oid >= 16384 AND t.typnamespace IN (SELECT oid FROM scope) AND (t.typrelid = 0 OR EXISTS (SELECT FROM pg_class WHERE oid = t.typrelid AND relkind = 'c')
      OR EXISTS (SELECT FROM pg_cast WHERE t.oid IN (castsource, casttarget)))
  UNION SELECT 'o', o.oid FROM pg_operator o WHERE o.oid >= 16384 AND o.oprnamespace IN (SELECT oid FROM scope)
    AND EXISTS (SELECT FROM unnest($11::text[]) run WHERE strpos(run, o.oprname) > 0)
  UNION SELECT 'f', castfunc FROM pg_cast WHERE oid >= 16384 AND castfunc <> 0 AND castsource < 16384 AND casttarget < 16384
) SELECT 'more', kind || id, false FROM reach WHERE id >= 16384 UNION ALL ` + verdict

	// followed goes from those (8, as kind and identifier) through definitions: a
	// view's and a row security policy's expressions, a table's types and partitions, a
	// type's casts, checks and order, an operator's, an aggregate's and a function's own
	// functions. In a function's text it looks for names.
	followed = `WITH RECURSIVE reach(kind, id) AS (
  SELECT left(x, 1), substr(x, 2)::oid FROM unnest($8::text[]) x
  UNION
  SELECT e.kind, e.id FROM reach AS n, LATERAL (
    SELECT CASE WHEN m[1] = 'relid' THEN 'r' WHEN m[1] = 'resulttype' THEN 't' WHEN m[1] IN ('opno', 'eqop', 'sortop') THEN 'o' ELSE 'f' END, m[2]::oid
      FROM (SELECT ev_action::text FROM pg_rewrite WHERE n.kind = 'r' AND ev_class = n.id AND rulename = '_RETURN'
        UNION ALL SELECT polqual::text FROM pg_policy WHERE n.kind = 'r' AND polrelid = n.id
        UNION ALL SELECT conbin::text FROM pg_constraint WHERE n.kind = 't' AND contypid = n.id
        UNION ALL SELECT unnest(ARRAY[to_jsonb(p) ->> 'prosqlbody', p.proargdefaults::text]) FROM pg_proc p WHERE n.kind = 'f' AND p.oid = n.id) AS x(tree),
      regexp_matches(x.tree, ':(funcid|opfuncid|aggfnoid|winfnoid|tsmhandler|relid|resulttype|opno|eqop|sortop) ([1-9][0-9]*)', 'g') m
    UNION ALL SELECT 'f', p.oid FROM pg_proc b, regexp_matches(b.prosrc, '(?:("?)([[:alpha:]_][[:alnum:]_$]*)\1\s*\.\s*)?("?)([[:alpha:]_][[:alnum:]_$]*)\3\s*\(', 'g') m, pg_proc p
      WHERE n.kind = 'f' AND b.oid = n.id AND b.prolang > 13 AND p.proname IN (m[4]::name, lower(m[4])::name)
        AND (m[2] IS NULL OR p.pronamespace IN (to_regnamespace(quote_ident(m[2])), to_regnamespace(quote_ident(lower(m[2])))))
    UNION ALL SELECT 'r', c.oid FROM pg_proc b, regexp_matches(b.prosrc, '[[:alpha:]_][[:alnum:]_$]*', 'g') m, pg_class c
      WHERE n.kind = 'f' AND b.oid = n.id AND b.prolang > 13 AND c.relname IN (m[1]::name, lower(m[1])::name) AND (c.relkind IN ('v', 'f') OR c.relrowsecurity OR c.relhassubclass OR c.oid < 16384)
    UNION ALL SELECT 't', unnest(array_append(coalesce(proallargtypes, proargtypes::oid[]), prorettype)) FROM pg_proc WHERE n.kind = 'f' AND oid = n.id
    UNION ALL SELECT 'f', unnest(ARRAY[aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn]::oid[])
      FROM pg_aggregate WHERE n.kind = 'f' AND aggfnoid = n.id
    UNION ALL SELECT 't', atttypid FROM pg_attribute WHERE n.kind = 'r' AND attrelid = n.id AND attnum > 0
    UNION ALL SELECT 't', reltype FROM pg_class WHERE n.kind = 'r' AND oid = n.id
    UNION ALL SELECT 'r', inhrelid FROM pg_inherits WHERE n.kind = 'r' AND inhparent = n.id
    UNION ALL SELECT 't', unnest(ARRAY[typbasetype, typelem]) FROM pg_type WHERE n.kind = 't' AND oid = n.id
    UNION ALL SELECT 'r', typrelid FROM pg_type WHERE n.kind = 't' AND oid = n.id
    UNION ALL SELECT 'f', unnest(ARRAY[typinput, typoutput]::oid[]) FROM pg_type WHERE n.kind = 't' AND oid = n.id
    UNION ALL SELECT 't', rngsubtype FROM pg_range WHERE n.kind = 't' AND rngtypid = n.id
    UNION ALL SELECT 'f', unnest(ARRAY[rngcanonical, rngsubdiff]::oid[]) FROM pg_range WHERE n.kind = 't' AND rngtypid = n.id
    UNION ALL SELECT 'f', castfunc FROM pg_cast WHERE n.kind = 't' AND n.id IN (castsource, casttarget)
    UNION ALL SELECT 'f', a.amproc::oid FROM pg_opclass c JOIN pg_amproc a ON a.amprocfamily = c.opcfamily WHERE n.kind = 't' AND c.opcintype = n.id
    UNION ALL SELECT 'o', a.amopopr FROM pg_opclass c JOIN pg_amop a ON a.amopfamily = c.opcfamily WHERE n.kind = 't' AND c.opcintype = n.id
    UNION ALL SELECT 'f', oprcode::oid FROM pg_operator WHERE n.kind = 'o' AND oid = n.id
    UNION ALL SELECT 'f', a.amproc::oid FROM pg_amop o JOIN pg_amproc a ON a.amprocfamily = o.amopfamily WHERE n.kind = 'o' AND o.amopopr = n.id
  ) AS e(kind, id) WHERE n.id >= 16384 AND e.id <> 0 AND (e.id >= 16384 OR e.kind IN ('r', 'f'))
) ` + verdict

	// verdict gives what of it is refused: why, its name, and whether the query calls
	// it itself. Languages up to 13 are the server's own and C. OFFSET 0 has each
	// looked up, where the planner would read them all.
	verdict = `SELECT p.why, p.name, p.direct FROM reach r, LATERAL (
  SELECT CASE WHEN prolang > 14 AND prosrc ~* '\mexecute\M' OR proname = ANY($3::text[]::name[]) OR prosrc = ANY($4::text[]) THEN 'runs' ELSE 'effects' END AS why,
    pronamespace::regnamespace || '.' || proname AS name, proname = ANY($7::text[]::name[]) AS direct
  FROM pg_proc WHERE r.kind = 'f' AND oid = r.id AND (
    provolatile = 'v' AND NOT (oid < 16384 AND proname = ANY($1::text[]::name[])) AND NOT (prolang = 13 AND prosrc = ANY($5::text[]))
    OR oid < 16384 AND (proname = ANY($2::text[]::name[]) OR proname = ANY($3::text[]::name[]))
    OR prolang = 13 AND prosrc = ANY($4::text[]) OR prolang > 14 AND prosrc ~* '\mexecute\M') OFFSET 0) p
UNION SELECT c.why, c.name, true FROM reach r, LATERAL (
  SELECT CASE relkind WHEN 'f' THEN 'foreign' ELSE 'secret' END AS why, relnamespace::regnamespace || '.' || relname AS name
  FROM pg_class WHERE r.kind = 'r' AND oid = r.id AND (relkind = 'f' OR oid < 16384 AND relname = ANY($6::text[]::name[])) OFFSET 0) c
ORDER BY 1, 2`
)
