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
mod guarded;
mod orders;
mod report;
pub mod roles;
pub mod sizing;
pub mod state;
mod talk;
mod tools;

pub use report::DeskDay;
pub use talk::NODE_FAILURES;

use crate::config::AgentConfig;
use crate::day::DayInput;
use crate::memory::{Diary, Reader, recall};
use case::Case;
use config::DeskConfig;
use facts::Facts;
use futures::FutureExt as _;
use papertape_core::broker::Books;
use papertape_core::id::Symbol;
use papertape_core::market::MarketView;
use papertape_core::tape::{Branch, Ctx, Key, Stop};

/// The shared inputs of one symbol's nodes.
pub(crate) struct Room<'a> {
    input: &'a DayInput<'a>,
    view: &'a MarketView<'a>,
    config: &'a DeskConfig,
    facts: Facts,
    /// The Trader's past.
    past: Reader<'a>,
}

impl Room<'_> {
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
    (view, notices, diary): (&MarketView<'_>, &[String], &Diary<'_>),
    books: &mut Books,
) -> Result<DeskDay, Stop> {
    let config = input.agent.desk_config();
    let past = diary.reader(books.account());
    let rooms = input.symbols.iter().map(|symbol| {
        let facts = Facts::of(symbol, input, &config, view, books, notices);
        (symbol, Room { input, view, config: &config, facts, past })
    });
    let rooms: Vec<(&Symbol, Room<'_>)> = rooms.collect();
    let analyses = rooms.iter().map(|(symbol, room)| {
        let branch: Branch<'_, Case> = Box::new(|ctx| analyse(ctx, room, symbol).boxed());
        (Key::Symbol(symbol.to_string()), branch)
    });
    let cases = root.all_bounded(config.symbols_at_once, analyses.collect()).await?;
    let orders = orders::place(root, input, view, books, &cases).await?;
    Ok(DeskDay::new(cases, orders))
}

/// Runs one symbol through the graph.
async fn analyse(mut ctx: Ctx, room: &Room<'_>, symbol: &Symbol) -> Result<Case, Stop> {
    let config = room.config;
    let mut case = Case::new(symbol, &room.input.day.date.to_string());
    let ctx = &mut ctx;

    guarded::ask_all(ctx, room, &mut case, &roles::analysts(&config.selected_analysts)).await?;
    for round in 1..=config.max_debate_rounds {
        guarded::ask(ctx, room, &mut case, &roles::BullResearcher, round).await?;
        guarded::ask(ctx, room, &mut case, &roles::BearResearcher, round).await?;
    }
    guarded::ask(ctx, room, &mut case, &roles::ResearchManager, 1).await?;
    match recall(ctx, &room.past, Some(symbol)).await? {
        Ok(past) => {
            (case.state.past_context, case.memory) = (past.text, past.prompt);
            case.unverified_memory = past.unverified;
        }
        Err(reason) => drop(case.sources_missing.insert("memory".to_owned(), reason)),
    }
    guarded::ask(ctx, room, &mut case, &roles::Trader, 1).await?;
    for round in 1..=config.max_risk_discuss_rounds {
        guarded::ask(ctx, room, &mut case, &roles::AggressiveAnalyst, round).await?;
        guarded::ask(ctx, room, &mut case, &roles::ConservativeAnalyst, round).await?;
        guarded::ask(ctx, room, &mut case, &roles::NeutralAnalyst, round).await?;
    }
    guarded::ask(ctx, room, &mut case, &roles::PortfolioManager, 1).await?;
    report::keep_state(ctx, &mut case).await?;
    Ok(case)
}
