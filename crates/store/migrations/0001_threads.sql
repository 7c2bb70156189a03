-- Threads, their participants and messages, cursors, sessions and folded summaries.
-- Written once for both engines: BIGSERIAL, BIGINT and BYTEA become SQLite's own names.

CREATE TABLE hub_fact (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE thread (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    title TEXT NOT NULL,
    type BIGINT NOT NULL,
    status BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    head_seq BIGINT NOT NULL,
    -- Changes of speaker between agents since a human last spoke, and who spoke last.
    agent_turns BIGINT NOT NULL,
    last_speaker TEXT,
    -- Set while the loop guard holds the thread.
    paused_ms BIGINT
);
CREATE UNIQUE INDEX thread_uid ON thread (uid);
CREATE INDEX thread_workspace ON thread (workspace, id);

-- Who may enter a thread. Its creator has a row too, unlisted unless it takes part.
CREATE TABLE participant (
    thread BIGINT NOT NULL,
    agent TEXT NOT NULL,
    listed BIGINT NOT NULL,
    added_ms BIGINT NOT NULL,
    PRIMARY KEY (thread, agent)
);
CREATE INDEX participant_agent ON participant (agent, thread);

-- A message's id is its place (created_ms, thread, seq): it is never stored.
CREATE TABLE message (
    id BIGSERIAL PRIMARY KEY,
    thread BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    trust BIGINT NOT NULL,
    sender TEXT NOT NULL,
    session TEXT NOT NULL,
    body TEXT NOT NULL,
    metadata TEXT,
    reply_seq BIGINT,
    reply_ms BIGINT,
    idem_hash BIGINT,
    idem_key TEXT,
    -- How the thread stood afterwards: part of the answer that a retry must get again.
    status_after BIGINT NOT NULL
);
CREATE UNIQUE INDEX message_place ON message (thread, seq);
CREATE INDEX message_idem ON message (thread, idem_hash) WHERE idem_hash IS NOT NULL;
CREATE INDEX message_reply ON message (thread, reply_seq) WHERE reply_seq IS NOT NULL;

CREATE TABLE read_cursor (
    thread BIGINT NOT NULL,
    agent TEXT NOT NULL,
    last_read_seq BIGINT NOT NULL,
    last_read_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (thread, agent)
);

CREATE TABLE agent_session (
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    runtime TEXT NOT NULL,
    runtime_version TEXT,
    cwd TEXT,
    managed BIGINT NOT NULL,
    resumable BIGINT NOT NULL,
    status BIGINT NOT NULL,
    heartbeat_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace, agent, session)
);

CREATE TABLE thread_fold (
    thread BIGINT PRIMARY KEY,
    through_seq BIGINT NOT NULL,
    state TEXT NOT NULL
);
