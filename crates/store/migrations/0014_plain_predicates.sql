-- An index of some rows asks of each row that is written whether it belongs there. Asked with a list of
-- three or more, SQLite builds a table for the list, every time; asked with comparisons, it compares.
-- Asked with the very same words: SQLite knows a partial index by them alone.
DROP INDEX work_open;
CREATE INDEX work_open ON work (thread, id) WHERE (state < 2 OR state = 5);
DROP INDEX work_counted;
CREATE INDEX work_counted ON work (workspace, state, queue, created_ms) WHERE state <> 2;
DROP INDEX outbox_counted;
CREATE INDEX outbox_counted ON outbox (workspace, state, id) WHERE (state < 2 OR state = 3);
DROP INDEX outbox_unsent;
CREATE INDEX outbox_unsent ON outbox (link, destination) WHERE (state < 2 OR state = 3);
