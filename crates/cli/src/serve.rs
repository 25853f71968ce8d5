//! `papertape serve`

use super::args::parse_address;
use super::failure::usage;
use super::output::{json, note, say};
use super::{Common, Outcome, record_access, signals};
use anyhow::{Context as _, Result};
use clap::Args;
use papertape_core::record::JobStatus;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_service::address::Address;
use papertape_service::app::{Access, App};
use papertape_service::config::{Config, Mode, without_password};
use papertape_service::retention;
use papertape_store::{JobFilter, PageRequest};
use serde_json::json;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

/// How long open requests may take after a shutdown signal.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Address to listen on; port 0 picks a free port [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    listen: Option<SocketAddr>,
}

/// Serves until a signal stops it.
pub(super) async fn serve(common: &Common, mut config: Config, args: ServeArgs) -> Outcome {
    config.listen = args.listen.unwrap_or(config.listen);
    let listen = config.listen;
    common.product.check_bind(&config, listen).map_err(|error| usage(format!("{error:#}")))?;
    // Binds first, so that a failure changes nothing.
    let listener = tokio::net::TcpListener::bind(listen).await;
    let listener = listener
        .with_context(|| format!("cannot listen on {listen}; choose another address with --listen"))?;
    let bound = listener.local_addr()?;
    let app = record_access::open_exclusive(common, config, Access::Start).await?;
    app.doors.set(bound);
    let address = Address::for_this_process(bound).with_key(app.authenticator.local_key());
    let published = match app.config.database_url {
        // PostgreSQL has no owner, so no command looks for one.
        Some(_) => None,
        None => Some(address.publish(&app.config.data_dir, app.config.mode)?),
    };
    let cancel = CancelSource::default();
    signals::listen(&cancel, || {
        note!("stopping after the current steps; press Ctrl-C again to stop immediately");
    })?;
    banner(&app, bound).await?;
    if common.json {
        json(&json!({ "url": address.url }))?;
    } else {
        say(format_args!("Papertape is listening on {}", address.url))?;
    }

    let mut serving = tokio::spawn(common.product.serve_api(app.clone(), listener, cancel.signal()));
    let working = app.config.server.run_jobs.then(|| {
        let (worker, signal) = (app.worker.clone(), cancel.signal());
        tokio::spawn(async move { worker.serve(signal).await })
    });
    let cleaning = tokio::spawn(retention::nightly(app.clone(), cancel.signal()));
    let exporting = common.product.export_spans(&app, cancel.signal())?;
    let signal = cancel.signal();
    let early = tokio::select! {
        ended = &mut serving => Some(ended),
        _ = signal.stopped() => None,
    };
    cancel.stop(StopReason::Shutdown);
    if let Some(working) = working {
        working.await.context("the worker panicked")?;
    }
    cleaning.await.context("the cleanup panicked")?;
    if let Some(exporting) = exporting {
        // Sessions that are not exported yet are exported after the next start.
        exporting.await.context("the exporter panicked")?;
    }
    let ended = match early {
        Some(ended) => ended,
        None => match tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut serving).await {
            Ok(ended) => ended,
            Err(_) => {
                tracing::warn!("open requests were aborted");
                serving.abort();
                Ok(Ok(()))
            }
        },
    };
    app.flush().await;
    drop(published);
    ended.context("the server panicked")?.context("the server failed")?;
    note!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Prints the version, the database, who has access, and unfinished jobs.
async fn banner(app: &App, bound: SocketAddr) -> Result<()> {
    let config = &app.config;
    let database = match &config.database_url {
        Some(url) => format!("PostgreSQL at {}", without_password(url)),
        None => format!("SQLite in {}", config.data_dir.display()),
    };
    let mode = match (config.mode, config.preserve_dev_data) {
        (Mode::Prod, _) => "prod",
        (Mode::Dev, true) => "dev (house models only, data preserved)",
        (Mode::Dev, false) => "dev (house models only, data wiped at startup)",
    };
    note!("Papertape {}, mode {mode}, {database}", env!("CARGO_PKG_VERSION"));
    match app.config.auth.tokens.len() {
        0 => {}
        1 => note!("access requires a token; 1 is configured"),
        tokens => note!("access requires a token; {tokens} are configured"),
    }
    if !bound.ip().is_loopback() {
        note!("warning: connections to {bound} are not encrypted; put a TLS proxy in front of this server");
    }
    let mut unfinished = 0;
    for status in [JobStatus::Queued, JobStatus::Running] {
        let filter = JobFilter { kind: None, status: Some(status) };
        unfinished += app.store.jobs(&filter, &PageRequest::first(200)).await?.items.len();
    }
    match (unfinished, config.server.run_jobs) {
        (0, _) => {}
        (_, true) => note!("resuming {unfinished} unfinished job(s)"),
        (_, false) => note!("{unfinished} unfinished job(s); run them with `papertape worker`"),
    }
    Ok(())
}
