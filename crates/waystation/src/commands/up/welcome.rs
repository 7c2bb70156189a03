//! What whoever starts a hub is told once it serves: where it is, and how to connect agents.

use anyhow::Result;
use edge::local::Client;
use serde_json::{Value, json};

use crate::cli::{AgentClient, Global};
use crate::commands::token;
use crate::config::{Config, Environment, TlsMode};
use crate::paint::Paint;
use crate::paths::{self, Place};
use crate::{failure, output, reach};

/// How to make a token for an agent.
const ISSUE: &str = "waystation token issue --agent NAME --for codex|claude";

/// A hub that begins to serve.
pub(super) struct Welcome<'a> {
    pub(super) place: &'a Place,
    pub(super) config: &'a Config,
    pub(super) url: &'a str,
    /// Whether it was started with --no-auth.
    pub(super) is_open: bool,
}

/// A token for an agent that most people have.
struct FirstToken {
    client: AgentClient,
    token: String,
}

impl Welcome<'_> {
    /// Says it: to people in lines, to scripts in one.
    pub(super) async fn print(&self, global: &Global) -> Result<()> {
        // Whoever starts a hub is to learn where it is, whatever else is the matter with it.
        let tokens = self.first_tokens().await;
        if global.json {
            return output::json_line(&self.value(tokens));
        }
        output::line(&self.lines(tokens, Paint::of_stdout()).join("\n"))
    }

    fn value(&self, tokens: Result<Vec<FirstToken>>) -> Value {
        let error = tokens.as_ref().err().map(ToString::to_string);
        let tokens = tokens.unwrap_or_default().into_iter();
        let tokens = tokens.map(|first| (first.client.command().to_owned(), first.token.into()));
        json!({
            "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id(), "url": self.url,
            "mcp": format!("{}/mcp", self.url), "rest": format!("{}/v1", self.url),
            "data": self.place.folder, "authority": self.authority(), "no_auth": self.is_open,
            "tokens": tokens.collect::<serde_json::Map<_, Value>>(), "tokens_error": error,
        })
    }

    fn lines(&self, tokens: Result<Vec<FirstToken>>, paint: Paint) -> Vec<String> {
        let url = self.url;
        let mut lines = vec![
            format!("{} {}", paint.strong("Waystation"), env!("CARGO_PKG_VERSION")),
            String::new(),
            format!("  MCP    {url}/mcp"),
            format!("  REST   {url}/v1        (OpenAPI at /v1/openapi.json)"),
            format!("  data   {}", self.place.shown()),
        ];
        if let Some(authority) = self.authority() {
            lines.push(format!("  trust  {}", paths::shown(&authority)));
        }
        if self.is_open {
            lines.push(String::new());
            lines.push(paint.strong(
                "  ANYONE ON THIS MACHINE MAY USE THIS HUB: it was started with --no-auth.",
            ));
        }
        lines.push(String::new());
        match tokens {
            Err(error) => lines.extend([
                format!("{} {error}", paint.strong("Agents cannot be connected yet:")),
                String::new(),
                format!("Connect an agent later:  {ISSUE}"),
            ]),
            Ok(tokens) if tokens.is_empty() => {
                lines.push(format!("Connect another agent:  {ISSUE}"));
            }
            Ok(tokens) => lines.extend(self.connect_lines(&tokens, paint)),
        }
        lines.push(String::new());
        lines
            .push("Have them woken, in place of that:  waystation connect codex|claude".to_owned());
        lines.push(String::new());
        lines.push("Stop with Ctrl-C; nothing is lost.".to_owned());
        lines
    }

    fn connect_lines(&self, tokens: &[FirstToken], paint: Paint) -> Vec<String> {
        let of_one = tokens.iter().map(|FirstToken { client, token }| {
            let head = paint.strong(&format!("Connect {}:", client.title()));
            let lines = token::lines(*client, self.url, token).map(|line| format!("  {line}"));
            [head].into_iter().chain(lines).collect::<Vec<_>>()
        });
        of_one.collect::<Vec<_>>().join(&String::new())
    }

    /// The certificate that clients have to trust, where the hub made it itself.
    fn authority(&self) -> Option<std::path::PathBuf> {
        let is_own = self.config.tls.mode == TlsMode::Local;
        is_own.then(|| self.place.tls_folder().join(edge::tls::LOCAL_AUTHORITY_FILE))
    }

    /// On the first start, tokens for the two agents most people have; later, none.
    async fn first_tokens(&self) -> Result<Vec<FirstToken>> {
        let greeting = reach::person(&Environment::default(), &self.config.workspace)?;
        let mut client = Client::connect(&self.place.sockets()?.hub, &greeting).await?;
        let any = json!({ "all": true, "limit": 1 });
        let listed = client.call("list_tokens", &any).await.map_err(failure::of_client)?;
        let listed = listed.answer.get("tokens").and_then(Value::as_array);
        if !listed.is_none_or(Vec::is_empty) {
            return Ok(Vec::new());
        }
        let mut tokens = Vec::new();
        for agent in AgentClient::ALL {
            let input = json!({ "agent_id": agent.command(), "role": "worker" });
            let issued = client.call("issue_token", &input).await.map_err(failure::of_client)?;
            let token = issued.answer.get("token").and_then(Value::as_str).unwrap_or_default();
            tokens.push(FirstToken { client: agent, token: token.to_owned() });
        }
        Ok(tokens)
    }
}
