//! `papertape mcp`

use super::failure::usage;
use super::product::McpSource;
use super::{Common, Outcome, record_access};
use clap::Args;
use papertape_service::config::Config;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct McpArgs {
    /// Forward to the MCP server at this URL, of a server or of a session
    #[arg(long, value_name = "URL", env = "PAPERTAPE_MCP_URL")]
    server: Option<String>,
    /// Token for --server
    #[arg(long, env = "PAPERTAPE_MCP_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// Serves one client until it closes stdin.
pub(super) async fn mcp(common: &Common, config: Config, args: McpArgs) -> Outcome {
    let source = match args.server.filter(|url| !url.is_empty()) {
        Some(url) => {
            if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
                return Err(usage("--server: expected a URL such as http://127.0.0.1:8080/mcp"));
            }
            McpSource::Server { url, token: args.token.filter(|token| !token.is_empty()) }
        }
        None => McpSource::Record(Box::new(record_access::open_read_only(common, config).await?)),
    };
    common.product.serve_mcp(source).await?;
    Ok(ExitCode::SUCCESS)
}
