//! Reserves amounts of a job that may be split: each part has a share of the job's budget, and requests a larger one
//! when it is used up.

use crate::budget::{BudgetLine, Budgets, Exceeded, Spend};
use crate::services::Services;
use crate::tape_reader::stop_of;
use papertape_core::record::Lease;
use papertape_core::tape::SessionStop;

/// Reserves an amount.
///
/// # Errors
/// The exceeded limit, a lost lease, or an error of the record.
pub(crate) async fn reserve(
    services: &Services,
    lease: &Lease,
    (budgets, line): (&Budgets, &BudgetLine),
    amount: Spend,
) -> Result<(), SessionStop> {
    loop {
        let exceeded = match budgets.try_reserve(line, amount) {
            Err(exceeded) => exceeded,
            Ok(()) => return Ok(()),
        };
        let Exceeded::Share { line: of_job, need, limit } = &exceeded else {
            return Err(SessionStop::Budget(exceeded.to_string()));
        };
        let share = services.queue.grow_share(lease, *of_job, *need, *limit).await.map_err(stop_of)?;
        budgets.raise_share(*of_job, share);
        if !need.is_within(share) {
            return Err(SessionStop::Budget(exceeded.to_string()));
        }
    }
}
