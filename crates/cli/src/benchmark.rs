//! The table that compares agents with their benchmark, and the notes below it.

use super::output::{layout, percent, two_decimals};
use papertape_protocol::results::benchmark::BenchmarkResponse;
use papertape_protocol::results::range::RangeResult;

/// How many days without a bar a note lists.
const MAX_LISTED_DAYS: usize = 5;

/// Larger capture ratios, in percent, are printed as `>9999%`.
const MAX_CAPTURE: f64 = 9_999.0;

const COLUMNS: [&str; 11] = [
    "agent",
    "benchmark",
    ">bench. return",
    ">excess return",
    ">alpha",
    ">beta",
    ">correlation",
    ">tracking error",
    ">info ratio",
    ">up capture",
    ">down capture",
];

fn with_benchmark<'a>(
    results: &[&'a RangeResult],
) -> impl Iterator<Item = (&'a RangeResult, &'a BenchmarkResponse)> {
    results.iter().filter_map(|result| Some((*result, result.benchmark.as_ref()?)))
}

/// `None` if no result has a benchmark.
pub(super) fn table(results: &[&RangeResult], width: usize) -> Option<String> {
    let available = with_benchmark(results).filter(|(_, benchmark)| benchmark.unavailable.is_none());
    let rows: Vec<[String; COLUMNS.len()]> =
        available.map(|(result, benchmark)| cells(result, benchmark)).collect();
    (!rows.is_empty()).then(|| layout(COLUMNS, &rows, width))
}

fn cells(result: &RangeResult, benchmark: &BenchmarkResponse) -> [String; COLUMNS.len()] {
    let metrics = &benchmark.relative_metrics;
    [
        result.model.clone(),
        benchmark.symbol.clone(),
        percent(metrics.benchmark_return),
        percent(metrics.excess_return),
        percent(metrics.alpha),
        two_decimals(metrics.beta),
        two_decimals(metrics.correlation),
        percent(metrics.tracking_error).trim_start_matches('+').to_owned(),
        two_decimals(metrics.information_ratio),
        capture(metrics.up_capture),
        capture(metrics.down_capture),
    ]
}

/// A capture ratio in whole percent. It is annualized, so a few days can make it arbitrarily large.
fn capture(ratio: Option<f64>) -> String {
    match ratio.map(|ratio| (ratio * 100.0).round() + 0.0) {
        None => "-".to_owned(),
        Some(percent) if percent.abs() > MAX_CAPTURE => {
            format!("{}{MAX_CAPTURE}%", if percent > 0.0 { ">" } else { "<-" })
        }
        Some(percent) => format!("{percent}%"),
    }
}

/// What each benchmark is, and on which days it has no bar.
pub(super) fn notes(results: &[&RangeResult]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in with_benchmark(results).flat_map(|(result, benchmark)| describe(result, benchmark)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn describe(result: &RangeResult, benchmark: &BenchmarkResponse) -> Vec<String> {
    let symbol = &benchmark.symbol;
    if let Some(reason) = &benchmark.unavailable {
        return vec![format!("Benchmark {symbol}: not available for {}: {reason}.", result.model)];
    }
    let name = benchmark.name.as_ref().filter(|name| *name != symbol);
    let name = name.map_or_else(|| symbol.clone(), |name| format!("{symbol} ({name})"));
    let basis = match benchmark.basis.as_deref() {
        Some("level") => "index levels as imported",
        _ => "total return with dividends reinvested, before costs",
    };
    let from = benchmark.start.as_ref().map_or_else(String::new, |start| match start.at.as_str() {
        "first_open" => format!(", from the open on {}", start.date),
        _ => format!(", from the close on {}", start.date),
    });
    std::iter::once(format!("Benchmark {name}: {basis}{from}.")).chain(missing_days(benchmark)).collect()
}

fn missing_days(benchmark: &BenchmarkResponse) -> Option<String> {
    let (missing, days) = (&benchmark.missing_days, benchmark.daily_portfolio_values.len());
    let listed: Vec<String> = missing.iter().take(MAX_LISTED_DAYS).map(ToString::to_string).collect();
    let more = if missing.len() > listed.len() { ", …" } else { "" };
    (!missing.is_empty()).then(|| {
        format!(
            "Benchmark {} has no bar on {} of {days} days; the previous value is used on {}{more}.",
            benchmark.symbol,
            missing.len(),
            listed.join(", ")
        )
    })
}
