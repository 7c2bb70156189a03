//! What an owner does: issuing and revoking tokens, and reading the audit trail.
mod issue_token;
mod list_tokens;
mod read_audit;
mod revoke_token;

pub use issue_token::IssueToken;
pub use list_tokens::ListTokens;
pub use read_audit::ReadAudit;
pub use revoke_token::RevokeToken;
