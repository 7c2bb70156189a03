-- Whether all that a link holds is being deleted, which takes many transactions. Nothing may be added to it
-- in between: what goes on deleting knows the link by its row alone.
ALTER TABLE link ADD COLUMN purging BIGINT NOT NULL DEFAULT 0;
