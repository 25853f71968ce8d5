//! What a job runs with.

use crate::config::{SimulationConfig, decode};
use crate::doors::Doors;
use crate::overruns::Overruns;
use papertape_agents::prompt::PromptSet;
use papertape_core::external::ExternalAgents;
use papertape_core::id::ContentHash;
use papertape_core::market::Dataset;
use papertape_core::ports::{ActionLog, Clock, ModelClient, Queue, RecordStore, SharedBudgets, ToolClient};
use papertape_core::record::JobRow;
use papertape_redact::Redactor;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Finds datasets: the only way for market data to reach a job.
pub trait Datasets: Send + Sync {
    /// The dataset with this hash.
    ///
    /// # Errors
    /// A message for the operator if it does not exist or cannot be read.
    fn open(&self, hash: ContentHash) -> Result<Arc<Dataset>, String>;
}

/// Everything outside a job that it needs. Cheap to clone.
#[derive(Clone)]
pub struct Services {
    /// Where steps and books are stored.
    pub record: Arc<dyn RecordStore>,
    /// Where jobs come from.
    pub queue: Arc<dyn Queue>,
    /// The limits that jobs, or parts of one, share.
    pub shared_budgets: Arc<dyn SharedBudgets>,
    /// What the calls of those that share a limit have used beyond their reservations.
    pub overruns: Arc<Overruns>,
    /// The action log.
    pub actions: Arc<dyn ActionLog>,
    /// Models.
    pub models: Arc<dyn ModelClient>,
    /// External tools.
    pub tools: Arc<dyn ToolClient>,
    /// Starts external agents.
    pub external: Arc<dyn ExternalAgents>,
    /// The doors of their sessions in this process.
    pub doors: Arc<Doors>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Market data.
    pub datasets: Arc<dyn Datasets>,
    /// The prompt set.
    pub prompts: Arc<PromptSet>,
    /// Redacts all input.
    pub redactor: Arc<Redactor>,
    /// Limits concurrent model calls in this process.
    pub call_slots: Arc<Semaphore>,
    /// How long the writes of a session that nobody waits for may wait for the next ones:
    /// [`LINGER`](crate::session_log::LINGER), except in tests.
    pub linger: Duration,
    /// The process's single slot for steps interrupted repeatedly by crashes.
    pub exclusive_slot: Arc<Semaphore>,
}

impl Services {
    /// A simulation's config and data.
    pub(crate) fn open_simulation(&self, job: &JobRow) -> Result<(SimulationConfig, Arc<Dataset>), String> {
        let config: SimulationConfig = decode(job)?;
        let dataset = self.datasets.open(config.dataset.hash)?;
        Ok((config, dataset))
    }
}
