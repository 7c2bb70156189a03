-- A purge looks for what is to be forgotten among the messages of a chat.
CREATE INDEX message_expiry_place ON message_expiry (thread, seq);
