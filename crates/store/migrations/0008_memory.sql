-- What is remembered, what documents say, and the tools that agents had run.

CREATE TABLE memory (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    -- 0 episodic, 1 long-term.
    kind BIGINT NOT NULL,
    -- The thread of an episodic one.
    thread BIGINT,
    agent TEXT NOT NULL,
    -- The words that are searched, and the data: JSON. Long-term ones hold no personal data.
    text TEXT NOT NULL,
    data TEXT NOT NULL,
    vector BYTEA NOT NULL,
    embedding TEXT NOT NULL,
    pinned BIGINT NOT NULL,
    created_ms BIGINT NOT NULL,
    used_ms BIGINT NOT NULL,
    expires_ms BIGINT
);
CREATE UNIQUE INDEX memory_uid ON memory (uid);
CREATE INDEX memory_thread ON memory (thread, id) WHERE thread IS NOT NULL;
CREATE INDEX memory_listed ON memory (workspace, kind, id);
CREATE INDEX memory_embedding ON memory (embedding);
CREATE INDEX memory_expiry ON memory (expires_ms) WHERE expires_ms IS NOT NULL;

-- Documents that retrieve_docs finds, in pieces.
CREATE TABLE document (
    id BIGSERIAL PRIMARY KEY,
    workspace TEXT NOT NULL,
    collection TEXT NOT NULL,
    -- A path or an address.
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    url TEXT,
    digest BYTEA NOT NULL,
    updated_ms BIGINT NOT NULL
);
CREATE UNIQUE INDEX document_source ON document (workspace, collection, source);
CREATE TABLE document_piece (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    document BIGINT NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    vector BYTEA NOT NULL,
    embedding TEXT NOT NULL
);
CREATE UNIQUE INDEX document_piece_uid ON document_piece (uid);
CREATE INDEX document_piece_of ON document_piece (document, id);
CREATE INDEX document_piece_embedding ON document_piece (embedding);
CREATE INDEX document_piece_listed ON document_piece (workspace, id);

-- What came, changed or went, of memories (0) and of pieces of documents (1): the views in which they
-- are found follow it. One row for each that is there, and for a while one for each that is gone.
CREATE TABLE memory_change (
    id BIGSERIAL PRIMARY KEY,
    what BIGINT NOT NULL,
    item BIGINT NOT NULL,
    at_ms BIGINT NOT NULL
);
CREATE INDEX memory_change_item ON memory_change (what, item);
CREATE INDEX memory_change_at ON memory_change (at_ms);

-- Calls of tools that messages asked for. Nested calls are flat, with the call they came from.
CREATE TABLE tool_call (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    thread BIGINT NOT NULL,
    -- The message that asked, and the one that answers.
    seq BIGINT NOT NULL,
    answer_seq BIGINT,
    -- What the asker calls it; the same call is never run for two messages.
    call_key TEXT NOT NULL,
    task BYTEA NOT NULL,
    parent BIGINT,
    depth BIGINT NOT NULL,
    -- Whose rights it runs with: JSON of the verified caller.
    caller TEXT NOT NULL,
    name TEXT NOT NULL,
    args TEXT NOT NULL,
    -- The tool that runs now, which a failure may have changed, and the way it last took.
    tool TEXT NOT NULL,
    way TEXT,
    -- Where in the list of ways the next one stands.
    next_way BIGINT NOT NULL,
    state BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    hops BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    holder TEXT,
    lease_ms BIGINT,
    result TEXT,
    created_ms BIGINT NOT NULL,
    ended_ms BIGINT
);
CREATE UNIQUE INDEX tool_call_uid ON tool_call (uid);
CREATE UNIQUE INDEX tool_call_key ON tool_call (thread, call_key);
CREATE UNIQUE INDEX tool_call_place ON tool_call (thread, seq);
CREATE INDEX tool_call_due ON tool_call (due_ms, id) WHERE state = 0;
CREATE INDEX tool_call_leased ON tool_call (lease_ms) WHERE state = 1;
CREATE INDEX tool_call_parent ON tool_call (parent) WHERE parent IS NOT NULL;

-- The summary of a thread's older turns, as its session layer has it.
CREATE TABLE session_layer (
    thread BIGINT PRIMARY KEY,
    through_seq BIGINT NOT NULL,
    summary TEXT NOT NULL,
    updated_ms BIGINT NOT NULL
);
