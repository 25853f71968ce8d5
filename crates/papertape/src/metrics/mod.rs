//! What the process counts, and what there is of everything: for `GET /metrics` and `papertape doctor`.
//!
//! Counters are the process's own and begin at nothing with it; what the record can say (jobs, tokens,
//! cost, sizes) is asked of the record, and outlives it. Names of models are the only labels that callers
//! choose, and there are at most so many of them.

mod actions;
mod collect;
mod models;
mod record;
mod text;

pub use actions::CountedLog;
pub use collect::collect;
pub use models::CountedModels;
pub use record::CountedRecord;
pub use text::{Family, Kind, Sample, render};

use models::ModelFigures;
use papertape_store::Figures;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// The counters of one process.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Rows of the action log that could not be written.
    pub action_log_write_errors: Counter,
    /// Times that clients had to poll a job, because their stream had broken off.
    pub client_retries: Counter,
    /// Spans that were sent.
    pub otlp_spans_sent: Counter,
    /// Spans that the receiver did not want.
    pub otlp_spans_refused: Counter,
    /// Sendings that failed and are made again.
    pub otlp_retries: Counter,
    /// Sendings that were refused for good, by the receiver's status.
    otlp_refusals: Mutex<BTreeMap<u16, u64>>,
    models: Mutex<BTreeMap<String, ModelFigures>>,
    /// The record's figures, which several scrapes share.
    figures: Mutex<Option<(Instant, Figures)>>,
}

impl Metrics {
    /// What calls to models came to, by model.
    fn models(&self) -> MutexGuard<'_, BTreeMap<String, ModelFigures>> {
        // Sums alone are held, which are whole at any time.
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a sending that was refused for good.
    pub fn otlp_refused(&self, status: u16) {
        *self.refusals().entry(status).or_default() += 1;
    }

    /// Sendings that were refused for good, by status.
    fn refusals(&self) -> MutexGuard<'_, BTreeMap<u16, u64>> {
        self.otlp_refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn figures(&self) -> MutexGuard<'_, Option<(Instant, Figures)>> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn one_more(&self) {
        self.add(1);
    }

    /// Adds so many.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// How many there are.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
