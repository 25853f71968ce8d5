//! `papertape serve`

use super::failure::usage;
use super::output::{json, note, say};
use super::{Common, Outcome, record_access, signals};
use crate::api;
use crate::otlp;
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

/// How long requests under way may take when the server goes down.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// How to serve.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

/// Serves until it is told to stop.
pub(super) async fn serve(common: &Common, mut config: Config, args: ServeArgs) -> Outcome {
    config.listen = args.listen.unwrap_or(config.listen);
    let wanted = config.listen;
    api::ensure_safe_bind(&config, wanted).map_err(|error| usage(format!("{error:#}")))?;
    // The address first: a server that cannot have it changes nothing.
    let listener = tokio::net::TcpListener::bind(wanted).await;
    let listener =
        listener.with_context(|| format!("{wanted} cannot be listened on; --listen takes another"))?;
    let bound = listener.local_addr().context("the socket has no address")?;
    let app = record_access::open_exclusive(common, config, Access::Start).await?;
    let address = Address::of_this_process(bound).with_key(app.doorkeeper.local_key());
    let published = match app.config.database_url {
        // There is no owner on PostgreSQL, and so nobody who looks for it.
        Some(_) => None,
        None => Some(address.publish(&app.config.data_dir, app.config.mode)?),
    };
    let stopper = CancelSource::default();
    signals::listen(&stopper, || note!("stopping after the steps under way; once more stops at once"))?;
    banner(&app, bound).await?;
    if common.json {
        json(&json!({ "url": address.url }))?;
    } else {
        say(format_args!("Papertape listens on {}", address.url))?;
    }

    let mut serving = tokio::spawn(api::serve(app.clone(), listener, stopper.signal()));
    let working = app.config.server.work.then(|| {
        let (worker, signal) = (app.worker.clone(), stopper.signal());
        tokio::spawn(async move { worker.serve(signal).await })
    });
    let cleaning = tokio::spawn(retention::nightly(app.clone(), stopper.signal()));
    let exporting = otlp::start(&app, stopper.signal())?;
    let mut signal = stopper.signal();
    let early = tokio::select! {
        ended = &mut serving => Some(ended),
        _ = signal.stopped() => None,
    };
    stopper.stop(StopReason::Shutdown);
    if let Some(working) = working {
        working.await.context("the worker broke off")?;
    }
    cleaning.await.context("the cleanup broke off")?;
    if let Some(exporting) = exporting {
        // What it has not sent it sends when it is started again.
        exporting.await.context("the exporter broke off")?;
    }
    let ended = match early {
        Some(ended) => ended,
        None => match tokio::time::timeout(LAST_REQUESTS, &mut serving).await {
            Ok(ended) => ended,
            Err(_) => {
                tracing::warn!("requests were cut off");
                serving.abort();
                Ok(Ok(()))
            }
        },
    };
    app.flush().await;
    drop(published);
    ended.context("the server broke off")?.context("the server failed")?;
    note!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Says what is served, and to whom.
async fn banner(app: &App, bound: SocketAddr) -> Result<()> {
    let config = &app.config;
    let place = match &config.database_url {
        Some(url) => format!("PostgreSQL at {}", without_password(url)),
        None => format!("SQLite in {}", config.data_dir.display()),
    };
    let mode = match (config.mode, config.preserve_dev_data) {
        (Mode::Prod, _) => "prod",
        (Mode::Dev, true) => "dev (house models alone, data preserved)",
        (Mode::Dev, false) => "dev (house models alone, data wiped at start)",
    };
    note!("Papertape {}, mode {mode}, {place}", env!("CARGO_PKG_VERSION"));
    match app.config.auth.tokens.len() {
        0 => {}
        1 => note!("lets 1 token in"),
        tokens => note!("lets {tokens} tokens in"),
    }
    if !bound.ip().is_loopback() {
        note!("warning: {bound} is reached without TLS: put a proxy that speaks it before this server");
    }
    let mut unfinished = 0;
    for status in [JobStatus::Queued, JobStatus::Running] {
        let filter = JobFilter { kind: None, status: Some(status) };
        unfinished += app.store.jobs(&filter, &PageRequest::first(200)).await?.items.len();
    }
    match (unfinished, config.server.work) {
        (0, _) => {}
        (_, true) => note!("{unfinished} unfinished job(s) go on"),
        (_, false) => note!("{unfinished} unfinished job(s) wait for a `papertape worker`"),
    }
    Ok(())
}
