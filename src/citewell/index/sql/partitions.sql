-- name: add_library
INSERT INTO libraries (name) VALUES (%(library)s) ON CONFLICT (name) DO NOTHING;

-- name: library_id
SELECT id FROM libraries WHERE name = %(library)s;

-- name: partition_exists
SELECT to_regclass(%(table)s) IS NOT NULL AS found;

-- name: lock_partitions
SELECT pg_advisory_xact_lock(hashtextextended('citewell partition', 0));

-- name: create_partition
-- Made apart and attached: that takes a lock under which others go on reading and writing, which CREATE … PARTITION OF does not.
SET LOCAL lock_timeout = '15s';
CREATE TABLE {sections} (LIKE sections INCLUDING DEFAULTS);
ALTER TABLE {sections} ADD PRIMARY KEY (id);
CREATE UNIQUE INDEX ON {sections} (document_id, key);
CREATE INDEX ON {sections} (source_id);
CREATE INDEX ON {sections} USING gin (terms) WITH (fastupdate = off);
ALTER TABLE sections ATTACH PARTITION {sections} FOR VALUES IN ({library});
CREATE TABLE {vectors} (LIKE vectors INCLUDING DEFAULTS);
ALTER TABLE {vectors} ADD PRIMARY KEY (section_id);
CREATE INDEX ON {vectors} (input_hash);
CREATE INDEX ON {vectors} (source_id);
CREATE INDEX ON {vectors} USING hnsw (embedding halfvec_ip_ops) WITH (m = 16, ef_construction = 80);
ALTER TABLE vectors ATTACH PARTITION {vectors} FOR VALUES IN ({library});
