-- name: add_library
INSERT INTO libraries (name) VALUES (%(library)s) ON CONFLICT (name) DO NOTHING;

-- name: library_id
SELECT id FROM libraries WHERE name = %(library)s;

-- name: partition_exists
SELECT to_regclass(%(table)s) IS NOT NULL AS found;

-- name: create_partition
CREATE TABLE {sections} PARTITION OF sections FOR VALUES IN ({library});
ALTER TABLE {sections} ADD PRIMARY KEY (id);
CREATE UNIQUE INDEX ON {sections} (document_id, key);
CREATE INDEX ON {sections} (source_id);
CREATE INDEX ON {sections} USING gin (terms) WITH (fastupdate = off);
CREATE TABLE {vectors} PARTITION OF vectors FOR VALUES IN ({library});
ALTER TABLE {vectors} ADD PRIMARY KEY (section_id);
CREATE INDEX ON {vectors} (input_hash);
CREATE INDEX ON {vectors} (source_id);
CREATE INDEX ON {vectors} USING hnsw (embedding halfvec_ip_ops) WITH (m = 16, ef_construction = 80);
