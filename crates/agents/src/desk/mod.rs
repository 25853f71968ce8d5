//! The desk: analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.
//!
//! `run` follows the graph: analysts concurrently, the debate in rounds, the Research Manager, the Trader,
//! the risk debate in rounds, the Portfolio Manager; then one step that turns the decisions on all symbols
//! into orders. The next speaker is determined by the turns taken, never by the content of a text. Every node
//! runs under a deadline and may return nothing; `guarded` describes what happens then.

pub mod answer;
mod case;
pub mod config;
mod facts;
mod node_runner;
mod orders;
mod report;
pub mod roles;
pub mod sizing;
pub mod state;
mod talk;
mod tools;

pub use report::DeskResult;
pub use talk::NODE_FAILURES;

use crate::config::AgentConfig;
use crate::day::DayInput;
use crate::memory::{DayMemory, RecallContext, recall};
use case::SymbolAnalysis;
use config::DeskConfig;
use facts::DeskFacts;
use futures::FutureExt as _;
use papertape_core::broker::Books;
use papertape_core::id::Symbol;
use papertape_core::market::MarketView;
use papertape_core::tape::{Branch, Ctx, ScopeKey, SessionStop};

/// The shared inputs of one symbol's nodes.
pub(crate) struct DeskContext<'a> {
    input: &'a DayInput<'a>,
    view: &'a MarketView<'a>,
    config: &'a DeskConfig,
    facts: DeskFacts,
    /// The Trader's past.
    past: RecallContext<'a>,
}

impl DeskContext<'_> {
    /// The agent as configured for a scope: a branch may change it from some node on.
    fn agent(&self, scope: &str) -> &AgentConfig {
        self.input.agent_at(scope)
    }
}

/// The desk's day: every symbol's analysis, then the orders.
///
/// # Errors
/// A stop.
pub(crate) async fn run(
    root: &mut Ctx,
    input: &DayInput<'_>,
    (view, notices, diary): (&MarketView<'_>, &[String], &DayMemory<'_>),
    books: &mut Books,
) -> Result<DeskResult, SessionStop> {
    let config = input.agent.desk_config();
    let past = diary.reader(books.account());
    let rooms = input.symbols.iter().map(|symbol| {
        let facts = DeskFacts::of(symbol, input, &config, view, books, notices);
        (symbol, DeskContext { input, view, config: &config, facts, past })
    });
    let rooms: Vec<(&Symbol, DeskContext<'_>)> = rooms.collect();
    let analyses = rooms.iter().map(|(symbol, room)| {
        let branch: Branch<'_, SymbolAnalysis> = Box::new(|ctx| analyse(ctx, room, symbol).boxed());
        (ScopeKey::Symbol(symbol.to_string()), branch)
    });
    let cases = root.all_bounded(config.symbols_at_once, analyses.collect()).await?;
    let orders = orders::place(root, input, view, books, &cases).await?;
    Ok(DeskResult::new(cases, orders))
}

/// Runs one symbol through the graph.
async fn analyse(
    mut ctx: Ctx,
    room: &DeskContext<'_>,
    symbol: &Symbol,
) -> Result<SymbolAnalysis, SessionStop> {
    let config = room.config;
    let mut case = SymbolAnalysis::new(symbol, &room.input.day.date.to_string());
    let ctx = &mut ctx;

    node_runner::run_nodes(ctx, room, &mut case, &roles::analysts(&config.selected_analysts)).await?;
    for round in 1..=config.max_debate_rounds {
        node_runner::run_node(ctx, room, &mut case, &roles::BullResearcher, round).await?;
        node_runner::run_node(ctx, room, &mut case, &roles::BearResearcher, round).await?;
    }
    node_runner::run_node(ctx, room, &mut case, &roles::ResearchManager, 1).await?;
    match recall(ctx, &room.past, Some(symbol)).await? {
        Ok(past) => {
            (case.state.past_context, case.memory) = (past.text, past.prompt);
            case.unverified_memory = past.unverified;
        }
        Err(reason) => drop(case.sources_missing.insert("memory".to_owned(), reason)),
    }
    node_runner::run_node(ctx, room, &mut case, &roles::Trader, 1).await?;
    for round in 1..=config.max_risk_discuss_rounds {
        node_runner::run_node(ctx, room, &mut case, &roles::AggressiveAnalyst, round).await?;
        node_runner::run_node(ctx, room, &mut case, &roles::ConservativeAnalyst, round).await?;
        node_runner::run_node(ctx, room, &mut case, &roles::NeutralAnalyst, round).await?;
    }
    node_runner::run_node(ctx, room, &mut case, &roles::PortfolioManager, 1).await?;
    report::record_state(ctx, &mut case).await?;
    Ok(case)
}
