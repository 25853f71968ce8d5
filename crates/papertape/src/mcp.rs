//! MCP on the standard streams of the process.

use anyhow::{Context as _, Result};
use papertape_cli::product::McpSource;
use std::os::fd::AsFd;
use tokio::fs::File;

/// Serves one client until it closes stdin.
pub(crate) async fn serve(source: McpSource) -> Result<()> {
    let stdin = stream(std::io::stdin()).context("stdin cannot be read")?;
    let stdout = stream(std::io::stdout()).context("stdout cannot be written")?;
    match source {
        McpSource::Record(app) => Box::pin(papertape_api::mcp::serve_stdio(*app, stdin, stdout)).await,
        McpSource::Server { url, token } => {
            Box::pin(papertape_integrations::mcp::forward(&url, token.as_deref(), stdin, stdout)).await
        }
    }
}

fn stream(of: impl AsFd) -> std::io::Result<File> {
    let own = of.as_fd().try_clone_to_owned()?;
    Ok(File::from_std(std::fs::File::from(own)))
}
