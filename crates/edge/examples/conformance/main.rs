//! The fixtures that the protocol's conformance suite asks for, behind the hub's own HTTP server and the
//! layers that the hub uses.
//!
//! The suite tests a server by tools, resources and prompts of its own, which no product has. This
//! program has them and nothing else; what it proves is the transport. `tests/lanes` runs it.
#![expect(deprecated, reason = "the suite asks for what clients of the older era still use")]

mod fixtures;
mod inputs;
mod prompts;
mod resources;
mod talk;

use std::sync::Arc;

use axum::Router;
use fixtures::Fixtures;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use waystation_edge::EdgeError;
use waystation_edge::mcp::{HttpSettings, http_service_for};
use waystation_edge::server::Listening;

type Context = RequestContext<RoleServer>;

/// The fixtures are written as the JSON that the suite's documentation shows.
fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A result that is all there is. rmcp takes the word out again for clients of the older era.
fn result<T: DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    if let Some(fields) = value.as_object_mut() {
        fields.insert("resultType".to_owned(), "complete".into());
    }
    read(value)
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let config = json!({
            "protocolVersion": "2025-11-25",
            "serverInfo": { "name": "waystation-conformance", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "tools": { "listChanged": true },
                "prompts": { "listChanged": true },
                "resources": { "subscribe": true, "listChanged": true },
                "completions": {},
                "logging": {},
            },
        });
        read(config).unwrap_or_default()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        result(json!({ "tools": fixtures::tools(), "ttlMs": 0, "cacheScope": "private" }))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        result(resources::list())
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        result(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::contents(&request.uri).map(ReadResourceResponse::Complete)
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        result(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let values = ["paris", "park", "party"];
        result(json!({ "completion": { "values": values, "total": 3, "hasMore": false } }))
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.tell_of_changes(context).await;
        Ok(())
    }
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "who starts this program learns the port from it")]
async fn main() -> Result<(), EdgeError> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let (fixtures, stop) = (Arc::new(Fixtures::default()), CancellationToken::new());
    let settings = HttpSettings::default();
    let service = http_service_for(move || Fixtures::clone(&fixtures), &settings, stop.clone());
    let listening = Listening::bind(&address, None).await?;
    println!("http://{}/mcp", listening.address()?);
    listening.serve(Router::new().route_service("/mcp", service).into(), stop).await;
    Ok(())
}
