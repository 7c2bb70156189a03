-- Revoked tokens that the hub did not issue: of those it knows the id alone, and not when they end, so
-- this is kept for good. Issued ones are marked where they stand.
CREATE TABLE revocation (
    workspace TEXT NOT NULL,
    jti TEXT NOT NULL,
    revoked_ms BIGINT NOT NULL,
    PRIMARY KEY (workspace, jti)
);
