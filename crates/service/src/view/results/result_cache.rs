//! A cache of results of stopped jobs.
//!
//! The key holds all inputs: the agent and the days, each job with its epoch, the requested benchmark, and whether
//! the dataset for the baselines is available. A job's sessions change only under a lease, and each lease has a new
//! epoch; a job that may be written is not cached. So a stale result is never found, whichever process wrote.

use super::super::ViewError;
use crate::app::App;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::time::Date;
use papertape_protocol::quality::DegradedDayResponse;
use papertape_protocol::results::baseline::{BaselineResult, ValueAtClose};
use papertape_protocol::results::conventions::FeeResponse;
use papertape_protocol::results::range::{DailyPortfolioValue, RangeResult};
use papertape_protocol::results::refill::UnfilledOrder;
use papertape_store::StoppedJob;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum size of the cache in bytes, about: ten years of some hundred agents.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The most recently used results.
#[derive(Debug, Default)]
pub struct ResultCache(Mutex<ResultStore>);

/// The inputs of a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ResultKey {
    agent: AgentName,
    days: (Option<Date>, Option<Date>),
    /// With the last day that counts of each job.
    jobs: Vec<(StoppedJob, Option<Date>)>,
    is_at_hand: bool,
    /// The requested benchmark, instead of the job's own.
    benchmark: Option<Symbol>,
}

#[derive(Debug, Default)]
struct ResultStore {
    kept: HashMap<ResultKey, CachedResult>,
    bytes: usize,
    /// Counts the uses.
    clock: u64,
}

#[derive(Debug)]
struct CachedResult {
    result: Arc<RangeResult>,
    bytes: usize,
    used: u64,
}

impl ResultKey {
    /// The key of an agent's days in these jobs; `None` while one of the jobs may be written.
    pub(super) async fn of(
        app: &App,
        agent: &AgentName,
        days: (Option<Date>, Option<Date>),
        chain: &[(JobId, Option<Date>)],
        (is_at_hand, benchmark): (bool, Option<&Symbol>),
    ) -> Result<Option<Self>, ViewError> {
        let mut jobs = Vec::with_capacity(chain.len());
        for (job, to) in chain {
            let Some(stopped) = app.store.stopped(job).await? else { return Ok(None) };
            jobs.push((stopped, *to));
        }
        let benchmark = benchmark.cloned();
        Ok(Some(Self { agent: agent.clone(), days, jobs, is_at_hand, benchmark }))
    }
}

impl ResultCache {
    /// The cached result of a key.
    pub(super) fn get(&self, key: &ResultKey) -> Option<Arc<RangeResult>> {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.clock += 1;
        let now = shelf.clock;
        let kept = shelf.kept.get_mut(key)?;
        kept.used = now;
        Some(Arc::clone(&kept.result))
    }

    /// Caches a result, and evicts the least recently used ones.
    pub(super) fn insert(&self, key: ResultKey, result: &RangeResult) {
        let bytes = size(result);
        if bytes > MAX_BYTES {
            return;
        }
        let result = Arc::new(result.clone());
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.clock += 1;
        let used = shelf.clock;
        let before = shelf.kept.insert(key, CachedResult { result, bytes, used });
        shelf.bytes += bytes;
        shelf.bytes -= before.map_or(0, |before| before.bytes);
        while shelf.bytes > MAX_BYTES {
            let oldest = shelf.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
            let Some(gone) = oldest.and_then(|oldest| shelf.kept.remove(&oldest)) else { break };
            shelf.bytes -= gone.bytes;
        }
    }
}

/// The approximate size of a result in bytes, with its key.
fn size(result: &RangeResult) -> usize {
    const ALL_ELSE: usize = 4096;
    let day = size_of::<DailyPortfolioValue>() + result.job_id.len();
    let beside =
        |baseline: &BaselineResult| baseline.daily_portfolio_values.len() * size_of::<ValueAtClose>();
    let baselines = result.baselines.as_ref();
    let benchmark = result.benchmark.as_ref().map_or(0, |benchmark| {
        benchmark.daily_portfolio_values.len() * size_of::<ValueAtClose>()
            + benchmark.missing_days.len() * size_of::<Date>()
    });
    let fees = result.conventions.as_ref().map_or(0, |traded| traded.fees.len());
    let refilled = result.refilled_at_next_open.as_ref().map_or(0, |refilled| refilled.unfilled.len());
    ALL_ELSE
        + benchmark
        + fees * size_of::<FeeResponse>()
        + refilled * size_of::<UnfilledOrder>()
        + result.daily_portfolio_values.len() * day
        + result.provenance.degraded_days.len() * size_of::<Date>()
        + result.provenance.reasons.iter().map(reason).sum::<usize>()
        + baselines.map_or(0, |both| beside(&both.buy_and_hold) + beside(&both.equal_weight))
}

fn reason(day: &DegradedDayResponse) -> usize {
    size_of::<DegradedDayResponse>() + day.model.len() + day.reason.as_ref().map_or(0, String::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::number;
    use papertape_core::metric::{PeriodInput, period_metrics};
    use papertape_core::money::Money;
    use papertape_core::record::DayStatus;
    use papertape_protocol::results::metrics::Metrics;
    use papertape_protocol::results::range::{FullResearch, RangeProvenance};

    fn key(agent: &str) -> ResultKey {
        let agent = AgentName::from(agent);
        ResultKey { agent, days: (None, None), jobs: Vec::new(), is_at_hand: true, benchmark: None }
    }

    fn result(model: &str, days: usize) -> RangeResult {
        let date = jiff::civil::date(2012, 10, 1);
        let day = DailyPortfolioValue {
            date,
            portfolio_value: number(1.into()),
            cash: number(1.into()),
            status: DayStatus::Completed,
            full_research: true,
            job_id: "job".to_owned(),
        };
        let input = PeriodInput {
            initial: Money::ZERO,
            days: &[],
            fills: &[],
            closed_pnl: &[],
            risk_free_a_day: 0.0,
            days_a_year: 252,
        };
        let period_metrics: Metrics = period_metrics(&input).into();
        RangeResult {
            model: model.to_owned(),
            job_id: "job".to_owned(),
            done_before: Vec::new(),
            rules_version: 2,
            is_llm: None,
            start_date: date,
            end_date: date,
            starting_portfolio_value: number(1.into()),
            ending_portfolio_value: number(1.into()),
            insolvent: None,
            conventions: None,
            refilled_at_next_open: None,
            daily_portfolio_values: vec![day; days],
            full_research: FullResearch { days, total_days: days, period_metrics: period_metrics.clone() },
            period_metrics,
            provenance: RangeProvenance {
                point_in_time: None,
                point_in_time_reason: None,
                failed_days: Vec::new(),
                degraded_days: Vec::new(),
                reasons: Vec::new(),
            },
            baselines: None,
            benchmark: None,
            reasoning: None,
        }
    }

    /// Goal: however many results are requested, the cache stays within its limit, and keeps what was used
    /// last.
    #[test]
    fn what_is_kept_is_bounded_and_the_last_used_stays() {
        let kept = ResultCache::default();
        let large = result("large", 120_000);
        assert!(size(&large) * 3 < MAX_BYTES && size(&large) * 6 > MAX_BYTES);
        kept.insert(key("first"), &large);
        for agent in ["second", "third", "fourth", "fifth", "sixth"] {
            assert!(kept.get(&key("first")).is_some(), "it was used last but for {agent}");
            kept.insert(key(agent), &large);
            let shelf = kept.0.lock().expect("no panic");
            assert!(shelf.bytes <= MAX_BYTES);
            assert_eq!(shelf.bytes, shelf.kept.values().map(|kept| kept.bytes).sum::<usize>());
        }
        assert!(kept.get(&key("second")).is_none());
        assert!(kept.get(&key("sixth")).is_some());
        kept.insert(key("too large"), &result("too large", 1_000_000));
        assert!(kept.get(&key("too large")).is_none() && kept.get(&key("sixth")).is_some());
    }
}
