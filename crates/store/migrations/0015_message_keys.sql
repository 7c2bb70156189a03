-- Finds a message by its key. SQLite's writer files the keys of many posts together, in order: each by
-- itself would cost a page, because hashes lie anywhere. PostgreSQL keeps its index.
/*sqlite*/ CREATE TABLE message_key (
/*sqlite*/     thread BIGINT NOT NULL,
/*sqlite*/     idem_hash BIGINT NOT NULL,
/*sqlite*/     message BIGINT NOT NULL,
/*sqlite*/     PRIMARY KEY (thread, idem_hash, message)
/*sqlite*/ ) STRICT, WITHOUT ROWID;
/*sqlite*/ INSERT INTO message_key (thread, idem_hash, message)
/*sqlite*/     SELECT thread, idem_hash, id FROM message WHERE idem_hash IS NOT NULL
/*sqlite*/     ORDER BY thread, idem_hash, id;
/*sqlite*/ INSERT INTO hub_fact (name, value)
/*sqlite*/     SELECT 'message_keys_filed', CAST(coalesce(max(id), 0) AS TEXT) FROM message;
/*sqlite*/ DROP INDEX message_idem;
