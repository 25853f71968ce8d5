//! Dry run: the days run through the same code as the import but are stored nowhere, so that rejected orders
//! and wrong books are known before anything is written.

use super::report::{Disagreement, RunReport};
use futures::FutureExt as _;
use papertape_agents::config::MemorySettings;
use papertape_agents::day::{DayResult, StartState, run_day};
use papertape_agents::day_input::DayInput;
use papertape_agents::imported::ImportedOutcome;
use papertape_agents::prompt::PromptSet;
use papertape_agents::recorded::{ImportedDay, RecordedDay};
use papertape_core::broker::MarketProfile;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::market::{Dataset, TradingDay};
use papertape_core::message::{ModelReply, ModelRequest};
use papertape_core::ports::{BoxFuture, ExternalCall, ExternalReply};
use papertape_core::record::Write;
use papertape_core::tape::{CallOptions, CallOutcome, Host, SessionRun, SessionStop, StepPath, Tape};
use papertape_core::time::Date;
use papertape_redact::Redactor;
use papertape_service::trigger::RecordedAgent;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What [`Difference`](papertape_agents::recorded::Difference) calls a portfolio value.
const VALUE: &str = "value";

/// The input that all agents share.
pub struct InMemoryHost<'a> {
    /// The prices.
    pub dataset: &'a Dataset,
    /// The market's rules.
    pub market: &'a MarketProfile,
    /// The tradable symbols.
    pub symbols: &'a BTreeSet<Symbol>,
    /// The trading days.
    pub days: &'a [TradingDay],
    /// The prompts, all unused.
    pub prompts: &'a PromptSet,
}

/// Runs an agent's days and reports the results. Returns the outcome of each day.
///
/// # Errors
/// Books that no market allows.
pub async fn run(
    host: &InMemoryHost<'_>,
    agent: &RecordedAgent,
    report: &mut RunReport,
) -> Result<Vec<(Date, ImportedOutcome)>, SessionStop> {
    let config = agent.config(agent.model());
    let redactor =
        Redactor::new(Vec::new()).map_err(|error| SessionStop::ContractViolation(error.to_string()))?;
    let redactor = Arc::new(redactor);
    let mut state = StartState::new(&config, host.market.clone(), agent.initial_cash, 0);
    let name = agent.name.as_str();
    let mut has_reported = report.disagreements.first.iter().any(|one| one.agent == name);
    let (mut closings, nothing) = (0, RecordedDay::default());
    let mut outcomes = Vec::new();
    for (at, day) in host.days.iter().enumerate() {
        let recorded = agent.days.get(&day.date).unwrap_or(&nothing);
        let last = at + 1 == host.days.len();
        let session =
            SessionRun::new(Arc::new(Nowhere), Tape::new(Vec::new()), Arc::clone(&redactor), seed());
        let symbols = host.dataset.view(day.open).listed(host.symbols);
        let input = DayInput {
            agent: &config,
            changes: &[],
            house_versions: &BTreeMap::new(),
            prompts: host.prompts,
            symbols: &symbols,
            universe: None,
            dataset: host.dataset,
            day: *day,
            last,
            memory: MemorySettings::off(),
            embedding: None,
            recorded: Some(ImportedDay { day: recorded, writer: &config.model }),
        };
        let result = Box::pin(run_day(&mut session.root(), &input, state)).await?;
        session.finish(Vec::new()).await?;
        let outcome = outcome(&result)?;
        closings += outcome.closings as u64;
        has_reported |= report_day(agent, *day, &outcome, has_reported, report);
        outcomes.push((day.date, outcome));
        state = result.state;
    }
    if let Some(entry) = report.agents.iter_mut().find(|entry| entry.agent == name) {
        entry.sessions = host.days.len() as u64;
        entry.closings = closings;
        entry.computed_cash = Some(state.books.account().cash().0.normalize());
        entry.portfolio_value = Some(state.books.last_value().0.normalize());
    }
    Ok(outcomes)
}

/// The outcome of a day, from its metadata.
fn outcome(result: &DayResult) -> Result<ImportedOutcome, SessionStop> {
    serde_json::from_value(result.closing.metadata["recorded"].clone()).map_err(|error| {
        SessionStop::ContractViolation(format!("a recorded day's metadata cannot be read: {error}"))
    })
}

/// Reports where a day disagrees with the books: trades that the rules reject, and, unless a row has already
/// been reported, the first day on which amounts differ. Returns whether anything was reported.
fn report_day(
    agent: &RecordedAgent,
    day: TradingDay,
    outcome: &ImportedOutcome,
    has_reported: bool,
    report: &mut RunReport,
) -> bool {
    let mut found = Vec::new();
    let one = |what: String, amounts| Disagreement {
        agent: agent.name.to_string(),
        date: day.date,
        at: None,
        what,
        amounts,
    };
    // A trade of 0 changes nothing, so the books agree that it was rejected.
    for rejected in outcome.refused.iter().filter(|rejected| !rejected.order.quantity.is_zero()) {
        let order = &rejected.order;
        let what = format!(
            "the log has {} {} {}, which the rules reject: {} ({})",
            order.side, order.quantity, order.symbol, rejected.message, rejected.code
        );
        found.push(one(what, None));
    }
    if !has_reported && found.is_empty() {
        // Values have a report of their own, with every day.
        for difference in outcome.differences.iter().filter(|difference| difference.what != VALUE) {
            found.push(one("the books differ from this day on".to_owned(), Some(difference.clone())));
        }
    }
    let has_found = !found.is_empty();
    found.into_iter().for_each(|one| report.disagreements.add(one));
    has_found
}

/// These days use no randomness.
fn seed() -> ContentHash {
    ContentHash::of(b"dry")
}

/// Executes nothing and stores nothing.
struct Nowhere;

impl Nowhere {
    fn never<T: Send + 'static>(path: &StepPath) -> BoxFuture<'static, Result<T, SessionStop>> {
        let stop = SessionStop::ContractViolation(format!("a recorded day makes no calls, but {path} does"));
        async move { Err(stop) }.boxed()
    }
}

impl Host for Nowhere {
    fn reserve<'a>(
        &'a self,
        path: &'a StepPath,
        _: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), SessionStop>> {
        Self::never(path)
    }

    fn model<'a>(
        &'a self,
        path: &'a StepPath,
        _: &'a ModelRequest,
        _: CallOptions,
        _: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelReply>, SessionStop>> {
        Self::never(path)
    }

    fn external<'a>(
        &'a self,
        path: &'a StepPath,
        _: &'a ExternalCall,
        _: CallOptions,
        _: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ExternalReply>, SessionStop>> {
        Self::never(path)
    }

    fn commit<'a>(&'a self, _: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        async { Ok(()) }.boxed()
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }

    fn request<'a>(&'a self, _: ContentHash) -> BoxFuture<'a, Option<Value>> {
        async { None }.boxed()
    }
}
