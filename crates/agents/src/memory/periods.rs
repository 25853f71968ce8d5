//! Old reflections compacted into one per instrument and period. The originals stay.

use papertape_core::id::Symbol;
use papertape_core::money::Money;
use papertape_core::record::ReflectionRow;
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum rules of a period, the most frequent first.
const RULES: usize = 5;

/// The length of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Period {
    /// Three months.
    Quarter,
    /// Six months.
    HalfYear,
}

papertape_core::words!(Period { Quarter = "quarter", HalfYear = "half-year" });

impl Period {
    /// The period that contains a day: `2012-Q4`, `2012-H2`.
    #[must_use]
    pub fn of(self, day: Date) -> String {
        match self {
            Self::Quarter => format!("{:04}-Q{}", day.year(), (day.month() - 1) / 3 + 1),
            Self::HalfYear => format!("{:04}-H{}", day.year(), (day.month() - 1) / 6 + 1),
        }
    }
}

/// The compacted reflections on one instrument in one period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompactedPeriod {
    /// `2012-Q4`.
    pub period: String,
    /// The instrument.
    pub symbol: Symbol,
    /// The number of reflections.
    pub trades: u32,
    /// The number of winning trades.
    pub wins: u32,
    /// The sum of their realized results.
    pub pnl: Money,
    /// The mean of `return_pct`, over those that have one.
    pub mean_return_pct: Option<Decimal>,
    /// What went wrong, with counts.
    pub error_tags: BTreeMap<String, u32>,
    /// The most frequent rules.
    pub next_rules: Vec<String>,
    /// A summary in one or two sentences.
    pub summary: String,
    /// The IDs of the originals.
    pub trade_ids: Vec<u64>,
}

/// Compacts the reflections of one trader that are older than the period of `newest`.
#[must_use]
pub fn fold(period: Period, rows: &[ReflectionRow], newest: Date) -> Vec<CompactedPeriod> {
    let day = |row: &ReflectionRow| row.exit_time.to_zoned(jiff::tz::TimeZone::UTC).date();
    let present = period.of(newest);
    let mut groups: BTreeMap<(String, Symbol), Vec<&ReflectionRow>> = BTreeMap::new();
    for row in rows {
        let name = period.of(day(row));
        if name < present {
            groups.entry((name, row.symbol.clone())).or_default().push(row);
        }
    }
    groups.into_iter().map(|((name, symbol), rows)| folded(name, symbol, &rows)).collect()
}

fn folded(period: String, symbol: Symbol, rows: &[&ReflectionRow]) -> CompactedPeriod {
    let count = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
    let wins = rows.iter().filter(|row| row.pnl.is_positive()).count();
    let pnl = rows.iter().fold(Decimal::ZERO, |sum, row| sum.checked_add(row.pnl.0).unwrap_or(sum));
    let pcts: Vec<Decimal> = rows.iter().filter_map(|row| row.return_pct).collect();
    let total = pcts.iter().try_fold(Decimal::ZERO, |sum, pct| sum.checked_add(*pct));
    let mean = total.and_then(|total| total.checked_div(Decimal::from(pcts.len())));
    let mean_return_pct = mean.map(|mean| mean.round_dp(4).normalize());
    let mut error_tags: BTreeMap<String, u32> = BTreeMap::new();
    let mut rules: BTreeMap<&str, u32> = BTreeMap::new();
    for row in rows {
        for tag in &row.error_tags {
            *error_tags.entry(tag.to_string()).or_default() += 1;
        }
        for rule in &row.next_rules {
            *rules.entry(rule).or_default() += 1;
        }
    }
    let mut rules: Vec<(&str, u32)> = rules.into_iter().collect();
    rules.sort_by_key(|(rule, times)| (u32::MAX - times, *rule));
    let next_rules: Vec<String> = rules.iter().take(RULES).map(|(rule, _)| (*rule).to_owned()).collect();
    let pct = mean_return_pct.map_or(String::new(), |pct| format!(", {pct}% on average"));
    let mut summary =
        format!("{symbol} in {period}: {} closed, {wins} at a gain, {pnl} in total{pct}.", rows.len());
    let mut tags: Vec<(&String, &u32)> = error_tags.iter().collect();
    tags.sort_by_key(|(tag, times)| (u32::MAX - **times, *tag));
    if !tags.is_empty() {
        let counted_tags: Vec<String> = tags.iter().map(|(tag, times)| format!("{tag} x{times}")).collect();
        summary.push_str(&format!(" Most often: {}.", counted_tags.join(", ")));
    }
    CompactedPeriod {
        period,
        symbol,
        trades: count(rows.len()),
        wins: count(wins),
        pnl: Money(pnl.normalize()),
        mean_return_pct,
        error_tags,
        next_rules,
        summary,
        trade_ids: rows.iter().map(|row| row.trade_id).collect(),
    }
}
