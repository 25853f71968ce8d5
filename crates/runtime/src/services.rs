//! What a job is run with.

use crate::assist::Assistant;
use papertape_agents::prompt::PromptSet;
use papertape_core::id::ContentHash;
use papertape_core::market::Dataset;
use papertape_core::ports::{ActionLog, Clock, Models, Queue, Record, Tools};
use papertape_redact::Redactor;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Finds datasets; the only way in which market data reaches a job.
pub trait Datasets: Send + Sync {
    /// The dataset of this hash.
    ///
    /// # Errors
    /// A sentence for the operator where it is not there or cannot be read.
    fn open(&self, hash: ContentHash) -> Result<Arc<Dataset>, String>;
}

/// Everything outside of a job that it needs. Cheap to clone.
#[derive(Clone)]
pub struct Services {
    /// Where steps and books go.
    pub record: Arc<dyn Record>,
    /// Where jobs come from.
    pub queue: Arc<dyn Queue>,
    /// Where a job says what it does.
    pub actions: Arc<dyn ActionLog>,
    /// Models.
    pub models: Arc<dyn Models>,
    /// Outside tools.
    pub tools: Arc<dyn Tools>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Market data.
    pub datasets: Arc<dyn Datasets>,
    /// The prompts.
    pub prompts: Arc<PromptSet>,
    /// What enters goes through it.
    pub redactor: Arc<Redactor>,
    /// What jobs of the assistant's need; `None`: this process runs none.
    pub assistant: Option<Assistant>,
    /// Bounds the calls to models that are under way at once in this process.
    pub calls: Arc<Semaphore>,
    /// The one place of this process for steps that crashes have cut off again and again.
    pub alone: Arc<Semaphore>,
}
