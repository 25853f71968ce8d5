//! `papertape memory`: what traders remember, and what it is worth.

use crate::cli_tool::Tool;
use serde_json::Value;

/// A model that buys GOOG on the third day and sells it at a loss on the last.
const TRADE: [&str; 10] = [
    "run",
    "--start",
    "2012-10-01",
    "--end",
    "2012-10-19",
    "--symbols",
    "GOOG",
    "--model",
    "house::momentum",
    "--no-summaries",
];

fn rows<'a>(answer: &'a Value, of: &str) -> &'a Vec<Value> {
    answer[of].as_array().unwrap_or_else(|| panic!("{of} of {answer}"))
}

// Goal: after a trade, each memory is shown, the reflection is found by keyword and agrees with the books,
// and impossible requests fail with the exit code of their kind.
#[test]
fn memories_of_a_trade_are_listed_and_searched() {
    let tool = Tool::new();
    assert!(tool.ends(&["memory", "rounds"], 4).err.contains("run --demo"), "nothing is there yet");
    let job = tool.job(&TRADE);
    let sessions = tool.json(&["jobs", &job])["progress"]["completed"].as_u64();
    let rounds = tool.json(&["memory", "rounds"]);
    assert_eq!(Some(rows(&rounds, "rounds").len() as u64), sessions);
    assert_eq!(rounds["rounds"][0]["assets"][0]["decision"], "close");
    assert!(rows(&tool.json(&["memory", "open"]), "open_positions").is_empty(), "nothing is held at the end");

    let trades = tool.json(&["memory", "trades"]);
    let [trade] = &rows(&trades, "trades")[..] else { panic!("{trades}") };
    assert_eq!((&trade["symbol"], &trade["cause"]), (&"GOOG".into(), &"sell".into()));
    assert_eq!(
        (&trade["session_id"], &trade["position_closed"]),
        (&rounds["rounds"][0]["session_id"], &true.into())
    );
    let results = tool.json(&["results", &job]);
    let realized = trade["pnl"].as_f64().expect("a number");
    let whole = results["results"][0]["period_metrics"]["total_return"].as_f64().expect("a number");
    assert!((realized / 100_000.0 - whole).abs() < 1e-6, "all that was won or lost: {realized} {whole}");

    assert!(
        tool.ok(&["memory", "search", "trend", "turn"]).out.contains("GOOG long 2012-10-03 to 2012-10-19")
    );
    assert!(tool.ok(&["memory", "search", "trend", "nowhere"]).err.contains("no matching reflections"));
    let failed = tool.ends(&["memory", "search", "trend", "--by", "semantic"], 2);
    assert!(failed.err.contains("embeddings.model"), "{failed:?}");
    assert!(tool.ends(&["memory", "reembed"], 2).err.contains("embeddings.model"));
    tool.ends(&["memory", "compact", "--period", "year"], 2);
    // Reflections of the newest period are not compacted.
    tool.ok(&["memory", "compact", "--period", "quarter"]);
    assert_eq!(rows(&tool.json(&["memory", "trades"]), "trades").len(), 1);
}

// Goal: an ablation runs the same days under each setting, even if a longer job has run them from another
// state, reports them in one table, and is not paid for again.
#[test]
fn an_ablation_compares_the_same_days() {
    let tool = Tool::new();
    tool.ok(&TRADE);
    let days =
        ["--start", "2012-10-16", "--end", "2012-10-19", "--symbols", "GOOG", "--model", "house::momentum"];
    let ablate: Vec<&str> = ["memory", "ablate"].into_iter().chain(days).collect();
    let first = tool.json(&ablate);
    let rows = first.as_array().expect("a list");
    let settings: Vec<&Value> = rows.iter().map(|row| &row["memory"]).collect();
    assert_eq!(settings, ["off", "rounds", "rounds+open", "all"]);
    // The house model reads no memory: any difference comes from other days.
    for row in rows {
        assert_eq!(
            (&row["total_return"], &row["trades"]),
            (&rows[0]["total_return"], &rows[0]["trades"]),
            "{rows:#?}"
        );
    }
    let again = tool.json(&ablate);
    let figures = |rows: &Value| -> Vec<Value> {
        let rows = rows.as_array().expect("a list").iter();
        rows.map(|row| row["total_return"].clone()).collect()
    };
    assert_eq!(figures(&again), figures(&first));
    let all = tool.json(&["jobs"]);
    let worked =
        all["jobs"].as_array().expect("a list").iter().filter(|job| job["progress"]["completed"] != 0);
    assert_eq!(worked.count(), 5, "the run and four settings: nothing was done twice");
    assert!(tool.ok(&ablate).out.lines().next().is_some_and(|head| head.contains("reflections")));
}
