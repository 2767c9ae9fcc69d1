ALTER TABLE documents ADD COLUMN canonical text NOT NULL DEFAULT '';  -- the address that a page gives itself
CREATE INDEX documents_url ON documents (url);

ALTER TABLE sources ADD COLUMN crawl_started timestamptz;             -- of the crawl that is under way

CREATE TABLE visits (
    source_id     int NOT NULL REFERENCES sources ON DELETE CASCADE,
    url           text NOT NULL,
    path          text NOT NULL DEFAULT '',
    reason        text NOT NULL DEFAULT '',
    target        text NOT NULL DEFAULT '',
    etag          text NOT NULL DEFAULT '',
    last_modified text NOT NULL DEFAULT '',
    made_by       text NOT NULL DEFAULT '',
    visited_at    timestamptz,                                        -- NULL: found, to be visited
    PRIMARY KEY (source_id, url)
);

ALTER TABLE sections ADD COLUMN repeated boolean NOT NULL DEFAULT false;  -- says what so many pages of its source say that it tells nothing
