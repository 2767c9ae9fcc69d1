CREATE TABLE query_log (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    asked_at  timestamptz NOT NULL DEFAULT now(),
    trace_id  text NOT NULL,
    question  text NOT NULL,
    libraries text[] NOT NULL,
    status    text NOT NULL,
    reason    text NOT NULL,
    route     text NOT NULL,
    protocol  text NOT NULL,
    escalated boolean NOT NULL,
    read      text[] NOT NULL,          -- addresses of the pages whose sections were gathered
    cited     text[] NOT NULL,
    usage     jsonb NOT NULL,           -- calls, tokens, money, seconds, and each attempt
    warnings  text[] NOT NULL
);
CREATE INDEX query_log_asked ON query_log (asked_at);
