//! Bars of a dataset, for charts.

use crate::fields::maybe_day;
use crate::number::Number;
use crate::number::number;
use papertape_core::ledger::{CorporateAction, CorporateActionKind};
use papertape_core::market::BarInput;
use papertape_core::time::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Which bars.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BarsQuery {
    /// The instrument.
    pub symbol: String,
    /// The interval of intraday bars (`5m`, `1h`), one of the dataset's `intervals`; absent: daily bars.
    pub interval: Option<String>,
    /// The first day.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    pub start_date: Option<Date>,
    /// The last day, included.
    #[serde(default, deserialize_with = "maybe_day")]
    #[param(value_type = Option<String>, format = Date)]
    pub end_date: Option<Date>,
    /// Max bars. A page of bars may be longer than other pages.
    #[param(minimum = 1, maximum = 5000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
}

/// A page of bars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BarsResponse {
    /// The dataset's content hash.
    pub dataset: String,
    /// The instrument.
    pub symbol: String,
    /// The interval of intraday bars; `null`: daily bars.
    pub interval: Option<String>,
    /// The bars, oldest first.
    pub bars: Vec<BarResponse>,
    /// Splits and dividends on the days of this page, oldest first: those known on these days.
    pub actions: Vec<ShareEvent>,
    /// The number of rows on this page.
    pub count: usize,
    /// Cursor of the next page; `null` on the last page.
    pub next_cursor: Option<String>,
}

/// A bar, in the share units of its own day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BarResponse {
    /// Its trading day.
    pub date: Date,
    /// When an intraday bar opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<Timestamp>,
    /// The opening price.
    pub open: Number,
    /// The highest price; `null`, like the following fields, if only the open is known.
    pub high: Option<Number>,
    /// The lowest price.
    pub low: Option<Number>,
    /// The closing price.
    pub close: Option<Number>,
    /// How many units were traded.
    pub volume: Option<Number>,
}

/// A split, a dividend or a delisting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShareEvent {
    /// The ex-date: it is known from the open of this trading day.
    pub date: Date,
    /// `split`, `dividend` or `delisting`.
    pub kind: String,
    /// Of a split: new shares per old share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Number>,
    /// Of a dividend or a delisting: cash per share, in the share units of that day; absent for a delisting at the
    /// last price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Number>,
}

impl From<&CorporateAction> for ShareEvent {
    fn from(action: &CorporateAction) -> Self {
        let (kind, ratio, amount) = match action.kind {
            CorporateActionKind::Split { ratio } => ("split", Some(number(ratio)), None),
            CorporateActionKind::Dividend { amount } => ("dividend", None, Some(number(amount.0))),
            CorporateActionKind::Delisting { pays } => ("delisting", None, pays.map(|pays| number(pays.0))),
        };
        Self { date: action.ex_date, kind: kind.to_owned(), ratio, amount }
    }
}

impl From<BarInput> for BarResponse {
    fn from(bar: BarInput) -> Self {
        let of = |figure: fn(&papertape_core::market::BarAfterOpen) -> rust_decimal::Decimal| {
            bar.rest.as_ref().map(figure).map(number)
        };
        Self {
            date: bar.date,
            opens_at: None,
            open: number(bar.open.0),
            high: of(|rest| rest.high.0),
            low: of(|rest| rest.low.0),
            close: of(|rest| rest.close.0),
            volume: of(|rest| rest.volume.0),
        }
    }
}
