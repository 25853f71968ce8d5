//! One agent's trading day: pre, session, bar, close, post. Reads top to bottom, and everything that it does
//! is on the tape.

use crate::config::{AgentConfig, AgentKind};
use crate::desk::{self, DeskResult};
use crate::graph::Graph;
use crate::market_data::{bars, closes, conditions, conditions_at_close, opens};
use crate::memory::{DayMemory, Memory, MemorySettings, TraderOutcome};
use crate::notice::{describe_entry, describe_rejection};
use crate::prompt::PromptSet;
use crate::recorded::{self, ImportedDay, ImportedOutcome};
use crate::solo::{self, Conversation, SoloInput};
use crate::stale;
use crate::tools::trade;
use papertape_core::broker::{self, Books, DayEnd, LedgerEntry, MarketProfile, PendingOrder, PhaseResult};
use papertape_core::id::ContentHash;
use papertape_core::json::{self, to_value};
use papertape_core::ledger::{CorporateAction, LedgerError};
use papertape_core::market::{Dataset, Listed, MarketView, TradingDay};
use papertape_core::message::ModelName;
use papertape_core::money::Money;
use papertape_core::point_in_time::{Unverified, UnverifiedKind};
use papertape_core::provenance::Provenance;
use papertape_core::record::{
    CloseSession, DayStatus, DerivedRow, EmbeddingRow, HoldingRow, SnapshotRow, StartingPosition, StoredText,
};
use papertape_core::tape::{ContentDoc, Ctx, LocalStep, OutcomeKind, ScopeKey, SessionStop, StepClass};
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The scope of the post phase, in which a model is asked for memories beside the conversation.
pub const POST: &str = "post#1";

/// The last node of a day.
const CLOSE: &str = "close#1";

/// Everything about an agent that outlives a day. Stored before the first day and after each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartState {
    /// Account, waiting orders, marks and counters.
    pub books: Books,
    /// What has happened to the books since the agent last spoke, in sentences; told at its next
    /// session.
    #[serde(default)]
    pub notices: Vec<String>,
    /// What the trader remembers.
    #[serde(default, skip_serializing_if = "Memory::is_empty")]
    pub memory: Memory,
    /// The mark of the account, where a session that could see more than the market view has shaped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<Unverified>,
    /// Does it carry its marks? Those of rules version 1 do not, and say nothing of what they go back to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_marked: bool,
    /// The job's seed.
    pub seed: u64,
}

impl StartState {
    /// Nothing but cash.
    #[must_use]
    pub fn new(agent: &AgentConfig, profile: MarketProfile, initial_cash: Money, seed: u64) -> Self {
        let books = Books::new(agent.name.as_str(), profile, initial_cash);
        Self {
            books,
            notices: Vec::new(),
            memory: Memory::default(),
            unverified: None,
            is_marked: true,
            seed,
        }
    }

    /// The state as a document.
    #[must_use]
    pub fn to_doc(&self) -> ContentDoc {
        ContentDoc::of(&to_value(self))
    }

    /// The seed of one day's randomness.
    #[must_use]
    pub fn day_seed(&self, agent: &AgentConfig, date: Date) -> ContentHash {
        json::hash(&json!({ "seed": self.seed, "agent": agent.name, "date": date }))
    }
}

/// What a day is run with, besides its start state.
pub struct DayInput<'a> {
    /// The agent, as it is when the day begins.
    pub agent: &'a AgentConfig,
    /// What a branch has made of it, each from a place of the day on, the oldest first.
    pub changes: &'a [AgentOverride],
    /// The versions of those of its models that are house models.
    pub house_versions: &'a BTreeMap<ModelName, u32>,
    /// The prompts.
    pub prompts: &'a PromptSet,
    /// The symbols of the day, see [`symbols_of`](crate::universe::symbols_of).
    pub symbols: &'a Listed,
    /// The index whose members on the day may be traded; `None`: all of `symbols`.
    pub universe: Option<&'a str>,
    /// The data. Only views of it reach the agent.
    pub dataset: &'a Dataset,
    /// The trading day.
    pub day: TradingDay,
    /// Is it the job's last day, at whose end waiting orders expire?
    pub last: bool,
    /// What of the trader's memory is on.
    pub memory: MemorySettings,
    /// The model that says what lessons mean; absent: they are chosen by words alone.
    pub embedding: Option<&'a ModelName>,
    /// What the agent said and did on this day elsewhere, for one that is imported.
    pub recorded: Option<ImportedDay<'a>>,
}

/// An agent that is another one from a place of the day on.
#[derive(Clone, Debug)]
pub struct AgentOverride {
    /// The place: a node, `solo#1` or `AAPL/Trader#1`.
    pub at: String,
    /// The agent from there on.
    pub agent: AgentConfig,
}

impl DayInput<'_> {
    /// The agent as it is in a scope: the newest change that comes at or before it.
    #[must_use]
    pub fn agent_at(&self, scope: &str) -> &AgentConfig {
        if self.changes.is_empty() {
            return self.agent;
        }
        let graph = Graph::of(self.agent, self.symbols);
        let mut changes = self.changes.iter().rev();
        changes
            .find(|change| graph.is_at_or_after(scope, &change.at))
            .map_or(self.agent, |change| &change.agent)
    }
}

/// What a day leaves.
#[derive(Debug)]
pub struct DayResult {
    /// The state that the next day starts from.
    pub state: StartState,
    /// What is written at the session's end.
    pub closing: CloseSession,
    /// Texts that the state's document refers to.
    pub texts: Vec<StoredText>,
    /// What the day's reflections mean, for those who search them.
    pub vectors: Vec<EmbeddingRow>,
}

/// Runs the day. The same input on the same tape gives the same result and performs nothing.
///
/// # Errors
/// A stop.
pub async fn run_day(
    root: &mut Ctx,
    input: &DayInput<'_>,
    start: StartState,
) -> Result<DayResult, SessionStop> {
    let StartState { mut books, mut notices, memory, unverified, is_marked, seed } = start;
    let date = input.day.date;
    let starting = starting_position(&books);
    let at_open = input.dataset.view_of(input.day.open, input.universe, &books.concerned());
    let at_close = input.dataset.view(input.day.close);
    let mut diary = DayMemory::new(input, input.agent_at(POST), memory);

    let mut ctx = root.child(ScopeKey::node("pre"))?;
    let actions = due_actions(input, &books, &at_open);
    books.set_conditions(conditions(&books, &at_open));
    let before = broker::pre(&mut books, date, &opens(&at_open, input.symbols), &BTreeMap::new(), &actions);
    let before = ledger_or_abort(before)?;
    notices.extend(record_phase(&mut ctx, &before).await?);
    diary.on_open(&mut ctx, &books).await?;

    let work = match input.agent.kind {
        AgentKind::Solo => {
            let mut ctx = root.child(ScopeKey::node("solo"))?;
            let agent = input.agent_at("solo#1");
            if let Some(recorded) = input.recorded.filter(|_| agent.model.is_recorded()) {
                let market = (input.symbols, date, &at_open);
                SessionOutcome::Recorded(
                    agent,
                    recorded::replay_imported_day(&mut ctx, recorded.day, market, &mut books).await?,
                )
            } else {
                let brief = SoloInput {
                    agent,
                    house_version: input.house_versions.get(&agent.model).copied(),
                    prompts: input.prompts,
                    symbols: input.symbols,
                    universe: input.universe,
                    date,
                    notices: &notices,
                };
                SessionOutcome::Solo(
                    agent,
                    solo::run_conversation(&mut ctx, &brief, &at_open, &mut books, &diary).await?,
                )
            }
        }
        AgentKind::Desk => {
            SessionOutcome::Desk(desk::run(root, input, (&at_open, &notices, &diary), &mut books).await?)
        }
    };
    let unverified = mark(&work, unverified, date);
    diary.on_session_end(&books, work.trader_outcome(), unverified.clone());

    // What nobody has read is told again.
    if work.has_reply() {
        notices.clear();
    }
    notices.extend(work.notices().iter().cloned());
    let mut ctx = root.child(ScopeKey::node("bar"))?;
    books.set_conditions(conditions(&books, &at_open));
    let bars = ledger_or_abort(broker::bar(&mut books, date, &bars(&at_close, input.symbols)))?;
    notices.extend(record_phase(&mut ctx, &bars).await?);

    let mut ctx = root.child(ScopeKey::node("close"))?;
    let next = input.dataset.next_trading_day(date);
    books.set_conditions(conditions_at_close(&books, (&at_open, &at_close)));
    let end = ledger_or_abort(broker::close(&mut books, date, next, &closes(&at_close, input.symbols)))?;
    let outcome = PhaseResult { entries: end.entries.clone(), rejections: end.rejections.clone() };
    notices.extend(record_phase(&mut ctx, &outcome).await?);
    if input.last {
        let rejections = broker::expire(&mut books);
        notices.extend(record_phase(&mut ctx, &PhaseResult { entries: Vec::new(), rejections }).await?);
    }
    record_marks(&mut ctx, &end, &at_close).await?;

    let (memory, vectors) = diary.on_close(root, &end.journal, books.account()).await?;
    let state = StartState { books, notices, memory, unverified: unverified.clone(), is_marked, seed };
    let (document, texts) = state.to_doc().into_parts();
    let pending = state.books.pending();
    let mut closing = closing(input, (&work, unverified.as_ref()), starting, &end, (document, pending));
    stale::note(&mut closing.metadata, (input.dataset, &at_close, date), &end.snapshots);
    Ok(DayResult { state, closing, texts, vectors })
}

/// What an agent has done in its session.
enum SessionOutcome<'a> {
    /// A conversation, by the agent as it was then.
    Solo(&'a AgentConfig, Conversation),
    /// What it did elsewhere.
    Recorded(&'a AgentConfig, ImportedOutcome),
    /// A desk's day.
    Desk(DeskResult),
}

impl SessionOutcome<'_> {
    fn has_reply(&self) -> bool {
        match self {
            Self::Solo(_, talk) => talk.has_reply(),
            Self::Recorded(_, spoke) => spoke.has_answered(),
            Self::Desk(day) => day.has_reply(),
        }
    }

    /// How it ended, for the trader's memory.
    fn trader_outcome(&self) -> TraderOutcome {
        match self {
            Self::Solo(_, talk) => talk.trader_outcome(),
            Self::Recorded(_, spoke) => spoke.trader_outcome(),
            Self::Desk(day) => day.trader_outcome(),
        }
    }

    /// How it could see more than the market view, if it could.
    fn unbounded(&self) -> Option<UnverifiedKind> {
        match self {
            // Nobody knows what a model was shown elsewhere.
            Self::Recorded(..) => Some(UnverifiedKind::Import),
            Self::Solo(agent, _) if agent.model.is_recorded() => Some(UnverifiedKind::Import),
            Self::Solo(agent, _) if !agent.tools.is_empty() => Some(UnverifiedKind::ExternalTools),
            Self::Solo(..) | Self::Desk(_) => None,
        }
    }

    /// The mark of the memory that it has read.
    fn unverified_memory(&self) -> Option<&Unverified> {
        match self {
            Self::Solo(_, talk) => talk.unverified_memory.as_ref(),
            Self::Recorded(..) => None,
            Self::Desk(day) => day.unverified_memory(),
        }
    }

    /// What of its own orders it has not been told yet.
    fn notices(&self) -> &[String] {
        match self {
            Self::Solo(..) | Self::Recorded(..) => &[],
            Self::Desk(day) => day.notices(),
        }
    }
}

/// The session's mark: its own, else that of the account it began with, else that of the memory it has read.
fn mark(work: &SessionOutcome<'_>, account: Option<Unverified>, date: Date) -> Option<Unverified> {
    let own = work.unbounded().map(|kind| Unverified::own(kind, date));
    own.or_else(|| account.map(Unverified::of_account))
        .or_else(|| work.unverified_memory().cloned().map(Unverified::of_memory))
}

/// Enters a phase's changes and refusals, and says them in sentences.
async fn record_phase(ctx: &mut Ctx, outcome: &PhaseResult) -> Result<Vec<String>, SessionStop> {
    let mut notices = Vec::new();
    for entry in &outcome.entries {
        let implied = trade::position_row(entry).into_iter().chain(filled_row(entry)).collect();
        enter(ctx, json!({ "entry": "change" }), to_value(entry), OutcomeKind::Ok, implied).await?;
        notices.extend(describe_entry(entry));
    }
    for rejection in &outcome.rejections {
        let implied = vec![trade::rejected_row(rejection)];
        let arguments = json!({ "entry": "refusal" });
        enter(ctx, arguments, to_value(rejection), OutcomeKind::Refused, implied).await?;
        notices.push(describe_rejection(rejection));
    }
    Ok(notices)
}

/// The day's marks, with what of the market they are.
async fn record_marks(ctx: &mut Ctx, end: &DayEnd, view: &MarketView<'_>) -> Result<(), SessionStop> {
    let mut implied = Vec::new();
    for held in &end.snapshots {
        if let Ok(read) = view.last_close(&held.symbol) {
            implied.push(DerivedRow::Exposure(read.exposure));
        }
        implied.push(DerivedRow::Snapshot(SnapshotRow {
            symbol: held.symbol.clone(),
            position_id: held.position_id.to_string(),
            quantity: held.quantity,
            avg_price: held.avg_price,
            close: held.close,
            unrealised_pnl: held.unrealised_pnl,
            stop: held.stop,
            leverage: held.leverage,
        }));
    }
    let outcome = json!({
        "cash": end.cash,
        "portfolio_value": end.portfolio_value,
        "daily_profit": end.daily_profit,
        "snapshots": end.snapshots,
    });
    enter(ctx, json!({ "entry": "marks" }), outcome, OutcomeKind::Ok, implied).await
}

async fn enter(
    ctx: &mut Ctx,
    arguments: Value,
    outcome: Value,
    outcome_kind: OutcomeKind,
    implied: Vec<DerivedRow>,
) -> Result<(), SessionStop> {
    let entry = LocalStep {
        kind: "book",
        class: StepClass::Order,
        arguments,
        outcome,
        outcome_kind,
        said: None,
        implied,
    };
    ctx.record_local(entry).await.map(|_| ())
}

/// The row of `orders` of a waiting order that has filled.
fn filled_row(entry: &LedgerEntry) -> Option<DerivedRow> {
    let fill = entry.fill()?;
    let order = broker::Order {
        id: fill.order?,
        symbol: fill.symbol.clone(),
        side: fill.side,
        quantity: fill.quantity,
        stop: fill.stop,
        target: fill.target,
        leverage: Some(fill.leverage),
        reason: None,
    };
    Some(trade::filled_row(&order, entry))
}

fn starting_position(books: &Books) -> StartingPosition {
    let positions = books.account().positions();
    StartingPosition {
        holdings: positions.iter().map(|(symbol, held)| (symbol.clone(), held.quantity)).collect(),
        cash: books.account().cash(),
        portfolio_value: books.last_value(),
    }
}

/// Corporate actions of every day since the books were last moved on.
fn due_actions(input: &DayInput<'_>, books: &Books, view: &MarketView<'_>) -> Vec<CorporateAction> {
    let from = books.reached().and_then(|reached| reached.tomorrow().ok()).unwrap_or(input.day.date);
    let days = input.dataset.trading_days(from, input.day.date);
    let on = |day: &TradingDay| view.actions_on(day.date).map(|read| read.value).unwrap_or_default();
    days.iter().flat_map(on).filter(|action| input.symbols.contains(&action.symbol)).collect()
}

fn closing(
    input: &DayInput<'_>,
    (work, unverified): (&SessionOutcome<'_>, Option<&Unverified>),
    starting: StartingPosition,
    end: &DayEnd,
    (state, pending): (StoredText, &[PendingOrder]),
) -> CloseSession {
    let (error, agent, parts) = match work {
        SessionOutcome::Solo(agent, talk) => (talk.error(), *agent, solo_metadata(talk)),
        SessionOutcome::Recorded(agent, spoke) => (None, *agent, spoke.metadata()),
        // A desk on which nobody has come to anything is a day all the same: its provenance says so.
        SessionOutcome::Desk(day) => (None, input.agent_at(CLOSE), day.metadata()),
    };
    let mut metadata = json!({
        "agent_kind": agent.kind,
        "model": agent.model,
        "is_llm": agent.models().iter().any(|model| !model.is_house()),
        "point_in_time": if unverified.is_none() { "verified" } else { "unverified" },
        "books": {
            "cash": end.cash,
            "portfolio_value": end.portfolio_value,
            "daily_profit": end.daily_profit,
            "daily_return_pct": end.daily_return_pct,
        },
    });
    if !pending.is_empty() {
        metadata["books"]["pending_orders"] = to_value(pending);
    }
    if let Some(insolvency) = end.insolvency {
        metadata["books"]["insolvent"] = to_value(&insolvency);
    }
    if let Some(metadata) = metadata.as_object_mut() {
        let reason = unverified.map(|mark| ("point_in_time_reason".to_owned(), to_value(mark)));
        metadata.extend(parts.into_iter().chain(reason));
    }
    CloseSession {
        status: if error.is_some() { DayStatus::Failed } else { DayStatus::Completed },
        error,
        metadata,
        state,
        holdings: end
            .snapshots
            .iter()
            .map(|held| HoldingRow {
                symbol: held.symbol.clone(),
                quantity: held.quantity,
                price: held.close,
            })
            .collect(),
        starting,
        cash: end.cash,
        portfolio_value: end.portfolio_value,
        daily_profit: end.daily_profit,
        daily_return_pct: end.daily_return_pct,
    }
}

fn solo_metadata(talk: &Conversation) -> Map<String, Value> {
    let provenance = Provenance { data_quality: talk.data_quality(), ..Provenance::default() };
    Map::from_iter([
        ("conversation".to_owned(), to_value(talk)),
        ("sample_quality".to_owned(), to_value(&provenance.sample_quality())),
        ("data_quality".to_owned(), to_value(&provenance.data_quality)),
    ])
}

/// The books can only fail on numbers that no market has; such a job cannot go on.
fn ledger_or_abort<T>(result: Result<T, LedgerError>) -> Result<T, SessionStop> {
    result.map_err(|error| SessionStop::ContractViolation(format!("the books cannot go on: {error}")))
}
