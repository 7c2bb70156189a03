-- Wakes: attempts to reach sleeping agents, where agents run, and who may be woken when.

-- The program's own name for a session, and the process that proves whether it lives.
ALTER TABLE agent_session ADD COLUMN vendor_session TEXT;
ALTER TABLE agent_session ADD COLUMN host TEXT;
ALTER TABLE agent_session ADD COLUMN pid BIGINT;
ALTER TABLE agent_session ADD COLUMN pid_started BIGINT;
ALTER TABLE agent_session ADD COLUMN boot_id TEXT;
ALTER TABLE agent_session ADD COLUMN transcript TEXT;
-- What its human was last seen doing: when a key was pressed, and whether something stands unsent.
ALTER TABLE agent_session ADD COLUMN human_ms BIGINT;
ALTER TABLE agent_session ADD COLUMN human_draft BIGINT;
ALTER TABLE agent_session ADD COLUMN dialog BIGINT;
-- The call that waits beside it for a wake, and until when.
ALTER TABLE agent_session ADD COLUMN parked_by TEXT;
ALTER TABLE agent_session ADD COLUMN parked_ms BIGINT;

-- How an agent was last started, for starting it again.
CREATE TABLE agent_profile (
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    runtime TEXT NOT NULL,
    cwd TEXT,
    host TEXT NOT NULL,
    -- The command and its arguments: JSON.
    command TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace, agent)
);

-- One attempt to reach an agent about a thread. At most one is open for each pair.
CREATE TABLE wake (
    id BIGSERIAL PRIMARY KEY,
    uid BYTEA NOT NULL,
    workspace TEXT NOT NULL,
    thread BIGINT NOT NULL,
    agent TEXT NOT NULL,
    state BIGINT NOT NULL,
    reason TEXT NOT NULL,
    -- Whether somebody asked for it, or a post did.
    asked BIGINT NOT NULL,
    asked_by TEXT NOT NULL,
    asked_role TEXT NOT NULL,
    -- The caller's own words, cleaned.
    prompt TEXT,
    -- What an operator overrides, and why: JSON.
    force TEXT,
    fail_on_human BIGINT NOT NULL,
    -- The newest message it is about.
    through_seq BIGINT NOT NULL,
    -- The newest message that came after the agent had been told, and asks for another wake.
    again_seq BIGINT,
    requested_ms BIGINT NOT NULL,
    -- Not before then.
    due_ms BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    -- Which host has it, and until when.
    host TEXT,
    lease_ms BIGINT,
    session TEXT,
    lane TEXT,
    -- The lane that was about to be touched when this attempt last wrote.
    handing TEXT,
    why TEXT,
    -- Since when a human keeps it waiting.
    deferred_ms BIGINT,
    handed_ms BIGINT,
    turn_ms BIGINT,
    ended_ms BIGINT
);
CREATE UNIQUE INDEX wake_uid ON wake (uid);
CREATE UNIQUE INDEX wake_open ON wake (thread, agent) WHERE state < 4;
CREATE INDEX wake_due ON wake (due_ms, id) WHERE state < 2;
CREATE INDEX wake_about ON wake (thread, agent, through_seq);
CREATE INDEX wake_agent ON wake (workspace, agent, id);
CREATE INDEX wake_agent_open ON wake (workspace, agent) WHERE state < 4;

-- Who is woken when; thread 0 is the agent's own rule.
CREATE TABLE wake_policy (
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    thread BIGINT NOT NULL,
    policy TEXT NOT NULL,
    updated_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace, agent, thread)
);
