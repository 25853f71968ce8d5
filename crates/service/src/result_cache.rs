//! A cache of results of stopped jobs.
//!
//! The key holds all inputs: the agent and the days, each job with its epoch, the requested benchmark, and whether
//! the dataset for the baselines is available. A job's sessions change only under a lease, and each lease has a new
//! epoch; a job that may be written is not cached. So a stale result is never found, whichever process wrote.

use lru::LruCache;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::time::Date;
use papertape_protocol::compare::random::RandomBaselineResponse;
use papertape_protocol::quality::DegradedDayResponse;
use papertape_protocol::results::baseline::{BaselineResult, ValueAtClose};
use papertape_protocol::results::conventions::FeeResponse;
use papertape_protocol::results::history::{MonthResponse, RollingSharpe};
use papertape_protocol::results::range::{DailyPortfolioValue, RangeResult};
use papertape_protocol::results::refill::UnfilledOrder;
use papertape_store::{StoppedJob, Store, StoreError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum size of the cache in bytes, about: ten years of some hundred agents.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The maximum number of cached random baselines. Each is small.
const MAX_RANDOM: usize = 256;

/// The most recently used results.
#[derive(Debug)]
pub struct ResultCache(Mutex<Cached>);

/// The inputs of an agent's random baseline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RandomKey {
    pub(crate) agent: AgentName,
    pub(crate) jobs: Vec<StoppedJob>,
    pub(crate) last: Option<Date>,
}

impl Default for ResultCache {
    fn default() -> Self {
        let (results, random) = (LruCache::unbounded(), LruCache::unbounded());
        Self(Mutex::new(Cached { results, bytes: 0, random }))
    }
}

/// The inputs of a result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResultKey {
    agent: AgentName,
    days: (Option<Date>, Option<Date>),
    /// With the last day that counts of each job.
    jobs: Vec<(StoppedJob, Option<Date>)>,
    is_at_hand: bool,
    /// The requested benchmark, instead of the job's own.
    benchmark: Option<Symbol>,
}

#[derive(Debug)]
struct Cached {
    /// The results with their sizes in bytes.
    results: LruCache<ResultKey, (Arc<RangeResult>, usize)>,
    bytes: usize,
    random: LruCache<RandomKey, Arc<RandomBaselineResponse>>,
}

impl ResultKey {
    /// The key of an agent's days in these jobs; `None` while one of the jobs may be written.
    pub(crate) async fn of(
        store: &Store,
        agent: &AgentName,
        days: (Option<Date>, Option<Date>),
        chain: &[(JobId, Option<Date>)],
        (is_at_hand, benchmark): (bool, Option<&Symbol>),
    ) -> Result<Option<Self>, StoreError> {
        let mut jobs = Vec::with_capacity(chain.len());
        for (job, to) in chain {
            let Some(stopped) = store.stopped(job).await? else { return Ok(None) };
            jobs.push((stopped, *to));
        }
        let benchmark = benchmark.cloned();
        Ok(Some(Self { agent: agent.clone(), days, jobs, is_at_hand, benchmark }))
    }
}

impl ResultCache {
    /// The cached result of a key.
    pub(crate) fn get(&self, key: &ResultKey) -> Option<Arc<RangeResult>> {
        self.cached().results.get(key).map(|(result, _)| Arc::clone(result))
    }

    /// Caches a result, and evicts the least recently used ones.
    pub(crate) fn insert(&self, key: ResultKey, result: &RangeResult) {
        let bytes = size(result);
        if bytes > MAX_BYTES {
            return;
        }
        let mut cached = self.cached();
        let before = cached.results.put(key, (Arc::new(result.clone()), bytes));
        cached.bytes += bytes;
        cached.bytes -= before.map_or(0, |(_, bytes)| bytes);
        while cached.bytes > MAX_BYTES {
            let Some((_, (_, bytes))) = cached.results.pop_lru() else { break };
            cached.bytes -= bytes;
        }
    }

    /// The cached random baseline of a key.
    pub(crate) fn random(&self, key: &RandomKey) -> Option<Arc<RandomBaselineResponse>> {
        self.cached().random.get(key).cloned()
    }

    /// Caches a random baseline.
    pub(crate) fn insert_random(&self, key: RandomKey, found: Arc<RandomBaselineResponse>) {
        let mut cached = self.cached();
        cached.random.put(key, found);
        if cached.random.len() > MAX_RANDOM {
            cached.random.pop_lru();
        }
    }

    fn cached(&self) -> MutexGuard<'_, Cached> {
        // A poisoned lock is safe to use: a result is cached as a whole or not at all.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    let history = &result.history;
    ALL_ELSE
        + history.months.len() * size_of::<MonthResponse>()
        + history.rolling_sharpe.len() * size_of::<RollingSharpe>()
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
    use papertape_core::metric::{PeriodInput, period_metrics};
    use papertape_core::money::Money;
    use papertape_core::record::DayStatus;
    use papertape_protocol::number::number;
    use papertape_protocol::results::history::HistoryResponse;
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
            daily_risk_free: 0.0,
            trading_days_per_year: 252,
        };
        let period_metrics: Metrics = period_metrics(&input).into();
        RangeResult {
            model: model.to_owned(),
            job_id: "job".to_owned(),
            done_before: Vec::new(),
            rules_version: 2,
            is_llm: None,
            training_cutoffs: Vec::new(),
            start_date: date,
            end_date: date,
            starting_portfolio_value: number(1.into()),
            ending_portfolio_value: number(1.into()),
            insolvent: None,
            conventions: None,
            refilled_at_next_open: None,
            daily_portfolio_values: vec![day; days],
            history: HistoryResponse::default(),
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
            masked: None,
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
            let cached = kept.0.lock().expect("no panic");
            assert!(cached.bytes <= MAX_BYTES);
            assert_eq!(cached.bytes, cached.results.iter().map(|(_, (_, bytes))| bytes).sum::<usize>());
        }
        assert!(kept.get(&key("second")).is_none());
        assert!(kept.get(&key("sixth")).is_some());
        kept.insert(key("too large"), &result("too large", 1_000_000));
        assert!(kept.get(&key("too large")).is_none() && kept.get(&key("sixth")).is_some());
    }
}
