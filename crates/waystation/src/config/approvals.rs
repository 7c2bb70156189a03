//! What a human decides.

use anyhow::{Context as _, Result, bail};
use hub::relay::settings::{ApprovalRule, ApprovalSettings, AskPlace, Asking, Verdict};
use protocol::limits::approvals as limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MINUTE_MS: i64 = 60_000;

/// What a human decides. Whatever an agent wants to send to a service waits for one, unless a rule allows
/// it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ApprovalsConfig {
    /// Who may decide: ids of people at the service where they are asked, such as `U024BE7LH`, and names
    /// of operators. The operator's own terminal always may.
    pub(crate) approvers: Vec<String>,
    /// The link through which people are asked about what did not begin in a chat.
    pub(crate) ask_link: String,
    /// The page of the channel there: `https://acme.slack.com/archives/C0123456`.
    pub(crate) ask_url: String,
    /// How long a proposal waits before it expires. It can still be decided then.
    pub(crate) expires_minutes: i64,
    /// How long until somebody is reminded, and again; 0 for never.
    pub(crate) remind_minutes: i64,
    /// How often somebody is reminded.
    pub(crate) reminders_max: i64,
    /// The link through which others are asked when a proposal expires.
    pub(crate) escalate_link: String,
    /// The page of the channel there.
    pub(crate) escalate_url: String,
    /// Who may decide as well from then on.
    pub(crate) escalate_approvers: Vec<String>,
    /// What becomes of actions; the first that fits decides, and without one a human is asked.
    pub(crate) rule: Vec<ApprovalRuleConfig>,
}

impl Default for ApprovalsConfig {
    fn default() -> Self {
        let asking = Asking::default();
        Self {
            approvers: Vec::new(),
            ask_link: String::new(),
            ask_url: String::new(),
            expires_minutes: asking.expires_ms / MINUTE_MS,
            remind_minutes: asking.remind_ms / MINUTE_MS,
            reminders_max: asking.reminders_max,
            escalate_link: String::new(),
            escalate_url: String::new(),
            escalate_approvers: Vec::new(),
            rule: Vec::new(),
        }
    }
}

/// One rule: what fits `link`, `channel`, `place` and `agent` is asked about, allowed or denied. What is
/// left out is as in `[relay.approvals]`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ApprovalRuleConfig {
    /// Only what goes through this link.
    pub(crate) link: Option<String>,
    /// Only what goes to this service, such as `github`.
    pub(crate) channel: Option<String>,
    /// Only what goes to such a page; `*` stands for any run of characters.
    pub(crate) place: Option<String>,
    /// Only what this agent wants.
    pub(crate) agent: Option<String>,
    /// `ask`, `allow` or `deny`.
    pub(crate) then: Then,
    /// Whether `allow` holds in threads with text from outside too. Whoever can write there could then
    /// cause what is allowed.
    pub(crate) even_external: bool,
    /// Who may decide.
    pub(crate) approvers: Option<Vec<String>>,
    /// How long it waits before it expires.
    pub(crate) expires_minutes: Option<i64>,
    /// How long until somebody is reminded.
    pub(crate) remind_minutes: Option<i64>,
    /// The link through which others are asked when it expires.
    pub(crate) escalate_link: Option<String>,
    /// The page of the channel there.
    pub(crate) escalate_url: Option<String>,
    /// Who may decide as well from then on.
    pub(crate) escalate_approvers: Option<Vec<String>>,
}

/// What becomes of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Then {
    /// A human is asked.
    #[default]
    Ask,
    /// It leaves without one.
    Allow,
    /// It never leaves.
    Deny,
}

impl ApprovalsConfig {
    /// What the hub is told.
    pub(super) fn settings(&self) -> ApprovalSettings {
        let asking = Asking {
            approvers: self.approvers.clone(),
            ask_at: place(&self.ask_link, &self.ask_url),
            expires_ms: self.expires_minutes.saturating_mul(MINUTE_MS),
            remind_ms: self.remind_minutes.saturating_mul(MINUTE_MS),
            reminders_max: self.reminders_max,
            escalate_at: place(&self.escalate_link, &self.escalate_url),
            escalate_to: self.escalate_approvers.clone(),
        };
        let rules = self.rule.iter().map(|rule| rule.rule(&asking)).collect();
        ApprovalSettings { asking, rules }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.rule.len() > limits::APPROVAL_RULES_MAX {
            bail!("relay.approvals.rule has more than {} entries", limits::APPROVAL_RULES_MAX);
        }
        if self.reminders_max < 0 {
            bail!("relay.approvals.reminders_max = {} must be at least 0", self.reminders_max);
        }
        times(Some(self.expires_minutes), Some(self.remind_minutes)).context("relay.approvals")?;
        pair(&self.ask_link, &self.ask_url, "ask").context("relay.approvals")?;
        pair(&self.escalate_link, &self.escalate_url, "escalate").context("relay.approvals")?;
        for (index, rule) in self.rule.iter().enumerate() {
            let named = || format!("[[relay.approvals.rule]] number {}", index + 1);
            rule.check().with_context(named)?;
        }
        Ok(())
    }
}

impl ApprovalRuleConfig {
    fn rule(&self, usual: &Asking) -> ApprovalRule {
        let verdict = match self.then {
            Then::Ask => Verdict::Ask,
            Then::Allow => Verdict::Allow,
            Then::Deny => Verdict::Deny,
        };
        let ms = |minutes: Option<i64>, usual: i64| {
            minutes.map_or(usual, |minutes| minutes.saturating_mul(MINUTE_MS))
        };
        let escalate_at = match (&self.escalate_link, &self.escalate_url) {
            (Some(link), Some(url)) => place(link, url),
            _ => usual.escalate_at.clone(),
        };
        let or = |own: &Option<Vec<String>>, usual: &[String]| {
            own.clone().unwrap_or_else(|| usual.to_vec())
        };
        ApprovalRule {
            link: self.link.clone(),
            channel: self.channel.clone(),
            place: self.place.clone(),
            agent: self.agent.clone(),
            verdict,
            even_external: self.even_external,
            asking: Asking {
                approvers: or(&self.approvers, &usual.approvers),
                expires_ms: ms(self.expires_minutes, usual.expires_ms),
                remind_ms: ms(self.remind_minutes, usual.remind_ms),
                escalate_at,
                escalate_to: or(&self.escalate_approvers, &usual.escalate_to),
                ..usual.clone()
            },
        }
    }

    fn check(&self) -> Result<()> {
        times(self.expires_minutes, self.remind_minutes)?;
        let (link, url) = (self.escalate_link.as_deref(), self.escalate_url.as_deref());
        pair(link.unwrap_or_default(), url.unwrap_or_default(), "escalate")?;
        if self.even_external && self.then != Then::Allow {
            bail!("even_external goes with then = \"allow\" alone");
        }
        Ok(())
    }
}

fn place(link: &str, url: &str) -> Option<AskPlace> {
    let is_given = !link.is_empty() && !url.is_empty();
    is_given.then(|| AskPlace { link: link.to_owned(), url: url.to_owned() })
}

fn pair(link: &str, url: &str, name: &str) -> Result<()> {
    if link.is_empty() != url.is_empty() {
        bail!("{name}_link and {name}_url go together: set both or neither");
    }
    Ok(())
}

fn times(expires: Option<i64>, remind: Option<i64>) -> Result<()> {
    if let Some(expires) = expires.filter(|minutes| *minutes < 1) {
        bail!("expires_minutes = {expires} must be at least 1");
    }
    if let Some(remind) = remind.filter(|minutes| *minutes < 0) {
        bail!("remind_minutes = {remind} must be at least 0");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ApprovalsConfig {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn the_defaults_are_the_hubs_own() {
        assert_eq!(ApprovalsConfig::default().settings(), ApprovalSettings::default());
    }

    #[test]
    fn a_rule_has_what_it_says_and_the_rest_of_the_section() {
        let config = read(
            "approvers = [\"U1\"]\nexpires_minutes = 60\nask_link = \"slack\"\nask_url = \"https://a\"\n\
             [[rule]]\nchannel = \"github\"\nthen = \"allow\"\nremind_minutes = 5\n\
             [[rule]]\nagent = \"bot\"\nthen = \"deny\"\napprovers = [\"U2\"]\n",
        );
        config.check().unwrap();
        let settings = config.settings();
        let [first, second] = &settings.rules[..] else { panic!("two rules") };
        assert_eq!((first.verdict, first.asking.remind_ms), (Verdict::Allow, 300_000));
        assert_eq!(
            (first.asking.approvers.as_slice(), first.asking.expires_ms),
            (&["U1".to_owned()][..], 3_600_000)
        );
        assert_eq!(first.asking.ask_at.as_ref().unwrap().link, "slack");
        assert_eq!((second.verdict, second.asking.approvers[0].as_str()), (Verdict::Deny, "U2"));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, word) in [
            ("ask_link = \"slack\"\n", "ask_link"),
            ("expires_minutes = 0\n", "expires_minutes"),
            ("[[rule]]\nthen = \"ask\"\neven_external = true\n", "even_external"),
            ("[[rule]]\nescalate_url = \"x\"\n", "number 1"),
        ] {
            let error = format!("{:#}", read(text).check().unwrap_err());
            assert!(error.contains(word), "{error}");
        }
    }
}
