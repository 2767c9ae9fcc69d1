-- name: begin_crawl
UPDATE sources SET crawl_started = now()
WHERE id = %(source_id)s AND (crawl_started IS NULL OR crawl_started < now() - interval '1 day');

-- name: visits
SELECT v.url, v.path, v.reason, v.target, v.etag, v.last_modified, v.made_by, coalesce(v.visited_at >= s.crawl_started, false) AS done
FROM visits v JOIN sources s ON s.id = v.source_id WHERE v.source_id = %(source_id)s ORDER BY v.url COLLATE "C";

-- name: put_visits
INSERT INTO visits (source_id, url, path, reason, target, etag, last_modified, made_by, visited_at)
SELECT %(source_id)s, new.*, now()
FROM unnest(%(urls)s::text[], %(paths)s::text[], %(reasons)s::text[], %(targets)s::text[], %(etags)s::text[], %(modified)s::text[],
            %(made_by)s::text[]) AS new
ON CONFLICT (source_id, url) DO UPDATE
SET path = excluded.path, reason = excluded.reason, target = excluded.target, etag = excluded.etag,
    last_modified = excluded.last_modified, made_by = excluded.made_by, visited_at = excluded.visited_at;

-- name: find_visits
INSERT INTO visits (source_id, url) SELECT %(source_id)s, unnest(%(urls)s::text[]) ON CONFLICT DO NOTHING;

-- name: confirm_documents
UPDATE documents SET fetched_at = now() WHERE source_id = %(source_id)s AND path = ANY(%(paths)s);

-- name: pages_at
SELECT d.url, s.name AS source, d.path FROM documents d JOIN sources s ON s.id = d.source_id
WHERE d.url = ANY(%(urls)s) AND (%(libraries)s::text[] IS NULL OR s.library = ANY(%(libraries)s));
