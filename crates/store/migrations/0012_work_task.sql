-- A thread is found by a task through the first piece of its work. What stands behind other work of its
-- thread shares that one's task, so a busy thread makes no entry for each of its messages.
DROP INDEX work_task;
-- Asked with the very same words: SQLite knows a partial index by them alone.
CREATE INDEX work_task ON work (task) WHERE state <> 5;
