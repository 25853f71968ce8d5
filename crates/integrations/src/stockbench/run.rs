//! One run: `trades.parquet`, `daily_nav.parquet`, `metrics.json`, and the initial cash.

use crate::imports::{AgentReport, Disagreement, RowPlace, RunReport, files};
use papertape_agents::recorded::{Difference, RecordedDay, RecordedOrder, RecordedValue, differ};
use papertape_core::broker::Side;
use papertape_core::id::{AgentName, Symbol};
use papertape_core::market::Dataset;
use papertape_core::money::{Money, Quantity};
use papertape_core::time::{Date, parse_date};
use papertape_market::import::{ReadAbort, Source, read_columns};
use papertape_service::trigger::RecordedAgent;
use rust_decimal::Decimal;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The folder of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    /// Its name: the run's ID.
    pub name: String,
    /// The folder.
    dir: PathBuf,
}

impl RunFolder {
    pub(super) fn of(dir: &Path) -> Self {
        Self { name: files::name(dir).to_owned(), dir: dir.to_owned() }
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

/// A run that was read.
#[derive(Debug)]
pub struct Run {
    /// Its folder.
    pub folder: RunFolder,
    /// The agent with its orders by day.
    pub agent: RecordedAgent,
    /// Commission, in basis points of a trade's value.
    pub commission_bps: Decimal,
    /// The NAV by day, with its row; 1 is the initial cash.
    pub(super) nav: BTreeMap<Date, (Decimal, u64)>,
    /// The number of trades, and the sum of their values at the prices with slippage.
    pub(super) trades: (u64, Decimal),
    /// The metrics, and the text that they were read from.
    pub(super) metrics: Option<(String, Map<String, Value>)>,
    /// The benchmark's NAV by day, if there is one.
    pub(super) benchmark: BTreeMap<Date, Decimal>,
}

/// A row of `trades.parquet`.
struct Trade {
    row: u64,
    date: Date,
    symbol: Symbol,
    side: Side,
    quantity: Decimal,
    price_with_slippage: Decimal,
    open: Decimal,
    commission_bps: Decimal,
}

/// Reads a run. `None`: it cannot be imported, for the reasons in the report.
///
/// `initial_cash` is used if no file states it.
pub fn read(
    folder: &RunFolder,
    dataset: &Dataset,
    initial_cash: Option<Money>,
    report: &mut RunReport,
) -> Option<Run> {
    let problems = report.problems.count;
    let trades = read_trades(&folder.file("trades.parquet"), report);
    let nav = read_series(&folder.file("daily_nav.parquet"), &["nav"], report);
    let benchmark = folder.file("benchmark_nav.parquet");
    let benchmark =
        if benchmark.exists() { read_series(&benchmark, &["benchmarknav"], report) } else { BTreeMap::new() };
    let metrics = read_metrics(&folder.file("metrics.json"), report);
    let cash = initial_cash_of(folder, report).or(initial_cash);
    if report.problems.count > problems {
        return None;
    }
    let Some(cash) = cash.filter(|cash| cash.is_positive()) else {
        let at = RowPlace { file: folder.dir.display().to_string(), line: 1 };
        report.problem(
            at,
            "no detailed_trading_summary.json or config.json states the initial cash; set it with --initial-cash",
        );
        return None;
    };
    if nav.is_empty() {
        report.skip(&folder.name, "its daily_nav.parquet has no rows");
        return None;
    }
    let commission_bps = trades.first().map_or(Decimal::ZERO, |trade| trade.commission_bps);
    let agent_name = AgentName::new(&folder.name);
    let mut importer = Importer { folder, dataset, report, days: BTreeMap::new() };
    for (date, (value, row)) in &nav {
        importer.add_nav(*date, *value, *row, cash);
    }
    for trade in &trades {
        importer.add_trade(trade, (commission_bps, nav.contains_key(&trade.date)));
    }
    let days = importer.days;
    if days.is_empty() {
        report.skip(&folder.name, "none of its days is a trading day of the prices");
        return None;
    }
    let mut entry = AgentReport::of(&folder.name);
    entry.first_day = days.keys().next().copied();
    entry.last_day = days.keys().next_back().copied();
    entry.rows = trades.len() as u64;
    entry.trades = trades.len() as u64;
    entry.initial_cash = cash.0;
    report.agents.push(entry);
    let symbols: BTreeSet<Symbol> = trades.iter().map(|trade| trade.symbol.clone()).collect();
    let notional = trades.iter().fold(Decimal::ZERO, |sum, trade| {
        let value = trade.quantity.checked_mul(trade.price_with_slippage);
        value.and_then(|value| sum.checked_add(value)).unwrap_or(sum)
    });
    Some(Run {
        folder: folder.clone(),
        agent: RecordedAgent { name: agent_name, initial_cash: cash, days, symbols, desk: None },
        commission_bps,
        nav,
        trades: (trades.len() as u64, notional),
        metrics,
        benchmark: benchmark.into_iter().map(|(date, (value, _))| (date, value)).collect(),
    })
}

/// Builds the days, and checks each row against the prices.
struct Importer<'a> {
    folder: &'a RunFolder,
    dataset: &'a Dataset,
    report: &'a mut RunReport,
    days: BTreeMap<Date, RecordedDay>,
}

impl Importer<'_> {
    fn disagree(&mut self, (file, line): (&str, u64), date: Date, what: String, amounts: Option<Difference>) {
        let file = self.folder.file(file).display().to_string();
        let at = Some(RowPlace { file, line });
        let agent = self.folder.name.clone();
        self.report.disagreements.add(Disagreement { agent, date, at, what, amounts });
    }

    fn add_nav(&mut self, date: Date, nav: Decimal, row: u64, cash: Money) {
        let at = ("daily_nav.parquet", row);
        if self.dataset.day(date).is_none() {
            return self.disagree(at, date, format!("{date} is a day without prices"), None);
        }
        let Some(value) = nav.checked_mul(cash.0) else {
            return self.disagree(at, date, "the NAV is too large for the books".to_owned(), None);
        };
        let value = Some(RecordedValue { value: Money(value), is_at_open: true });
        self.days.insert(date, RecordedDay { value, ..RecordedDay::default() });
    }

    fn add_trade(&mut self, trade: &Trade, (commission_bps, has_nav): (Decimal, bool)) {
        let (at, date) = (("trades.parquet", trade.row), trade.date);
        if !has_nav {
            return self.disagree(at, date, format!("a trade on {date}, which has no NAV"), None);
        }
        let Some(day) = self.dataset.day(date) else {
            return self.disagree(at, date, format!("a trade on {date}, a day without prices"), None);
        };
        match self.dataset.view(day.open).open_price(&trade.symbol) {
            Ok(open) if differ(open.value.price.0, trade.open) => {
                let what = format!("open of {}", trade.symbol);
                let (recorded, computed) = (trade.open, open.value.price.0);
                let amounts = Some(Difference { what, recorded, computed });
                self.disagree(at, date, "it is not at the day's open".to_owned(), amounts);
            }
            Ok(_) => {}
            Err(_) => {
                let what = format!("no open price of {} on {date}", trade.symbol);
                self.disagree(at, date, what, None);
            }
        }
        if trade.commission_bps != commission_bps {
            let (recorded, computed) = (trade.commission_bps, commission_bps);
            let amounts = Some(Difference { what: "commission_bps".to_owned(), recorded, computed });
            self.disagree(at, date, "its commission differs from the first trade's".to_owned(), amounts);
        }
        let order = RecordedOrder {
            symbol: trade.symbol.clone(),
            side: trade.side,
            quantity: Quantity(trade.quantity),
        };
        self.days.entry(date).or_default().orders.push(order);
    }
}

/// Reports why a file cannot be read.
fn unusable(path: &Path, abort: ReadAbort, report: &mut RunReport) {
    let file = path.display().to_string();
    match abort {
        ReadAbort::File { line, reason } => report.problem(RowPlace { file, line }, reason),
        other => report.problem(RowPlace { file, line: 1 }, other.to_string()),
    }
}

fn read_trades(path: &Path, report: &mut RunReport) -> Vec<Trade> {
    let columns: [&[&str]; 7] =
        [&["ts"], &["symbol"], &["side"], &["qty"], &["execprice"], &["execrefprice"], &["commissionbps"]];
    let (mut trades, mut last): (Vec<Trade>, Option<Date>) = (Vec::new(), None);
    let file = path.display().to_string();
    let read = read_columns(&Source::file(path), &columns, &mut |row, fields| {
        let trade = fields.and_then(|fields| trade(row, fields)).and_then(|trade| match last {
            Some(last) if trade.date < last => {
                Err(format!("it is dated {}, before the row before it", trade.date))
            }
            _ => Ok(trade),
        });
        match trade {
            Ok(trade) => {
                last = Some(trade.date);
                trades.push(trade);
            }
            Err(reason) => report.problem(RowPlace { file: file.clone(), line: row }, reason),
        }
    });
    if let Err(abort) = read {
        unusable(path, abort, report);
    }
    trades
}

fn trade(row: u64, fields: &[&str]) -> Result<Trade, String> {
    let [ts, symbol, side, quantity, price, open, commission] = *fields else {
        return Err("fields are missing".to_owned());
    };
    let positive = |name: &str, text: &str| {
        let number = files::number(text).map_err(|reason| format!("`{name}`: {reason}"))?;
        if number > Decimal::ZERO { Ok(number) } else { Err(format!("`{name}`: {number} is not above 0")) }
    };
    let is_symbol = |text: &str| {
        !text.is_empty() && text.len() <= 32 && !text.chars().any(|c| c.is_control() || c.is_whitespace())
    };
    if !is_symbol(symbol) {
        let shown: String = symbol.chars().take(60).collect();
        return Err(format!("`symbol`: `{}` is not a symbol", shown.escape_default()));
    }
    let side = match side {
        "buy" => Side::Buy,
        "sell" => Side::Sell,
        other => {
            let shown: String = other.chars().take(60).collect();
            return Err(format!("`side`: `{}` is neither buy nor sell", shown.escape_default()));
        }
    };
    let commission_bps = files::number(commission).map_err(|reason| format!("`commission_bps`: {reason}"))?;
    if !(Decimal::ZERO..Decimal::from(10_000)).contains(&commission_bps) {
        return Err(format!("`commission_bps`: {commission_bps} is not from 0 to below 10000"));
    }
    Ok(Trade {
        row,
        date: day(ts).map_err(|reason| format!("`ts`: {reason}"))?,
        symbol: Symbol::new(symbol),
        side,
        quantity: positive("qty", quantity)?,
        price_with_slippage: positive("exec_price", price)?,
        open: positive("exec_ref_price", open)?,
        commission_bps,
    })
}

/// The day of a time as the tool writes it: midnight, without a zone.
fn day(text: &str) -> Result<Date, String> {
    parse_date(text.split([' ', 'T']).next().unwrap_or_default())
}

/// A series of numbers by day, each with its row.
fn read_series(
    path: &Path,
    column: &'static [&'static str],
    report: &mut RunReport,
) -> BTreeMap<Date, (Decimal, u64)> {
    let mut series: BTreeMap<Date, (Decimal, u64)> = BTreeMap::new();
    let file = path.display().to_string();
    let read =
        read_columns(&Source::file(path), &[&["date", "indexlevel0", "ts"], column], &mut |row, fields| {
            let point = fields.and_then(|fields| {
                let [date, value] = *fields else { return Err("fields are missing".to_owned()) };
                let date = day(date).map_err(|reason| format!("`date`: {reason}"))?;
                let value = files::number(value).map_err(|reason| format!("`{}`: {reason}", column[0]))?;
                if value.is_sign_negative() {
                    return Err(format!("`{}`: {value} is below 0", column[0]));
                }
                match series.last_key_value() {
                    Some((last, _)) if date == *last => Err(format!("a second row of {date}")),
                    Some((last, _)) if date < *last => Err(format!("{date} is before the row before it")),
                    _ => Ok((date, value)),
                }
            });
            match point {
                Ok((date, value)) => drop(series.insert(date, (value, row))),
                Err(reason) => report.problem(RowPlace { file: file.clone(), line: row }, reason),
            }
        });
    if let Err(abort) = read {
        unusable(path, abort, report);
    }
    series
}

fn read_metrics(path: &Path, report: &mut RunReport) -> Option<(String, Map<String, Value>)> {
    if !path.exists() {
        report.skip(&path.display().to_string(), "it does not exist, so no metrics are compared");
        return None;
    }
    let read = files::text(path).and_then(|text| {
        let metrics = files::parse_json(&text)?;
        Ok((text, metrics))
    });
    match read {
        Ok(read) => Some(read),
        Err((line, reason)) => {
            report.problem(RowPlace { file: path.display().to_string(), line }, reason);
            None
        }
    }
}

/// The initial cash that a run's files state.
fn initial_cash_of(folder: &RunFolder, report: &mut RunReport) -> Option<Money> {
    let pointers = [
        ("detailed_trading_summary.json", "/initial_cash"),
        ("config.json", "/backtest/cash"),
        ("config.json", "/portfolio/total_cash"),
    ];
    for (name, pointer) in pointers {
        let path = folder.file(name);
        if !path.exists() {
            continue;
        }
        let file = path.display().to_string();
        let document: Value = match files::json(&path) {
            Ok(document) => document,
            Err((line, reason)) => {
                report.problem(RowPlace { file, line }, reason);
                return None;
            }
        };
        match document.pointer(pointer) {
            None | Some(Value::Null) => {}
            Some(Value::Number(number)) => {
                if let Ok(cash) = files::number(&number.to_string()) {
                    return Some(Money(cash));
                }
            }
            Some(_) => report.problem(RowPlace { file, line: 1 }, format!("`{pointer}` is not a number")),
        }
    }
    None
}
