-- While a thread is blocked: whose block that is, who alone may lift it without authority. A block from
-- before, and one of several, is nobody's alone.
ALTER TABLE thread ADD COLUMN blocked_by TEXT;

-- The keys with which callers opened threads, so that a retry opens no second one.
CREATE TABLE thread_key (
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    key TEXT NOT NULL,
    -- The digest of what was asked for.
    asked BYTEA NOT NULL,
    thread BYTEA NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace, agent, key)
);
