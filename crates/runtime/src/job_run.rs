//! A running job: its services, its lease and its budgets.

use crate::budget::{BudgetLine, Budgets, Spend};
use crate::cancellation::CancelToken;
use crate::job_runner::ClaimedJob;
use crate::services::Services;
use crate::shared_budgets::{self, OpenCalls};
use crate::sync::lock;
use papertape_core::record::Lease;
use papertape_core::tape::{SessionStop, StepPath};
use std::sync::Mutex;

/// State shared by the sessions of one running job.
pub(crate) struct JobRun {
    pub(crate) services: Services,
    pub(crate) lease: Lease,
    pub(crate) budgets: Budgets,
    /// Whose turn it is to request a share.
    turn: tokio::sync::Mutex<()>,
    open_calls: Mutex<OpenCalls>,
    pub(crate) cancel: CancelToken,
}

impl JobRun {
    pub(crate) fn new(job: ClaimedJob<'_>, budgets: Budgets) -> Self {
        let ClaimedJob { services, lease, cancel, .. } = job;
        let (services, lease, cancel) = (services.clone(), lease.clone(), cancel.clone());
        let (turn, open_calls) = (tokio::sync::Mutex::default(), Mutex::default());
        Self { services, lease, budgets, turn, open_calls, cancel }
    }

    /// With the calls for which `budgets` has a reservation, because a dead process may have made them.
    pub(crate) fn with_open_calls(self, open_calls: OpenCalls) -> Self {
        Self { open_calls: Mutex::new(open_calls), ..self }
    }

    /// Reserves an estimated amount in every budget that it is charged to. Returns what is reserved.
    pub(crate) async fn reserve(&self, line: &BudgetLine, estimate: Spend) -> Result<Spend, SessionStop> {
        let (run, amount) = ((&self.services, &self.lease), self.budgets.expected(estimate));
        shared_budgets::reserve(run, (&self.budgets, &self.turn), line, amount).await?;
        Ok(amount)
    }

    /// Replaces a reservation with the actual usage.
    pub(crate) fn settle(&self, line: &BudgetLine, reserved: Spend, used: Spend) {
        self.budgets.settle(line, reserved, used);
    }

    /// Counts what a call has used whose process died.
    pub(crate) fn interrupted(&self, line: &BudgetLine, path: &StepPath, used: Spend) {
        let call = (line.agent.clone(), line.date, path.clone());
        let reserved = match line.detached {
            false => lock(&self.open_calls).remove(&call).unwrap_or_default(),
            true => Spend::default(),
        };
        self.settle(line, reserved, used);
    }
}
