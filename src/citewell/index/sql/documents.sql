-- name: page_hashes
SELECT path, content_hash FROM documents WHERE source_id = %(source_id)s;

-- name: move_page
UPDATE documents SET path = %(path)s WHERE source_id = %(source_id)s AND path = %(moved_from)s
  AND NOT EXISTS (SELECT FROM documents d WHERE d.source_id = %(source_id)s AND d.path = %(path)s);

-- name: put_document
INSERT INTO documents (source_id, path, url, title, kind, version, content_hash, text, canonical)
VALUES (%(source_id)s, %(path)s, %(url)s, %(title)s, %(kind)s, %(version)s, %(content_hash)s, %(text)s, %(canonical)s)
ON CONFLICT (source_id, path) DO UPDATE
SET url = excluded.url, title = excluded.title, kind = excluded.kind, version = excluded.version,
    content_hash = excluded.content_hash, text = excluded.text, canonical = excluded.canonical, fetched_at = now()
RETURNING id, xmax = 0 AS added;

-- name: document_sections
SELECT id, key, text_hash, kind FROM sections WHERE library = %(library)s AND document_id = %(document_id)s;

-- name: update_section
UPDATE sections SET ordinal = %(ordinal)s, kind = %(kind)s, text = %(text)s, text_hash = %(text_hash)s,
                    terms = %(terms)s, lexical = %(lexical)s::sparsevec
WHERE library = %(library)s AND id = %(id)s;

-- name: copy_sections
COPY sections (id, library, source_id, document_id, kind, key, ordinal, anchor, heading_path, part, text, text_hash, terms, lexical) FROM STDIN;

-- name: next_section_ids
SELECT nextval('section_ids') AS id FROM generate_series(1, %(count)s);

-- name: delete_sections
DELETE FROM sections WHERE library = %(library)s AND id = ANY(%(ids)s);

-- name: delete_vectors
DELETE FROM vectors WHERE library = %(library)s AND section_id = ANY(%(ids)s);

-- name: clear_symbols
DELETE FROM symbols WHERE document_id = %(document_id)s;

-- name: copy_symbols
COPY symbols (name, key, last, role, library, source_id, document_id, section_id, kind) FROM STDIN;

-- name: delete_page_vectors
DELETE FROM vectors v USING sections s, documents d
WHERE v.library = %(library)s AND s.library = %(library)s AND v.section_id = s.id
  AND s.document_id = d.id AND d.source_id = %(source_id)s AND d.path = ANY(%(paths)s);

-- name: delete_page_sections
DELETE FROM sections s USING documents d
WHERE s.library = %(library)s AND s.document_id = d.id AND d.source_id = %(source_id)s AND d.path = ANY(%(paths)s) RETURNING 1 AS gone;

-- name: delete_pages
DELETE FROM documents WHERE source_id = %(source_id)s AND path = ANY(%(paths)s);

-- name: list_documents
SELECT s.name AS source, d.path, d.title, d.url, count(*) OVER () AS total
FROM documents d JOIN sources s ON s.id = d.source_id
WHERE (%(libraries)s::text[] IS NULL OR s.library = ANY(%(libraries)s))
  AND (%(prefix)s = '' OR starts_with(s.name || '/' || d.path, %(prefix)s))
ORDER BY s.name COLLATE "C", d.path COLLATE "C"
LIMIT %(limit)s OFFSET %(offset)s;

-- name: read_document
SELECT s.name AS source, d.path, d.url, d.title, s.library, d.kind, d.version, d.content_hash, d.fetched_at, d.text
FROM documents d JOIN sources s ON s.id = d.source_id
WHERE (%(libraries)s::text[] IS NULL OR s.library = ANY(%(libraries)s))
  AND starts_with(lower(%(name)s), lower(s.name) || '/') AND lower(d.path) = lower(substr(%(name)s, length(s.name) + 2))
ORDER BY s.name || '/' || d.path = %(name)s DESC, length(s.name) DESC LIMIT 1;

-- name: near_documents
SELECT s.name || '/' || d.path AS name
FROM documents d JOIN sources s ON s.id = d.source_id
WHERE (%(libraries)s::text[] IS NULL OR s.library = ANY(%(libraries)s))
ORDER BY similarity(s.name || '/' || d.path, %(name)s) DESC LIMIT 3;

-- name: mark_repeated
-- What a good share of a source's pages say in the very same words is a banner or a footer: nobody searches for it.
WITH repeats AS (
    SELECT text_hash FROM sections WHERE library = %(library)s AND source_id = %(source_id)s
    GROUP BY text_hash
    HAVING count(DISTINCT document_id) > greatest(%(pages)s, %(share)s * (SELECT count(*) FROM documents WHERE source_id = %(source_id)s))
)
UPDATE sections s SET repeated = NOT s.repeated
WHERE s.library = %(library)s AND s.source_id = %(source_id)s AND s.repeated <> (s.text_hash IN (SELECT text_hash FROM repeats))
RETURNING s.id;

-- name: drop_repeated_vectors
DELETE FROM vectors v USING sections s
WHERE v.library = %(library)s AND s.library = %(library)s AND s.source_id = %(source_id)s AND s.repeated AND v.section_id = s.id;
