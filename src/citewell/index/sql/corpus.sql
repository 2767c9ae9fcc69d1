-- name: corpus
SELECT index_version, CASE WHEN EXISTS (SELECT FROM vectors) THEN embedder ELSE '' END AS embedder, sections, max_distance FROM corpus;

-- name: publish
UPDATE corpus SET index_version = index_version + 1, changed = changed + %(changed)s;

-- name: embedder
SELECT embedder FROM corpus;

-- name: lock_vectors
-- Whoever is writing vectors ends first; then there are some, or nobody can write any until the embedder is known.
SET LOCAL lock_timeout = '15s';
LOCK TABLE vectors IN SHARE ROW EXCLUSIVE MODE;

-- name: set_embedder
UPDATE corpus SET embedder = %(embedder)s, max_distance = NULL
WHERE embedder = '' OR NOT EXISTS (SELECT FROM vectors);

-- name: vector_width
SELECT atttypmod AS width FROM pg_attribute WHERE attrelid = 'vectors'::regclass AND attname = 'embedding';

-- name: set_vector_width
-- Of every partition too, whose index is made anew; there are no rows.
ALTER TABLE vectors ALTER COLUMN embedding TYPE halfvec({width});

-- name: set_threshold
UPDATE corpus SET max_distance = %(distance)s;

-- name: lock_terms
SELECT pg_try_advisory_xact_lock(hashtextextended('citewell terms', 0)) AS locked;

-- name: clear_terms
DELETE FROM term_stats;

-- name: fill_terms
INSERT INTO term_stats (term, df)
SELECT term, count(*) FROM sections, unnest(terms) AS term GROUP BY term;

-- name: changed_sections
SELECT changed, sections FROM corpus;

-- name: note_sections
UPDATE corpus SET sections = (SELECT count(*) FROM sections), changed = 0;

-- name: server
SELECT current_setting('server_version_num')::int AS version_num,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector_available,
       EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') AS trigrams,
       pg_is_in_recovery() AS read_only,
       has_database_privilege(current_database(), 'CREATE') AS may_create,
       current_user AS account, current_database() AS database;

-- name: extension_schemas
SELECT DISTINCT extnamespace::regnamespace::text AS name FROM pg_extension WHERE extname IN ('vector', 'pg_trgm');
