//! One agent's trading day: pre, session, bar, close, post. It reads top to bottom; every effect is on the tape.

use crate::config::{AgentConfig, AgentKind};
use crate::day_input::DayInput;
use crate::desk;
use crate::external::{ExternalInput, run_external_day};
use crate::graph::{BAR, CLOSE, EXTERNAL, POST, SIZING, SOLO};
use crate::imported::replay_imported_day;
use crate::market_data::{bars, closes, conditions, conditions_at_close, opens};
use crate::memory::{ARCHIVE_BLOCKS, DayMemory, Memory};
use crate::notice::{describe_entry, describe_rejection};
use crate::outcome::{SessionOutcome, external_metadata, session_mark, solo_metadata};
use crate::solo::{self, SoloInput};
use crate::stale;
use crate::tools::trade;
use papertape_core::broker::{self, Books, DayEnd, LedgerEntry, MarketProfile, PendingOrder, PhaseResult};
use papertape_core::id::ContentHash;
use papertape_core::json::{self, to_value};
use papertape_core::ledger::{CorporateAction, LedgerError};
use papertape_core::market::{MarketView, TradingDay};
use papertape_core::money::Money;
use papertape_core::point_in_time::Unverified;
use papertape_core::record::{
    CloseSession, DayStatus, DerivedRow, EmbeddingRow, HoldingRow, SnapshotRow, StartingPosition, StoredText,
};
use papertape_core::tape::{ContentDoc, Ctx, LocalStep, OutcomeKind, ScopeKey, SessionStop, StepClass};
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub use crate::outcome::unbounded;

/// The state of an agent between days. Stored before the first day and after each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartState {
    /// Account, pending orders, marks and counters.
    pub books: Books,
    /// Changes to the books since the agent's last answer, in sentences, for its next session's prompt.
    #[serde(default)]
    pub notices: Vec<String>,
    /// The trader's memory.
    #[serde(default, skip_serializing_if = "Memory::is_empty")]
    pub memory: Memory,
    /// The mark of the account, if a session that could see more than the market view has traded in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<Unverified>,
    /// Whether the state carries its marks. States of rules version 1 do not, so their origin is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_marked: bool,
    /// The state that an external agent gets back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_state: Option<Value>,
    /// The job's seed.
    pub seed: u64,
}

impl StartState {
    /// The state with only cash.
    #[must_use]
    pub fn new(agent: &AgentConfig, profile: MarketProfile, initial_cash: Money, seed: u64) -> Self {
        let books = Books::new(agent.name.as_str(), profile, initial_cash);
        Self {
            books,
            notices: Vec::new(),
            memory: Memory::default(),
            unverified: None,
            is_marked: true,
            external_state: None,
            seed,
        }
    }

    /// The state as a document.
    #[must_use]
    pub fn to_doc(&self) -> ContentDoc {
        let [archive, blocks] = ARCHIVE_BLOCKS;
        ContentDoc::with_prepared(
            &to_value(self),
            &["memory", archive, blocks],
            &self.memory.archive_blocks(),
        )
    }

    /// The seed of one day's randomness.
    #[must_use]
    pub fn day_seed(&self, agent: &AgentConfig, date: Date) -> ContentHash {
        json::hash(&json!({ "seed": self.seed, "agent": agent.name, "date": date }))
    }
}

/// The result of a day.
#[derive(Debug)]
pub struct DayResult {
    /// The state that the next day starts from.
    pub state: StartState,
    /// The row that closes the session.
    pub closing: CloseSession,
    /// Texts that the state's document references.
    pub texts: Vec<StoredText>,
    /// The embeddings of the day's reflections.
    pub vectors: Vec<EmbeddingRow>,
}

/// Runs the day. The same input on the same tape gives the same result without any external call.
///
/// # Errors
/// A stop.
pub async fn run_day(
    root: &mut Ctx,
    input: &DayInput<'_>,
    start: StartState,
) -> Result<DayResult, SessionStop> {
    let at_open = view_at_open(input, &start.books);
    let after = Box::pin(open_phases(root, input, &at_open, start)).await?;
    Box::pin(close_phases(root, input, &at_open, after)).await
}

/// Runs only the phases whose instant is the open: pre and session. An audit runs them over data that end there.
///
/// # Errors
/// A stop.
pub async fn run_open_phases(
    root: &mut Ctx,
    input: &DayInput<'_>,
    start: StartState,
) -> Result<(), SessionStop> {
    let at_open = view_at_open(input, &start.books);
    Box::pin(open_phases(root, input, &at_open, start)).await.map(drop)
}

/// The nodes of the phases whose instant is the close.
pub const NODES_AT_CLOSE: [&str; 3] = [BAR, CLOSE, POST];

/// The day after its session phase.
struct AfterSession<'a> {
    books: Books,
    notices: Vec<String>,
    memory: DayMemory<'a>,
    starting: StartingPosition,
    session: SessionOutcome<'a>,
    unverified: Option<Unverified>,
    is_marked: bool,
    external_state: Option<Value>,
    seed: u64,
}

fn view_at_open<'a>(input: &DayInput<'a>, books: &Books) -> MarketView<'a> {
    input.dataset.view_of(input.day.open, input.universe, &books.concerned())
}

async fn open_phases<'a>(
    root: &mut Ctx,
    input: &'a DayInput<'a>,
    at_open: &MarketView<'_>,
    start: StartState,
) -> Result<AfterSession<'a>, SessionStop> {
    let StartState { mut books, mut notices, memory, unverified, is_marked, mut external_state, seed } =
        start;
    let date = input.day.date;
    let starting = starting_position(&books);
    let mut memory = DayMemory::new(input, input.agent_at(POST), memory);

    let mut ctx = root.child(ScopeKey::node("pre"))?;
    let actions = due_actions(input, &books, at_open);
    books.set_conditions(conditions(&books, at_open));
    let pre = broker::pre(&mut books, date, &opens(at_open, input.symbols), &BTreeMap::new(), &actions);
    let pre = ledger_or_abort(pre)?;
    notices.extend(record_phase(&mut ctx, &pre).await?);
    memory.on_open(&mut ctx, &books).await?;

    let kind = input.agent.kind;
    let trader = input.agent_at(match kind {
        AgentKind::Solo => SOLO,
        AgentKind::Desk => SIZING,
        AgentKind::External => EXTERNAL,
    });
    let recorded = input.recorded.filter(|_| trader.model.is_recorded());
    let session = match (recorded, kind) {
        (Some(recorded), kind) => {
            let market = (input.symbols, date, at_open);
            let replayed = replay_imported_day(root, (kind, recorded.day), market, &mut books).await?;
            SessionOutcome::Recorded(trader, replayed)
        }
        (None, AgentKind::Solo) => {
            let mut ctx = root.child(ScopeKey::node("solo"))?;
            let input = SoloInput {
                agent: trader,
                house_version: input.house_versions.get(&trader.model).copied(),
                prompts: input.prompts,
                symbols: input.symbols,
                universe: input.universe,
                date,
                notices: &notices,
            };
            SessionOutcome::Solo(
                trader,
                solo::run_conversation(&mut ctx, &input, at_open, &mut books, &memory).await?,
            )
        }
        (None, AgentKind::Desk) => {
            SessionOutcome::Desk(desk::run(root, input, (at_open, &notices, &memory), &mut books).await?)
        }
        (None, AgentKind::External) => {
            let state = external_state.take();
            let (symbols, universe, notices) = (input.symbols, input.universe, notices.as_slice());
            let input = ExternalInput { agent: trader, symbols, universe, date, notices, state };
            let mut day = Box::pin(run_external_day(root, &input, at_open, &mut books)).await?;
            external_state = day.state.take();
            SessionOutcome::External(trader, day)
        }
    };
    let unverified = session_mark(&session, unverified, date);
    memory.on_session_end(&books, session.trader_outcome(), unverified.clone());

    // Notices that the agent has not read stay for its next session.
    if session.has_reply() {
        notices.clear();
    }
    notices.extend(session.notices().iter().cloned());
    Ok(AfterSession {
        books,
        notices,
        memory,
        starting,
        session,
        unverified,
        is_marked,
        external_state,
        seed,
    })
}

async fn close_phases(
    root: &Ctx,
    input: &DayInput<'_>,
    at_open: &MarketView<'_>,
    after: AfterSession<'_>,
) -> Result<DayResult, SessionStop> {
    let AfterSession { mut books, mut notices, memory, starting, session, unverified, .. } = after;
    let AfterSession { is_marked, external_state, seed, .. } = after;
    let date = input.day.date;
    let at_close = input.dataset.view(input.day.close);
    let mut ctx = root.child(ScopeKey::node("bar"))?;
    books.set_conditions(conditions(&books, at_open));
    let bars = bars(&at_close, input.symbols);
    let within = ledger_or_abort(broker::bar(&mut books, date, &bars))?;
    notices.extend(record_phase(&mut ctx, &within).await?);

    let mut ctx = root.child(ScopeKey::node("close"))?;
    let next = input.dataset.next_trading_day(date);
    books.set_conditions(conditions_at_close(&books, (at_open, &at_close)));
    let end = ledger_or_abort(broker::close(&mut books, date, next, &closes(bars)))?;
    let outcome = PhaseResult { entries: end.entries.clone(), rejections: end.rejections.clone() };
    notices.extend(record_phase(&mut ctx, &outcome).await?);
    if input.last {
        let rejections = broker::expire(&mut books);
        notices.extend(record_phase(&mut ctx, &PhaseResult { entries: Vec::new(), rejections }).await?);
    }
    record_marks(&mut ctx, &end, &at_close).await?;

    let (memory, vectors) = memory.on_close(root, &end.journal, books.account()).await?;
    let mark = unverified.clone();
    let state = StartState { books, notices, memory, unverified: mark, is_marked, external_state, seed };
    let (document, texts) = state.to_doc().into_parts();
    let pending = state.books.pending();
    let mut closing = closing(input, (&session, unverified.as_ref()), starting, &end, (document, pending));
    stale::note(&mut closing.metadata, (input.dataset, &at_close, date), &end.snapshots);
    Ok(DayResult { state, closing, texts, vectors })
}

/// Records a phase's entries and rejections. Returns them as sentences.
async fn record_phase(ctx: &mut Ctx, outcome: &PhaseResult) -> Result<Vec<String>, SessionStop> {
    let mut notices = Vec::new();
    for entry in &outcome.entries {
        let implied = trade::position_row(entry).into_iter().chain(filled_row(entry)).collect();
        record_entry(ctx, json!({ "entry": "change" }), to_value(entry), OutcomeKind::Ok, implied).await?;
        notices.extend(describe_entry(entry));
    }
    for rejection in &outcome.rejections {
        let implied = vec![trade::rejected_row(rejection)];
        let arguments = json!({ "entry": "refusal" });
        record_entry(ctx, arguments, to_value(rejection), OutcomeKind::Refused, implied).await?;
        notices.push(describe_rejection(rejection));
    }
    Ok(notices)
}

/// Records the day's marks, with the market data read for them.
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
    record_entry(ctx, json!({ "entry": "marks" }), outcome, OutcomeKind::Ok, implied).await
}

async fn record_entry(
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
        message: None,
        implied,
    };
    ctx.record_local(entry).await.map(|_| ())
}

/// The row of `orders` for a pending order that was filled.
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

/// The corporate actions since the books' last day.
fn due_actions(input: &DayInput<'_>, books: &Books, view: &MarketView<'_>) -> Vec<CorporateAction> {
    let from = books.reached().and_then(|reached| reached.tomorrow().ok()).unwrap_or(input.day.date);
    let days = input.dataset.trading_days(from, input.day.date);
    let on = |day: &TradingDay| view.actions_on(day.date).map(|read| read.value).unwrap_or_default();
    days.iter().flat_map(on).filter(|action| input.symbols.contains(&action.symbol)).collect()
}

fn closing(
    input: &DayInput<'_>,
    (session, unverified): (&SessionOutcome<'_>, Option<&Unverified>),
    starting: StartingPosition,
    end: &DayEnd,
    (state, pending): (StoredText, &[PendingOrder]),
) -> CloseSession {
    let (error, agent, parts) = match session {
        SessionOutcome::Solo(agent, conversation) => {
            (conversation.error(), *agent, solo_metadata(conversation))
        }
        SessionOutcome::External(agent, day) => (day.error(), *agent, external_metadata(day)),
        SessionOutcome::Recorded(agent, outcome) => (None, *agent, outcome.metadata()),
        // A desk day without any decision has not failed: its provenance says what is missing.
        SessionOutcome::Desk(day) => (None, input.agent_at(CLOSE), day.metadata()),
    };
    let mut metadata = json!({
        "agent_kind": agent.kind,
        "model": agent.model,
        "is_llm": !agent.is_rule_based(),
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

/// The books only fail on numbers that no market has; such a job cannot continue.
fn ledger_or_abort<T>(result: Result<T, LedgerError>) -> Result<T, SessionStop> {
    result.map_err(|error| SessionStop::ContractViolation(format!("the books cannot continue: {error}")))
}
