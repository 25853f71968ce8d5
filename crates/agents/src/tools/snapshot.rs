//! `get_snapshot`: one instrument in exact numbers, so that a model need not compute or remember them.

use super::market::{newest, rounded, rounded_price, symbol, usual};
use super::{Arguments, ToolError, ToolOutput, number, spec};
use papertape_core::id::Symbol;
use papertape_core::market::{Bar, BarRange, MarketView, PriceKind};
use papertape_core::message::ToolSpec;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::{Map, Value, json};

/// Trading days of a year.
const YEAR: usize = 252;
/// Horizons of returns in trading days: the newest close over the close that many days before.
const HORIZONS: [usize; 5] = [1, 5, 20, 60, YEAR];
/// Decimals of a return in percent.
const PCT_DECIMALS: u32 = 6;
/// Days of the average volume.
const VOLUME_DAYS: usize = 20;

/// The tool's spec for the model.
#[must_use]
pub fn tool() -> ToolSpec {
    spec(
        "get_snapshot",
        "Verified numbers for a symbol: latest price, previous close, returns over 1 to 252 trading days, the \
         one-year range, volumes, indicators; null where there is too little data",
        &[("symbol", json!({ "type": "string", "description": "ticker symbol" }))],
        1,
    )
}

/// Runs the tool.
#[must_use]
pub fn run(view: &MarketView<'_>, arguments: &Value) -> ToolOutput {
    let symbol = Arguments::of(arguments).and_then(|arguments| symbol(&arguments));
    symbol.map_err(ToolError::from).and_then(|symbol| read(view, &symbol)).unwrap_or_else(ToolOutput::from)
}

fn read(view: &MarketView<'_>, symbol: &Symbol) -> Result<ToolOutput, ToolError> {
    let bars = view.bars(symbol, BarRange::newest(YEAR + 1))?;
    let price = view.price(symbol)?;
    let table = view.indicators(symbol, &usual(), 1)?;
    let kind = match price.value.kind {
        PriceKind::TodayOpen => "open",
        PriceKind::LastClose => "close",
    };
    let last = bars.value.last();
    let year = &bars.value[bars.value.len().saturating_sub(YEAR)..];
    let value = json!({
        "symbol": symbol,
        "price": number(price.value.price.0),
        "price_kind": kind,
        "price_date": price.value.date,
        "previous_close": last.map(|bar| number(rounded_price(bar.close))),
        "previous_date": last.map(|bar| bar.date),
        "previous_volume": last.map(|bar| number(bar.volume.0.round_dp(0))),
        "average_volume_20": average_volume(&bars.value),
        "returns_pct": returns(&bars.value),
        "high_252": year.iter().map(|bar| bar.high).max().map(|high| number(rounded_price(high))),
        "low_252": year.iter().map(|bar| bar.low).min().map(|low| number(rounded_price(low))),
        "bars_known": bars.value.len(),
        "indicators_as_of": table.value.dates.last(),
        "indicators": newest(view, symbol, &table.value),
    });
    Ok(ToolOutput::of(value, vec![bars.exposure, price.exposure, table.exposure]))
}

fn returns(bars: &[Bar]) -> Map<String, Value> {
    let newest = bars.last().map(|bar| bar.close.0);
    let over = |days: usize| {
        let earlier = bars.len().checked_sub(days + 1).map(|at| bars[at].close.0);
        let ratio = newest?.checked_div(earlier?)?;
        ((ratio - Decimal::ONE) * Decimal::ONE_HUNDRED).to_f64()
    };
    HORIZONS.iter().map(|days| (days.to_string(), rounded(over(*days), PCT_DECIMALS))).collect()
}

fn average_volume(bars: &[Bar]) -> Value {
    let Some(from) = bars.len().checked_sub(VOLUME_DAYS) else { return Value::Null };
    let total: Decimal = bars[from..].iter().map(|bar| bar.volume.0).sum();
    number((total / Decimal::from(VOLUME_DAYS)).round_dp(0))
}
