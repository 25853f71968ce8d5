//! What imports of other tools' runs share: finding and reading files, the report, the dry run.

pub mod dry_run;
pub mod files;
mod report;

pub use report::{
    AgentReport, CappedList, DatasetReport, Disagreement, Problem, ReportLine, RowPlace, RunReport, Skipped,
};
