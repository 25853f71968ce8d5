//! Reads datasets from files: formats yield rows, rows are checked against one another, and those that pass
//! form a dataset.
//!
//! A [`Format`] reads a [`Source`] and passes each [`ImportedRow`], or the reason why one is unreadable, with
//! its location to a [`Sink`]. Vendors have their formats in their own folders; `formats` has the others.

mod adjust;
mod collect;
mod formats;
mod options;
mod problem;
mod reconcile;
mod refusal;
mod run;
mod shifted;

pub use crate::input::{
    BarRow, BarTime, Basis, DayRow, Format, Hints, ImportedRow, InstrumentRow, LineHandler, Location,
    ReadAbort, Sink, Source, each_line,
};
pub use formats::{FieldsReader, all_formats, detect, format_named, read_columns};
pub use options::ImportOptions;
pub use papertape_core::market::BarAfterOpen;
pub use problem::{Problem, Problems};
pub use refusal::RowRejection;
pub use run::{ImportError, ImportReport, Imported, Progress, SkippedFile, import, import_days};
