//! What the commands need of parts that the command line does not know. The binary implements it.

use crate::cleanup::JsonlArgs;
use crate::import::ImportSource;
use crate::{Common, Outcome};
use anyhow::Result;
use papertape_core::id::JobId;
use papertape_core::ports::BoxFuture;
use papertape_redact::Redactor;
use papertape_runtime::cancellation::CancelToken;
use papertape_service::app::{App, ServeDoors};
use papertape_service::config::Config;
use papertape_service::integrations::Integrations;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What `papertape mcp` serves.
pub enum McpSource {
    /// The record, read from the database.
    Record(Box<App>),
    /// The tools of another MCP server.
    Server {
        /// Its URL.
        url: String,
        /// The bearer token that it requires.
        token: Option<String>,
    },
}

/// The composed product.
pub trait Product: Send + Sync {
    /// The systems that the service works with.
    fn integrations(&self) -> Integrations;

    /// Starts the log on stderr. `verbosity` counts `-v`; `usual` is the level if neither it nor the
    /// configuration sets one.
    ///
    /// # Errors
    /// A filter that cannot be parsed.
    fn start_log(&self, verbosity: u8, config: &Config, usual: &str) -> Result<()>;

    /// Removes these secrets from the log from now on.
    fn redact_log(&self, redactor: &Arc<Redactor>);

    /// Whether the API may listen on this address.
    ///
    /// # Errors
    /// An address that other machines can reach needs tokens.
    fn check_bind(&self, config: &Config, address: SocketAddr) -> Result<()>;

    /// Serves the API until shutdown.
    fn serve_api(
        &self,
        app: App,
        listener: TcpListener,
        shutdown: CancelToken,
    ) -> BoxFuture<'static, Result<()>>;

    /// What serves the doors of running sessions in a process without a server.
    fn door_server(&self) -> ServeDoors;

    /// Serves MCP on stdin and stdout until the client closes stdin.
    fn serve_mcp(&self, source: McpSource) -> BoxFuture<'static, Result<()>>;

    /// Exports spans until shutdown, if a receiver is configured.
    ///
    /// # Errors
    /// A receiver that cannot be used.
    fn export_spans(&self, app: &App, shutdown: CancelToken) -> Result<Option<JoinHandle<()>>>;

    /// Writes a job's sessions as lines of OTLP/JSON, and returns their number.
    fn write_spans<'a>(
        &'a self,
        app: &'a App,
        job: &'a JobId,
        out: &'a mut (dyn Write + Send),
    ) -> BoxFuture<'a, Result<usize>>;

    /// Imports runs of another tool.
    fn import_runs<'a>(
        &'a self,
        common: &'a Common,
        config: Config,
        source: ImportSource,
    ) -> BoxFuture<'a, Outcome>;

    /// Removes AI-Trader's logs whose messages are all in the database.
    fn remove_ai_trader_logs<'a>(
        &'a self,
        common: &'a Common,
        config: Config,
        args: JsonlArgs,
    ) -> BoxFuture<'a, Outcome>;
}
