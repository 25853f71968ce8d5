//! Reading datasets from files: formats give rows, rows are checked beside one another, and what holds
//! becomes a dataset.
//!
//! Every format is a [`Format`]: it reads a [`Source`] and gives each [`Row`], or the reason why one
//! cannot be read, with its place to a [`Sink`]. It decides nothing but what a row says.

mod adjust;
pub(crate) mod alpha_vantage_news;
mod bars;
pub(crate) mod binance_klines;
mod collect;
mod fields;
mod format;
mod jsonl;
mod kind;
mod membership;
mod parquet;
mod problem;
mod records;
mod row;
mod run;
mod series;
mod settle;
mod shifted;
mod source;
mod stooq_csv;
mod table;
mod vendor;
pub(crate) mod yahoo_chart;

pub use format::{At, FORMATS, Format, Halt, Hints, Sink, format_named, recognise};
pub use jsonl::{LineTaker, each_line};
pub use papertape_core::market::BarRest;
pub use problem::{Problem, Problems};
pub use row::{BarRow, BarTime, Basis, DayRow, InstrumentRow, Refusal, Row};
pub use run::{ImportError, ImportOptions, Imported, Progress, Report, SkippedFile, import, import_days};
pub use source::Source;
