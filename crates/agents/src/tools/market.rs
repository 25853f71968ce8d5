//! Tools that read the market view. What is missing answers `DATA_UNAVAILABLE`, which is an answer and
//! no failure.

use super::{Arguments, Reading, Refused, number, spec};
use papertape_core::id::Symbol;
use papertape_core::market::{
    BarRange, Indicator, IndicatorColumn, IndicatorTable, MarketView, PriceKind, ReadError,
};
use papertape_core::message::ToolSpec;
use serde_json::{Map, Value, json};

/// Bars of one answer at the most.
const MOST_BARS: usize = 250;
/// News of one answer at the most.
const MOST_NEWS: usize = 50;
/// What `get_indicators` gives when nothing is named.
const USUAL: &[&str] =
    &["sma_20", "sma_50", "ema_12", "ema_26", "macd", "rsi_14", "bollinger", "atr_14", "vwma_20", "mfi_14"];

/// The tools as the model is told of them.
#[must_use]
pub fn tools() -> Vec<ToolSpec> {
    let symbol = json!({ "type": "string", "description": "ticker symbol" });
    let limit = |what: &str, most: usize| json!({ "type": "integer", "minimum": 1, "maximum": most, "description": format!("how many {what}") });
    vec![
        spec(
            "get_price",
            "The newest known price of a symbol: today's open",
            &[("symbol", symbol.clone())],
            1,
        ),
        spec(
            "get_bars",
            "Daily bars up to the previous trading day, oldest first, adjusted for splits",
            &[("symbol", symbol.clone()), ("limit", limit("bars, 30 by default", MOST_BARS))],
            1,
        ),
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
            "News that had been published, newest first, of one symbol or of all",
            &[("symbol", symbol), ("limit", limit("items, 10 by default", MOST_NEWS))],
            0,
        ),
    ]
}

/// Runs one of the tools; `None` for a name that is none of them.
#[must_use]
pub fn run(view: &MarketView<'_>, name: &str, arguments: &Value) -> Option<Reading> {
    let tool = match name {
        "get_price" => get_price,
        "get_bars" => get_bars,
        "get_indicators" => get_indicators,
        "get_news" => get_news,
        _ => return None,
    };
    let answer = Arguments::of(arguments).map_err(Refused::from).and_then(|arguments| tool(view, &arguments));
    Some(answer.unwrap_or_else(Reading::from))
}

/// What a view could not give, in the words of a tool's answer.
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

fn get_price(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<Reading, Refused> {
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
    Ok(Reading::of(value, vec![quote.exposure]))
}

fn get_bars(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<Reading, Refused> {
    let symbol = symbol(arguments)?;
    let limit = arguments.count("limit", 30, MOST_BARS)?;
    let bars = view.bars(&symbol, BarRange::newest(limit))?;
    let rows: Vec<Value> = bars
        .value
        .iter()
        .map(|bar| {
            json!({
                "date": bar.date,
                "open": number(bar.open.0.round_dp(4)),
                "high": number(bar.high.0.round_dp(4)),
                "low": number(bar.low.0.round_dp(4)),
                "close": number(bar.close.0.round_dp(4)),
                "volume": number(bar.volume.0.round_dp(0)),
            })
        })
        .collect();
    Ok(Reading::of(json!({ "symbol": symbol, "bars": rows }), vec![bars.exposure]))
}

fn get_indicators(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<Reading, Refused> {
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
        "indicators": newest(&table.value),
    });
    Ok(Reading::of(value, vec![table.exposure]))
}

fn get_news(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<Reading, Refused> {
    let symbol = arguments.optional_text("symbol")?.map(Symbol::new);
    let limit = arguments.count("limit", 10, MOST_NEWS)?;
    let news = view.news(symbol.as_ref(), limit)?;
    let items: Vec<Value> = news
        .value
        .iter()
        .map(|published| {
            json!({
                "published_at": published.published_at,
                "source": published.item.source,
                "title": published.item.headline,
                "text": published.item.body,
                "symbols": published.item.symbols,
            })
        })
        .collect();
    Ok(Reading::of(json!({ "items": items }), vec![news.exposure]))
}

/// The usual indicators.
pub(super) fn usual() -> Vec<Indicator> {
    USUAL.iter().filter_map(|name| indicator(name).ok()).collect()
}

/// The newest value of each column; null where there is too little data.
pub(crate) fn newest(table: &IndicatorTable) -> Map<String, Value> {
    let newest = |column: &IndicatorColumn| column.values.last().copied().flatten();
    table.columns.iter().map(|column| (key(&column.name), rounded(newest(column)))).collect()
}

/// Six decimals: enough for any price, and the same text on every machine.
pub(super) fn rounded(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| json!((value * 1e6).round() / 1e6))
}

/// Reads `sma_20` and `sma(20)` alike.
fn indicator(name: &str) -> Result<Indicator, String> {
    let name = name.trim();
    // One line of MACD or of the bands stands for all of them.
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

/// A column's key in the answer: `sma_20`; without numbers where MACD and the bands have their usual.
fn key(column: &str) -> String {
    let usual = column.strip_suffix("(12,26,9)").or_else(|| column.strip_suffix("(20,2)"));
    usual.map_or_else(|| column.replace(['(', ','], "_").replace(')', ""), str::to_owned)
}
