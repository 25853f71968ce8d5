//! A round's facts, from the books only: the input of the prompt and of the template.

use super::reflect::side;
use super::round_summary::{RoundSummary, cut, one_line};
use crate::notice::describe_entry;
use papertape_core::broker::{Journal, MAX_LEVERAGED_LOSS};
use papertape_core::id::Symbol;
use papertape_core::language::Language;
use papertape_core::ledger::{Account, FillCause, Position};
use papertape_core::record::{AssetNote, Decision};
use rust_decimal::Decimal;
use std::collections::BTreeSet;

/// Maximum characters of the situation.
const SITUATION_CHARS: usize = 480;
/// Of these, the maximum for the conclusion.
const CONCLUDED_CHARS: usize = 280;
/// Up to this many instruments, those without any action are listed too.
const LISTED: usize = 12;

/// A round's facts.
pub(super) struct RoundFacts {
    pub(super) assets: Vec<AssetNote>,
    /// What was booked and what was rejected, in sentences.
    pub(super) booked: Vec<String>,
    /// Each open position at the close, as a line.
    pub(super) held: Vec<String>,
    pub(super) is_open_entry: bool,
}

impl RoundFacts {
    pub(super) fn of(journal: &Journal, account: &Account, symbols: &BTreeSet<Symbol>) -> Self {
        let mut booked: Vec<String> = journal.known_at_close().iter().filter_map(describe_entry).collect();
        let refused = journal
            .rejections
            .iter()
            .map(|refusal| format!("{} {}: {}", refusal.request.symbol(), refusal.code, refusal.message));
        booked.extend(refused);
        let opened = |entry: &&papertape_core::broker::LedgerEntry| {
            entry.applied.as_ref().is_some_and(|applied| applied.opened)
        };
        Self {
            assets: assets(journal, account, symbols),
            booked,
            held: account.positions().iter().map(|(symbol, held)| line(symbol, held)).collect(),
            is_open_entry: journal.entries.iter().any(|entry| opened(&entry)),
        }
    }

    /// The conclusion, with the key prices and positions.
    pub(super) fn situation(&self, decision: &str) -> String {
        let mut text = cut(&one_line(decision), CONCLUDED_CHARS);
        for held in &self.held {
            if !text.is_empty() {
                text.push_str("; ");
            }
            text.push_str(held);
        }
        cut(&text, SITUATION_CHARS)
    }

    /// The four parts, from the facts only.
    pub(super) fn parts(&self, account: &Account, language: Language) -> RoundSummary {
        let en = language == Language::En;
        let pick = |english: &str, chinese: &str| if en { english.to_owned() } else { chinese.to_owned() };
        let join = |items: Vec<String>, none: String| if items.is_empty() { none } else { items.join("; ") };
        let conclusion = self.assets.iter().map(|asset| format!("{} {}", asset.symbol, asset.decision));
        let risk = account.positions().iter().map(|(symbol, held)| risk(symbol, held, language));
        let next = account.positions().iter().map(|(symbol, held)| match (held.stop, en) {
            (Some(stop), true) => format!("does {symbol} hold above or below its stop of {stop}"),
            (Some(stop), false) => format!("{symbol} 是否守住止损 {stop}"),
            (None, true) => format!("does the reason to hold {symbol} still apply"),
            (None, false) => format!("持有 {symbol} 的理由是否仍成立"),
        });
        RoundSummary::new([
            join(conclusion.collect(), pick("nothing was traded", "未交易")),
            join(self.booked.clone(), pick("wait: nothing changed", "观望：持仓无变化")),
            join(risk.collect(), pick("no open position, no stop to check", "无持仓，无须检查止损")),
            join(next.collect(), pick("does an entry signal appear", "是否出现入场信号")),
        ])
    }
}

/// The position as a line.
fn line(symbol: &Symbol, held: &Position) -> String {
    let price = |price: Option<papertape_core::money::Price>| {
        price
            .map_or("none".to_owned(), |price| price.0.round_sf(8).unwrap_or(price.0).normalize().to_string())
    };
    format!(
        "{symbol} {} {} at {}, stop {}, target {}, leverage {}",
        side(held.direction(), Language::En),
        held.quantity.abs().0.normalize(),
        price(Some(held.avg_price)),
        price(held.stop),
        price(held.target),
        held.leverage.normalize()
    )
}

/// The stop and, with leverage, the check of the limit: `|entry - stop| / entry x leverage`.
fn risk(symbol: &Symbol, held: &Position, language: Language) -> String {
    let Some(stop) = held.stop else {
        return match language {
            Language::En => format!("{symbol} no stop, leverage {}", held.leverage.normalize()),
            Language::Zh => format!("{symbol} 未设止损，杠杆 {}", held.leverage.normalize()),
        };
    };
    if held.leverage <= Decimal::ONE {
        return match language {
            Language::En => format!("{symbol} stop {stop}, leverage 1"),
            Language::Zh => format!("{symbol} 止损 {stop}，杠杆 1"),
        };
    }
    let loss = (held.avg_price.0 - stop.0)
        .abs()
        .checked_div(held.avg_price.0)
        .and_then(|share| share.checked_mul(held.leverage))
        .and_then(|share| share.checked_mul(Decimal::ONE_HUNDRED));
    let limit = (MAX_LEVERAGED_LOSS * Decimal::ONE_HUNDRED).normalize();
    let pct = loss.map_or("?".to_owned(), |loss| loss.round_dp(2).normalize().to_string());
    match language {
        Language::En => format!("{symbol} stop {stop}, leveraged loss {pct}% of at most {limit}%"),
        Language::Zh => format!("{symbol} 止损 {stop}，杠杆亏损 {pct}%，上限 {limit}%"),
    }
}

fn assets(journal: &Journal, account: &Account, symbols: &BTreeSet<Symbol>) -> Vec<AssetNote> {
    let touched = journal.entries.iter().filter_map(|entry| entry.fill()).map(|fill| &fill.symbol);
    let refused = journal.rejections.iter().map(|refusal| refusal.request.symbol());
    let mut all: BTreeSet<&Symbol> = touched.chain(refused).chain(account.positions().keys()).collect();
    if symbols.len() <= LISTED {
        all.extend(symbols);
    }
    let note = |symbol: &Symbol| {
        let held = account.position(symbol);
        AssetNote {
            symbol: symbol.clone(),
            decision: decision(journal, symbol, held.is_some()),
            entry_price: held.map(|held| held.avg_price),
            stop_loss: held.and_then(|held| held.stop),
            take_profit: held.and_then(|held| held.target),
            leverage: held.map(|held| held.leverage),
            position_id: held.map(|held| held.id.to_string()),
        }
    };
    all.into_iter().map(note).collect()
}

fn decision(journal: &Journal, symbol: &Symbol, held: bool) -> Decision {
    let (mut opened, mut added, mut reduced, mut closed, mut forced) = (false, false, false, false, false);
    for entry in &journal.entries {
        let (Some(fill), Some(applied)) = (entry.fill(), &entry.applied) else { continue };
        if fill.symbol != *symbol {
            continue;
        }
        match (fill.side.opens(), applied.realized.as_ref()) {
            (true, _) if applied.opened => opened = true,
            (true, _) => added = true,
            (false, _) if fill.cause != FillCause::Order => forced = true,
            (false, Some(realized)) if realized.position_closed => closed = true,
            (false, _) => reduced = true,
        }
    }
    let refused = journal.rejections.iter().any(|refusal| refusal.request.symbol() == symbol);
    match () {
        () if forced && !opened => Decision::Forced,
        () if opened && (closed || forced) => Decision::Reverse,
        () if opened => Decision::Open,
        () if closed => Decision::Close,
        () if reduced => Decision::Reduce,
        () if added => Decision::Add,
        () if refused => Decision::Refused,
        () if held => Decision::Hold,
        () => Decision::Wait,
    }
}
