-- Links to services, the chats they offer, who speaks in them, and how much of each is held.

-- A chat is a thread that comes from somewhere; threads of the hub itself have no origin.
ALTER TABLE thread ADD COLUMN origin BIGINT;
-- A chat's message has an id at its source, and created_ms is the time it was sent there.
ALTER TABLE message ADD COLUMN remote_id TEXT;
CREATE UNIQUE INDEX message_remote ON message (thread, remote_id) WHERE remote_id IS NOT NULL;
CREATE INDEX message_sent ON message (thread, created_ms, seq) WHERE remote_id IS NOT NULL;

-- The chats a token gives: JSON, for those who list tokens.
ALTER TABLE token ADD COLUMN chats TEXT;

CREATE TABLE link (
    id BIGSERIAL PRIMARY KEY,
    workspace TEXT NOT NULL,
    -- The source's id: telegram, slack-work.
    name TEXT NOT NULL,
    service TEXT NOT NULL,
    -- Whether there is an account behind it, or only what was imported.
    live BIGINT NOT NULL,
    settings TEXT NOT NULL,
    -- Sealed with the hub's own key.
    secrets BYTEA,
    account TEXT NOT NULL,
    stream_cursor TEXT,
    -- Counts changes, so that whoever runs the link sees that it must begin anew.
    version BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_ms BIGINT NOT NULL
);
CREATE UNIQUE INDEX link_name ON link (workspace, name);

CREATE TABLE chat (
    thread BIGINT PRIMARY KEY,
    link BIGINT NOT NULL,
    remote_id TEXT NOT NULL,
    type BIGINT NOT NULL,
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    -- As the source counts them; NULL where it does not.
    participants BIGINT,
    messages BIGINT NOT NULL,
    oldest_ms BIGINT,
    newest_ms BIGINT,
    -- Where reading its past goes on; NULL when it has not begun.
    history_cursor TEXT,
    history_done BIGINT NOT NULL
);
CREATE UNIQUE INDEX chat_remote ON chat (link, remote_id);
CREATE INDEX chat_name ON chat (link, folded_name);
CREATE INDEX chat_newest ON chat (link, newest_ms, thread);

-- Ids under which a chat was known before.
CREATE TABLE chat_former_id (
    link BIGINT NOT NULL,
    remote_id TEXT NOT NULL,
    thread BIGINT NOT NULL,
    PRIMARY KEY (link, remote_id)
);

-- Stretches of a chat's time of which nothing is missing; they never touch each other.
CREATE TABLE chat_held (
    thread BIGINT NOT NULL,
    from_ms BIGINT NOT NULL,
    to_ms BIGINT NOT NULL,
    PRIMARY KEY (thread, from_ms)
);

CREATE TABLE person (
    id BIGSERIAL PRIMARY KEY,
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    is_self BIGINT NOT NULL
);
CREATE INDEX person_name ON person (workspace, folded_name);
-- Every spelling of an identity; those that turn out to be one person share its row.
CREATE TABLE person_alias (
    workspace TEXT NOT NULL,
    alias TEXT NOT NULL,
    person BIGINT NOT NULL,
    PRIMARY KEY (workspace, alias)
);
CREATE INDEX person_alias_person ON person_alias (person);

-- Who has spoken in a chat, by the alias that stands in its messages.
CREATE TABLE chat_speaker (
    thread BIGINT NOT NULL,
    alias TEXT NOT NULL,
    PRIMARY KEY (thread, alias)
);
CREATE INDEX chat_speaker_alias ON chat_speaker (alias, thread);

-- What a message was before it was changed or taken back, in the order of the changes.
CREATE TABLE message_change (
    id BIGSERIAL PRIMARY KEY,
    thread BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    message BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    by_alias TEXT,
    body TEXT,
    metadata TEXT
);
CREATE INDEX message_change_place ON message_change (thread, seq, id);

-- Changes to messages that have not come yet.
CREATE TABLE early_change (
    thread BIGINT NOT NULL,
    remote_id TEXT NOT NULL,
    facts TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (thread, remote_id)
);

-- Messages that must be forgotten at a time.
CREATE TABLE message_expiry (
    at_ms BIGINT NOT NULL,
    thread BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (at_ms, thread, seq)
);

-- How far the import of a file has come.
CREATE TABLE import_progress (
    workspace TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    messages_done BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace, fingerprint)
);
