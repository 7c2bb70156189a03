-- What callers asked to be sent to chats, and what services said of it by themselves.

-- Asking again with the same key asks nothing new.
CREATE TABLE chat_send (
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    key TEXT NOT NULL,
    -- The digest of what was asked for: the same key for something else is refused.
    asked BYTEA NOT NULL,
    -- What became of it: a proposal, or an action on its way.
    proposal BYTEA,
    outbox BYTEA,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace, agent, key)
);
CREATE INDEX chat_send_at ON chat_send (at_ms);
-- A service may say that something arrived whose answer was lost.
CREATE INDEX posted_outbox ON posted (outbox);
