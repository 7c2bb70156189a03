//! The operator's own terminal: a passphrase unlocks it for a few minutes, and it alone.
//!
//! Any program of the same user reaches the hub's private socket and may call itself the operator there.
//! So deciding takes something that a program does not have: a passphrase that is asked on the
//! controlling terminal. What it unlocks is that terminal, for a command that the shell in it started by
//! itself; a shell that an agent has in the same terminal stands one step further down.
mod passphrase;
mod process;

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::limits::approvals as limits;
use protocol::relay::channel;
use protocol::{Caller, Scope, Secret, Timestamp};
use store::Tx;
use tokio::task::spawn_blocking;

use self::passphrase::{Stored, Wrong};
use self::process::TerminalId;
use super::state::Approvals;
use crate::audit::Commitment;
use crate::call::{Call, Change, Identity};
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::relay::settings::Asking;

/// Who does it, in the audit trail.
const ACTOR: &str = "operator";
const UNLOCK: &str = "unlock_terminal";
const SET: &str = "set_passphrase";

/// The terminals that are unlocked.
#[derive(Default)]
pub(super) struct Terminals {
    unlocked: Mutex<Vec<Unlocked>>,
    /// Passphrases are tried one after the other.
    trying: tokio::sync::Mutex<()>,
}

/// A terminal that is unlocked.
struct Unlocked {
    terminal: TerminalId,
    /// What a caller at it is known by, within this hub alone.
    jti: String,
    until: Timestamp,
}

/// How it stands with the terminal of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether there is a passphrase at all.
    pub is_set: bool,
    /// Whether its terminal is unlocked.
    pub is_unlocked: bool,
    /// Why it could not be, and how a person does it.
    pub refusal: Option<String>,
}

impl Approvals {
    /// Whether a caller is the operator at an unlocked terminal.
    pub fn is_at_terminal(&self, caller: &Caller, now: Timestamp) -> bool {
        let unlocked = self.terminals.unlocked.lock();
        unlocked.iter().any(|one| one.until > now && one.jti == caller.jti)
    }

    /// The operator behind a process, who may decide if the process has an unlocked terminal.
    pub fn at_terminal(&self, caller: Arc<Caller>, pid: i32, now: Timestamp) -> Arc<Caller> {
        match self.jti_of(pid, now) {
            Some(jti) => {
                let scopes = caller.scopes.with(Scope::RelayDecide).with(Scope::ChatsSend);
                Arc::new(Caller { jti, scopes, ..(*caller).clone() })
            }
            None => caller,
        }
    }

    fn jti_of(&self, pid: i32, now: Timestamp) -> Option<String> {
        let mut unlocked = self.terminals.unlocked.lock();
        unlocked.retain(|one| one.until > now);
        // Most of the time no terminal is unlocked, and nobody has to be looked at.
        if unlocked.is_empty() {
            return None;
        }
        let terminal = process::terminal_of(pid).ok()?;
        unlocked.iter().find(|one| one.terminal == terminal).map(|one| one.jti.clone())
    }

    fn unlock(&self, terminal: TerminalId, jti: String, now: Timestamp) {
        let until = Timestamp::from_ms(now.as_ms().saturating_add(limits::TERMINAL_UNLOCKED_MS));
        let mut unlocked = self.terminals.unlocked.lock();
        unlocked.retain(|one| one.until > now && one.terminal != terminal);
        if unlocked.len() >= limits::TERMINALS_UNLOCKED_MAX {
            unlocked.remove(0);
        }
        unlocked.push(Unlocked { terminal, jti, until });
    }
}

/// How it stands with the terminal of a process.
pub async fn standing(hub: &Arc<Hub>, pid: i32) -> Result<Standing> {
    let stored = hub.store.read(Stored::read).await?;
    Ok(Standing {
        is_set: stored.is_some(),
        is_unlocked: hub.approvals.jti_of(pid, hub.now()).is_some(),
        refusal: process::terminal_of(pid).err().map(|refused| Error::from(refused).to_string()),
    })
}

/// Where people decide through a service, whoever holds its secrets could decide for them. So once there
/// is a passphrase, such a link is connected at an unlocked terminal alone.
pub(crate) async fn guard_link(call: &Call, service: &str) -> Result<()> {
    let settings = &call.hub.settings.relay.approvals;
    let asks = |asking: &Asking| !asking.approvers.is_empty() || !asking.escalate_to.is_empty();
    let decides = asks(&settings.asking) || settings.rules.iter().any(|rule| asks(&rule.asking));
    let is_at_terminal = call.hub.approvals.is_at_terminal(call.caller(), call.now());
    if service != channel::SLACK || !decides || is_at_terminal {
        return Ok(());
    }
    match call.hub.store.read(Stored::read).await? {
        None => Ok(()),
        Some(_) => Err(Error::InsufficientAuthority(format!(
            "people decide through {service}, so connecting it takes the operator's passphrase: type \
             `waystation link add {service}` at the prompt of your own terminal"
        ))),
    }
}

/// Unlocks the terminal of a process, if the passphrase is right.
pub async fn unlock(
    hub: &Arc<Hub>,
    (workspace, pid): (&str, i32),
    passphrase: Secret<String>,
) -> Result<()> {
    let terminal = process::terminal_of(pid)?;
    let _one_at_a_time = hub.approvals.terminals.trying.lock().await;
    let stored = hub.store.read(Stored::read).await?.ok_or_else(|| {
        Error::Conflict(
            "there is no passphrase yet; set one with waystation approvals passphrase".to_owned(),
        )
    })?;
    try_passphrase(hub, stored, passphrase, (workspace, UNLOCK)).await?;
    enter(hub, (workspace, UNLOCK), &terminal.to_string(), |_| Ok(())).await?;
    hub.approvals.unlock(terminal, format!("terminal-{}", hub.new_uid(hub.now())), hub.now());
    Ok(())
}

/// Sets the passphrase; changing it takes the old one. Every terminal is locked again.
pub async fn set_passphrase(
    hub: &Arc<Hub>,
    (workspace, pid): (&str, i32),
    old: Option<Secret<String>>,
    new: Secret<String>,
) -> Result<()> {
    let terminal = process::terminal_of(pid)?;
    passphrase::check(new.expose())?;
    let _one_at_a_time = hub.approvals.terminals.trying.lock().await;
    match (hub.store.read(Stored::read).await?, old) {
        (None, _) => {}
        (Some(stored), Some(old)) => try_passphrase(hub, stored, old, (workspace, SET)).await?,
        (Some(_), None) => {
            return Err(Error::InsufficientAuthority(
                "there is a passphrase already; changing it takes the old one".to_owned(),
            ));
        }
    }
    let (salt, now) = (hub.random(), hub.now());
    let stored = spawn_blocking(move || Stored::new(new.expose(), salt, now)).await;
    let stored = stored.map_err(|error| Error::Internal(Box::new(error)))?;
    enter(hub, (workspace, SET), &terminal.to_string(), move |tx| stored.write(tx)).await?;
    hub.approvals.terminals.unlocked.lock().clear();
    Ok(())
}

/// Whether a passphrase is right. A wrong one makes everybody wait, and is in the trail.
async fn try_passphrase(
    hub: &Arc<Hub>,
    stored: Stored,
    passphrase: Secret<String>,
    (workspace, action): (&str, &'static str),
) -> Result<()> {
    let now = hub.now();
    let wrong = hub.store.read(Wrong::read).await?;
    if let Some(retry_after_ms) = wrong.wait_ms(now) {
        return Err(Error::RateLimited { what: "wrong passphrases", retry_after_ms });
    }
    let is_right = spawn_blocking(move || stored.is(passphrase.expose())).await;
    if is_right.map_err(|error| Error::Internal(Box::new(error)))? {
        if wrong.is_any() {
            hub.store.write(|tx| Wrong::default().write(tx)).await?;
        }
        return Ok(());
    }
    let wrong = wrong.one_more(now);
    let identity = Identity::of_service(workspace, ACTOR, now, &*hub.entropy());
    let nothing = Commitment::request(&identity.salt, &[]);
    hub.store
        .write(move |tx| {
            wrong.write(tx)?;
            let commitments = (&nothing, &nothing);
            tx.insert_audit(&identity.entry(action, "passphrase", WRONG, commitments, None))?;
            Ok::<_, Error>(())
        })
        .await?;
    hub.audit_bell.notify_one();
    tracing::warn!("somebody gave a wrong passphrase for deciding");
    Err(Error::InsufficientAuthority("the passphrase is wrong".to_owned()))
}

/// The outcome of a wrong passphrase in the audit trail.
const WRONG: &str = "INSUFFICIENT_AUTHORITY";

/// Writes something and enters it in the audit trail. The passphrase is in neither.
async fn enter(
    hub: &Arc<Hub>,
    (workspace, action): (&str, &'static str),
    object: &str,
    write: impl Fn(&mut Tx<'_>) -> Result<()> + Send + 'static,
) -> Result<()> {
    let identity = Identity::of_service(workspace, ACTOR, hub.now(), &*hub.entropy());
    let request = Commitment::request(&identity.salt, &[]);
    let object = object.to_owned();
    let written = hub
        .store
        .write(move |tx| {
            write(tx)?;
            Change::of(object.clone(), ()).enter(tx, &identity, action, &request)
        })
        .await;
    hub.audit_bell.notify_one();
    written
}
