//! The output of a backtest: the decision store (`*.jsonl`), `equity.csv` and `scorecard.json`. Its trades are in none of
//! these files, so the equity curve is stored without a comparison.

use super::{Runs, check_rating, symbol};
use crate::imports::{Disagreement, RowPlace, RunReport, files};
use papertape_agents::recorded::{Difference, NOISE, RecordedDay, RecordedValue};
use papertape_core::market::Dataset;
use papertape_core::money::Money;
use papertape_core::time::{Date, parse_date};
use papertape_market::import::{ReadAbort, Source, each_line, read_columns};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version of the decision store that is read.
const SCHEMA_VERSION: u64 = 1;
/// The rating of a decision that TradingAgents could not parse.
const REVIEW: &str = "REVIEW";

/// A record of the decision store.
#[derive(Deserialize)]
struct DecisionRecord {
    ticker: String,
    date: String,
    #[serde(default)]
    rating: Option<String>,
    #[serde(default)]
    decision: String,
    #[serde(default)]
    error: Option<String>,
    schema_version: u64,
}

/// Reads a decision store. What is wrong with it goes into the report.
pub(super) fn read_decisions(path: &Path, runs: &mut Runs, report: &mut RunReport) {
    let file = path.display().to_string();
    let mut count = 0_u64;
    let ended = each_line(&Source::file(path), &mut |line, text| {
        count += 1;
        let at = RowPlace { file: file.clone(), line };
        if let Err(reason) = text.and_then(|text| decision(text, &at, runs, report)) {
            report.unreadable(at, reason);
        }
        Ok(())
    });
    match ended {
        Ok(()) if count == 0 => report.problem(RowPlace { file, line: 1 }, "the file is empty"),
        Ok(()) => {}
        Err(abort) => report.problem(RowPlace { file, line: count + 1 }, abort.to_string()),
    }
}

fn decision(text: &str, at: &RowPlace, runs: &mut Runs, report: &mut RunReport) -> Result<(), String> {
    let record: DecisionRecord =
        serde_json::from_str(text).map_err(|error| format!("not a record of a decision: {error}"))?;
    if record.schema_version != SCHEMA_VERSION {
        let version = record.schema_version;
        return Err(format!("its `schema_version` is {version}; only {SCHEMA_VERSION} is supported"));
    }
    let symbol = symbol(&record.ticker).map_err(|reason| format!("`ticker`: {reason}"))?;
    let date = parse_date(&record.date).map_err(|reason| format!("`date`: {reason}"))?;
    if let Some(error) = record.error {
        let error: String = error.chars().take(200).collect();
        report.skip(&at.to_string(), &format!("the analysis of {symbol} on {date} failed: {error}"));
        return Ok(());
    }
    if let Some(rating) = record.rating.filter(|rating| rating != REVIEW) {
        check_rating((&symbol, date), (&rating, &record.decision), at, report);
    }
    runs.decision((date, symbol), &record.decision, at, report);
    Ok(())
}

/// An equity curve, with the file and row of each value.
#[derive(Default)]
pub(super) struct Curve {
    values: BTreeMap<Date, (Decimal, RowPlace)>,
}

/// Reads the equity curve, and compares it with the scorecards.
pub(super) fn read_equity(equity: &[PathBuf], scorecards: &[PathBuf], report: &mut RunReport) -> Curve {
    let mut curve = Curve::default();
    if let [_, second, ..] = equity {
        let file = second.display().to_string();
        report.problem(RowPlace { file, line: 1 }, "a second equity curve; import one backtest at a time");
        return curve;
    }
    for path in equity {
        let file = path.display().to_string();
        let mut before: Option<Date> = None;
        let names: [&[&str]; 2] = [&["date", "", "unnamed:0", "index"], &["equity"]];
        let read = read_columns(&Source::file(path), &names, &mut |line, fields| {
            let at = RowPlace { file: file.clone(), line };
            match fields.and_then(|fields| point(fields, before)) {
                Ok((date, value)) => {
                    before = Some(date);
                    curve.values.insert(date, (value, at));
                }
                Err(reason) => report.problem(at, reason),
            }
        });
        if let Err(abort) = read {
            report.problem(place_of(&file, &abort), reason_of(&abort));
        }
    }
    for path in scorecards {
        check_scorecard(path, &curve, report);
    }
    curve
}

/// The place of a file's own problem.
fn place_of(file: &str, abort: &ReadAbort) -> RowPlace {
    let line = if let ReadAbort::File { line, .. } = abort { *line } else { 1 };
    RowPlace { file: file.to_owned(), line }
}

fn reason_of(abort: &ReadAbort) -> String {
    match abort {
        ReadAbort::File { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}

fn point(fields: &[&str], before: Option<Date>) -> Result<(Date, Decimal), String> {
    let [date, value] = *fields else { return Err("fields are missing".to_owned()) };
    let day = date.split([' ', 'T']).next().unwrap_or_default();
    let day = parse_date(day).map_err(|reason| format!("`date`: {reason}"))?;
    if before.is_some_and(|before| day <= before) {
        return Err(format!("{day} does not follow the row before it"));
    }
    let value = files::number(value).map_err(|reason| format!("`equity`: {reason}"))?;
    if value.is_sign_negative() {
        return Err(format!("`equity`: {value} is below 0"));
    }
    Ok((day, value))
}

/// Compares the scorecard's total return with that of the curve, and reports the trades that the files do not list.
fn check_scorecard(path: &Path, curve: &Curve, report: &mut RunReport) {
    let file = path.display().to_string();
    let read = files::text(path).and_then(|text| {
        let card = files::parse_json::<Value>(&text)?;
        if card.is_object() { Ok((text, card)) } else { Err((1, "it is not a JSON object".to_owned())) }
    });
    let (text, card) = match read {
        Ok(read) => read,
        Err((line, reason)) => return report.problem(RowPlace { file, line }, reason),
    };
    if let Some(trades) = card["trading"]["n_trades"].as_u64().filter(|trades| *trades > 0) {
        report.note(format!(
            "{file}: it counts {trades} trades, but no file lists them, so there are no orders"
        ));
    }
    let at = RowPlace { line: files::line_of_key(&text, "total_return"), file };
    let stated = match &card["performance"]["total_return"] {
        Value::Null => return,
        Value::Number(number) => files::number(&number.to_string()),
        _ => Err("it is not a number".to_owned()),
    };
    let recorded = match stated {
        Ok(recorded) => recorded,
        Err(reason) => return report.problem(at, format!("`total_return`: {reason}")),
    };
    let mut values = curve.values.iter();
    let (Some((_, first)), Some((date, last))) = (values.next(), values.next_back()) else { return };
    let computed = last.0.checked_div(first.0).and_then(|ratio| ratio.checked_sub(Decimal::ONE));
    if let Some(computed) = computed.filter(|computed| (*computed - recorded).abs() > NOISE) {
        let amounts = Some(Difference { what: "total_return".to_owned(), recorded, computed });
        let what = "it does not follow from the equity curve".to_owned();
        report.disagreements.add(Disagreement {
            agent: String::new(),
            date: *date,
            at: Some(at),
            what,
            amounts,
        });
    }
}

/// Adds the values to their days.
pub(super) fn place(
    curve: &Curve,
    dataset: &Dataset,
    days: &mut BTreeMap<Date, RecordedDay>,
    report: &mut RunReport,
) {
    for (date, (value, at)) in &curve.values {
        if dataset.day(*date).is_none() {
            report.skip(&at.to_string(), "not a trading day of the dataset");
            continue;
        }
        let value = RecordedValue { value: Money(*value), is_at_open: false };
        days.entry(*date).or_default().value = Some(value);
    }
    if !curve.values.is_empty() {
        report.note(
            "the equity curve is stored with its sessions and not recomputed, because no file has trades",
        );
    }
}
