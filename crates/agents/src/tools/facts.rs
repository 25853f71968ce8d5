//! Tools that read company statements and macroeconomic series, as last published at the instant.

use super::market::symbol;
use super::{Arguments, ToolError, ToolOutput, number, spec};
use papertape_core::market::MarketView;
use papertape_core::message::ToolSpec;
use serde_json::{Value, json};

/// Maximum figures of an answer.
const MAX_FIGURES: usize = 200;
/// Maximum points of a series.
const MAX_POINTS: usize = 120;

/// `get_statements`
#[must_use]
pub fn statements_tool() -> ToolSpec {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": MAX_FIGURES,
        "description": "how many figures, newest periods first; 60 by default",
    });
    spec(
        "get_statements",
        "A company's reported figures by metric and period as last published, newest period first",
        &[("symbol", json!({ "type": "string", "description": "ticker symbol" })), ("limit", limit)],
        1,
    )
}

/// `get_profile`
#[must_use]
pub fn profile_tool() -> ToolSpec {
    spec(
        "get_profile",
        "An instrument's name and the currency of its prices",
        &[("symbol", json!({ "type": "string", "description": "ticker symbol" }))],
        1,
    )
}

/// `get_macro`
#[must_use]
pub fn macro_tool() -> ToolSpec {
    let limit = json!({
        "type": "integer", "minimum": 1, "maximum": MAX_POINTS,
        "description": "how many of the newest periods; 12 by default",
    });
    spec(
        "get_macro",
        "A macroeconomic series as last revised, newest period first; without a name, the available series",
        &[("series", json!({ "type": "string", "description": "name of the series" })), ("limit", limit)],
        0,
    )
}

/// Runs one of these tools; `None` for any other name.
#[must_use]
pub fn run(view: &MarketView<'_>, name: &str, arguments: &Value) -> Option<ToolOutput> {
    let tool = match name {
        "get_statements" => statements,
        "get_profile" => profile,
        "get_macro" => macro_series,
        _ => return None,
    };
    let answer =
        Arguments::of(arguments).map_err(ToolError::from).and_then(|arguments| tool(view, &arguments));
    Some(answer.unwrap_or_else(ToolOutput::from))
}

fn statements(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<ToolOutput, ToolError> {
    let symbol = symbol(arguments)?;
    let limit = arguments.count("limit", 60, MAX_FIGURES)?;
    let read = view.fundamentals(&symbol)?;
    let mut figures = read.value;
    figures.sort_by(|a, b| (b.item.period_end, &a.item.metric).cmp(&(a.item.period_end, &b.item.metric)));
    let rows: Vec<Value> = figures
        .iter()
        .take(limit)
        .map(|figure| {
            json!({
                "metric": figure.item.metric,
                "period_end": figure.item.period_end,
                "value": number(figure.item.value),
                "unit": figure.item.unit,
                "published_at": figure.published_at,
            })
        })
        .collect();
    let left_out = figures.len() - rows.len();
    let value = json!({ "symbol": symbol, "figures": rows, "left_out": left_out });
    Ok(ToolOutput::of(value, vec![read.exposure]))
}

fn profile(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<ToolOutput, ToolError> {
    let symbol = symbol(arguments)?;
    let read = view.instrument(&symbol)?;
    let value = json!({
        "symbol": symbol,
        "name": read.value.name,
        "currency": read.value.currency,
        "exchange_time_zone": view.zone(),
    });
    Ok(ToolOutput::of(value, vec![read.exposure]))
}

fn macro_series(view: &MarketView<'_>, arguments: &Arguments<'_>) -> Result<ToolOutput, ToolError> {
    let limit = arguments.count("limit", 12, MAX_POINTS)?;
    let Some(name) = arguments.optional_text("series")? else {
        let names: Vec<&str> = view.macro_names().collect();
        if names.is_empty() {
            let message = format!("DATA_UNAVAILABLE: no macroeconomic series is known at {}", view.instant());
            return Ok(ToolOutput { missing: Some("macro".to_owned()), ..ToolOutput::error(message) });
        }
        return Ok(ToolOutput::plain(json!({ "series": names })));
    };
    let read = view.macro_series(name)?;
    let rows: Vec<Value> = read
        .value
        .iter()
        .rev()
        .take(limit)
        .map(|point| {
            json!({
                "period": point.item.period,
                "value": number(point.item.value),
                "unit": point.item.unit,
                "published_at": point.published_at,
            })
        })
        .collect();
    Ok(ToolOutput::of(json!({ "series": name, "points": rows }), vec![read.exposure]))
}
