-- While a thread is blocked: whose block that is, who alone may lift it without authority. A block from
-- before, and one of several, is nobody's alone.
ALTER TABLE thread ADD COLUMN blocked_by TEXT;
