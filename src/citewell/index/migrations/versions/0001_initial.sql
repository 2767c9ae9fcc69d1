-- Sections and vectors are partitioned by library, so that a library's partition can live on another server. A partitioned table with
-- a remote partition can have neither unique indexes nor foreign keys: those are made on each local partition (create_partition in
-- partitions.sql), and what belongs to a document is deleted by name, in the transaction that deletes the document.

CREATE TABLE corpus (
    only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    index_version bigint NOT NULL DEFAULT 0,
    embedder      text NOT NULL DEFAULT '',
    sections      bigint NOT NULL DEFAULT 0,  -- as of the last count of terms
    changed       bigint NOT NULL DEFAULT 0,  -- sections that changed since
    max_distance  double precision            -- the guard's calibrated threshold
);
INSERT INTO corpus DEFAULT VALUES;

CREATE TABLE libraries (
    id   int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

CREATE TABLE sources (
    id         int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    origin     text NOT NULL,
    library    text NOT NULL REFERENCES libraries (name),
    kind       text NOT NULL DEFAULT '',
    base_url   text NOT NULL DEFAULT '',
    version    text NOT NULL DEFAULT '',
    indexed_at timestamptz
);

CREATE TABLE documents (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id    int NOT NULL REFERENCES sources ON DELETE CASCADE,
    path         text NOT NULL,
    url          text NOT NULL,
    title        text NOT NULL,
    kind         text NOT NULL,
    version      text NOT NULL DEFAULT '',
    content_hash text NOT NULL,
    fetched_at   timestamptz NOT NULL DEFAULT now(),
    text         text NOT NULL,
    UNIQUE (source_id, path)
);

CREATE SEQUENCE section_ids;

CREATE TABLE sections (
    id           bigint NOT NULL DEFAULT nextval('section_ids'),
    library      text NOT NULL,
    source_id    int NOT NULL,
    document_id  bigint NOT NULL,
    kind         text NOT NULL,
    key          bytea NOT NULL,   -- hash of (anchor, heading_path, nth, part): stable whatever stands elsewhere in the page
    ordinal      int NOT NULL,
    anchor       text NOT NULL,
    heading_path text NOT NULL,
    part         int NOT NULL,
    text         text NOT NULL,
    text_hash    text NOT NULL,
    terms        int[] NOT NULL,       -- the terms of text and heading_path, for candidates
    lexical      sparsevec NOT NULL    -- each term's BM25 weight in this section; its inner product with a query's idf is the score
) PARTITION BY LIST (library);

CREATE TABLE vectors (
    section_id bigint NOT NULL,
    library    text NOT NULL,
    source_id  int NOT NULL,
    kind       text NOT NULL,
    input_hash text NOT NULL,          -- of what was embedded: the same input is never embedded twice
    embedding  halfvec(384) NOT NULL
) PARTITION BY LIST (library);

CREATE TABLE symbols (
    name        text NOT NULL,
    key         text NOT NULL,         -- lower case
    last        text NOT NULL,         -- its last component, lower case
    role        text NOT NULL,
    library     text NOT NULL,
    source_id   int NOT NULL REFERENCES sources ON DELETE CASCADE,
    document_id bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
    section_id  bigint NOT NULL,
    kind        text NOT NULL
);
CREATE INDEX symbols_key ON symbols (key);
CREATE INDEX symbols_last ON symbols (last);
CREATE INDEX symbols_document ON symbols (document_id);

CREATE TABLE term_stats (
    term int PRIMARY KEY,
    df   int NOT NULL                  -- sections that hold it
);
