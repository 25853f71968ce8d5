//! Dry run: the days run through the same code as the import but are stored nowhere, so that rejected orders
//! and wrong books are known before anything is written.

use super::books::Disagreement;
use super::{AiTraderReport, RecordedAgent};
use futures::FutureExt as _;
use papertape_agents::config::{AgentConfig, MemorySettings};
use papertape_agents::day::{DayResult, StartState, run_day};
use papertape_agents::day_input::DayInput;
use papertape_agents::imported::ImportedOutcome;
use papertape_agents::prompt::PromptSet;
use papertape_agents::recorded::{ImportedDay, RecordedDay};
use papertape_core::broker::MarketProfile;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::market::{Dataset, TradingDay};
use papertape_core::message::{ModelName, ModelReply, ModelRequest};
use papertape_core::ports::{BoxFuture, ExternalCall, ExternalReply};
use papertape_core::record::Write;
use papertape_core::tape::{CallOptions, CallOutcome, Host, SessionRun, SessionStop, StepPath, Tape};
use papertape_redact::Redactor;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

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

/// The model name of an imported agent, which has no callable model.
#[must_use]
pub fn model_of(agent: &RecordedAgent) -> ModelName {
    ModelName { provider: ModelName::RECORDED.to_owned(), model: agent.name.to_string() }
}

/// Runs an agent's days and reports the results.
///
/// # Errors
/// Books that no market allows.
pub async fn run(
    world: &InMemoryHost<'_>,
    agent: &RecordedAgent,
    report: &mut AiTraderReport,
) -> Result<(), SessionStop> {
    let config = AgentConfig::solo(agent.name.clone(), model_of(agent));
    let redactor =
        Redactor::new(Vec::new()).map_err(|error| SessionStop::ContractViolation(error.to_string()))?;
    let redactor = Arc::new(redactor);
    let mut state = StartState::new(&config, world.market.clone(), agent.initial_cash, 0);
    let name = agent.name.as_str();
    let mut has_told = report.disagreements.first.iter().any(|one| one.agent == name);
    let (mut closings, nothing) = (0, RecordedDay::default());
    for (at, day) in world.days.iter().enumerate() {
        let recorded = agent.days.get(&day.date).unwrap_or(&nothing);
        let last = at + 1 == world.days.len();
        let session =
            SessionRun::new(Arc::new(Nowhere), Tape::new(Vec::new()), Arc::clone(&redactor), seed());
        let symbols = world.dataset.view(day.open).listed(world.symbols);
        let input = DayInput {
            agent: &config,
            changes: &[],
            house_versions: &BTreeMap::new(),
            prompts: world.prompts,
            symbols: &symbols,
            universe: None,
            dataset: world.dataset,
            day: *day,
            last,
            memory: MemorySettings::off(),
            embedding: None,
            recorded: Some(ImportedDay { day: recorded, writer: &config.model }),
        };
        let result = Box::pin(run_day(&mut session.root(), &input, state)).await?;
        session.finish(Vec::new()).await?;
        let spoke = spoke(&result)?;
        closings += spoke.closings as u64;
        has_told |= report_day(agent, *day, &spoke, has_told, report);
        state = result.state;
    }
    if let Some(about) = report.agents.iter_mut().find(|about| about.agent == name) {
        about.sessions = world.days.len() as u64;
        about.closings = closings;
        about.computed_cash = Some(state.books.account().cash().0.normalize());
        about.portfolio_value = Some(state.books.last_value().0.normalize());
    }
    Ok(())
}

/// The outcome of a day, from its metadata.
fn spoke(result: &DayResult) -> Result<ImportedOutcome, SessionStop> {
    serde_json::from_value(result.closing.metadata["recorded"].clone()).map_err(|error| {
        SessionStop::ContractViolation(format!("a recorded day's metadata cannot be read: {error}"))
    })
}

/// Reports where a day disagrees with the books: trades that the rules reject, and, unless a row has already
/// been reported, the first day on which amounts differ. Returns whether anything was reported.
fn report_day(
    agent: &RecordedAgent,
    day: TradingDay,
    spoke: &ImportedOutcome,
    has_told: bool,
    report: &mut AiTraderReport,
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
    for refused in spoke.refused.iter().filter(|refused| !refused.order.quantity.is_zero()) {
        let order = &refused.order;
        let what = format!(
            "the log has {} {} {}, which the rules refuse: {} ({})",
            order.side, order.quantity, order.symbol, refused.message, refused.code
        );
        found.push(one(what, None));
    }
    if !has_told && found.is_empty() {
        for difference in &spoke.differences {
            found.push(one("the books differ from this day on".to_owned(), Some(difference.clone())));
        }
    }
    let told = !found.is_empty();
    found.into_iter().for_each(|one| report.disagreements.add(one));
    told
}

/// These days use no randomness.
fn seed() -> ContentHash {
    ContentHash::of(b"dry")
}

/// Executes nothing and stores nothing.
struct Nowhere;

impl Nowhere {
    fn never<T: Send + 'static>(path: &StepPath) -> BoxFuture<'static, Result<T, SessionStop>> {
        let stop = SessionStop::ContractViolation(format!("a recorded day calls nobody, and {path} does"));
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
