-- Issued tokens and the audit trail.

CREATE TABLE token (
    jti TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    role TEXT NOT NULL,
    scopes TEXT NOT NULL,
    session TEXT NOT NULL,
    issued_by TEXT NOT NULL,
    issued_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    revoked_ms BIGINT
);
CREATE INDEX token_workspace ON token (workspace, issued_ms);

-- One entry an operation. What was asked and answered stands here only as salted commitments;
-- salt and detail are outside the seal and may be erased.
CREATE TABLE audit (
    id BIGSERIAL PRIMARY KEY,
    at_ms BIGINT NOT NULL,
    workspace TEXT NOT NULL,
    actor TEXT NOT NULL,
    role TEXT NOT NULL,
    session TEXT NOT NULL,
    jti TEXT NOT NULL,
    request_id BYTEA NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    outcome TEXT NOT NULL,
    request BYTEA NOT NULL,
    response BYTEA NOT NULL,
    salt BYTEA,
    detail TEXT
);

-- A seal covers the entries first_id..last_id: their hashes, a Merkle root, the seal before, a signature.
CREATE TABLE audit_seal (
    id BIGINT PRIMARY KEY,
    first_id BIGINT NOT NULL,
    last_id BIGINT NOT NULL,
    entries BIGINT NOT NULL,
    sealed_ms BIGINT NOT NULL,
    leaves BYTEA NOT NULL,
    root BYTEA NOT NULL,
    previous BYTEA NOT NULL,
    hash BYTEA NOT NULL,
    key_id TEXT NOT NULL,
    signature BYTEA NOT NULL
);
CREATE UNIQUE INDEX audit_seal_last ON audit_seal (last_id);
