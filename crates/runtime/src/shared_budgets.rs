//! Reserves amounts of a job, or a part of one, that shares limits with others: each has a share, spends it without
//! asking again, and requests a larger one when it is used up.

use crate::budget::{BudgetLine, Budgets, Exceeded, Spend};
use crate::services::Services;
use crate::tape_reader::{self, stop_of};
use papertape_core::budget::{Grant, JobBudget, Limit, ShareOutcome, SharedLimit};
use papertape_core::external::{ModelDoorRequest, estimate};
use papertape_core::id::AgentName;
use papertape_core::message::{ModelRequest, Usage};
use papertape_core::ports::RecordError;
use papertape_core::record::Lease;
use papertape_core::tape::{SessionStop, StepPath};
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;

/// Reserves an amount. `turn`: whose holder may request a share of the run's.
///
/// # Errors
/// The exceeded limit, a lost lease, or an error of the record.
pub(crate) async fn reserve(
    (services, lease): (&Services, &Lease),
    (budgets, turn): (&Budgets, &tokio::sync::Mutex<()>),
    line: &BudgetLine,
    amount: Spend,
) -> Result<(), SessionStop> {
    match budgets.try_reserve(line, amount) {
        Ok(()) => return Ok(()),
        Err(Exceeded::Limit(message)) => return Err(SessionStop::Budget(message)),
        Err(Exceeded::Share(_)) => {}
    }
    let _turn = turn.lock().await;
    loop {
        // What was granted to an earlier call may be enough for this one too.
        let request = match budgets.try_reserve(line, amount) {
            Ok(()) => return Ok(()),
            Err(Exceeded::Limit(message)) => return Err(SessionStop::Budget(message)),
            Err(Exceeded::Share(request)) => request,
        };
        match services.shared_budgets.request_share(lease, request).await.map_err(stop_of)? {
            ShareOutcome::Granted(share) => budgets.set_share(request.line, share),
            ShareOutcome::Denied { by: SharedLimit::Job, limit, .. } => {
                return Err(SessionStop::Budget(job_exhausted(request.line, limit)));
            }
            ShareOutcome::Denied { by: SharedLimit::Experiment, committed, limit } => {
                return Err(SessionStop::Budget(experiment_exhausted(committed, limit, request.needed)));
            }
        }
    }
}

/// Calls that a dead process may have made, with what is reserved for them until their steps are run again.
pub(crate) type OpenCalls = BTreeMap<(AgentName, Date, StepPath), Spend>;

/// Reserves what a dead process had reserved for the calls that it did not end. `is_own`: whether this run has the agent.
pub(crate) async fn reserve_open_calls(
    services: &Services,
    lease: &Lease,
    budgets: &Budgets,
    is_own: impl Fn(&AgentName) -> bool,
) -> Result<OpenCalls, RecordError> {
    let mut reserved = OpenCalls::new();
    for call in services.record.open_calls(&lease.job).await? {
        if !is_own(&call.agent) {
            continue;
        }
        let request = tape_reader::request(&*services.record, call.request_ref).await?;
        let Some(request) = request.and_then(model_request) else { continue };
        let price = |usage: &Usage| services.models.cost(&request.model, usage);
        let amount = Spend::estimate(&request, price);
        let line = BudgetLine { agent: call.agent.clone(), date: call.date, detached: false };
        budgets.reserve_unchecked(&line, amount);
        reserved.insert((call.agent, call.date, call.path), amount);
    }
    Ok(reserved)
}

/// The request of a step; of a call of the model endpoint, one of the same length.
fn model_request(request: Value) -> Option<ModelRequest> {
    match serde_json::from_value::<ModelDoorRequest>(request.clone()) {
        Ok(forwarded) => Some(estimate(&forwarded)),
        Err(_) => serde_json::from_value(request).ok(),
    }
}

/// `job: the job's parts have used or reserved all they can of 350 tokens`.
fn job_exhausted(line: JobBudget, limit: Limit) -> String {
    let name = match line {
        JobBudget::Sessions => "job",
        JobBudget::Summaries => "summaries",
    };
    let tokens = limit.tokens.map(|tokens| format!("{tokens} tokens"));
    let usd = limit.usd.map(|usd| format!("{} USD", usd.normalize()));
    let limit: Vec<String> = tokens.into_iter().chain(usd).collect();
    format!("{name}: the job's parts have used or reserved all they can of {}", limit.join(" and "))
}

/// `experiment: 300 tokens used or held by its jobs; the next call may need 60 more, the limit is 350`.
fn experiment_exhausted(committed: Grant, limit: Limit, needed: Grant) -> String {
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
