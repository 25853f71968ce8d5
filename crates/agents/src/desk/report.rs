//! The results of a desk's day, for readers.

use super::analysis::SymbolAnalysis;
use super::orders::{OrderPlacement, was_unparseable};
use super::sizing::Decision;
use crate::memory::TraderOutcome;
use crate::memory::round_summary::{cut, one_line};
use papertape_core::id::Symbol;
use papertape_core::json::to_value;
use papertape_core::point_in_time::Unverified;
use papertape_core::provenance::{Degradation, Provenance, Research};
use papertape_core::tape::{ContentDoc, Ctx, LocalStep, OutcomeKind, SessionStop, StepClass};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Maximum characters of each symbol's conclusion in the memory.
const CONCLUSION_CHARS: usize = 300;

/// A completed desk day.
pub struct DeskResult {
    analyses: Vec<SymbolAnalysis>,
    orders: OrderPlacement,
}

impl DeskResult {
    pub(super) fn new(analyses: Vec<SymbolAnalysis>, orders: OrderPlacement) -> Self {
        Self { analyses, orders }
    }

    /// Whether a Trader answered, and so has read what happened to the books.
    pub(crate) fn has_reply(&self) -> bool {
        self.analyses.iter().any(|analysis| analysis.proposal.is_some())
    }

    /// The mark of the memories shown to its Traders.
    pub(crate) fn unverified_memory(&self) -> Option<&Unverified> {
        let marks = self.analyses.iter().filter_map(|analysis| analysis.unverified_memory.as_ref());
        marks.max_by(|a, b| (a.date, &a.job).cmp(&(b.date, &b.job)))
    }

    /// How the session ended, for the Trader's memory: the conclusions of the debates, and the decisions.
    pub(crate) fn trader_outcome(&self) -> TraderOutcome {
        let concluded = self.analyses.iter().map(|analysis| {
            let state = &analysis.state;
            let conclusion =
                [&state.final_trade_decision, &state.trader_investment_plan, &state.investment_plan];
            let conclusion = conclusion.into_iter().find(|text| !text.is_empty());
            let conclusion =
                conclusion.map(|text| cut(&one_line(text), CONCLUSION_CHARS)).unwrap_or_default();
            format!("{}: {conclusion}", analysis.symbol)
        });
        TraderOutcome {
            has_reply: self.has_reply(),
            degraded: self.analyses.iter().any(|analysis| !analysis.degradations.is_empty()),
            decision: concluded.collect::<Vec<_>>().join("\n"),
        }
    }

    /// The outcomes of the day's orders, in sentences.
    pub(crate) fn notices(&self) -> &[String] {
        &self.orders.notices
    }

    /// The provenance of the day's analyses.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        let by_symbol: BTreeMap<Symbol, Research> = self
            .analyses
            .iter()
            .map(|analysis| (analysis.symbol.clone(), analysis.research().clone()))
            .collect();
        let degradations: Vec<Degradation> =
            self.analyses.iter().flat_map(|analysis| analysis.degradations.iter().cloned()).collect();
        let missing = self.analyses.iter().flat_map(|analysis| analysis.sources_missing.clone()).collect();
        Provenance::of(by_symbol, degradations, missing)
    }

    /// The desk's part of a session's metadata.
    #[must_use]
    pub fn metadata(&self) -> Map<String, Value> {
        let provenance = self.provenance();
        let by_symbol: Map<String, Value> = self
            .analyses
            .iter()
            .map(|analysis| (analysis.symbol.to_string(), symbol_report(analysis)))
            .collect();
        let parts = json!({
            "research": provenance.research,
            "by_symbol": by_symbol,
            "degradations": provenance.degradations,
            "sample_quality": provenance.sample_quality(),
            "data_quality": provenance.data_quality,
            "decisions": self.decisions(),
            "sizing": { "orders": self.orders.placed, "cuts": self.orders.sizing.adjustments },
        });
        match parts {
            Value::Object(parts) => parts,
            _ => Map::new(),
        }
    }

    /// The counts of decisions: ratings, and symbols without one.
    fn decisions(&self) -> Value {
        let mut ratings: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut unparseable, mut fallback) = (0_usize, 0_usize);
        let note = |analysis: &SymbolAnalysis, (node, note): &(&'static str, String)| json!({ "symbol": analysis.symbol, "node": node, "note": note });
        let notes = self
            .analyses
            .iter()
            .flat_map(|analysis| analysis.notes.iter().map(move |one| note(analysis, one)));
        for analysis in &self.analyses {
            match self.orders.decisions.get(&analysis.symbol) {
                Some(Decision::Rated { rating, .. }) => *ratings.entry(rating.as_str()).or_default() += 1,
                _ if was_unparseable(analysis) => unparseable += 1,
                _ => fallback += 1,
            }
        }
        let mut counted = json!({
            "symbols": self.analyses.len(),
            "ratings": ratings,
            "unparseable": unparseable,
            "fallback": fallback,
        });
        let notes: Vec<Value> = notes.collect();
        if !notes.is_empty() {
            counted["notes"] = Value::Array(notes);
        }
        counted
    }
}

/// Stores one symbol's whole state as a separate document, named by its hash.
///
/// # Errors
/// A stop.
pub(super) async fn record_state(ctx: &mut Ctx, analysis: &mut SymbolAnalysis) -> Result<(), SessionStop> {
    let entry = LocalStep {
        kind: "state",
        class: StepClass::Local,
        arguments: json!({ "symbol": analysis.symbol }),
        outcome: to_value(&analysis.state),
        outcome_kind: OutcomeKind::Ok,
        message: None,
        implied: Vec::new(),
    };
    let recorded = ctx.record_local(entry).await?;
    analysis.state_ref = Some(ContentDoc::of(&recorded).hash);
    Ok(())
}

fn symbol_report(analysis: &SymbolAnalysis) -> Value {
    let research = analysis.research();
    let rating = analysis.decision.as_ref().map(|decision| decision.rating);
    json!({
        "research": research,
        "degradations": analysis.degradations,
        "sources_missing": analysis.sources_missing.keys().collect::<Vec<_>>(),
        "recommendation": analysis.plan.as_ref().map(|plan| plan.recommendation),
        "action": analysis.proposal.as_ref().map(|proposal| proposal.action),
        "rating": rating,
        "direction": rating.map(|rating| rating.direction()),
        // The confidence in the research behind it, if there is a rating.
        "confidence": rating.and(research.manager_confidence),
        "state": analysis.state_ref,
    })
}
