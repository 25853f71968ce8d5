//! Tools that read the market view. Missing data gives the answer `DATA_UNAVAILABLE`, which is not a failure.

use super::{Arguments, ToolError, ToolOutput, number, spec};
use papertape_core::id::Symbol;
use papertape_core::market::{
    Bar, BarRange, Indicator, IndicatorColumn, IndicatorTable, Interval, MarketView, PriceKind, ReadError,
};
use papertape_core::message::ToolSpec;
use papertape_core::money::Price;
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};

/// Maximum bars of an answer.
const MAX_BARS: usize = 250;
/// The name of daily bars in `get_bars`.
const DAY: &str = "1d";
/// Maximum news items of an answer.
const MAX_NEWS: usize = 50;
/// Maximum characters of one news item. All bodies of an answer share [`MAX_BODIES_CHARS`], so that the answer is
/// never truncated.
const MAX_BODY_CHARS: usize = 2_000;
const MAX_BODIES_CHARS: usize = 24_000;
const MAX_HEADLINE_CHARS: usize = 200;
const MAX_NEWS_SYMBOLS: usize = 8;
/// The default indicators of `get_indicators`.
const USUAL: &[&str] =
    &["sma_20", "sma_50", "ema_12", "ema_26", "macd", "rsi_14", "bollinger", "atr_14", "vwma_20", "mfi_14"];

/// The tool specs for the model, for a dataset with intraday bars of these intervals.
#[must_use]
pub fn tools(intervals: &[Interval]) -> Vec<ToolSpec> {
    let symbol = json!({ "type": "string", "description": "ticker symbol" });
    let limit = |what: &str, most: usize| json!({ "type": "integer", "minimum": 1, "maximum": most, "description": format!("how many {what}") });
    vec![
        spec(
            "get_price",
            "The latest known price of a symbol: today's open",
            &[("symbol", symbol.clone())],
            1,
        ),
        get_bars_tool(&symbol, &limit("bars, 30 by default", MAX_BARS), intervals),
        spec(
            "get_indicators",
            "Technical indicators at the previous close; null where there is too little data",
            &[
                ("symbol", symbol.clone()),
                (
                    "indicators",
                    json!({
                        "type": "array",
                        "items": { "type": "string" },
                        "description": format!("names with their period, such as {}", USUAL.join(", ")),
                    }),
                ),
            ],
            1,
        ),
        spec(
            "get_news",
            "Published news, newest first, for one symbol or all",
            &[("symbol", symbol), ("limit", limit("items, 10 by default", MAX_NEWS))],
            0,
        ),
    ]
}

/// Only datasets with intraday bars have `interval`, so that the tools of daily datasets stay unchanged.
fn get_bars_tool(symbol: &Value, limit: &Value, intervals: &[Interval]) -> ToolSpec {
    let mut properties = vec![("symbol", symbol.clone()), ("limit", limit.clone())];
    if intervals.is_empty() {
        let about = "Daily bars up to the previous trading day, oldest first, adjusted for splits";
        return spec("get_bars", about, &properties, 1);
    }
    let mut lengths = vec![DAY.to_owned()];
    lengths.extend(intervals.iter().map(ToString::to_string));
    let interval = json!({ "type": "string", "enum": lengths, "description": "bar length, 1d by default" });
    properties.push(("interval", interval));
    let about = "Complete daily or intraday bars, oldest first, adjusted for splits";
    spec("get_bars", about, &properties, 1)
}

/// Runs one of these tools; `None` for any other name.
#[must_use]
pub fn run(view: &MarketView<'_>, name: &str, arguments: &Value) -> Option<ToolOutput> {
    let tool = match name {
        "get_price" => get_price,
        "get_bars" => get_bars,
        "get_indicators" => get_indicators,
        "get_news" => get_news,
        _ => return None,
    };
    let answer =
        Arguments::of(arguments).map_err(ToolError::from).and_then(|arguments| tool(view, &arguments));
    Some(answer.unwrap_or_else(ToolOutput::from))
}

/// The answer for data that a view does not have.
#[must_use]
pub fn unavailable(error: &ReadError) -> String {
    match error {
        ReadError::NoData { .. } => format!("DATA_UNAVAILABLE: {error}"),
        other => other.to_string(),
    }
}

pub(super) fn symbol(arguments: &Arguments<'_>) -> Result<Symbol, String> {
    arguments.text("symbol").map(Symbol::new)
}

fn get_price(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<ToolOutput, ToolError> {
    let symbol = symbol(arguments)?;
    let quote = view.price(&symbol)?;
    let kind = match quote.value.kind {
        PriceKind::TodayOpen => "open",
        PriceKind::LastClose => "close",
    };
    let value = json!({
        "symbol": symbol,
        "price": number(quote.value.price.0),
        "kind": kind,
        "date": quote.value.date,
    });
    Ok(ToolOutput::of(value, vec![quote.exposure]))
}

fn get_bars(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<ToolOutput, ToolError> {
    let symbol = symbol(arguments)?;
    let limit = arguments.count("limit", 30, MAX_BARS)?;
    if let Some(length) = arguments.optional_text("interval")?.filter(|length| *length != DAY) {
        return intraday_bars(view, &symbol, length.parse()?, limit);
    }
    let bars = view.bars(&symbol, BarRange::newest(limit))?;
    let rows: Vec<Value> = bars
        .value
        .iter()
        .map(|bar| {
            let mut row = prices(bar);
            row["date"] = json!(bar.date);
            row
        })
        .collect();
    Ok(ToolOutput::of(json!({ "symbol": symbol, "bars": rows }), vec![bars.exposure]))
}

/// Intraday bars, with the instants at which they open.
fn intraday_bars(
    view: &MarketView<'_>,
    symbol: &Symbol,
    interval: Interval,
    limit: usize,
) -> Result<ToolOutput, ToolError> {
    let bars = view.intraday_bars(symbol, interval, BarRange::newest(limit))?;
    let rows: Vec<Value> = bars
        .value
        .iter()
        .map(|bar| {
            let mut row = prices(bar);
            row["opens_at"] = json!(bar.opens_at);
            row
        })
        .collect();
    let value = json!({ "symbol": symbol, "interval": interval, "bars": rows });
    Ok(ToolOutput::of(value, vec![bars.exposure]))
}

fn prices(bar: &Bar) -> Value {
    json!({
        "open": number(rounded_price(bar.open)),
        "high": number(rounded_price(bar.high)),
        "low": number(rounded_price(bar.low)),
        "close": number(rounded_price(bar.close)),
        "volume": number(bar.volume.0.round_dp(0)),
    })
}

fn get_indicators(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<ToolOutput, ToolError> {
    let symbol = symbol(arguments)?;
    let mut names = arguments.texts("indicators")?;
    if names.is_empty() {
        names = USUAL.to_vec();
    }
    let indicators = names.into_iter().map(indicator).collect::<Result<Vec<_>, _>>()?;
    let table = view.indicators(&symbol, &indicators, 1)?;
    let value = json!({
        "symbol": symbol,
        "as_of": table.value.dates.last(),
        "indicators": newest(view, &symbol, &table.value),
    });
    Ok(ToolOutput::of(value, vec![table.exposure]))
}

fn get_news(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<ToolOutput, ToolError> {
    let symbol = arguments.optional_text("symbol")?.map(Symbol::new);
    let limit = arguments.count("limit", 10, MAX_NEWS)?;
    let news = view.news(symbol.as_ref(), limit)?;
    let max_body_chars = MAX_BODY_CHARS.min(MAX_BODIES_CHARS / news.value.len().max(1));
    let items: Vec<Value> = news
        .value
        .iter()
        .map(|published| {
            let body = published.item.body.as_deref();
            let mut item = json!({
                "published_at": published.published_at,
                "source": cut(&published.item.source, MAX_HEADLINE_CHARS),
                "title": cut(&published.item.headline, MAX_HEADLINE_CHARS),
                "text": body.map(|body| cut(body, max_body_chars)),
                // A tag names a company that may not be listed yet.
                "symbols": view.listed(&published.item.symbols).iter().take(MAX_NEWS_SYMBOLS).collect::<Vec<_>>(),
            });
            let left_out = body.map_or(0, |body| body.chars().count()).saturating_sub(max_body_chars);
            if left_out > 0 {
                item["text_chars_left_out"] = json!(left_out);
            }
            item
        })
        .collect();
    let exposures = if symbol.is_some() { vec![news.exposure] } else { view.news_exposures(&news) };
    Ok(ToolOutput::of(json!({ "items": items }), exposures))
}

fn cut(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}

/// The default indicators.
pub(super) fn usual() -> Vec<Indicator> {
    USUAL.iter().filter_map(|name| indicator(name).ok()).collect()
}

/// The newest value of each column; null if there is not enough data. Six decimals, plus the leading zeros of a
/// price below 1: enough for any price, and the same text on every machine.
pub(crate) fn newest(view: &MarketView<'_>, symbol: &Symbol, table: &IndicatorTable) -> Map<String, Value> {
    // The table has the close already.
    let close = view.last_close(symbol).map_or(Decimal::ONE, |read| read.value.price.0);
    let decimals = 6 + zeros(close);
    let newest = |column: &IndicatorColumn| column.values.last().copied().flatten();
    table.columns.iter().map(|column| (key(&column.name), rounded(newest(column), decimals))).collect()
}

/// A number rounded to these decimals.
pub(super) fn rounded(value: Option<f64>, decimals: u32) -> Value {
    let scale = 10_f64.powi(i32::try_from(decimals).unwrap_or(6));
    value.map_or(Value::Null, |value| json!((value * scale).round() / scale + 0.0))
}

/// Significant digits of a price below 1.
const DIGITS: u32 = 6;

/// A bar's price, rounded to four decimals; below 1 to six significant digits.
pub(crate) fn rounded_price(price: Price) -> Decimal {
    let dp = if price.0 < Decimal::ONE { DIGITS + zeros(price.0) } else { 4 };
    price.0.round_dp(dp)
}

/// The number of zeros after the decimal point of a price below 1; 0 from 1 on.
fn zeros(price: Decimal) -> u32 {
    let mut zeros = 0;
    let mut left = price.abs() * Decimal::TEN;
    while left < Decimal::ONE && zeros < 12 {
        zeros += 1;
        left *= Decimal::TEN;
    }
    zeros
}

/// Parses `sma_20` like `sma(20)`.
fn indicator(name: &str) -> Result<Indicator, String> {
    let name = name.trim();
    // One line of MACD or of the Bollinger bands selects all of them.
    let whole = ["macd", "bollinger"].into_iter().find(|whole| {
        let line = name.strip_prefix(whole).and_then(|rest| rest.strip_prefix('_'));
        line.is_some_and(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()))
    });
    let text = match (whole, name.split_once('_')) {
        (Some(whole), _) => whole.to_owned(),
        (None, Some((name, numbers))) => format!("{name}({})", numbers.replace('_', ",")),
        (None, None) => name.to_owned(),
    };
    text.parse::<Indicator>().map_err(|error| error.to_string())
}

/// A column's key in the answer: `sma_20`; without numbers for MACD and the Bollinger bands with default parameters.
fn key(column: &str) -> String {
    let usual = column.strip_suffix("(12,26,9)").or_else(|| column.strip_suffix("(20,2)"));
    usual.map_or_else(|| column.replace(['(', ','], "_").replace(')', ""), str::to_owned)
}
