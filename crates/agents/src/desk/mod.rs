//! The desk: analysts, a debate, a trader, a risk debate and a portfolio manager, for each symbol.
//!
//! `run` follows the graph: analysts concurrently, the debate in rounds, the Research Manager, the Trader,
//! the risk debate in rounds, the Portfolio Manager; then one step that turns the decisions on all symbols
//! into orders. The next speaker is determined by the turns taken, never by the content of a text. Every node
//! runs under a deadline and may return nothing; `node_runner` describes what happens then.

mod analysis;
pub mod answer;
mod conversation;
mod facts;
mod node_runner;
mod orders;
mod report;
mod role_prompt;
pub mod sizing;
pub mod state;
mod tools;

pub use conversation::NODE_FAILURES;
pub use report::DeskResult;

use crate::config::{AgentConfig, DeskConfig};
use crate::day_input::DayInput;
use crate::memory::{DayMemory, RecallContext, recall};
use crate::roles::{self, RoleKind};
use analysis::SymbolAnalysis;
use facts::{AccountFacts, DeskFacts};
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
    facts: DeskFacts<'a>,
    /// What the Trader can recall.
    recall: RecallContext<'a>,
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
    (view, notices, memory): (&MarketView<'_>, &[String], &DayMemory<'_>),
    books: &mut Books,
) -> Result<DeskResult, SessionStop> {
    let config = input.agent.desk_config();
    let recall = memory.reader(books.account());
    let account = AccountFacts::of(input, &config, view, books, notices);
    let contexts = input.symbols.iter().map(|symbol| {
        let facts = DeskFacts::of(symbol, input, view, &account);
        (symbol, DeskContext { input, view, config: &config, facts, recall })
    });
    let contexts: Vec<(&Symbol, DeskContext<'_>)> = contexts.collect();
    let analyses = contexts.iter().map(|(symbol, desk)| {
        let branch: Branch<'_, SymbolAnalysis> = Box::new(|ctx| analyse(ctx, desk, symbol).boxed());
        (ScopeKey::Symbol(symbol.to_string()), branch)
    });
    let analyses = root.all_bounded(config.symbols_at_once, analyses.collect()).await?;
    let orders = orders::place(root, input, view, books, &analyses).await?;
    Ok(DeskResult::new(analyses, orders))
}

/// Runs one symbol through the graph.
async fn analyse(
    mut ctx: Ctx,
    desk: &DeskContext<'_>,
    symbol: &Symbol,
) -> Result<SymbolAnalysis, SessionStop> {
    let mut analysis = SymbolAnalysis::new(symbol, &desk.input.day.date.to_string());
    let ctx = &mut ctx;
    node_runner::run_nodes(ctx, desk, &mut analysis, &roles::analysts(desk.config)).await?;
    for (role, round) in roles::speakers(desk.config) {
        // Only the Trader reads the memory.
        if role.kind == RoleKind::Trader {
            match recall(ctx, &desk.recall, Some(symbol)).await? {
                Ok(recalled) => {
                    (analysis.state.past_context, analysis.memory) = (recalled.text, recalled.prompt);
                    analysis.unverified_memory = recalled.unverified;
                }
                Err(reason) => drop(analysis.sources_missing.insert("memory".to_owned(), reason)),
            }
        }
        node_runner::run_node(ctx, desk, &mut analysis, role, round).await?;
    }
    report::record_state(ctx, &mut analysis).await?;
    Ok(analysis)
}
