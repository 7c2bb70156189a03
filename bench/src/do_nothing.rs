//! What rmcp itself costs: a server with one tool that does nothing, in a process of its own.

use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::net::TcpListener;

#[derive(Clone)]
struct DoNothing;

impl ServerHandler for DoNothing {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = serde_json::Map::from_iter([("type".to_owned(), "object".into())]);
        let tool = Tool::new("post_message", "Does nothing.", Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        std::hint::black_box(request);
        let done = CallToolResult::success(vec![ContentBlock::text("done")]);
        Ok(CallToolResponse::from(done))
    }
}

/// Serves until the process is ended.
pub(crate) async fn serve(port: u16) -> Result<()> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(true)
        .with_json_response(true);
    let service: StreamableHttpService<DoNothing, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(DoNothing), Arc::default(), config);
    let router = Router::new().route_service("/mcp", service);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?.tap_io(|stream| {
        if stream.set_nodelay(true).is_err() {
            // It is gone already; serving it will say so.
        }
    });
    Ok(axum::serve(listener, router).await?)
}
