//! What a format needs: the files that it reads, the rows that it yields, and the fields of a row.

pub(crate) mod fields;
mod format;
mod row;
mod source;
mod text;

pub use format::{Format, Hints, Location, ReadAbort, Sink};
pub use row::{BarRow, BarTime, Basis, DayRow, ImportedRow, InstrumentRow};
pub use source::Source;
pub(crate) use text::whole_json;
pub use text::{LineHandler, each_line};
