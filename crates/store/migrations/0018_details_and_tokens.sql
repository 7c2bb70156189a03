-- A salted commitment to an entry's detail, which the entry's hash covers: the detail may be erased, and
-- not rewritten. Entries without a detail have none, and those from before this column.
ALTER TABLE audit ADD COLUMN detail_commitment BYTEA;

-- Tokens are listed page by page in the order of their ids, which are that of time, and forgotten some
-- time after their end.
DROP INDEX token_workspace;
CREATE INDEX token_workspace ON token (workspace, jti);
CREATE INDEX token_expires ON token (expires_ms);
