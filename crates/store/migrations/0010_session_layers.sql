-- A session layer says which turns it was made of, and what made it. The old ones are made again.

DROP TABLE session_layer;
CREATE TABLE session_layer (
    thread BIGINT PRIMARY KEY,
    from_seq BIGINT NOT NULL,
    through_seq BIGINT NOT NULL,
    summary TEXT NOT NULL,
    -- `quoted`, or `model:` and its name.
    method TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    -- The hub's digest of the very turns it was made of.
    turns TEXT NOT NULL
);
CREATE INDEX session_layer_updated ON session_layer (updated_ms);
