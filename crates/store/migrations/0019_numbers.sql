-- The number of a row is given once. Others may know it for longer than the row is there: an action by the
-- link it went through, what was posted by the action that posted it. PostgreSQL's sequences only go on;
-- SQLite gives the highest number again when its row is gone, unless a table says AUTOINCREMENT.

-- A table cannot be told so afterwards, and copying would take as long as there are rows. How rows lie in
-- the file is the same with this word and without it, so only what SQLite knows of the tables is changed.
-- The first table that has it makes the list of what was given; letting it go has other connections read
-- the tables' words anew.
/*sqlite*/ CREATE TABLE given_once (id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT;
/*sqlite*/ PRAGMA writable_schema = ON;
/*sqlite*/ UPDATE sqlite_schema
/*sqlite*/ SET sql = replace(sql, ' id INTEGER PRIMARY KEY,', ' id INTEGER PRIMARY KEY AUTOINCREMENT,')
/*sqlite*/ WHERE type = 'table' AND name IN ('thread', 'link', 'person', 'delivery', 'work', 'outbox',
/*sqlite*/     'proposal', 'proposal_step', 'memory', 'document', 'document_piece', 'tool_call');
/*sqlite*/ PRAGMA writable_schema = RESET;
/*sqlite*/ DROP TABLE given_once;

-- The highest number that was given, as far as anybody still knows it.
/*sqlite*/ INSERT INTO sqlite_sequence (name, seq)
/*sqlite*/ SELECT 'thread', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM thread UNION ALL SELECT max(thread) FROM message
/*sqlite*/     UNION ALL SELECT max(thread) FROM message_change UNION ALL SELECT max(thread) FROM participant
/*sqlite*/     UNION ALL SELECT max(thread) FROM read_cursor UNION ALL SELECT max(thread) FROM wake
/*sqlite*/     UNION ALL SELECT max(thread) FROM wake_policy UNION ALL SELECT max(thread) FROM delivery
/*sqlite*/     UNION ALL SELECT max(thread) FROM work UNION ALL SELECT max(thread) FROM relay_stitch
/*sqlite*/     UNION ALL SELECT max(thread) FROM relay_thread UNION ALL SELECT max(thread) FROM outbox
/*sqlite*/     UNION ALL SELECT max(thread) FROM posted UNION ALL SELECT max(thread) FROM proposal
/*sqlite*/     UNION ALL SELECT max(thread) FROM memory UNION ALL SELECT max(thread) FROM tool_call
/*sqlite*/     UNION ALL SELECT max(thread) FROM session_layer UNION ALL SELECT max(thread) FROM thread_fold)
/*sqlite*/ UNION ALL SELECT 'link', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM link UNION ALL SELECT max(origin) FROM thread
/*sqlite*/     UNION ALL SELECT max(link) FROM delivery UNION ALL SELECT max(link) FROM link_reconcile
/*sqlite*/     UNION ALL SELECT max(link) FROM relay_thread UNION ALL SELECT max(link) FROM outbox
/*sqlite*/     UNION ALL SELECT max(link) FROM posted UNION ALL SELECT max(link) FROM link_lease)
/*sqlite*/ UNION ALL SELECT 'person', coalesce(max(id), 0) FROM person
/*sqlite*/ UNION ALL SELECT 'delivery', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM delivery UNION ALL SELECT CAST(value AS INTEGER) FROM hub_fact
/*sqlite*/     WHERE name = 'delivery_bodies_forgotten_upto')
/*sqlite*/ UNION ALL SELECT 'work', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM work UNION ALL SELECT max(work) FROM proposal)
/*sqlite*/ UNION ALL SELECT 'outbox', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM outbox UNION ALL SELECT max(outbox) FROM posted)
/*sqlite*/ UNION ALL SELECT 'proposal', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM proposal UNION ALL SELECT max(proposal) FROM outbox
/*sqlite*/     UNION ALL SELECT max(proposal) FROM proposal_step)
/*sqlite*/ UNION ALL SELECT 'proposal_step', coalesce(max(id), 0) FROM proposal_step
/*sqlite*/ UNION ALL SELECT 'memory', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM memory
/*sqlite*/     UNION ALL SELECT max(item) FROM memory_change WHERE what = 0)
/*sqlite*/ UNION ALL SELECT 'document', coalesce(max(id), 0) FROM document
/*sqlite*/ UNION ALL SELECT 'document_piece', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM document_piece
/*sqlite*/     UNION ALL SELECT max(item) FROM memory_change WHERE what = 1)
/*sqlite*/ UNION ALL SELECT 'tool_call', coalesce(max(row), 0) FROM (
/*sqlite*/     SELECT max(id) AS row FROM tool_call UNION ALL SELECT max(parent) FROM tool_call);

-- What a link or a chat left behind under a number that another workspace was given is nobody's. The numbers
-- below zero are never given, and keep apart what was apart.
/*sqlite*/ UPDATE posted SET link = -link WHERE EXISTS
/*sqlite*/     (SELECT 1 FROM link l WHERE l.id = posted.link AND l.workspace <> coalesce(
/*sqlite*/         (SELECT t.workspace FROM thread t WHERE t.id = posted.thread),
/*sqlite*/         (SELECT o.workspace FROM outbox o WHERE o.id = posted.outbox), l.workspace));
/*sqlite*/ UPDATE outbox SET link = -link WHERE EXISTS
/*sqlite*/     (SELECT 1 FROM link l WHERE l.id = outbox.link AND l.workspace <> outbox.workspace);
/*sqlite*/ UPDATE relay_thread SET link = -link WHERE EXISTS
/*sqlite*/     (SELECT 1 FROM link l JOIN thread t ON t.id = relay_thread.thread
/*sqlite*/      WHERE l.id = relay_thread.link AND l.workspace <> t.workspace);
/*sqlite*/ UPDATE outbox SET thread = -thread WHERE EXISTS
/*sqlite*/     (SELECT 1 FROM thread t WHERE t.id = outbox.thread AND t.workspace <> outbox.workspace);
-- And what was posted before the action was there to which it seems to belong was posted by one that is
-- forgotten. Finished actions are kept for a day at least; an hour is for clocks that differ.
/*sqlite*/ UPDATE posted SET outbox = -outbox WHERE EXISTS
/*sqlite*/     (SELECT 1 FROM outbox o
/*sqlite*/      WHERE o.id = posted.outbox AND o.created_ms > posted.at_ms + 3600000);
