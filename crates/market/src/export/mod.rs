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

macro_rules! header {
    ($($name:literal $type:ident),+ $(,)?) => { &[$(($name, Type::$type)),+] };
}

const CALENDAR: Header = header!["date" Date, "opens_at" Instant, "closes_at" Instant];
const INSTRUMENTS: Header = header!["symbol" Text, "name" Text, "currency" Text];
const TYPED_INSTRUMENTS: Header = header!["symbol" Text, "name" Text, "currency" Text, "type" Text];
const BARS: Header = header![
    "symbol" Text, "date" Date, "open" Number, "high" Number, "low" Number, "close" Number,
    "volume" Number,
];
const WITHIN: Header = header![
    "symbol" Text, "opens_at" Instant, "interval" Text, "open" Number, "high" Number, "low" Number,
    "close" Number, "volume" Number,
];
const ACTIONS: Header = header!["symbol" Text, "ex_date" Date, "kind" Text, "value" Text];
const NEWS: Header = header![
    "id" Text, "published_at" Instant, "symbols" Text, "source" Text, "headline" Text, "body" Text,
    "url" Text,
];
const FUNDAMENTALS: Header = header![
    "symbol" Text, "metric" Text, "period_end" Date, "value" Number, "unit" Text,
    "published_at" Instant,
];
const MACROS: Header = header![
    "series" Text, "period" Date, "value" Number, "unit" Text, "published_at" Instant,
];

const MEMBERSHIPS: Header = header![
    "index" Text, "symbol" Text, "from" Date, "until" Date, "announced_at" Instant,
    "until_announced_at" Instant,
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
