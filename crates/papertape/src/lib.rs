//! The product: the only place where the API, the command line and the integrations meet.
//!
//! It may know every crate, and no other crate may know it. It must never decide anything about a session, the
//! books or an answer: it composes the parts, starts the log, and runs the commands that join parts.

mod cleanup;
mod import;
mod logging;
mod mcp;

pub use logging::redact_panics;

use anyhow::Result;
use futures::FutureExt as _;
use papertape_cli::cleanup::JsonlArgs;
use papertape_cli::import::ImportSource;
use papertape_cli::product::{McpSource, Product};
use papertape_cli::{Common, Outcome};
use papertape_core::id::JobId;
use papertape_core::ports::BoxFuture;
use papertape_integrations::external_agents::ConfiguredAgents;
use papertape_integrations::mcp::McpTools;
use papertape_integrations::metrics::Metrics;
use papertape_integrations::otlp;
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

/// The product with all its parts.
#[derive(Default)]
pub struct Papertape {
    /// The process's counters.
    pub telemetry: Arc<Metrics>,
}

/// The systems that the service works with, with telemetry of their own.
#[must_use]
pub fn integrations() -> Integrations {
    Papertape::default().integrations()
}

impl Product for Papertape {
    fn integrations(&self) -> Integrations {
        Integrations {
            tools: |servers| Arc::new(McpTools::new(servers)),
            agents: |setup| Arc::new(ConfiguredAgents::new(setup)),
            telemetry: Arc::clone(&self.telemetry) as _,
        }
    }

    fn start_log(&self, verbosity: u8, config: &Config, usual: &str) -> Result<()> {
        logging::start(verbosity, config, usual)
    }

    fn redact_log(&self, redactor: &Arc<Redactor>) {
        logging::redact_with(redactor);
    }

    fn check_bind(&self, config: &Config, address: SocketAddr) -> Result<()> {
        papertape_api::ensure_safe_bind(config, address)
    }

    fn serve_api(
        &self,
        app: App,
        listener: TcpListener,
        shutdown: CancelToken,
    ) -> BoxFuture<'static, Result<()>> {
        papertape_api::serve(app, listener, shutdown).boxed()
    }

    fn door_server(&self) -> ServeDoors {
        |app, listener| papertape_api::serve_doors(app, listener).boxed()
    }

    fn serve_mcp(&self, source: McpSource) -> BoxFuture<'static, Result<()>> {
        mcp::serve(source).boxed()
    }

    fn export_spans(&self, app: &App, shutdown: CancelToken) -> Result<Option<JoinHandle<()>>> {
        otlp::start(app, Arc::clone(&self.telemetry), shutdown)
    }

    fn write_spans<'a>(
        &'a self,
        app: &'a App,
        job: &'a JobId,
        out: &'a mut (dyn Write + Send),
    ) -> BoxFuture<'a, Result<usize>> {
        otlp::write_job(app, job, out).boxed()
    }

    fn import_runs<'a>(
        &'a self,
        common: &'a Common,
        config: Config,
        source: ImportSource,
    ) -> BoxFuture<'a, Outcome> {
        import::import(common, config, source).boxed()
    }

    fn remove_ai_trader_logs<'a>(
        &'a self,
        common: &'a Common,
        config: Config,
        args: JsonlArgs,
    ) -> BoxFuture<'a, Outcome> {
        cleanup::remove(common, config, args).boxed()
    }
}
