-- name: pending
SELECT s.id, s.heading_path, s.text FROM sections s
WHERE s.library = %(library)s AND s.source_id = %(source_id)s AND NOT s.repeated
  AND NOT EXISTS (SELECT FROM vectors v WHERE v.library = %(library)s AND v.section_id = s.id)
ORDER BY length(s.text) LIMIT %(limit)s;

-- name: set_vectors_kind
UPDATE vectors v SET kind = %(kind)s FROM sections s
WHERE v.library = %(library)s AND s.library = %(library)s AND v.section_id = s.id AND s.document_id = %(document_id)s AND v.kind <> %(kind)s;

-- name: known_vectors
SELECT DISTINCT ON (input_hash) input_hash, embedding::text AS embedding FROM vectors WHERE input_hash = ANY(%(hashes)s);

-- name: put_vectors
INSERT INTO vectors (section_id, library, source_id, kind, input_hash, embedding)
SELECT s.id, s.library, s.source_id, s.kind, new.input_hash, new.embedding::halfvec
FROM unnest(%(ids)s::bigint[], %(hashes)s::text[], %(embeddings)s::text[]) AS new (id, input_hash, embedding)
JOIN sections s ON s.library = %(library)s AND s.id = new.id
WHERE %(embedder)s = '' OR EXISTS (SELECT FROM corpus WHERE corpus.embedder = %(embedder)s)
ON CONFLICT DO NOTHING;

-- name: sample_sections
SELECT s.id, s.heading_path, left(s.text, 600) AS text FROM sections s
WHERE s.part = 0 AND EXISTS (SELECT FROM vectors v WHERE v.library = s.library AND v.section_id = s.id)
ORDER BY md5(s.id::text) LIMIT %(limit)s;

-- name: nearest_other
SELECT min(1 + (near.embedding <#> %(vector)s::halfvec)) AS distance
FROM (SELECT v.section_id, v.embedding FROM vectors v WHERE %(libraries)s::text[] IS NULL OR v.library = ANY(%(libraries)s)
      ORDER BY v.embedding <#> %(vector)s::halfvec LIMIT 8) AS near
LEFT JOIN sections s ON s.id = near.section_id
WHERE s.document_id IS DISTINCT FROM (SELECT o.document_id FROM sections o WHERE o.id = %(section_id)s);
