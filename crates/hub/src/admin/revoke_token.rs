//! Revoking a token.

use protocol::id::TokenId;
use protocol::{Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Revoke a token by its `jti`. It is refused from now on, everywhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// The token's id, as `list_tokens` shows it.
    jti: String,
}

/// The token is revoked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RevokeTokenOutput {
    /// The token's id.
    jti: String,
    /// When it was revoked.
    revoked_at: Timestamp,
}

impl Operation for RevokeToken {
    const NAME: &'static str = "revoke_token";
    const ROUTE: Route = Route::delete("/v1/tokens/{jti}");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Destroy;
    const TOOLSET: &'static str = "admin";
    type Output = RevokeTokenOutput;

    async fn run(self, call: &Call) -> Result<RevokeTokenOutput> {
        const MISSING: Error = Error::NotFound { what: "token" };
        let jti: TokenId = self.jti.parse().map_err(|_| MISSING)?;
        let jti = jti.to_string();
        let (workspace, now) = (call.caller().workspace_id.clone(), call.now());
        let output = call
            .write(move |tx| {
                let token =
                    tx.token(&jti)?.filter(|token| token.workspace == workspace).ok_or(MISSING)?;
                if let Some(revoked_at) = token.revoked {
                    return Ok(Change::none(RevokeTokenOutput { jti: token.jti, revoked_at }));
                }
                tx.revoke_token(&token.jti, now)?;
                let output = RevokeTokenOutput { jti: token.jti.clone(), revoked_at: now };
                Ok(Change::of(token.jti, output))
            })
            .await?;
        call.hub.revocations.revoke(&call.caller().workspace_id, &output.jti);
        Ok(output)
    }

    fn brief(output: &RevokeTokenOutput) -> String {
        format!("{} is revoked", output.jti)
    }
}
