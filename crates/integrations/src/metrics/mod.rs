//! Telemetry of the process and the database: for `GET /metrics` and `papertape doctor`.
//!
//! Counters belong to the process and start at zero with it; whatever the database knows (jobs, tokens, cost,
//! sizes) is read from the database, and survives a restart. Model names are the only labels that callers
//! choose, and their number is limited.

mod actions;
mod collect;
mod models;
mod prometheus;
mod record;

use actions::InstrumentedLog;
use collect::collect;
use models::InstrumentedModels;
use prometheus::render;
use record::InstrumentedRecord;

use anyhow::Result;
use futures::FutureExt as _;
use models::ModelFigures;
use papertape_core::ports::{ActionLog, BoxFuture, ModelClient, RecordStore};
use papertape_service::integrations::{ProcessState, Telemetry};
use papertape_store::Figures;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// The counters of one process.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Action log rows that could not be written.
    pub action_log_write_errors: Counter,
    /// How often clients had to poll a job because their stream had failed.
    pub client_retries: Counter,
    /// Spans that were accepted.
    pub otlp_spans_sent: Counter,
    /// Spans that the receiver rejected.
    pub otlp_spans_rejected: Counter,
    /// Failed requests that are retried.
    pub otlp_retries: Counter,
    /// Requests that were rejected permanently, by the receiver's status.
    otlp_rejections: Mutex<BTreeMap<u16, u64>>,
    models: Mutex<BTreeMap<String, ModelFigures>>,
    /// The database's totals, which several scrapes share.
    figures: Mutex<Option<(Instant, Figures)>>,
}

impl Metrics {
    /// Call counts by model.
    fn models(&self) -> MutexGuard<'_, BTreeMap<String, ModelFigures>> {
        // A poisoned lock is safe to use: there are only sums in it.
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request that was rejected permanently.
    pub fn count_otlp_rejection(&self, status: u16) {
        *self.otlp_rejections().entry(status).or_default() += 1;
    }

    /// Requests that were rejected permanently, by status.
    fn otlp_rejections(&self) -> MutexGuard<'_, BTreeMap<u16, u64>> {
        self.otlp_rejections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn figures(&self) -> MutexGuard<'_, Option<(Instant, Figures)>> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Telemetry for Metrics {
    fn record(self: Arc<Self>, record: Arc<dyn RecordStore>) -> Arc<dyn RecordStore> {
        Arc::new(InstrumentedRecord { record, metrics: self })
    }

    fn actions(self: Arc<Self>, log: Arc<dyn ActionLog>) -> Arc<dyn ActionLog> {
        Arc::new(InstrumentedLog { log, metrics: self })
    }

    fn models(self: Arc<Self>, models: Arc<dyn ModelClient>) -> Arc<dyn ModelClient> {
        Arc::new(InstrumentedModels { models, metrics: self })
    }

    fn client_retried(&self) {
        self.client_retries.increment();
    }

    fn render<'a>(&'a self, process: ProcessState<'a>) -> BoxFuture<'a, Result<String>> {
        async move { render(collect(self, process).await?) }.boxed()
    }
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The current value.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
