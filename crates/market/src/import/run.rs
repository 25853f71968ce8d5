//! An import, from the first file to the dataset.

use super::collect::{Collected, Collector, Refused, RowLocation};
use super::formats::{detect, format_named};
use super::options::ImportOptions;
use super::problem::{Problem, Problems};
use super::reconcile::reconcile;
use super::refusal::RowRejection;
use crate::input::{Format, Hints, ImportedRow, Location, ReadAbort, Sink, Source};
use papertape_core::market::{BuildError, Dataset};
use papertape_core::time::Date;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

/// A dataset and its import report.
#[derive(Debug)]
pub struct Imported {
    /// The dataset.
    pub dataset: Dataset,
    /// What was read and left out.
    pub report: ImportReport,
}

/// What was read and left out.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct ImportReport {
    /// The number of files read.
    pub files: usize,
    /// The number of rows in them.
    pub rows: u64,
    /// The number of rejected rows.
    pub refused: u64,
    /// The first rejected rows.
    pub refusals: Vec<RowRejection>,
    /// The problems of rejected rows, by kind.
    pub problems: Vec<Problem>,
    /// Files in folders that are not data, with the reason.
    pub skipped: Vec<SkippedFile>,
    /// Other notes, as sentences.
    pub notes: Vec<String>,
}

/// A file in a folder that is not data.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SkippedFile {
    /// The file.
    pub file: String,
    /// Why it is not read.
    pub reason: String,
}

/// The progress of an import.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The file being read.
    pub file: &'a str,
    /// The number of files read before it.
    pub done: usize,
    /// The total number of files.
    pub files: usize,
    /// The total number of rows read so far.
    pub rows: u64,
}

/// Why no dataset was created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Rows or files were rejected. Their supplier must act, or use quarantine.
    #[error("{} of {} rows rejected; the first: {}", .0.refused, .0.rows, first(.0))]
    Refused(Box<ImportReport>),
    /// No rows were left for a dataset.
    #[error("no bars to build a dataset from")]
    Nothing(Box<ImportReport>),
    /// An unknown format was requested.
    #[error("{0}")]
    Format(String),
    /// The rows do not form a dataset, for a reason that no single row causes.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A file could not be read or written.
    #[error("{file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// The operating system's error.
        error: io::Error,
    },
}

fn first(report: &ImportReport) -> String {
    report.refusals.first().map(RowRejection::to_string).unwrap_or_default()
}

/// Reads files into a dataset. The order of the files does not matter.
///
/// Without `quarantine`, any rejected row fails the import, and the first of them are reported. With it,
/// every rejected row is written there, one JSON object per line, and the others are imported.
///
/// # Errors
/// [`ImportError`].
pub fn import(
    sources: &[Source],
    options: &ImportOptions,
    quarantine: Option<&mut dyn Write>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Imported, ImportError> {
    import_days(sources, options, None, quarantine, progress)
}

/// Reads files into a dataset with only the bars from the first to the last of these days. Other rows in the
/// files are left out without being problems.
///
/// # Errors
/// As [`import`].
pub fn import_days(
    sources: &[Source],
    options: &ImportOptions,
    days: Option<(Date, Date)>,
    quarantine: Option<&mut dyn Write>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Imported, ImportError> {
    let named = options.format.as_deref().map(format_named).transpose().map_err(ImportError::Format)?;
    let is_strict = quarantine.is_none();
    let mut import = Import {
        sources,
        named,
        hints: Hints {
            symbol: options.symbol.clone(),
            zone: options.hours.zone().clone(),
            interval: options.interval,
            basis: options.basis,
        },
        collected: Collected::default(),
        refused: Refused { listed: Vec::new(), count: 0, problems: Problems::default(), quarantine },
        skipped: Vec::new(),
        rows: 0,
        days,
    };
    for at in 0..sources.len() {
        import.read(at, progress)?;
    }
    let reconciled = reconcile(std::mem::take(&mut import.collected), options, is_strict);
    import.refuse(&reconciled.refused)?;
    let report = ImportReport {
        files: sources.len() - import.skipped.len(),
        rows: import.rows,
        refused: import.refused.count,
        refusals: import.refused.listed,
        problems: import.refused.problems.into_list(),
        skipped: import.skipped,
        notes: reconciled.notes,
    };
    if is_strict && report.refused > 0 {
        return Err(ImportError::Refused(Box::new(report)));
    }
    if reconciled.symbols.is_empty() {
        return Err(ImportError::Nothing(Box::new(report)));
    }
    if let Some(error) = reconciled.error {
        return Err(error.into());
    }
    Ok(Imported { dataset: reconciled.builder.build()?, report })
}

struct Import<'a, 'q> {
    sources: &'a [Source],
    named: Option<&'static Format>,
    hints: Hints,
    collected: Collected,
    refused: Refused<'q>,
    skipped: Vec<SkippedFile>,
    rows: u64,
    days: Option<(Date, Date)>,
}

impl Import<'_, '_> {
    fn format(&self, source: &Source) -> Result<&'static Format, ReadAbort> {
        if let Some(format) = self.named {
            return Ok(format);
        }
        if source.head()?.trim_ascii().is_empty() {
            return Err(ReadAbort::file(1, "the file is empty"));
        }
        detect(source)?.ok_or_else(|| ReadAbort::file(1, "unknown format; name one with --format"))
    }

    fn read(&mut self, at: usize, progress: &mut dyn FnMut(Progress<'_>)) -> Result<(), ImportError> {
        let source = &self.sources[at];
        let before = self.rows;
        let mut report_progress = |rows| {
            let file = source.name();
            progress(Progress { file, done: at, files: self.sources.len(), rows: before + rows });
        };
        report_progress(0);
        let format = self.format(source);
        let mut collector = Collector {
            collected: &mut self.collected,
            refused: &mut self.refused,
            file: at,
            name: source.name(),
            rows: 0,
            days: self.days.as_ref().map(|days| (*days, &self.hints.zone)),
            progress: &mut report_progress,
        };
        let mut ended = format.and_then(|format| (format.read)(source, &self.hints, &mut collector));
        let rows = collector.rows;
        if ended.is_ok() && rows == 0 {
            ended = Err(ReadAbort::file(1, "it holds no row"));
        }
        self.rows += rows;
        let (line, reason) = match ended {
            Ok(()) | Err(ReadAbort::Enough) => return Ok(()),
            Err(ReadAbort::File { reason, .. }) if rows == 0 && is_other(source)? => {
                self.skipped.push(SkippedFile { file: source.name().to_owned(), reason });
                return Ok(());
            }
            Err(ReadAbort::Io(error)) if rows == 0 && is_content(&error) && is_other(source)? => {
                self.skipped.push(SkippedFile { file: source.name().to_owned(), reason: error.to_string() });
                return Ok(());
            }
            Err(ReadAbort::File { line, reason }) => (line, reason),
            // Compressed content may be corrupt; like a wrong row, that is the file's fault.
            Err(ReadAbort::Io(error)) if is_content(&error) => (1, error.to_string()),
            Err(ReadAbort::Io(error)) => return Err(self.io(at, error)),
        };
        let refusal =
            RowRejection { file: source.name().to_owned(), line, path: None, reason, raw: String::new() };
        self.refused.add(refusal).map_err(|abort| self.abort_error(at, abort))
    }

    /// Reads the files again to find these rows, for their lines and texts.
    fn refuse(&mut self, refused: &BTreeMap<RowLocation, String>) -> Result<(), ImportError> {
        let mut by_file: BTreeMap<usize, BTreeMap<u64, &str>> = BTreeMap::new();
        for (place, reason) in refused {
            by_file.entry(place.file()).or_default().insert(place.row(), reason);
        }
        for (at, reasons) in by_file {
            let source = &self.sources[at];
            let format = self.format(source).map_err(|abort| self.abort_error(at, abort))?;
            let mut finder = Finder { refused: &mut self.refused, reasons, name: source.name(), rows: 0 };
            match (format.read)(source, &self.hints, &mut finder) {
                // The file's own problem was reported when it was first read.
                Ok(()) | Err(ReadAbort::Enough | ReadAbort::File { .. }) => {}
                Err(ReadAbort::Io(error)) if is_content(&error) => {}
                Err(ReadAbort::Io(error)) => return Err(self.io(at, error)),
            }
        }
        Ok(())
    }

    fn abort_error(&self, at: usize, abort: ReadAbort) -> ImportError {
        match abort {
            ReadAbort::Io(error) => self.io(at, error),
            other => self.io(at, io::Error::other(other.to_string())),
        }
    }

    fn io(&self, at: usize, error: io::Error) -> ImportError {
        ImportError::Io { file: self.sources[at].name().to_owned(), error }
    }
}

/// Whether an unreadable file is not data at all. A file that was named explicitly counts as data, and so
/// does one that is marked as Parquet.
fn is_other(source: &Source) -> Result<bool, ImportError> {
    if !source.was_found() {
        return Ok(false);
    }
    let head = source.head().map_err(|error| ImportError::Io { file: source.name().to_owned(), error })?;
    let name = source.file_name().to_ascii_lowercase();
    Ok(!head.starts_with(b"PAR1") && !name.ends_with(".parquet") && !name.ends_with(".pq"))
}

fn is_content(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput
    )
}

/// Rejects the rows with these numbers as they are read.
struct Finder<'a, 'q> {
    refused: &'a mut Refused<'q>,
    reasons: BTreeMap<u64, &'a str>,
    name: &'a str,
    rows: u64,
}

impl Sink for Finder<'_, '_> {
    fn row(
        &mut self,
        at: Location<'_>,
        _row: Result<ImportedRow, String>,
        raw: &dyn Display,
    ) -> Result<(), ReadAbort> {
        self.rows += 1;
        if let Some(reason) = self.reasons.remove(&self.rows) {
            self.refused.add(RowRejection {
                file: self.name.to_owned(),
                line: at.line,
                path: at.path.map(str::to_owned),
                reason: reason.to_owned(),
                raw: raw.to_string(),
            })?;
        }
        if self.reasons.is_empty() { Err(ReadAbort::Enough) } else { Ok(()) }
    }
}
