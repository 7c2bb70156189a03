-- What is over is forgotten after a while; this is what the forgetting asks.

-- What we posted outlives the action that posted it, so it knows its thread itself.
ALTER TABLE posted ADD COLUMN thread BIGINT;
UPDATE posted SET thread = (SELECT o.thread FROM outbox o WHERE o.id = posted.outbox);
CREATE INDEX posted_at ON posted (at_ms);

-- Whether anything at a destination is not through yet.
CREATE INDEX outbox_unsent ON outbox (link, destination) WHERE state IN (0, 1, 3);
-- Whether an action still leans on a proposal, and a proposal on work.
CREATE INDEX outbox_proposal ON outbox (proposal) WHERE proposal IS NOT NULL;
CREATE INDEX proposal_work ON proposal (work) WHERE work IS NOT NULL;
-- What waits for a human in a thread, and how long the oldest does.
CREATE INDEX proposal_open ON proposal (thread, created_ms) WHERE state IN (0, 5);

CREATE INDEX session_layer_updated ON session_layer (updated_ms);
