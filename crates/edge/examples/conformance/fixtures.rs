//! The tools, and which of them does what.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
};
use rmcp::service::SubscriptionContext;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::{Context, inputs, read, result, talk};

/// One pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
/// The pause that the suite's documentation asks for.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// What a client can be told of.
#[derive(Clone, Copy)]
enum Change {
    Tools,
    Prompts,
}

/// The fixtures of all connections.
#[derive(Clone)]
pub(crate) struct Fixtures {
    changes: broadcast::Sender<Change>,
}

impl Default for Fixtures {
    fn default() -> Self {
        Self { changes: broadcast::channel(16).0 }
    }
}

/// Every tool, as it is listed.
pub(crate) fn tools() -> Vec<Value> {
    let plain = [
        ("test_simple_text", "Says something"),
        ("test_image_content", "Shows one pixel"),
        ("test_audio_content", "Plays silence"),
        ("test_embedded_resource", "Embeds a resource"),
        ("test_multiple_content_types", "Says, shows and embeds"),
        ("test_tool_with_logging", "Logs three times"),
        ("test_logging_tool", "Logs when the request asks for it"),
        ("test_error_handling", "Fails"),
        ("test_tool_with_progress", "Tells of its progress"),
        ("test_missing_capability", "Needs a client that samples"),
        ("test_streaming_elicitation", "Asks in the result, never beside it"),
        ("test_trigger_tool_change", "Says that the tools changed"),
        ("test_trigger_prompt_change", "Says that the prompts changed"),
        ("test_elicitation_sep1034_defaults", "Asks with defaults"),
        ("test_elicitation_sep1330_enums", "Asks with enumerations"),
    ];
    let described = plain.iter().chain(inputs::TOOLS.iter());
    let mut tools: Vec<Value> = described
        .map(|(name, description)| {
            let schema = json!({ "type": "object", "properties": {} });
            json!({ "name": name, "description": description, "inputSchema": schema })
        })
        .collect();
    for (name, argument) in [("test_sampling", "prompt"), ("test_elicitation", "message")] {
        let schema = json!({
            "type": "object",
            "properties": { argument: { "type": "string" } },
            "required": [argument],
        });
        tools
            .push(json!({ "name": name, "description": "Asks the client", "inputSchema": schema }));
    }
    tools
}

impl Fixtures {
    /// Calls a tool.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(content) = content(&request.name) {
            return result::<CallToolResult>(json!({ "content": content })).map(Into::into);
        }
        if inputs::TOOLS.iter().any(|(name, _)| *name == request.name) {
            return inputs::call(&request, &context);
        }
        let said = match request.name.as_ref() {
            "test_error_handling" => {
                let text = "This tool intentionally returns an error for testing";
                return Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into());
            }
            "test_tool_with_logging" => talk::log(&context).await,
            "test_logging_tool" if context.meta.log_level().is_some() => talk::log(&context).await,
            "test_logging_tool" => Ok("nothing was logged".to_owned()),
            "test_tool_with_progress" => talk::progress(&context).await,
            "test_sampling" => talk::sample(&request, &context).await,
            "test_elicitation"
            | "test_elicitation_sep1034_defaults"
            | "test_elicitation_sep1330_enums" => talk::elicit(&request, &context).await,
            "test_missing_capability" => needs_sampling(&context),
            "test_streaming_elicitation" => return inputs::call(&request, &context),
            "test_trigger_tool_change" => Ok(self.announce(Change::Tools)),
            "test_trigger_prompt_change" => Ok(self.announce(Change::Prompts)),
            unknown => Err(ErrorData::invalid_params(format!("Unknown tool: {unknown}"), None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(said?)]).into())
    }

    fn announce(&self, change: Change) -> String {
        // Nobody listens: then nobody is told.
        let told = self.changes.send(change).unwrap_or_default();
        format!("told {told}")
    }

    /// Tells whoever listens, until they stop.
    pub(crate) async fn tell_of_changes(&self, context: SubscriptionContext) {
        let mut changes = self.changes.subscribe();
        let sink = context.sink();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return,
                change = changes.recv() => change,
            };
            // What was not asked for is refused by the sink, and that is all right.
            drop(match change {
                Ok(Change::Tools) => sink.notify_tool_list_changed().await,
                Ok(Change::Prompts) => sink.notify_prompt_list_changed().await,
                Err(broadcast::error::RecvError::Lagged(_)) => continue,
                Err(broadcast::error::RecvError::Closed) => return,
            });
        }
    }
}

/// What a tool that always says the same says.
fn content(name: &str) -> Option<Value> {
    let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
    Some(match name {
        "test_simple_text" => {
            json!([{ "type": "text", "text": "This is a simple text response for testing." }])
        }
        "test_image_content" => json!([image]),
        "test_audio_content" => {
            json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }])
        }
        "test_embedded_resource" => json!([{ "type": "resource", "resource": {
            "uri": "test://embedded-resource",
            "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        } }]),
        "test_multiple_content_types" => json!([
            { "type": "text", "text": "Multiple content types test:" },
            image,
            { "type": "resource", "resource": {
                "uri": "test://mixed-content-resource",
                "mimeType": "application/json",
                "text": "{\"test\":\"data\",\"value\":123}",
            } },
        ]),
        _ => return None,
    })
}

fn needs_sampling(context: &Context) -> Result<String, ErrorData> {
    if inputs::client_has(context, "sampling") {
        return Ok("the client samples".to_owned());
    }
    let required: ClientCapabilities = read(json!({ "sampling": {} }))?;
    Err(ErrorData::missing_required_client_capability(required))
}
