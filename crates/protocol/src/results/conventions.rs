//! The market conventions that a run trades under.

use crate::number::Number;
use papertape_core::broker::FeeCategory;
use papertape_core::time::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The market conventions of a run, from the market profile that its job stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConventionsResponse {
    /// The market profile.
    pub market: String,
    /// `market`: as below; `frictionless`: trading cost nothing.
    pub costs: String,
    /// The format of the imported logs; their conventions apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
    /// The index whose members of each day could be traded on it; absent: symbols that were named, or all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub universe: Option<String>,
    /// The price at which an order fills: `open`, `next_open` or `close`.
    pub fill: String,
    /// The same as text: `shown open`, `next open` or `close`.
    pub fill_label: String,
    /// Slippage of fills against their reference price.
    pub slippage: Vec<SlippageResponse>,
    /// Fees in force on any of the days.
    pub fees: Vec<FeeResponse>,
    /// The annualized cost of borrowed shares, in basis points of a short position's value.
    pub annual_borrow_bps: Number,
    /// The annualized cost of borrowed money, in basis points.
    pub annual_financing_bps: Number,
    /// Tax withheld from dividends on long positions, in percent.
    pub dividend_withholding_pct: Number,
    /// The participation cap: the share of an instrument's mean volume that may be traded on one day, in percent; `null`: none.
    pub participation_pct: Option<Number>,
    /// The number of previous bars in that mean.
    pub participation_bars: Option<u16>,
    /// Whether price limits are checked.
    pub has_price_limits: bool,
    /// What could not be checked, and other notes.
    pub notes: Vec<String>,
    /// All of it in one paragraph.
    pub summary: String,
}

/// Slippage of some instruments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SlippageResponse {
    /// Base assets; empty: all others.
    pub symbols: Vec<String>,
    /// Basis points.
    pub bps: Number,
}

/// A fee and its effective date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FeeResponse {
    /// Its name, such as `commission` or `stamp_duty`.
    pub name: String,
    /// `commission`, `duty` or `transfer`.
    pub category: String,
    /// The basis of the rate: `per_share`, `bps` or `per_million`.
    pub basis: String,
    /// Who pays: `both`, `sale` or `purchase`.
    pub side: String,
    /// The rate.
    pub rate: Number,
    /// The minimum fee per fill.
    pub minimum: Option<Number>,
    /// The maximum fee per fill.
    pub maximum: Option<Number>,
    /// The maximum fee per fill in basis points of its value.
    pub maximum_bps: Option<Number>,
    /// The first day on which it applies; `null`: always.
    #[schema(value_type = Option<String>, format = Date)]
    pub effective_from: Option<Date>,
    /// The only class of instruments that pays it: `fund` or `perpetual`.
    pub only: Option<String>,
    /// Classes of instruments that do not pay it.
    pub except: Vec<String>,
    /// Whether it approximates rates whose dates are unknown.
    pub approximate: bool,
    /// Whether it has no verified source.
    pub unverified: bool,
}

impl SlippageResponse {
    fn text(&self) -> String {
        if self.symbols.is_empty() {
            format!("{} bps", self.bps)
        } else {
            format!("{} bps for {}", self.bps, self.symbols.join(", "))
        }
    }
}

impl FeeResponse {
    fn text(&self) -> String {
        let rate = match self.basis.as_str() {
            "per_share" => format!("{} per share", self.rate),
            "per_million" => format!("{} per million", self.rate),
            _ => format!("{} bps", self.rate),
        };
        let mut notes = Vec::new();
        match self.side.as_str() {
            "sale" => notes.push("sales".to_owned()),
            "purchase" => notes.push("purchases".to_owned()),
            _ => {}
        }
        notes.extend(self.only.iter().map(|only| format!("{only}s")));
        notes.extend(self.minimum.map(|minimum| format!("min {minimum}")));
        notes.extend(self.maximum.map(|maximum| format!("max {maximum}")));
        notes.extend(self.maximum_bps.map(|bps| format!("max {}% of the value", bps.to_f64() / 100.0)));
        match (self.approximate, self.unverified) {
            (true, _) => notes.push("approximate".to_owned()),
            (false, true) => notes.push("unverified".to_owned()),
            (false, false) => {}
        }
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        let name = match self.name.as_str() {
            "sec_fee" => "SEC fee".to_owned(),
            "finra_taf" => "FINRA trading activity fee".to_owned(),
            other => other.replace('_', " "),
        };
        format!("{name} {rate}{notes}")
    }
}

impl ConventionsResponse {
    /// All of it in one paragraph.
    #[must_use]
    pub fn paragraph(&self) -> String {
        let mut text = format!("Orders fill at the {}.", self.fill_label);
        if self.costs == "frictionless" {
            text.push_str(" Costs: frictionless.");
        } else {
            let slips: Vec<String> = self.slippage.iter().map(SlippageResponse::text).collect();
            text.push_str(&format!(" Slippage: {}.", slips.join(", ")));
            // Of each fee the newest: the others are listed.
            let mut newest: Vec<&FeeResponse> = Vec::new();
            for fee in &self.fees {
                newest.retain(|known| (&known.name, &known.only) != (&fee.name, &fee.only));
                newest.push(fee);
            }
            let fees: Vec<String> =
                newest.into_iter().filter(|fee| !fee.rate.is_zero()).map(FeeResponse::text).collect();
            let fees = if fees.is_empty() { "none".to_owned() } else { fees.join("; ") };
            text.push_str(&format!(" Fees: {fees}."));
            if !self.annual_borrow_bps.is_zero() {
                text.push_str(&format!(" Borrowed shares: {} bps per year.", self.annual_borrow_bps));
            }
            if !self.annual_financing_bps.is_zero() {
                text.push_str(&format!(" Borrowed money: {} bps per year.", self.annual_financing_bps));
            }
        }
        if let (Some(share), Some(bars)) = (self.participation_pct, self.participation_bars) {
            text.push_str(&format!(" Orders: up to {share}% of the mean volume of {bars} bars."));
        }
        if let Some(universe) = &self.universe {
            text.push_str(&format!(" Universe: the members of {universe} on each day."));
        }
        for note in &self.notes {
            let mut letters = note.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            text.push_str(&format!(" {}{}.", first.map(String::from).unwrap_or_default(), letters.as_str()));
        }
        text
    }
}

/// The name of a kind of fee.
#[must_use]
pub fn category(category: FeeCategory) -> &'static str {
    match category {
        FeeCategory::Commission => "commission",
        FeeCategory::Duty => "duty",
        FeeCategory::Transfer => "transfer",
    }
}
