//! Bars of a dataset, for charts.

use super::rows;
use crate::app::App;
use crate::error::ServiceError;
use papertape_core::id::Symbol;
use papertape_core::market::{BarInput, Dataset, Interval, IntradayBar};
use papertape_core::time::{Date, Timestamp, parse_date};
use papertape_protocol::bars::{BarResponse, BarsQuery, BarsResponse, ShareEvent};
use std::sync::Arc;

/// The maximum number of bars of one page: twenty years of days.
const MAX_BARS: u32 = 5000;

/// An instrument's bars: daily bars, also those built from intraday bars, or bars of an intraday
/// interval.
///
/// # Errors
/// No such dataset, instrument or interval; a bad limit or cursor; a dataset that cannot be read.
pub fn bars(app: &App, name: &str, query: &BarsQuery) -> Result<BarsResponse, ServiceError> {
    let limit = rows(query.limit, MAX_BARS, MAX_BARS)?;
    let dataset = open_dataset(app, "name", name)?;
    let symbol = symbol_of(&dataset, &query.symbol)?;
    let interval = query.interval.as_deref().map(|text| interval_of(&dataset, &symbol, text)).transpose()?;
    let answer = |bars: Vec<BarResponse>, next_cursor: Option<String>| BarsResponse {
        dataset: dataset.hash().to_hex(),
        symbol: symbol.to_string(),
        interval: interval.map(|interval| interval.to_string()),
        actions: actions_beside(&dataset, &symbol, &bars),
        count: bars.len(),
        bars,
        next_cursor,
    };
    let lies_in = |date: Date| {
        query.start_date.is_none_or(|from| date >= from) && query.end_date.is_none_or(|end| date <= end)
    };
    let Some(interval) = interval else {
        let from = query.cursor.as_deref().map(parse_date).transpose().map_err(|_| wrong_cursor())?;
        let wanted = |bar: &BarInput| lies_in(bar.date) && from.is_none_or(|from| bar.date >= from);
        let mut rest = dataset.contents().daily_bars(&symbol).into_iter().filter(wanted);
        let bars = rest.by_ref().take(limit as usize).map(BarResponse::from).collect();
        return Ok(answer(bars, rest.next().map(|bar| bar.date.to_string())));
    };
    let from =
        query.cursor.as_deref().map(str::parse::<Timestamp>).transpose().map_err(|_| wrong_cursor())?;
    let days = dataset.days();
    let contents = dataset.contents();
    let mut found = contents.intraday_bars(&symbol);
    let of_length = found.find(|(length, _)| *length == interval).into_iter().flat_map(|(_, bars)| bars);
    let on_its_day = |bar: IntradayBar| {
        let day = days.partition_point(|day| day.open <= bar.opens_at).checked_sub(1)?;
        (lies_in(days[day].date) && from.is_none_or(|from| bar.opens_at >= from))
            .then_some((days[day].date, bar))
    };
    let mut rest = of_length.filter_map(on_its_day);
    let bars = rest.by_ref().take(limit as usize).map(within).collect();
    Ok(answer(bars, rest.next().map(|(_, bar)| bar.opens_at.to_string())))
}

/// Corporate actions from the first to the last day of these bars. None is later than the newest bar, so a chart
/// that ends on a day shows nothing of its future.
fn actions_beside(dataset: &Dataset, symbol: &Symbol, bars: &[BarResponse]) -> Vec<ShareEvent> {
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return Vec::new() };
    let contents = dataset.contents();
    let of_page = contents
        .actions()
        .filter(|action| action.symbol == *symbol && (first.date..=last.date).contains(&action.ex_date));
    let mut found: Vec<ShareEvent> = of_page.map(ShareEvent::from).collect();
    found.sort_by_key(|event| event.date);
    found
}

fn wrong_cursor() -> ServiceError {
    ServiceError::invalid("cursor", "invalid cursor")
}

fn within((date, bar): (Date, IntradayBar)) -> BarResponse {
    let given = BarInput { date, open: bar.open, rest: bar.rest };
    BarResponse { opens_at: Some(bar.opens_at), ..given.into() }
}

/// The dataset that a field names: by its name, or by the first digits of its hash.
///
/// # Errors
/// No or several datasets of that name; one that cannot be read.
pub(super) fn open_dataset(app: &App, field: &'static str, name: &str) -> Result<Arc<Dataset>, ServiceError> {
    app.catalogue.open(name).map_err(|error| ServiceError::of_dataset(field, error))
}

/// An instrument of a dataset.
///
/// # Errors
/// An instrument that it does not have.
pub(super) fn symbol_of(dataset: &Dataset, symbol: &str) -> Result<Symbol, ServiceError> {
    let found = dataset.all_symbols().find(|known| known.as_str() == symbol).cloned();
    found.ok_or_else(|| {
        let (name, symbol) = (dataset.name(), symbol.escape_default());
        ServiceError::NotFound(format!("the dataset {name} has no instrument {symbol}"))
    })
}

/// An interval of intraday bars that a symbol has.
fn interval_of(dataset: &Dataset, symbol: &Symbol, text: &str) -> Result<Interval, ServiceError> {
    let known: Vec<Interval> =
        dataset.contents().intraday_bars(symbol).map(|(interval, _)| interval).collect();
    known.iter().find(|interval| interval.to_string() == text).copied().ok_or_else(|| {
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        ServiceError::invalid(
            "interval",
            format!("{symbol} has no bars of `{}`; available: {known}", text.escape_default()),
        )
    })
}
