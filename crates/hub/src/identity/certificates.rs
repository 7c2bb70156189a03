//! Client certificates: whom each of the names in one stands for, as the configuration says.

use std::sync::Arc;

use protocol::chat::ChatGrant;
use protocol::{Caller, Timestamp, validate};

use super::claims::NEVER;
use super::config::ClientCertificate;
use super::error::IdentityError;

/// The names in a certificate whose chain and signature have been verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateNames {
    /// Its alternative names that are URIs.
    pub uris: Vec<String>,
    /// Its alternative names that are host names.
    pub dns: Vec<String>,
    /// Its subject's common name.
    pub common_name: Option<String>,
}

/// All certificates that stand for an agent.
pub(super) struct Certificates(Vec<(Name, Arc<Caller>)>);

enum Name {
    Uri(String),
    Dns(String),
    Cn(String),
}

impl Name {
    fn is_in(&self, names: &CertificateNames) -> bool {
        match self {
            Self::Uri(uri) => names.uris.contains(uri),
            Self::Dns(name) => names.dns.iter().any(|dns| dns.eq_ignore_ascii_case(name)),
            Self::Cn(name) => names.common_name.as_ref() == Some(name),
        }
    }
}

impl Certificates {
    /// Checks the settings.
    pub(super) fn new(settings: &[ClientCertificate]) -> Result<Self, IdentityError> {
        let entry = |(index, setting)| {
            let path = format!("client_certificates[{index}]");
            Ok((name(setting, &path)?, caller(setting, &path)?))
        };
        settings.iter().enumerate().map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// The agent a certificate stands for, if it stands for one.
    pub(super) fn find(
        &self,
        names: &CertificateNames,
    ) -> Result<Option<&Arc<Caller>>, IdentityError> {
        let mut found: Option<&Arc<Caller>> = None;
        for (_, caller) in self.0.iter().filter(|(name, _)| name.is_in(names)) {
            match found {
                Some(other) if other != caller => {
                    return Err(IdentityError::CertificateAmbiguous);
                }
                _ => found = Some(caller),
            }
        }
        Ok(found)
    }
}

fn name(setting: &ClientCertificate, path: &str) -> Result<Name, IdentityError> {
    let name = match (&setting.uri, &setting.dns, &setting.cn) {
        (Some(uri), None, None) => Name::Uri(uri.clone()),
        (None, Some(name), None) => Name::Dns(name.clone()),
        (None, None, Some(name)) => Name::Cn(name.clone()),
        _ => return Err(IdentityError::config(path, "must have one of uri, dns and cn")),
    };
    let (Name::Uri(text) | Name::Dns(text) | Name::Cn(text)) = &name;
    if text.is_empty() {
        return Err(IdentityError::config(path, "must not name nobody"));
    }
    Ok(name)
}

fn caller(setting: &ClientCertificate, path: &str) -> Result<Arc<Caller>, IdentityError> {
    for (field, checked) in [
        ("agent_id", validate::agent_id(&setting.agent_id)),
        ("workspace_id", validate::name(&setting.workspace_id)),
    ] {
        checked.map_err(|why| IdentityError::config(format!("{path}.{field}"), why.to_string()))?;
    }
    let id = format!("cert-{}", setting.agent_id);
    Ok(Arc::new(Caller {
        agent_id: setting.agent_id.clone(),
        workspace_id: setting.workspace_id.clone(),
        role: setting.role,
        session_id: id.clone(),
        scopes: setting.scopes.map_or(setting.role.default_scopes(), |list| list.0),
        chats: setting.chats.clone().map_or(setting.role.default_chats(), ChatGrant::Lists),
        toolsets: None,
        jti: id,
        iat: Timestamp::from_ms(0),
        exp: NEVER,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str, agent: &str) -> ClientCertificate {
        let text =
            format!(r#"{{{name},"agent_id":"{agent}","workspace_id":"acme","role":"worker"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_name_counts_only_where_it_stands() {
        let settings = [
            setting(r#""uri":"spiffe://acme/a""#, "a"),
            setting(r#""dns":"b.example.org""#, "b"),
            setting(r#""cn":"c""#, "c"),
        ];
        let certificates = Certificates::new(&settings).unwrap();
        let found = |uri: &str, dns: &str, cn: &str| {
            let names = CertificateNames {
                uris: vec![uri.to_owned()],
                dns: vec![dns.to_owned()],
                common_name: Some(cn.to_owned()),
            };
            let caller = certificates.find(&names).map(|found| found.map(|c| c.agent_id.clone()));
            caller.map_err(|error| error.to_string())
        };
        assert_eq!(found("spiffe://acme/a", "x", "y").unwrap().as_deref(), Some("a"));
        assert_eq!(found("x", "B.Example.Org", "y").unwrap().as_deref(), Some("b"));
        assert_eq!(found("x", "y", "c").unwrap().as_deref(), Some("c"));
        assert_eq!(found("c", "c", "spiffe://acme/a").unwrap(), None);
        assert!(found("spiffe://acme/a", "b.example.org", "").unwrap_err().contains("several"));
    }

    #[test]
    fn a_wrong_setting_names_its_place() {
        for (name, agent) in [
            (r#""uri":null"#, "a"),
            (r#""uri":"x","cn":"y""#, "a"),
            (r#""cn":"""#, "a"),
            (r#""cn":"y""#, "not a name"),
        ] {
            let error = Certificates::new(&[setting(name, agent)]).err().unwrap().to_string();
            assert!(error.contains("client_certificates[0]"), "{error}");
        }
    }
}
