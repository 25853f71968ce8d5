//! From the day's decisions to orders. One step for all symbols, at the session's root, because nothing
//! inside a guard may trade.

use super::analysis::SymbolAnalysis;
use super::node_runner::is_unparseable;
use super::sizing::{self, Decision, Sizing};
use crate::day_input::DayInput;
use crate::graph::SIZING;
use crate::notice;
use crate::roles::{RoleKind, RoleSpec};
use crate::tools::{trade, with_view_identity};
use papertape_core::broker::{Books, Quote, approve};
use papertape_core::id::Symbol;
use papertape_core::json::to_value;
use papertape_core::market::MarketView;
use papertape_core::provenance::Degradation;
use papertape_core::record::DerivedRow;
use papertape_core::tape::{Ctx, LocalStep, OutcomeKind, ScopeKey, SessionStop, StepClass};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The result of the decisions.
pub(crate) struct OrderPlacement {
    /// The decisions by symbol.
    pub(crate) decisions: BTreeMap<Symbol, Decision>,
    /// The plan, with its adjustments.
    pub(crate) sizing: Sizing,
    /// The outcome of each order, in the order of placement.
    pub(crate) placed: Vec<Value>,
    /// The same in sentences, for the next session's prompt.
    pub(crate) notices: Vec<String>,
}

/// Sizes the decisions and places the orders, closing orders first; the broker checks each.
///
/// # Errors
/// A stop.
pub(crate) async fn place(
    root: &mut Ctx,
    input: &DayInput<'_>,
    view: &MarketView<'_>,
    books: &mut Books,
    analyses: &[SymbolAnalysis],
) -> Result<OrderPlacement, SessionStop> {
    let mut ctx = root.child(ScopeKey::node("sizing"))?;
    let date = input.day.date;
    let config = input.agent_at(SIZING).desk_config().sizing;
    let quote = |symbol: &Symbol| (symbol.clone(), trade::quote(books.profile(), view, symbol, true, date));
    let quotes: BTreeMap<Symbol, Quote> = input.symbols.iter().map(quote).collect();
    let decisions: BTreeMap<Symbol, Decision> =
        analyses.iter().map(|analysis| (analysis.symbol.clone(), decision(analysis))).collect();
    let sizing = sizing::size(books, &quotes, &decisions, &config);
    let shown = input.symbols.iter().filter_map(|symbol| view.price(symbol).ok());
    let entry = LocalStep {
        kind: "sizing",
        class: StepClass::Local,
        arguments: with_view_identity(
            view,
            json!({ "decisions": decisions, "quotes": quotes, "sizing": config }),
        ),
        outcome: to_value(&sizing),
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied: shown.map(|read| DerivedRow::Exposure(read.exposure)).collect(),
    };
    ctx.record_local(entry).await?;
    let mut placement = OrderPlacement { decisions, sizing, placed: Vec::new(), notices: Vec::new() };
    for planned in &placement.sizing.orders {
        let order = planned.order(books.next_order_id());
        let decision = approve(books.account(), books.profile(), &quotes[&order.symbol], order.clone());
        let placed = trade::execute(&mut ctx, books, view, (&order, decision), None).await?;
        placement.notices.extend(placed.entry.as_ref().and_then(notice::describe_entry));
        placement.notices.extend(placed.rejection.as_ref().map(notice::describe_rejection));
        placement.placed.push(json!({
            "order_id": order.id.0.to_string(),
            "symbol": order.symbol,
            "side": order.side,
            "quantity": order.quantity,
            "status": placed.status,
            "code": placed.rejection.as_ref().map(|rejection| rejection.code),
        }));
    }
    Ok(placement)
}

/// The decision on a symbol: a rating needs the Portfolio Manager's decision and the Trader's proposal. If
/// either is missing there is no opinion, which is not the same as a Hold.
fn decision(analysis: &SymbolAnalysis) -> Decision {
    match (&analysis.decision, &analysis.proposal) {
        (Some(decision), Some(proposal)) => {
            Decision::Rated { rating: decision.rating, proposal: Some(proposal.clone()) }
        }
        _ => {
            let reasons: Vec<&str> =
                missing(analysis).map(|degradation| degradation.reason.as_str()).collect();
            Decision::None { why: format!("no decision: {}", reasons.join(", ")) }
        }
    }
}

/// Whether a symbol has no decision because of an unparseable answer, which is counted separately.
pub(crate) fn was_unparseable(analysis: &SymbolAnalysis) -> bool {
    missing(analysis).any(is_unparseable)
}

/// The degradations of nodes that a decision requires.
fn missing(analysis: &SymbolAnalysis) -> impl Iterator<Item = &Degradation> {
    [RoleKind::Trader, RoleKind::PortfolioManager]
        .into_iter()
        .filter_map(|kind| analysis.degradation(RoleSpec::of(kind).node))
}
