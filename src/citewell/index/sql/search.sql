-- name: search
-- One round trip for all channels. Each finds its candidates by its own index; then every candidate gets its exact score in the two
-- ranked channels, so that fusing never has to guess at what a channel's cut-off hid.
WITH query AS (
    SELECT term, coalesce(df, 0) AS df, ln(1 + (greatest(c.sections, 1) - coalesce(df, 0) + 0.5) / (coalesce(df, 0) + 0.5)) AS idf
    FROM unnest(%(terms)s::int[]) AS term LEFT JOIN term_stats USING (term), corpus c
),
weights AS (  -- the query's idf vector
    SELECT ('{' || coalesce(string_agg(term || ':' || greatest(idf, 0.0001)::numeric(12, 6), ',' ORDER BY term), '') || '}/1000000000')::sparsevec AS vector
    FROM query
),
rare AS (  -- candidates come by the rarest terms, as many of them as stay within the limit
    SELECT coalesce(array_agg(term), '{}') AS terms
    FROM (SELECT term, sum(df) OVER (ORDER BY df, term) AS total, row_number() OVER (ORDER BY df, term) AS place FROM query) AS q
    WHERE total <= %(candidates)s OR place <= 2
),
keyword AS MATERIALIZED (
    SELECT s.id, s.library FROM sections s, weights
    WHERE s.terms && (SELECT terms FROM rare) AND NOT s.repeated
      AND (%(libraries)s::text[] IS NULL OR s.library = ANY(%(libraries)s))
      AND (%(kinds)s::text[] IS NULL OR s.kind = ANY(%(kinds)s))
      AND (%(sources)s::int[] IS NULL OR s.source_id = ANY(%(sources)s))
    ORDER BY s.lexical <#> weights.vector LIMIT %(depth)s
),
dense AS MATERIALIZED (
    SELECT v.section_id AS id, v.library FROM vectors v
    WHERE (%(libraries)s::text[] IS NULL OR v.library = ANY(%(libraries)s))
      AND (%(kinds)s::text[] IS NULL OR v.kind = ANY(%(kinds)s))
      AND (%(sources)s::int[] IS NULL OR v.source_id = ANY(%(sources)s))
      AND %(vector)s::halfvec IS NOT NULL
    ORDER BY v.embedding <#> %(vector)s::halfvec LIMIT %(depth)s
),
symbol AS MATERIALIZED (  -- a name counts whole, or from a dot on (`nn.Linear`); the more places share it, the less it says
    SELECT id, library, max(score) AS score
    FROM (
        SELECT x.section_id AS id, x.library,
               CASE WHEN x.key = asked.key THEN 1.0 ELSE 0.9 / sqrt(count(*) OVER (PARTITION BY asked.key)) END AS score
        FROM unnest(%(symbols)s::text[], %(lasts)s::text[]) AS asked (key, last)
        JOIN symbols x ON x.last = asked.last
         AND (x.key = asked.key OR right(x.key, length(asked.key) + 1) IN ('.' || asked.key, ':' || asked.key))
        WHERE (%(libraries)s::text[] IS NULL OR x.library = ANY(%(libraries)s))
          AND (%(kinds)s::text[] IS NULL OR x.kind = ANY(%(kinds)s))
          AND (%(sources)s::int[] IS NULL OR x.source_id = ANY(%(sources)s))
    ) AS matched
    GROUP BY id, library ORDER BY score DESC LIMIT %(depth)s
),
candidate AS (SELECT id, library FROM keyword UNION SELECT id, library FROM dense UNION SELECT id, library FROM symbol)
SELECT s.id, s.document_id, s.text_hash,
       greatest(-(s.lexical <#> weights.vector), 0) AS keyword,
       -(v.embedding <#> %(vector)s::halfvec) AS dense,
       coalesce(y.score, 0)::float8 AS symbol,
       d.canonical <> '' AND d.canonical = d.url AS canonical
FROM candidate c
CROSS JOIN weights
JOIN sections s ON s.library = c.library AND s.id = c.id
JOIN documents d ON d.id = s.document_id
LEFT JOIN vectors v ON v.library = c.library AND v.section_id = c.id
LEFT JOIN symbol y ON y.id = c.id;

-- name: sections
SELECT s.id, s.text_hash, src.name AS source, d.path, d.url, s.anchor, d.title, s.heading_path, s.library, s.kind,
       coalesce(nullif(d.version, ''), src.version) AS version, s.part, s.text, d.fetched_at
FROM sections s JOIN documents d ON d.id = s.document_id JOIN sources src ON src.id = s.source_id
WHERE s.id = ANY(%(ids)s) AND (%(libraries)s::text[] IS NULL OR s.library = ANY(%(libraries)s));

-- name: known_symbols
SELECT asked.key FROM unnest(%(symbols)s::text[], %(lasts)s::text[]) AS asked (key, last)
WHERE EXISTS (SELECT FROM symbols x WHERE x.last = asked.last
              AND (x.key = asked.key OR right(x.key, length(asked.key) + 1) IN ('.' || asked.key, ':' || asked.key))
              AND (%(libraries)s::text[] IS NULL OR x.library = ANY(%(libraries)s)));

-- name: known_terms
SELECT term FROM unnest(%(terms)s::int[]) AS term
WHERE EXISTS (SELECT FROM sections s WHERE s.terms && ARRAY[term] AND (%(libraries)s::text[] IS NULL OR s.library = ANY(%(libraries)s)));

-- name: idf
SELECT term, coalesce(df, 0) AS df,
       ln(1 + (greatest(c.sections, 1) - coalesce(df, 0) + 0.5) / (coalesce(df, 0) + 0.5))::float8 AS idf
FROM unnest(%(terms)s::int[]) AS term LEFT JOIN term_stats USING (term), corpus c;

-- name: source_ids
SELECT id FROM sources WHERE name = ANY(%(names)s);
