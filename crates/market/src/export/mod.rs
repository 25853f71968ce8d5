//! Writes a dataset out in files that an import makes the same dataset of again.
//!
//! One file for each kind of row that the dataset has: `calendar`, `instruments`, `bars` (of days),
//! `bars-1m` and the like, `actions`, `news`, `fundamentals`, `macros`, `memberships`. Prices are those that were traded.

mod parquet;
mod text;

use crate::error::MarketError;
use papertape_core::ledger::CorporateActionKind;
use papertape_core::market::{BarAfterOpen, Dataset};
use papertape_core::money::Price;
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

/// In which form files are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Tables with a header.
    Csv,
    /// An object a line.
    Jsonl,
    /// Columns, packed with snappy.
    Parquet,
}

impl ExportFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Text,
    Number,
    Date,
    Instant,
}

/// One field of a row.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Text(String),
    Number(Decimal),
    Date(Date),
    Instant(Timestamp),
    None,
}

/// The columns of a file.
type Header = &'static [(&'static str, Type)];

/// Takes the rows of a file.
trait RowWriter {
    fn row(&mut self, cells: Vec<Cell>) -> Result<(), MarketError>;
    fn end(self: Box<Self>) -> Result<(), MarketError>;
}

/// Writes a dataset's files into a folder, which is made where it is not there. Gives the files, in the
/// order of their names.
///
/// # Errors
/// [`MarketError::Io`]; [`MarketError::Export`] where a file of that name is there already, or a number has
/// more than twelve decimals and the format is Parquet.
pub fn export(dataset: &Dataset, dir: &Path, format: ExportFormat) -> Result<Vec<PathBuf>, MarketError> {
    std::fs::create_dir_all(dir).map_err(|error| io(dir, error))?;
    let mut files = Files { dir, format, written: Vec::new() };
    let contents = dataset.contents();
    files.write(
        "calendar",
        CALENDAR,
        contents
            .days()
            .iter()
            .map(|day| vec![Cell::Date(day.date), Cell::Instant(day.open), Cell::Instant(day.close)]),
    )?;
    let has_indexes = dataset.indexes().next().is_some();
    files.write(
        "instruments",
        if has_indexes { TYPED_INSTRUMENTS } else { INSTRUMENTS },
        contents.instruments().map(|one| {
            let mut cells = vec![text(one.symbol.as_str()), text(&one.name), text(&one.currency)];
            cells.extend(has_indexes.then(|| text(one.instrument_type.as_str())));
            cells
        }),
    )?;
    let daily = dataset.all_symbols().flat_map(|symbol| {
        contents.bars(symbol).into_iter().map(move |bar| {
            let mut cells = vec![text(symbol.as_str()), Cell::Date(bar.date)];
            cells.extend(prices(bar.open, bar.rest));
            cells
        })
    });
    files.write("bars", BARS, daily)?;
    for interval in dataset.intervals() {
        let within = dataset.all_symbols().flat_map(|symbol| {
            let of_length = contents.intraday_bars(symbol).filter(move |(other, _)| *other == interval);
            of_length.flat_map(|(_, bars)| bars).map(move |bar| {
                let mut cells =
                    vec![text(symbol.as_str()), Cell::Instant(bar.opens_at), text(&interval.to_string())];
                cells.extend(prices(bar.open, bar.rest));
                cells
            })
        });
        files.write(&format!("bars-{interval}"), WITHIN, within)?;
    }
    files.write(
        "actions",
        ACTIONS,
        contents.actions().map(|action| {
            let (kind, value) = match action.kind {
                CorporateActionKind::Split { ratio } => ("split", ratio.normalize().to_string()),
                CorporateActionKind::Dividend { amount } => ("dividend", amount.0.normalize().to_string()),
                CorporateActionKind::Delisting { pays: None } => ("delisting", "last_price".to_owned()),
                CorporateActionKind::Delisting { pays: Some(pays) } if pays.is_zero() => {
                    ("delisting", "nothing".to_owned())
                }
                CorporateActionKind::Delisting { pays: Some(pays) } => {
                    ("delisting", pays.0.normalize().to_string())
                }
            };
            vec![text(action.symbol.as_str()), Cell::Date(action.ex_date), text(kind), text(&value)]
        }),
    )?;
    files.write(
        "news",
        NEWS,
        contents.news().iter().map(|one| {
            let item = &one.item;
            let symbols: Vec<&str> = item.symbols.iter().map(papertape_core::id::Symbol::as_str).collect();
            let optional = |value: &Option<String>| value.as_deref().map_or(Cell::None, text);
            vec![
                text(&item.id),
                Cell::Instant(one.published_at),
                text(&symbols.join(" ")),
                text(&item.source),
                text(&item.headline),
                optional(&item.body),
                optional(&item.url),
            ]
        }),
    )?;
    files.write(
        "fundamentals",
        FUNDAMENTALS,
        contents.fundamentals().map(|one| {
            let item = &one.item;
            vec![
                text(item.symbol.as_str()),
                text(&item.metric),
                Cell::Date(item.period_end),
                Cell::Number(item.value),
                text(&item.unit),
                Cell::Instant(one.published_at),
            ]
        }),
    )?;
    files.write(
        "macros",
        MACROS,
        contents.macros().map(|one| {
            let item = &one.item;
            vec![
                text(&item.series),
                Cell::Date(item.period),
                Cell::Number(item.value),
                text(&item.unit),
                Cell::Instant(one.published_at),
            ]
        }),
    )?;
    files.write(
        "memberships",
        MEMBERSHIPS,
        contents.memberships().into_iter().map(|one| {
            let at = |at: Option<Timestamp>| at.map_or(Cell::None, Cell::Instant);
            vec![
                text(&one.index),
                text(one.symbol.as_str()),
                Cell::Date(one.from),
                one.until.map_or(Cell::None, Cell::Date),
                at(one.announced_at),
                at(one.until_announced_at),
            ]
        }),
    )?;
    files.written.sort();
    Ok(files.written)
}

const CALENDAR: Header = &[("date", Type::Date), ("opens_at", Type::Instant), ("closes_at", Type::Instant)];
const INSTRUMENTS: Header = &[("symbol", Type::Text), ("name", Type::Text), ("currency", Type::Text)];
const TYPED_INSTRUMENTS: Header =
    &[("symbol", Type::Text), ("name", Type::Text), ("currency", Type::Text), ("type", Type::Text)];
const BARS: Header = &[
    ("symbol", Type::Text),
    ("date", Type::Date),
    ("open", Type::Number),
    ("high", Type::Number),
    ("low", Type::Number),
    ("close", Type::Number),
    ("volume", Type::Number),
];
const WITHIN: Header = &[
    ("symbol", Type::Text),
    ("opens_at", Type::Instant),
    ("interval", Type::Text),
    ("open", Type::Number),
    ("high", Type::Number),
    ("low", Type::Number),
    ("close", Type::Number),
    ("volume", Type::Number),
];
const ACTIONS: Header =
    &[("symbol", Type::Text), ("ex_date", Type::Date), ("kind", Type::Text), ("value", Type::Text)];
const NEWS: Header = &[
    ("id", Type::Text),
    ("published_at", Type::Instant),
    ("symbols", Type::Text),
    ("source", Type::Text),
    ("headline", Type::Text),
    ("body", Type::Text),
    ("url", Type::Text),
];
const FUNDAMENTALS: Header = &[
    ("symbol", Type::Text),
    ("metric", Type::Text),
    ("period_end", Type::Date),
    ("value", Type::Number),
    ("unit", Type::Text),
    ("published_at", Type::Instant),
];
const MACROS: Header = &[
    ("series", Type::Text),
    ("period", Type::Date),
    ("value", Type::Number),
    ("unit", Type::Text),
    ("published_at", Type::Instant),
];

const MEMBERSHIPS: Header = &[
    ("index", Type::Text),
    ("symbol", Type::Text),
    ("from", Type::Date),
    ("until", Type::Date),
    ("announced_at", Type::Instant),
    ("until_announced_at", Type::Instant),
];

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn prices(open: Price, rest: Option<BarAfterOpen>) -> [Cell; 5] {
    let open = Cell::Number(open.0);
    let Some(BarAfterOpen { high, low, close, volume }) = rest else {
        return [open, Cell::None, Cell::None, Cell::None, Cell::None];
    };
    [open, Cell::Number(high.0), Cell::Number(low.0), Cell::Number(close.0), Cell::Number(volume.0)]
}

struct Files<'a> {
    dir: &'a Path,
    format: ExportFormat,
    written: Vec<PathBuf>,
}

impl Files<'_> {
    /// Writes a file, where there is any row.
    fn write(
        &mut self,
        name: &str,
        header: Header,
        rows: impl Iterator<Item = Vec<Cell>>,
    ) -> Result<(), MarketError> {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return Ok(());
        }
        let path = self.dir.join(format!("{name}.{}", self.format.extension()));
        let file = File::create_new(&path).map_err(|error| io(&path, error))?;
        let file = BufWriter::with_capacity(256 * 1024, file);
        let mut writer: Box<dyn RowWriter> = match self.format {
            ExportFormat::Csv => Box::new(text::Table::new(file, header, &path)?),
            ExportFormat::Jsonl => Box::new(text::Lines::new(file, header, &path)),
            ExportFormat::Parquet => Box::new(parquet::Columns::new(file, header, &path)?),
        };
        for row in rows {
            writer.row(row)?;
        }
        writer.end()?;
        self.written.push(path);
        Ok(())
    }
}

fn io(path: &Path, error: std::io::Error) -> MarketError {
    MarketError::Io { file: path.display().to_string(), error }
}

fn finish(mut file: BufWriter<File>, path: &Path) -> Result<(), MarketError> {
    file.flush().and_then(|()| file.get_ref().sync_all()).map_err(|error| io(path, error))
}
