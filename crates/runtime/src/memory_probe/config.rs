//! The parameters and the result of a memory probe.

use crate::budget::Budget;
use crate::config::DatasetRef;
use papertape_agents::config::Limits;
use papertape_core::RULES_VERSION;
use papertape_core::id::{ContentHash, Symbol};
use papertape_core::json::{self, to_value};
use papertape_core::ledger::CorporateActionKind;
use papertape_core::market::Dataset;
use papertape_core::message::{FORMAT_VERSION, ModelName, Sampling};
use papertape_core::time::Date;
use papertape_evidence::{
    DailyClose, KindReport, PriceHistory, QUIZ_DESIGN_VERSION, Quiz, QuizControls, QuizDesign, QuizKind,
    design_quiz,
};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;

/// A memory probe, fully resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryProbeConfig {
    /// The model.
    pub model: ModelName,
    /// The dataset.
    pub dataset: DatasetRef,
    /// The symbols in its items.
    pub probe_symbols: BTreeSet<Symbol>,
    /// The first day of the price histories; absent: the dataset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_date: Option<Date>,
    /// Their last day, included; absent: the dataset's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_date: Option<Date>,
    /// The kinds of items.
    pub kinds: Vec<QuizKind>,
    /// Max. items of a kind. There are as many controls.
    pub items_per_kind: usize,
    /// The model's stated training cut-off when the probe was queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<Date>,
    /// The seed of the items.
    pub seed: u64,
    /// The version of the items' design.
    pub design_version: u32,
    /// Sampling parameters of every call.
    pub sampling: Sampling,
    /// Attempts and deadlines of a call.
    pub limits: Limits,
    /// Max. concurrent items.
    pub parallel_items: usize,
    /// Its budget.
    #[serde(default)]
    pub budget: Budget,
}

impl MemoryProbeConfig {
    /// Hash of everything that determines its questions: excludes budget, deadlines, retries and concurrency.
    #[must_use]
    pub fn fingerprint(&self) -> ContentHash {
        let mut whole = to_value(self);
        if let Some(map) = whole.as_object_mut() {
            for key in ["budget", "limits", "parallel_items"] {
                map.remove(key);
            }
        }
        whole["format"] = json!([FORMAT_VERSION, papertape_redact::VERSION, RULES_VERSION]);
        json::hash(&whole)
    }

    /// The trading days of its prices.
    #[must_use]
    pub fn days(&self, dataset: &Dataset) -> BTreeSet<Date> {
        let (start, end) = (self.start_date.unwrap_or(Date::MIN), self.end_date.unwrap_or(Date::MAX));
        dataset.trading_days(start, end).iter().map(|day| day.date).collect()
    }

    /// The items of the quiz. The same config and data give the same items.
    ///
    /// # Errors
    /// The probe was queued by a program with another design.
    pub fn quiz(&self, dataset: &Dataset) -> Result<Quiz, String> {
        if self.design_version != QUIZ_DESIGN_VERSION {
            return Err(format!(
                "the probe was designed by version {}, but this program designs version {QUIZ_DESIGN_VERSION}; start \
                 a new probe",
                self.design_version
            ));
        }
        let hash = self.dataset.hash.to_hex();
        let design = QuizDesign {
            dataset: &hash,
            kinds: &self.kinds,
            items_per_kind: self.items_per_kind,
            cutoff: self.cutoff,
            seed: self.seed,
        };
        Ok(design_quiz(&histories(dataset, &self.probe_symbols, self.start_date, self.end_date), &design))
    }
}

/// The result of a probe, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryProbeReport {
    /// What the controls were.
    pub controls: QuizControls,
    /// Items and controls.
    pub items: usize,
    /// Calls, each of one wording of an item.
    pub calls: usize,
    /// The result by kind.
    pub kinds: Vec<KindReport>,
}

/// The closes of a dataset's symbols, unadjusted and adjusted for splits.
#[must_use]
pub fn histories(
    dataset: &Dataset,
    symbols: &BTreeSet<Symbol>,
    start: Option<Date>,
    end: Option<Date>,
) -> Vec<PriceHistory> {
    let contents = dataset.contents();
    let splits: Vec<_> = contents
        .actions()
        .filter_map(|action| match action.kind {
            CorporateActionKind::Split { ratio } => Some((&action.symbol, action.ex_date, ratio)),
            CorporateActionKind::Dividend { .. } | CorporateActionKind::Delisting { .. } => None,
        })
        .collect();
    let history = |symbol: &Symbol| {
        let own: Vec<_> = splits.iter().filter(|(of, ..)| *of == symbol).collect();
        let in_range =
            |date: Date| start.is_none_or(|start| start <= date) && end.is_none_or(|end| date <= end);
        let close = |date: Date, quoted: Decimal| {
            let later = own.iter().filter(|(_, ex_date, _)| *ex_date > date);
            let ratio = later.fold(1.0, |product, (.., ratio)| product * ratio.to_f64().unwrap_or(1.0));
            let quoted = quoted.to_f64()?;
            (quoted > 0.0).then_some(DailyClose { date, quoted, adjusted: quoted / ratio })
        };
        let bars = contents.daily_bars(symbol);
        let closes = bars.into_iter().filter(|bar| in_range(bar.date));
        PriceHistory {
            symbol: symbol.to_string(),
            name: dataset.instrument(symbol).map(|found| found.name.clone()).unwrap_or_default(),
            closes: closes.filter_map(|bar| close(bar.date, bar.rest?.close.0)).collect(),
        }
    };
    symbols.iter().map(history).collect()
}

/// What the controls are, as responses spell it.
#[must_use]
pub const fn controls_name(controls: QuizControls) -> &'static str {
    match controls {
        QuizControls::Altered => "altered",
        QuizControls::AfterCutoff => "after_cutoff",
    }
}
