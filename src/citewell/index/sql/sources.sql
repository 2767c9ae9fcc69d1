-- name: source_by_name
SELECT id, name, origin, library, kind, base_url, version FROM sources WHERE name = %(name)s;

-- name: add_source
INSERT INTO sources (name, origin, library, kind, base_url, version)
VALUES (%(name)s, %(origin)s, %(library)s, %(kind)s, %(base_url)s, %(version)s)
RETURNING id, name, origin, library, kind, base_url, version;

-- name: update_source
UPDATE sources SET kind = %(kind)s, base_url = %(base_url)s, version = %(version)s WHERE id = %(source_id)s
RETURNING id, name, origin, library, kind, base_url, version;

-- name: lock_source
SELECT pg_try_advisory_lock(hashtextextended('citewell source ' || %(name)s, 0)) AS locked;

-- name: lock_source_in_transaction
SELECT pg_try_advisory_xact_lock(hashtextextended('citewell source ' || %(name)s, 0)) AS locked;

-- name: unlock_source
SELECT pg_advisory_unlock(hashtextextended('citewell source ' || %(name)s, 0));

-- name: sources
SELECT s.name AS source, s.origin, s.library, s.indexed_at,
       (SELECT count(*) FROM documents d WHERE d.source_id = s.id) AS pages,
       (SELECT count(*) FROM sections x WHERE x.library = s.library AND x.source_id = s.id) AS sections,
       (SELECT count(*) FROM sections x WHERE x.library = s.library AND x.source_id = s.id AND NOT x.repeated)
       - (SELECT count(*) FROM vectors v WHERE v.library = s.library AND v.source_id = s.id) AS vectors_pending
FROM sources s ORDER BY s.name;

-- name: finish_source
UPDATE sources SET indexed_at = CASE WHEN %(complete)s THEN now() ELSE indexed_at END,
                   crawl_started = CASE WHEN %(complete)s THEN NULL ELSE crawl_started END
WHERE id = %(source_id)s;

-- name: remove_source_vectors
DELETE FROM vectors WHERE library = %(library)s AND source_id = %(source_id)s;

-- name: remove_source_sections
DELETE FROM sections WHERE library = %(library)s AND source_id = %(source_id)s RETURNING 1 AS gone;

-- name: remove_source
DELETE FROM sources WHERE id = %(source_id)s;
