//! Exports sessions to a receiver as they end, in the background, for as long as the server runs.
//!
//! A session is sent until the receiver accepts it or rejects it permanently; meanwhile the backlog waits in
//! the database, where it is safe. Only then is the session marked as sent: a server that dies in between
//! sends it again, with the same IDs.

use super::collect::spans_of;
use super::progress::{Progress, file};
use super::send::{ExportResult, Receiver};
use super::span::Span;
use crate::metrics::Metrics;
use anyhow::Result;
use futures::future::select;
use papertape_core::ports::RecordError;
use papertape_core::record::SessionId;
use papertape_core::time::Backoff;
use papertape_runtime::cancellation::CancelToken;
use papertape_service::app::App;
use papertape_store::StoreError;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Sessions per batch.
const BATCH_SESSIONS: u32 = 500;
/// Spans per request, unless one session has more.
const MAX_SPANS: usize = 2_000;
/// Pauses after consecutive failures, unless the receiver requests another one.
const RETRIES: Backoff = Backoff { first: Duration::from_secs(1), max: Duration::from_secs(60) };

/// Starts the export if a receiver is configured. It ends with the signal, after the current request.
///
/// # Errors
/// A receiver that cannot be used: its address, a header's variable, TLS.
pub fn start(app: &App, metrics: Arc<Metrics>, shutdown: CancelToken) -> Result<Option<JoinHandle<()>>> {
    let config = &app.config.otlp;
    let Some(url) = config.url()? else { return Ok(None) };
    let headers = config.header_map(&|name| std::env::var(name).ok())?;
    let exporter = Exporter {
        receiver: Receiver::new(url, headers, app.config.mode.as_str())?,
        file: file(&app.config.data_dir, app.config.mode),
        interval: Duration::from_secs(config.export_interval_secs.max(1)),
        failures: 0,
        app: app.clone(),
        metrics,
    };
    Ok(Some(tokio::spawn(exporter.run(shutdown))))
}

struct Exporter {
    app: App,
    metrics: Arc<Metrics>,
    receiver: Receiver,
    file: PathBuf,
    interval: Duration,
    /// Consecutive failures.
    failures: u32,
}

/// Why the export pauses.
struct RetryLater {
    pause: Option<Duration>,
    reason: String,
}

impl Exporter {
    async fn run(mut self, shutdown: CancelToken) {
        while shutdown.reason().is_none() {
            let pause = match self.round(&shutdown).await {
                Ok(()) => {
                    if self.failures > 0 {
                        tracing::info!(failures = self.failures, "the receiver accepts spans again");
                    }
                    self.failures = 0;
                    self.interval
                }
                Err(RetryLater { pause, reason }) => self.failed(pause, &reason),
            };
            let pausing = self.app.services.clock.sleep(pause);
            let stopped = pin!(shutdown.stopped());
            drop(select(stopped, pausing).await);
        }
    }

    /// How long to wait. The first of consecutive failures is logged, the others are counted.
    fn failed(&mut self, requested: Option<Duration>, reason: &str) -> Duration {
        let pause = requested.unwrap_or_else(|| RETRIES.delay(self.failures));
        self.failures = self.failures.saturating_add(1);
        self.metrics.otlp_retries.increment();
        let pause_secs = pause.as_secs_f64();
        if self.failures == 1 {
            tracing::warn!(reason, pause_secs, "cannot export spans; will retry");
        } else {
            tracing::debug!(reason, pause_secs, failures = self.failures, "cannot export spans");
        }
        pause
    }

    /// Exports all sessions that have ended and were not sent yet.
    async fn round(&self, shutdown: &CancelToken) -> Result<(), RetryLater> {
        let mut progress = self.progress().await?;
        loop {
            let sessions = self.app.store.sessions_after(SessionId(progress.through), BATCH_SESSIONS).await;
            let sessions = sessions.map_err(failed)?;
            progress.add(&sessions);
            self.export_new(&mut progress, shutdown).await?;
            self.save(&progress)?;
            if sessions.len() < BATCH_SESSIONS as usize || shutdown.reason().is_some() {
                return Ok(());
            }
        }
    }

    /// The stored progress; the very first round starts with the sessions that are open now.
    async fn progress(&self) -> Result<Progress, RetryLater> {
        let found = self.app.store.newest_and_open_sessions().await.map_err(failed)?;
        let newest = found.as_ref().map_or(0, |(newest, _)| newest.0);
        match Progress::load(&self.file) {
            Some(progress) if progress.through <= newest => Ok(progress),
            // The database is not the one that this progress belongs to.
            Some(_) => Ok(Progress::default()),
            None => {
                let initial = found.map(|(newest, open)| Progress::from_now(newest, &open));
                let initial = initial.unwrap_or_default();
                self.save(&initial)?;
                Ok(initial)
            }
        }
    }

    async fn export_new(&self, progress: &mut Progress, shutdown: &CancelToken) -> Result<(), RetryLater> {
        let ended = self.app.store.ended_of(progress.waiting()).await.map_err(failed)?;
        let mut collected: (Vec<SessionId>, Vec<Span>) = Default::default();
        for session in ended {
            if shutdown.reason().is_some() {
                break;
            }
            let spans = match spans_of(&self.app, session).await {
                Ok(spans) => spans,
                // The database may be available again in a moment.
                Err(error) if is_transient(&error) => return Err(failed(error)),
                Err(error) => {
                    // Invalid data stays invalid, however often it is read.
                    tracing::error!(%session, error = format!("{error:#}"), "cannot build the spans of a session");
                    Vec::new()
                }
            };
            if !collected.1.is_empty() && collected.1.len() + spans.len() > MAX_SPANS {
                self.deliver(&mut collected, progress).await?;
            }
            collected.0.push(session);
            collected.1.extend(spans);
        }
        self.deliver(&mut collected, progress).await
    }

    /// Sends the collected spans, then marks their sessions as sent.
    async fn deliver(
        &self,
        (sessions, spans): &mut (Vec<SessionId>, Vec<Span>),
        progress: &mut Progress,
    ) -> Result<(), RetryLater> {
        for part in spans.chunks(MAX_SPANS) {
            let metrics = &self.metrics;
            match self.receiver.send(part, self.app.services.clock.now()).await {
                ExportResult::Accepted { rejected, message } => {
                    let rejected = rejected.min(part.len() as u64);
                    metrics.otlp_spans_sent.add(part.len() as u64 - rejected);
                    metrics.otlp_spans_rejected.add(rejected);
                    if rejected > 0 {
                        tracing::warn!(rejected, message, "the receiver rejected some spans");
                    }
                }
                ExportResult::Rejected { status, reason } => {
                    metrics.otlp_spans_rejected.add(part.len() as u64);
                    metrics.count_otlp_rejection(status);
                    tracing::warn!(
                        status,
                        reason,
                        spans = part.len(),
                        sessions = sessions.len(),
                        "the receiver rejected spans permanently; `papertape export otlp JOB` exports them again"
                    );
                }
                ExportResult::Retry { pause, reason } => {
                    // Sessions that were already accepted need not be sent again.
                    self.save(progress)?;
                    return Err(RetryLater { pause, reason });
                }
            }
        }
        spans.clear();
        for session in sessions.drain(..) {
            progress.mark_exported(session);
        }
        self.save(progress)
    }

    fn save(&self, progress: &Progress) -> Result<(), RetryLater> {
        progress.save(&self.file).map_err(failed)
    }
}

/// Whether the database itself fails, as opposed to its content.
fn is_transient(error: &anyhow::Error) -> bool {
    let inconsistent = |error: &StoreError| matches!(error, StoreError::Inconsistent { .. });
    match (error.downcast_ref::<StoreError>(), error.downcast_ref::<RecordError>()) {
        (Some(error), _) => !inconsistent(error),
        (_, Some(error)) => !matches!(error, RecordError::Inconsistent(_)),
        (None, None) => false,
    }
}

fn failed(error: impl Into<anyhow::Error>) -> RetryLater {
    RetryLater { pause: None, reason: format!("{:#}", error.into()) }
}
