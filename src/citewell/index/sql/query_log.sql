-- name: log_query
WITH forgotten AS (DELETE FROM query_log WHERE asked_at < now() - make_interval(days => %(keep_days)s))
INSERT INTO query_log (trace_id, question, libraries, status, reason, route, protocol, escalated, read, cited, usage, warnings)
VALUES (%(trace_id)s, %(question)s, %(libraries)s, %(status)s, %(reason)s, %(route)s, %(protocol)s, %(escalated)s, %(read)s, %(cited)s,
        %(usage)s::jsonb, %(warnings)s);
