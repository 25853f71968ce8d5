//! Reading datasets from files: formats give rows, rows are checked beside one another, and what holds
//! becomes a dataset.
//!
//! Every format is a [`Format`]: it reads a [`Source`] and gives each [`Row`], or the reason why one
//! cannot be read, with its place to a [`Sink`]. It decides nothing but what a row says.

mod actions_csv;
mod fields;
mod format;
mod row;
mod source;
mod table;

pub use format::{At, FORMATS, Format, Halt, Hints, Sink, format_named, recognise};
pub use row::{BarRest, BarRow, BarTime, Basis, DayRow, InstrumentRow, Refusal, Row};
pub use source::Source;
