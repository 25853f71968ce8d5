//! Daily bars of a dataset, for charts.

use super::{ViewError, number};
use crate::app::App;
use papertape_core::id::Symbol;
use papertape_core::market::GivenBar;
use papertape_core::time::{Date, parse_date};
use papertape_market::MarketError;
use serde::Serialize;
use utoipa::ToSchema;

/// The most bars of one page: twenty years of days.
const MOST_BARS: u32 = 5000;

/// Which bars.
#[derive(Clone, Debug, Default)]
pub struct BarsQuery {
    /// The dataset's name, or the first digits of its hash.
    pub dataset: String,
    /// The instrument.
    pub symbol: String,
    /// From this day on.
    pub start_date: Option<Date>,
    /// Up to this day, included.
    pub end_date: Option<Date>,
    /// How many at most.
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// A page of daily bars.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct BarsAnswer {
    /// The dataset's content hash.
    pub dataset: String,
    /// The instrument.
    pub symbol: String,
    /// The bars, oldest first.
    pub bars: Vec<BarAnswer>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null`: this is the last.
    pub next_cursor: Option<String>,
}

/// A daily bar, as it was traded: in no one's share units but its day's.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct BarAnswer {
    /// Its trading day.
    pub date: Date,
    /// The first price.
    pub open: f64,
    /// The highest price; this and what follows is `null` where the open alone is known.
    pub high: Option<f64>,
    /// The lowest price.
    pub low: Option<f64>,
    /// The last price.
    pub close: Option<f64>,
    /// How many units were traded.
    pub volume: Option<f64>,
}

/// An instrument's daily bars.
///
/// # Errors
/// No such dataset or instrument; a bad limit or cursor; a dataset that cannot be read.
pub fn bars(app: &App, query: &BarsQuery) -> Result<BarsAnswer, ViewError> {
    let limit = query.limit.unwrap_or(MOST_BARS);
    if limit == 0 || limit > MOST_BARS {
        return Err(ViewError::bad("limit", format!("{limit} is not from 1 to {MOST_BARS}")));
    }
    let wrong = |_| ViewError::bad("cursor", "it is not one of this list's");
    let from = query.cursor.as_deref().map(parse_date).transpose().map_err(wrong)?.or(query.start_date);
    let dataset = app.catalogue.open(&query.dataset).map_err(|error| match error {
        MarketError::NotFound { .. } => ViewError::NotFound(error.to_string()),
        MarketError::Ambiguous { .. } => ViewError::bad("name", error.to_string()),
        other => ViewError::Record(other.into()),
    })?;
    let symbol = Symbol::from(query.symbol.as_str());
    if !dataset.all_symbols().any(|known| *known == symbol) {
        let (name, symbol) = (dataset.name(), query.symbol.escape_default());
        return Err(ViewError::NotFound(format!("the dataset {name} has no instrument {symbol}")));
    }
    let wanted = |bar: &GivenBar| {
        from.is_none_or(|from| bar.date >= from) && query.end_date.is_none_or(|end| bar.date <= end)
    };
    let mut rest = dataset.contents().bars(&symbol).into_iter().filter(wanted);
    let bars: Vec<BarAnswer> = rest.by_ref().take(limit as usize).map(BarAnswer::from).collect();
    Ok(BarsAnswer {
        dataset: dataset.hash().to_hex(),
        symbol: symbol.to_string(),
        count: bars.len(),
        bars,
        next_cursor: rest.next().map(|bar| bar.date.to_string()),
    })
}

impl From<GivenBar> for BarAnswer {
    fn from(bar: GivenBar) -> Self {
        let of = |figure: fn(&papertape_core::market::BarRest) -> rust_decimal::Decimal| {
            bar.rest.as_ref().map(figure).map(number)
        };
        Self {
            date: bar.date,
            open: number(bar.open.0),
            high: of(|rest| rest.high.0),
            low: of(|rest| rest.low.0),
            close: of(|rest| rest.close.0),
            volume: of(|rest| rest.volume.0),
        }
    }
}
