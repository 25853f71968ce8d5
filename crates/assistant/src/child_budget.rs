//! Budgets of started jobs, allocated from the budget of the job that starts them.
//!
//! A turn or the execution of a plan has two budgets: one for its own model calls, and one for all the
//! simulations that it starts. A started job gets an allocation; when it ends, the unused part is released.

use crate::calls::CallResult;
use papertape_core::budget::Limit;
use papertape_core::id::JobId;
use papertape_core::ports::BoxFuture;
use papertape_core::time::Timestamp;

/// Budgets of a job on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetShare {
    /// For its own model calls.
    pub model_calls: Limit,
    /// For all simulations that it starts.
    pub simulations: Limit,
}

/// Allocates budgets to started jobs.
pub trait ChildBudget: Send + Sync {
    /// For a simulation: the requested amount, limited to what is left. If nothing is left, waits until this
    /// instant for jobs that hold an allocation.
    ///
    /// # Errors
    /// A message that nothing is left.
    fn for_simulation<'a>(
        &'a self,
        job: &'a JobId,
        requested: Limit,
        until: Option<Timestamp>,
    ) -> BoxFuture<'a, CallResult<Limit>>;

    /// For a job on a plan: half of what is left for model calls, and everything that is left for simulations, or
    /// nothing (if `with_simulations` is `false`).
    ///
    /// # Errors
    /// A message that nothing is left.
    fn for_plan<'a>(
        &'a self,
        job: &'a JobId,
        with_simulations: bool,
    ) -> BoxFuture<'a, CallResult<BudgetShare>>;

    /// Releases the unused allocation of a job that has stopped, or was not started after all.
    fn settle<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, CallResult<()>>;
}
