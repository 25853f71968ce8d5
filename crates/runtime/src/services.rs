//! What a job runs with.

use crate::assistant_job::Assistant;
use papertape_agents::prompt::PromptSet;
use papertape_core::id::ContentHash;
use papertape_core::market::Dataset;
use papertape_core::ports::{ActionLog, Clock, ModelClient, Queue, RecordStore, ToolClient};
use papertape_redact::Redactor;
use std::sync::Arc;
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
    /// The action log.
    pub actions: Arc<dyn ActionLog>,
    /// Models.
    pub models: Arc<dyn ModelClient>,
    /// External tools.
    pub tools: Arc<dyn ToolClient>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Market data.
    pub datasets: Arc<dyn Datasets>,
    /// The prompt set.
    pub prompts: Arc<PromptSet>,
    /// Redacts all input.
    pub redactor: Arc<Redactor>,
    /// What assistant jobs need; `None`: this process runs none.
    pub assistant: Option<Assistant>,
    /// Limits concurrent model calls in this process.
    pub calls: Arc<Semaphore>,
    /// The process's single slot for steps interrupted repeatedly by crashes.
    pub alone: Arc<Semaphore>,
}
