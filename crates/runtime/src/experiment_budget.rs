//! A running job's share of the budget of its experiment.
//!
//! The database grants parts of the limit to the jobs that run, in any number of processes; each job reserves and
//! settles its calls against its own part. So the jobs together never reserve more than the limit. As with a job's own
//! budget, a call may use more than was reserved for it.

use crate::budget::Spend;
use crate::services::Services;
use crate::sync::lock;
use crate::tape_reader::stop_of;
use papertape_core::budget::{Grant, Limit};
use papertape_core::ports::RecordError;
use papertape_core::record::{GrantOutcome, GrantRequest, Lease, UsageTotal};
use papertape_core::tape::SessionStop;
use rust_decimal::Decimal;
use std::sync::Mutex;

/// A job prefers to be granted this part of the limit, divided by the number of jobs, at once. What running jobs hold
/// and do not use when the budget ends is at most this part of it.
const PARTS: u32 = 16;

/// A running job's share.
pub(crate) struct ExperimentShare {
    /// What the job prefers to be granted at once.
    preferred: Grant,
    state: Mutex<State>,
    /// Calls that need a grant request it one after the other.
    growing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct State {
    granted: Grant,
    used: Spend,
    reserved: Spend,
}

impl State {
    /// What is missing to reserve an amount; `None` if nothing is.
    fn missing(&self, amount: Spend) -> Option<Grant> {
        let mut sum = self.used;
        sum.add(self.reserved);
        sum.add(amount);
        let missing = Grant {
            tokens: sum.tokens.saturating_sub(self.granted.tokens),
            usd: (sum.usd - self.granted.usd).max(Decimal::ZERO),
        };
        (missing != Grant::default()).then_some(missing)
    }
}

impl ExperimentShare {
    /// Begins the share of a claimed job. `None`: it belongs to no experiment with a limit.
    pub(crate) async fn open(
        services: &Services,
        lease: &Lease,
        usage: &[UsageTotal],
    ) -> Result<Option<Self>, RecordError> {
        let Some((limit, jobs)) = services.experiments.open_share(lease).await? else { return Ok(None) };
        let mut used = Spend::default();
        for row in usage.iter().filter(|row| !row.detached) {
            used.add(Spend::of(&row.usage, Some(row.cost_usd)));
        }
        let granted = Grant { tokens: used.tokens, usd: used.usd };
        let state = State { granted, used, reserved: Spend::default() };
        Ok(Some(Self {
            preferred: preferred(limit, jobs),
            state: Mutex::new(state),
            growing: tokio::sync::Mutex::default(),
        }))
    }

    /// Reserves an amount, of what is granted or of a new grant.
    ///
    /// # Errors
    /// The budget of the experiment is exhausted, or the database fails.
    pub(crate) async fn reserve(
        &self,
        services: &Services,
        lease: &Lease,
        amount: Spend,
    ) -> Result<(), SessionStop> {
        if self.try_reserve(amount).is_none() {
            return Ok(());
        }
        let _growing = self.growing.lock().await;
        loop {
            // An earlier call may have been granted enough for this one too.
            let Some(needed) = self.try_reserve(amount) else { return Ok(()) };
            let request = GrantRequest { needed, preferred: self.preferred };
            match services.experiments.grant(lease, request).await.map_err(stop_of)? {
                GrantOutcome::Granted(grant) => {
                    let mut state = lock(&self.state);
                    state.granted.tokens = state.granted.tokens.saturating_add(grant.tokens);
                    state.granted.usd = state.granted.usd.saturating_add(grant.usd);
                }
                GrantOutcome::Denied { committed, limit } => {
                    return Err(SessionStop::Budget(exhausted(committed, limit, needed)));
                }
            }
        }
    }

    /// Reserves an amount of what is granted; otherwise returns what is missing.
    fn try_reserve(&self, amount: Spend) -> Option<Grant> {
        let mut state = lock(&self.state);
        let missing = state.missing(amount);
        if missing.is_none() {
            state.reserved.add(amount);
        }
        missing
    }

    /// Replaces a reservation with the actual usage.
    pub(crate) fn settle(&self, reserved: Spend, used: Spend) {
        let mut state = lock(&self.state);
        state.reserved.subtract(reserved);
        state.used.add(used);
    }
}

fn preferred(limit: Limit, jobs: u32) -> Grant {
    let parts = jobs.max(1).saturating_mul(PARTS);
    Grant {
        tokens: limit.tokens.unwrap_or_default() / u64::from(parts),
        usd: limit.usd.unwrap_or_default() / Decimal::from(parts),
    }
}

/// `experiment: 300 tokens used or held by its jobs; the next call may need 60 more, the limit is 350`.
fn exhausted(committed: Grant, limit: Limit, needed: Grant) -> String {
    match limit.tokens {
        Some(max) if committed.tokens.saturating_add(needed.tokens) > max => format!(
            "experiment: {} tokens used or held by its jobs; the next call may need {} more, the limit is {max}",
            committed.tokens, needed.tokens
        ),
        _ => {
            let plain = |amount: Decimal| amount.round_dp(6).normalize();
            format!(
                "experiment: {} USD used or held by its jobs; the next call may need {} more, the limit is {}",
                plain(committed.usd),
                plain(needed.usd),
                limit.usd.unwrap_or_default().normalize()
            )
        }
    }
}
