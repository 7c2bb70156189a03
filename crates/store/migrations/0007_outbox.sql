-- What leaves the house, and who said that it may.

-- One action on its way to a service. It is a row before anything is sent.
CREATE TABLE outbox (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    -- The link it goes through, and the place there whose order is kept.
    link BIGINT NOT NULL,
    destination TEXT NOT NULL,
    -- Whether it is the first unfinished one of its destination: only such a one is sent.
    head BIGINT NOT NULL,
    -- What is done there: JSON, and its digest.
    action TEXT NOT NULL,
    action_hash BYTEA NOT NULL,
    -- What the buttons beneath it carry, and what it takes the place of: JSON.
    buttons TEXT,
    replaces TEXT,
    -- The thread it belongs to, who wanted it, and the proposal that allowed it.
    thread BIGINT,
    task BYTEA,
    agent TEXT NOT NULL,
    proposal BIGINT,
    state BIGINT NOT NULL,
    -- Parts of a long text that have arrived, and what the service called them: JSON.
    parts_done BIGINT NOT NULL,
    receipts TEXT,
    attempts BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    -- Set before a request goes out: after a crash the service is asked first whether it arrived.
    sending BIGINT NOT NULL,
    -- How often it was asked, and did not show it.
    looks BIGINT NOT NULL,
    holder TEXT,
    lease_ms BIGINT,
    -- Why it waits or was given up, and what the service said last.
    reason TEXT,
    answer TEXT,
    created_ms BIGINT NOT NULL,
    ended_ms BIGINT
);
CREATE UNIQUE INDEX outbox_uid ON outbox (uid);
CREATE INDEX outbox_due ON outbox (due_ms, id) WHERE state = 0 AND head = 1;
CREATE INDEX outbox_leased ON outbox (lease_ms) WHERE state = 1;
-- Asked with the very same words: SQLite knows a partial index by them alone.
CREATE INDEX outbox_open ON outbox (link, destination, id) WHERE state IN (0, 1);
CREATE INDEX outbox_listed ON outbox (workspace, id);
-- What was sent or taken back is left out, and there is most of that.
CREATE INDEX outbox_counted ON outbox (workspace, state, id) WHERE state IN (0, 1, 3);
-- What we posted ourselves comes back as an event; it is known by what the service called it.
CREATE TABLE posted (
    link BIGINT NOT NULL,
    remote_id TEXT NOT NULL,
    outbox BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (link, remote_id)
);

-- What an agent wants to do outside, waiting for a human. Silence decides nothing.
CREATE TABLE proposal (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    thread BIGINT NOT NULL,
    task BYTEA NOT NULL,
    -- The work it came from, so that a remark goes back to it.
    work BIGINT,
    agent TEXT NOT NULL,
    state BIGINT NOT NULL,
    -- Counts drafts: a decision names the one it is about.
    version BIGINT NOT NULL,
    -- The draft as it stands: JSON, and its digest.
    action TEXT NOT NULL,
    action_hash BYTEA NOT NULL,
    why TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    -- When somebody is reminded next, and how often it was done.
    remind_ms BIGINT,
    reminders BIGINT NOT NULL,
    -- Where people are asked: JSON.
    asked_at TEXT,
    decided_by TEXT,
    decided_via TEXT,
    decided_ms BIGINT,
    comment TEXT
);
CREATE UNIQUE INDEX proposal_uid ON proposal (uid);
CREATE INDEX proposal_listed ON proposal (workspace, state, id);
CREATE INDEX proposal_due ON proposal (remind_ms) WHERE remind_ms IS NOT NULL;

-- Earlier drafts and every decision, in order.
CREATE TABLE proposal_step (
    id BIGSERIAL PRIMARY KEY,
    proposal BIGINT NOT NULL,
    version BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    actor TEXT NOT NULL,
    at_ms BIGINT NOT NULL,
    action TEXT,
    comment TEXT
);
CREATE INDEX proposal_step_of ON proposal_step (proposal, id);
