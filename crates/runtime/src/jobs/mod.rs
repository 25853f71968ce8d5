//! The kinds of jobs: one file per kind, one line here to register it.

mod chat_action;
mod memory_probe;
mod plan_decompose;
mod plan_execute;
mod profile;
mod simulate;

use crate::assistant_job::Assistant;
use crate::job_runner::JobRunner;
use std::sync::Arc;

pub use profile::TOO_LATE;

/// The kinds that every process runs.
#[must_use]
pub fn standard() -> Vec<Arc<dyn JobRunner>> {
    vec![Arc::new(simulate::Simulate), Arc::new(profile::Profile), Arc::new(memory_probe::MemoryProbe)]
}

/// The assistant's kinds.
#[must_use]
pub fn assistant(assistant: &Arc<Assistant>) -> Vec<Arc<dyn JobRunner>> {
    vec![
        Arc::new(chat_action::ChatAction(Arc::clone(assistant))),
        Arc::new(plan_decompose::PlanDecompose(Arc::clone(assistant))),
        Arc::new(plan_execute::PlanExecute(Arc::clone(assistant))),
    ]
}
