//! A running job: its services, its lease and its budgets.

use crate::budget::{BudgetLine, Budgets, Spend};
use crate::cancellation::CancelToken;
use crate::experiment_budget::ExperimentShare;
use crate::job_runner::ClaimedJob;
use crate::services::Services;
use papertape_core::record::Lease;
use papertape_core::tape::SessionStop;

/// State shared by the sessions of one running job.
pub(crate) struct JobRun {
    pub(crate) services: Services,
    pub(crate) lease: Lease,
    pub(crate) budgets: Budgets,
    /// Its share of the budget of its experiment, if it belongs to one with a limit.
    experiment: Option<ExperimentShare>,
    pub(crate) cancel: CancelToken,
}

impl JobRun {
    pub(crate) fn new(job: ClaimedJob<'_>, budgets: Budgets) -> Self {
        let ClaimedJob { services, lease, cancel, .. } = job;
        let (services, lease, cancel) = (services.clone(), lease.clone(), cancel.clone());
        Self { services, lease, budgets, experiment: None, cancel }
    }

    /// With a share of the budget of its experiment.
    pub(crate) fn with_share(mut self, share: Option<ExperimentShare>) -> Self {
        self.experiment = share;
        self
    }

    /// Reserves an amount in every budget that it is charged to.
    pub(crate) async fn reserve(&self, line: &BudgetLine, amount: Spend) -> Result<(), SessionStop> {
        self.budgets.reserve(line, amount).map_err(SessionStop::Budget)?;
        let Some(share) = self.experiment.as_ref().filter(|_| !line.detached) else { return Ok(()) };
        let reserved = share.reserve(&self.services, &self.lease, amount).await;
        if reserved.is_err() {
            self.budgets.settle(line, amount, Spend::default());
        }
        reserved
    }

    /// Replaces a reservation with the actual usage.
    pub(crate) fn settle(&self, line: &BudgetLine, reserved: Spend, used: Spend) {
        self.budgets.settle(line, reserved, used);
        if let Some(share) = self.experiment.as_ref().filter(|_| !line.detached) {
            share.settle(reserved, used);
        }
    }
}
