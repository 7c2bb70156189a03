//! What an owner does: tokens, and reading the audit trail.
