-- Webhooks in: what services said, the threads it belongs to, and the work it makes for agents.

-- One row for each thing a service said, however often it said it.
CREATE TABLE delivery (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    link BIGINT NOT NULL,
    -- The service's name for what happened: issues.opened.
    event TEXT NOT NULL,
    -- Digests: of the delivery's own id, and of what happened, whichever way it was said.
    transport_key BYTEA NOT NULL,
    semantic_key BYTEA,
    -- What became of it.
    outcome BIGINT NOT NULL,
    -- How often it came.
    copies BIGINT NOT NULL,
    received_ms BIGINT NOT NULL,
    -- The message it became.
    thread BIGINT,
    seq BIGINT,
    -- What the service calls the thing itself, so that a later change of it finds the message.
    remote_id TEXT,
    -- What came, byte for byte, to be read again; gone after a while, the keys stay longer.
    headers TEXT,
    body BYTEA
);
CREATE UNIQUE INDEX delivery_uid ON delivery (uid);
CREATE UNIQUE INDEX delivery_transport ON delivery (link, transport_key);
CREATE UNIQUE INDEX delivery_semantic ON delivery (link, semantic_key)
    WHERE semantic_key IS NOT NULL;
CREATE INDEX delivery_link ON delivery (link, id);
CREATE INDEX delivery_remote ON delivery (link, remote_id) WHERE remote_id IS NOT NULL;

-- Up to when a service has been asked what it did not manage to say, and where that asking goes on.
CREATE TABLE link_reconcile (
    link BIGINT PRIMARY KEY,
    through_ms BIGINT NOT NULL,
    -- While pages are read: when the reading began, and the next page.
    began_ms BIGINT,
    next TEXT
);

-- A thread that stands for something at a service: an issue, a work package, a thread of talk.
CREATE TABLE relay_thread (
    thread BIGINT PRIMARY KEY,
    link BIGINT NOT NULL,
    -- What it is there: github:acme/shop#12.
    key TEXT NOT NULL,
    channel TEXT NOT NULL,
    url TEXT,
    -- How an answer gets there, in the connector's own words: JSON.
    address TEXT NOT NULL
);
CREATE UNIQUE INDEX relay_thread_key ON relay_thread (link, key);

-- Work for agents. Of each thread only the first unfinished one is ready; the others are behind it.
CREATE TABLE work (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    queue TEXT NOT NULL,
    -- The message it is about.
    thread BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    -- The task that stitches messages together.
    task BYTEA NOT NULL,
    state BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    -- Not before then.
    visible_ms BIGINT NOT NULL,
    -- Counts leases: whoever holds an older one may not finish it.
    fence BIGINT NOT NULL,
    holder TEXT,
    lease_ms BIGINT,
    -- Why it was released, parked or given up.
    reason TEXT,
    -- What its completion said and was answered: JSON, so that saying it again gets the same answer.
    outcome TEXT,
    created_ms BIGINT NOT NULL,
    ended_ms BIGINT
);
CREATE UNIQUE INDEX work_uid ON work (uid);
CREATE INDEX work_ready ON work (workspace, queue, visible_ms, id) WHERE state = 0;
CREATE INDEX work_leased ON work (lease_ms) WHERE state = 1;
-- Asked with the very same words: SQLite knows a partial index by them alone.
CREATE INDEX work_open ON work (thread, id) WHERE state IN (0, 1, 5);
CREATE INDEX work_parked ON work (thread, id) WHERE state = 4;
CREATE INDEX work_listed ON work (workspace, id);
-- For counting: what is done is left out, and there is most of that.
CREATE INDEX work_counted ON work (workspace, state, queue, created_ms)
    WHERE state IN (0, 1, 3, 4, 5);

-- By which an envelope without a thread finds one: the digest of a task, or of an envelope's own id.
CREATE TABLE relay_stitch (
    workspace TEXT NOT NULL,
    key BYTEA NOT NULL,
    thread BIGINT NOT NULL,
    PRIMARY KEY (workspace, key)
);
CREATE INDEX work_task ON work (task);
