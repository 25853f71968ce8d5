//! Reads datasets from files: formats yield rows, rows are checked against one another, and those that pass
//! form a dataset.
//!
//! Every format is a [`Format`]: it reads a [`Source`] and passes each [`ImportedRow`], or the reason why one is
//! unreadable, with its location to a [`Sink`]. It only parses rows and decides nothing else.

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
mod reconcile;
mod records;
mod row;
mod run;
mod series;
mod shifted;
mod source;
mod stooq_csv;
mod table;
mod vendor;
pub(crate) mod yahoo_chart;

pub use format::{FORMATS, Format, Hints, Location, ReadAbort, Sink, detect, format_named};
pub use jsonl::{LineHandler, each_line};
pub use papertape_core::market::BarAfterOpen;
pub use problem::{Problem, Problems};
pub use row::{BarRow, BarTime, Basis, DayRow, ImportedRow, InstrumentRow, Refusal};
pub use run::{
    ImportError, ImportOptions, ImportReport, Imported, Progress, SkippedFile, import, import_days,
};
pub use source::Source;
