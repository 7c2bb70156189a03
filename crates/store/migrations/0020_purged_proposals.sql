-- What was proposed for a chat goes with the chat. Proposals whose chat is gone already, or whose number
-- another workspace's thread was given, are forgotten now: nobody could read or decide them.
DELETE FROM proposal_step WHERE proposal IN
    (SELECT p.id FROM proposal p WHERE NOT EXISTS
        (SELECT 1 FROM thread t WHERE t.id = p.thread AND t.workspace = p.workspace));
DELETE FROM proposal WHERE NOT EXISTS
    (SELECT 1 FROM thread t WHERE t.id = proposal.thread AND t.workspace = proposal.workspace);
CREATE INDEX proposal_thread ON proposal (thread);
