//! A parsed task: lines of facts, and fences with the texts of others.

use crate::number;
use papertape_core::fence::{self, Parts};
use papertape_core::prompt::lines;
use rust_decimal::Decimal;
use serde_json::Value;

/// A task.
#[derive(Debug)]
pub(super) struct RoleMaterials<'a> {
    /// Its own lines: those outside every fence.
    lines: Vec<&'a str>,
    /// Fenced texts by their source.
    fences: Vec<(&'a str, String)>,
}

impl<'a> RoleMaterials<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        let Parts { own, fenced } = fence::parts(text);
        Self { lines: own, fences: fenced }
    }

    /// The text after the label on one of the task's own lines; the first such line counts.
    fn line(&self, label: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| line.strip_prefix(label)).map(str::trim)
    }

    pub(super) fn symbol(&self) -> &'a str {
        self.line(lines::SYMBOL).unwrap_or("?")
    }

    pub(super) fn date(&self) -> &'a str {
        self.line(lines::DATE).unwrap_or("?")
    }

    fn json(&self, label: &str) -> Value {
        self.line(label).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Today's price; `None` when there is none.
    pub(super) fn price(&self) -> Option<Decimal> {
        number::read(&self.json(lines::PRICES)["price"]).filter(|price| *price > Decimal::ZERO)
    }

    /// The average true range.
    pub(super) fn atr(&self) -> Option<Decimal> {
        number::read(&self.json(lines::PRICES)["atr_14"]).filter(|atr| *atr > Decimal::ZERO)
    }

    /// A number of the account: `cash`, `equity`.
    pub(super) fn account(&self, key: &str) -> Option<Decimal> {
        number::read(&self.json(lines::ACCOUNT)[key])
    }

    /// The quantity held, negative for a short position.
    pub(super) fn held(&self) -> Decimal {
        let account = self.json(lines::ACCOUNT);
        let positions = account["positions"].as_array();
        let own = positions.into_iter().flatten().find(|position| position["symbol"] == self.symbol());
        own.and_then(|position| number::read(&position["quantity"])).unwrap_or_default()
    }

    /// Whether the symbol has a pending order.
    pub(super) fn waits(&self) -> bool {
        let orders = self.json(lines::OPEN_ORDERS);
        orders.as_array().into_iter().flatten().any(|order| order["symbol"] == self.symbol())
    }

    /// Maximum value of the symbol's position, as a fraction of equity.
    pub(super) fn cap(&self) -> Option<Decimal> {
        number::read(&self.json(lines::RISK_LIMITS)["symbol_cap"]).filter(|cap| *cap > Decimal::ZERO)
    }

    /// The text of the role whose fence's source begins with this prefix.
    pub(super) fn fence(&self, source: &str) -> Option<&str> {
        self.fences.iter().find(|(name, _)| name.starts_with(source)).map(|(_, text)| text.as_str())
    }
}

/// A tool's result, fenced or not, as JSON; null when it is invalid.
pub(super) fn tool_answer(content: &str) -> Value {
    crate::data(content).unwrap_or_default()
}
