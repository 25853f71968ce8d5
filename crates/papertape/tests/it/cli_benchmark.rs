//! Benchmarks on the command line: an index is imported, a run is compared with it, and then with something else.

use crate::cli_tool::Tool;
use std::fmt::Write as _;

const DAYS: [&str; 4] = ["2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"];
const RUN: [&str; 13] = [
    "run",
    "--dataset",
    "mine",
    "--start",
    "2024-01-03",
    "--end",
    "2024-01-05",
    "--cash",
    "10000",
    "--model",
    "house::buy_and_hold",
    "--no-summaries",
    "--frictionless",
];

/// A stock and an index, which has no level on 2024-01-04.
fn tool() -> Tool {
    let tool = Tool::new();
    let mut bars = String::from("symbol,date,open,high,low,close,volume\n");
    for (at, day) in DAYS.iter().enumerate() {
        writeln!(bars, "AAA,{day},10,20,5,1{at},1000000").expect("writes");
        if at != 2 {
            writeln!(bars, "SPX,{day},1000,2000,500,{}.0,0", 1000 + 10 * at).expect("writes");
        }
    }
    std::fs::write(tool.path("bars.csv"), bars).expect("writes");
    std::fs::write(tool.path("what.csv"), "symbol,name,type\nSPX,S&P 500,index\n").expect("writes");
    let imported = tool.ok(&["data", "import", "bars.csv", "what.csv", "--name", "mine"]);
    assert!(imported.out.contains(": 1 symbol, 1 index, 4 days, 7 daily bars"), "{imported:#?}");
    assert!(tool.ok(&["data", "show", "mine"]).out.contains("indexes            SPX"));
    tool
}

// Goal: the table below the results has the index's return from level to level and the agent's next to it, within 80 columns;
// the text says what it is and which day it lacks. Reading takes another benchmark, and JSON has the same figures.
#[test]
fn a_run_is_compared_with_an_imported_index() {
    let tool = tool();
    let done = tool.ok(&[&RUN[..], &["--benchmark", "SPX"]].concat());
    let line = |name: &str| {
        let found = done.out.lines().find(|line| line.starts_with(name));
        found.unwrap_or_else(|| panic!("no {name}: {done:#?}")).split_whitespace().last().map(str::to_owned)
    };
    // 1000 to 1030, and the agent from what it shows.
    assert_eq!(
        (line("benchmark").as_deref(), line("bench. return").as_deref()),
        (Some("SPX"), Some("+3.00%"))
    );
    let percent =
        |text: Option<String>| text.expect("a cell").trim_end_matches('%').parse::<f64>().expect("a number");
    let (own, excess) = (percent(line("return")), percent(line("excess return")));
    assert!((own - excess - 3.0).abs() < 0.011, "{own} {excess}");
    for name in ["alpha", "beta", "correlation", "tracking error", "info ratio", "up capture", "down capture"]
    {
        line(name);
    }
    let widest = done.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}: {done:#?}");
    let text = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "Benchmark SPX (S&P 500): index levels as imported, from the open on 2024-01-03.",
        "Benchmark SPX has no bar on 1 of 3 days; the previous value is used on 2024-01-04.",
    ] {
        assert!(text.contains(said), "{text}");
    }
    assert!(tool.ok(&["jobs", "latest"]).out.contains("benchmark  SPX"));
    let other = tool.ok(&["results", "latest", "--benchmark", "AAA"]).out;
    assert!(other.contains("+30.00%") && other.contains("Benchmark AAA: total return"), "{other}");
    let json = tool.json(&["results", "latest"]);
    assert_eq!(json["results"][0]["benchmark"]["relative_metrics"]["benchmark_return"], 0.03);
}

// Goal: what cannot be is a usage error that names the option and says what to do: trading an index, a benchmark that nobody
// knows, one for a single day.
#[test]
fn invalid_benchmarks_are_rejected_with_help() {
    let tool = tool();
    let traded = tool.ends(&[&RUN[..], &["--symbols", "AAA,SPX"]].concat(), 2).err;
    assert!(traded.contains("SPX is an index of mine and cannot be traded"), "{traded}");
    assert!(traded.contains("--benchmark SPX"), "{traded}");
    let unknown = tool.ends(&[&RUN[..], &["--benchmark", "NDX"]].concat(), 2).err;
    assert!(
        unknown.contains("--benchmark: `NDX` is neither a symbol nor an index of mine; name one of SPX, AAA"),
        "{unknown}"
    );
    tool.ok(&RUN);
    let unknown = tool.ends(&["results", "--benchmark", "NDX"], 2).err;
    assert!(
        unknown.contains("--benchmark: `NDX` is neither a symbol nor an index of mine; name one of SPX, AAA"),
        "{unknown}"
    );
    tool.ends(&["results", "--benchmark", "SPX", "--date", "2024-01-03"], 2);
    assert!(!tool.ok(&["results"]).out.contains("enchmark"), "none was named");
}
