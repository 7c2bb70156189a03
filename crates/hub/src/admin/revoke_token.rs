//! Revoking a token.

use protocol::id::TokenId;
use protocol::{Scope, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Tx;

use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Revoke a token by its `jti`. It is refused from now on, everywhere: also on connections that are open.
/// A token that the hub did not issue, of another issuer or from the configuration, is revoked by its id
/// too, for good.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// The token's id, as `list_tokens` shows it; of any other token, as `read_audit` does.
    #[schemars(length(min = 1, max = limits::TOKEN_ID_CHARS_MAX))]
    jti: String,
}

/// The token is revoked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RevokeTokenOutput {
    /// The token's id.
    jti: String,
    /// When it was revoked.
    revoked_at: Timestamp,
    /// Whether the hub issued it. Of any other the hub knows the id alone, and cannot say whether there
    /// is such a token.
    issued_here: bool,
}

impl Operation for RevokeToken {
    const NAME: &'static str = "revoke_token";
    const ROUTE: Route = Route::delete("/v1/tokens/{jti}");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Destroy;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = "admin";
    type Output = RevokeTokenOutput;

    fn object(&self) -> Object<'_> {
        // What is no id may be a token that somebody put there, which must not be written down.
        let is_id = self.jti.parse::<TokenId>().is_ok();
        Object::maybe(Some(self.jti.as_str()).filter(|_| is_id))
    }

    async fn run(self, call: &Call) -> Result<RevokeTokenOutput> {
        // It would be written down, where others can read it.
        if is_token(&self.jti) {
            return Err(Error::invalid_hint(
                "jti",
                "is a whole token and not the id of one",
                "name its jti, as list_tokens or read_audit shows it",
            ));
        }
        validate::line(&self.jti, limits::TOKEN_ID_CHARS_MAX).field("jti")?;
        let (caller, now) = (call.shared_caller(), call.now());
        let may_be_of_others = call.hub.revocations.may_be_of_others();
        let output = call
            .write(move |tx| {
                // A mistyped id of the hub's own is one that does not exist, and so is any other where
                // nobody else issues tokens.
                if self.jti.starts_with(TokenId::PREFIX) || !may_be_of_others {
                    revoke_issued(tx, &caller.workspace_id, &self.jti, now)
                } else {
                    revoke_other(tx, &caller.workspace_id, &self.jti, now)
                }
            })
            .await?;
        call.hub.revocations.revoke(&call.caller().workspace_id, &output.jti);
        Ok(output)
    }

    fn brief(output: &RevokeTokenOutput) -> String {
        let jti = &output.jti;
        if output.issued_here {
            return format!("{jti} is revoked");
        }
        format!(
            "{jti} is revoked: the hub did not issue it, so whatever token of your workspace has this \
             id is refused, for good"
        )
    }
}

/// Whether it looks like a JWT: three parts, the first of which begins an object.
fn is_token(text: &str) -> bool {
    text.starts_with("eyJ") && text.split('.').count() == 3
}

fn revoke_issued(
    tx: &mut Tx<'_>,
    workspace: &str,
    jti: &str,
    now: Timestamp,
) -> Result<Change<RevokeTokenOutput>> {
    const MISSING: Error = Error::NotFound { what: "token" };
    let jti: TokenId = jti.parse().map_err(|_| MISSING)?;
    let token = tx.token(&jti.to_string())?;
    let token = token.filter(|token| token.workspace == workspace).ok_or(MISSING)?;
    let output =
        |revoked_at| RevokeTokenOutput { jti: token.jti.clone(), revoked_at, issued_here: true };
    if let Some(revoked_at) = token.revoked {
        return Ok(Change::none(output(revoked_at)));
    }
    tx.revoke_token(&token.jti, now)?;
    Ok(Change::of(token.jti.clone(), output(now)))
}

fn revoke_other(
    tx: &mut Tx<'_>,
    workspace: &str,
    jti: &str,
    now: Timestamp,
) -> Result<Change<RevokeTokenOutput>> {
    let output =
        |revoked_at| RevokeTokenOutput { jti: jti.to_owned(), revoked_at, issued_here: false };
    if let Some(revoked_at) = tx.revoked_by_id(workspace, jti)? {
        return Ok(Change::none(output(revoked_at)));
    }
    if tx.count_revoked_by_id(workspace)? >= limits::REVOKED_BY_ID_MAX {
        return Err(Error::Conflict(format!(
            "{} tokens that the hub did not issue are revoked one by one already; shut their issuer \
             out instead: remove it from `identity.issuers`, and start the hub again",
            limits::REVOKED_BY_ID_MAX
        )));
    }
    tx.revoke_by_id(workspace, jti, now)?;
    Ok(Change::of(jti, output(now)))
}
