-- Who runs a link, and what its chats have missed.

-- On a database that several hubs share, one of them runs a link's stream at a time.
CREATE TABLE link_lease (
    link BIGINT PRIMARY KEY,
    -- Which hub; a new name at every start.
    owner TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    -- How the link is doing, for the other hubs: JSON.
    state TEXT NOT NULL
);

-- Chats of which something may have been said while nobody listened: from the newest message
-- backwards, what was said is read again until it meets what was held.
CREATE TABLE chat_gap (
    thread BIGINT PRIMARY KEY,
    link BIGINT NOT NULL,
    -- Until when everything was held.
    until_ms BIGINT NOT NULL,
    -- Where the reading goes on; NULL when it has not begun.
    cursor TEXT
);
CREATE INDEX chat_gap_link ON chat_gap (link);
