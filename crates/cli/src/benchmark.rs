//! Agents next to their benchmark: a table below their results, and what has to be known to read it.

use super::output::{percent, two};
use super::summary::{Line, laid_out};
use papertape_service::view::BenchmarkResponse;

/// So many days are named.
const MAX_NAMED: usize = 5;

/// A larger capture ratio, in percent, says no more than that it is larger.
const MAX_CAPTURE: f64 = 9_999.0;

/// The figures of an agent relative to its benchmark.
const COLUMNS: [&str; 11] = [
    "agent",
    "benchmark",
    ">its return",
    ">excess return",
    ">alpha",
    ">beta",
    ">correlation",
    ">tracking error",
    ">info ratio",
    ">up capture",
    ">down capture",
];

fn compared(lines: &[Line]) -> impl Iterator<Item = (&Line, &BenchmarkResponse)> {
    lines.iter().filter_map(|line| Some((line, line.result.benchmark.as_ref()?)))
}

/// The table; `None` where nothing is compared.
pub(super) fn table(lines: &[Line], width: usize) -> Option<String> {
    let with = compared(lines).filter(|(_, benchmark)| benchmark.unavailable.is_none());
    let rows: Vec<[String; COLUMNS.len()]> = with.map(|(line, benchmark)| cells(line, benchmark)).collect();
    (!rows.is_empty()).then(|| laid_out(COLUMNS, &rows, width))
}

fn cells(line: &Line, benchmark: &BenchmarkResponse) -> [String; COLUMNS.len()] {
    let metrics = &benchmark.relative_metrics;
    [
        line.result.model.clone(),
        benchmark.symbol.clone(),
        percent(metrics.benchmark_return),
        percent(metrics.excess_return),
        percent(metrics.alpha),
        two(metrics.beta),
        two(metrics.correlation),
        percent(metrics.tracking_error).trim_start_matches('+').to_owned(),
        two(metrics.information_ratio),
        capture(metrics.up_capture),
        capture(metrics.down_capture),
    ]
}

/// A capture ratio in whole percent. One of a few days is annualized, and may have more digits than a line has room.
fn capture(ratio: Option<f64>) -> String {
    match ratio.map(|ratio| (ratio * 100.0).round() + 0.0) {
        None => "-".to_owned(),
        Some(percent) if percent.abs() > MAX_CAPTURE => {
            format!("{}{MAX_CAPTURE}%", if percent > 0.0 { ">" } else { "<-" })
        }
        Some(percent) => format!("{percent}%"),
    }
}

/// What the benchmarks are, once for each, and what is to be known of their data.
pub(super) fn sentences(lines: &[Line]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for sentence in compared(lines).flat_map(|(line, benchmark)| about(line, benchmark)) {
        if !said.contains(&sentence) {
            said.push(sentence);
        }
    }
    said
}

fn about(line: &Line, benchmark: &BenchmarkResponse) -> Vec<String> {
    let symbol = &benchmark.symbol;
    if let Some(why) = &benchmark.unavailable {
        return vec![format!("Benchmark {symbol}: not available for {}, {why}.", line.result.model)];
    }
    let name = benchmark.name.as_ref().filter(|name| *name != symbol);
    let name = name.map_or_else(|| symbol.clone(), |name| format!("{symbol} ({name})"));
    let what = match benchmark.basis.as_deref() {
        Some("level") => "an index, from level to level as imported",
        _ => "total return with dividends reinvested, without costs",
    };
    let from = benchmark.start.as_ref().map_or_else(String::new, |start| match start.at.as_str() {
        "first_open" => format!(", from the open on {}", start.date),
        _ => format!(", from the close on {}", start.date),
    });
    let mut said = vec![format!("Benchmark {name}: {what}{from}.")];
    if let Some(gap) = gap(benchmark) {
        said.push(gap);
    }
    said
}

/// The days on which the benchmark has no bar.
fn gap(benchmark: &BenchmarkResponse) -> Option<String> {
    let (missing, days) = (&benchmark.missing_days, benchmark.daily_portfolio_values.len());
    let named: Vec<String> = missing.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    let more = if missing.len() > named.len() { ", …" } else { "" };
    (!missing.is_empty()).then(|| {
        format!(
            "Benchmark {} has no bar on {} of {days} days, and keeps its last value there: {}{more}.",
            benchmark.symbol,
            missing.len(),
            named.join(", ")
        )
    })
}
