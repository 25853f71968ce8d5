//! A small folder as AI-Trader writes it: two instruments over five days, an agent that trades normally and
//! one that speaks Chinese and does nothing.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The days of the prices; the runs start on the second.
pub(crate) const DAYS: [&str; 5] = ["2025-10-01", "2025-10-02", "2025-10-03", "2025-10-06", "2025-10-07"];

/// The agents' names.
pub(crate) const ALPHA: &str = "alpha-1";
pub(crate) const CHINESE: &str = "智能体";

/// The second agent's message, on the second day.
pub(crate) const SAYS: &str = "今天市场波动较大，我选择观望：NVDA 的估值偏高。\n<FINISH_SIGNAL>";

/// Bars of a symbol whose nth day opens at this price; the volume distinguishes one set of prices from another.
fn series(symbol: &str, opens: [i64; 5], volume: u64) -> Value {
    let bars: serde_json::Map<String, Value> = DAYS
        .iter()
        .zip(opens)
        .map(|(day, open)| {
            let bar = json!({
                "1. buy price": format!("{open}.5000"),
                "2. high": format!("{}.0000", open + 4),
                "3. low": format!("{}.0000", open - 4),
                "4. sell price": format!("{}.2500", open + 1),
                "5. volume": volume.to_string(),
            });
            ((*day).to_owned(), bar)
        })
        .collect();
    json!({
        "Meta Data": { "2. Symbol": symbol, "5. Time Zone": "US/Eastern" },
        "Time Series (Daily)": bars,
    })
}

/// A row of `position.jsonl`.
pub(crate) fn row(id: i64, date: &str, action: Value, (aaa, bbb, cash): (i64, i64, f64)) -> Value {
    let mut row = json!({ "date": date, "id": id, "positions": { "AAA": aaa, "BBB": bbb, "CASH": cash } });
    if !action.is_null() {
        row["this_action"] = action;
    }
    row
}

/// An action.
pub(crate) fn act(action: &str, symbol: &str, amount: impl Into<Value>) -> Value {
    json!({ "action": action, "symbol": symbol, "amount": amount.into() })
}

/// The rows of the agent that trades: two positions, of which one closes in two parts and one stays open, and
/// a trade of zero. AAA opens at 10.5, 11.5, 12.5, 9.5, 13.5, BBB at 20.5 on each day.
pub(crate) fn rows() -> Vec<Value> {
    vec![
        row(0, DAYS[0], Value::Null, (0, 0, 1_000.0)),
        row(1, DAYS[1], act("buy", "AAA", 10), (10, 0, 885.0)),
        row(2, DAYS[1], act("buy", "BBB", 4), (10, 4, 803.0)),
        // With the rounding error of a floating-point sum.
        row(3, DAYS[2], act("sell", "AAA", 4), (6, 4, 853.000_000_000_000_1)),
        row(4, DAYS[3], act("sell", "AAA", 6), (0, 4, 910.0)),
        row(5, DAYS[3], act("buy", "BBB", 0), (0, 4, 910.0)),
        row(6, DAYS[4], act("no_trade", "", 0), (0, 4, 910.0)),
    ]
}

/// A day's log: the question, and the answers in batches as in real logs.
pub(crate) fn log(agent: &str, date: &str, answers: &[&str]) -> String {
    let question = format!("Please analyze and update today's ({date}) positions.");
    let mut lines =
        vec![json!({ "signature": agent, "new_messages": [{ "role": "user", "content": question }] })];
    for answer in answers {
        lines.push(json!({ "signature": agent, "new_messages": { "role": "assistant", "content": answer } }));
    }
    jsonl(&lines)
}

/// One value per line.
pub(crate) fn jsonl(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Writes a file and creates its parent folders.
pub(crate) fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("lies in a folder")).expect("makes folders");
    fs::write(path, text).expect("writes");
}

/// Writes an agent.
pub(crate) fn agent(dir: &Path, name: &str, rows: &[Value], logs: &[(&str, String)]) {
    let home = dir.join("agent_data").join(name);
    put(&home.join("position/position.jsonl"), &jsonl(rows));
    for (date, text) in logs {
        put(&home.join("log").join(date).join("log.jsonl"), text);
    }
}

/// The agent that trades.
pub(crate) fn alpha(dir: &Path, rows: &[Value]) {
    let logs = [
        (DAYS[1], log(ALPHA, DAYS[1], &["I look.", "I buy AAA and BBB. <FINISH_SIGNAL>"])),
        (DAYS[2], log(ALPHA, DAYS[2], &["AAA has risen; I sell some of it. <FINISH_SIGNAL>"])),
        (DAYS[3], log(ALPHA, DAYS[3], &["AAA falls; I sell the rest. <FINISH_SIGNAL>"])),
        // Nobody answered.
        (DAYS[4], log(ALPHA, DAYS[4], &[])),
    ];
    agent(dir, ALPHA, rows, &logs);
}

/// Writes only the prices.
pub(crate) fn prices(dir: &Path, volume: u64) {
    let lines = [series("AAA", [10, 11, 12, 9, 13], volume), series("BBB", [20; 5], volume)];
    put(&dir.join("merged.jsonl"), &jsonl(&lines));
}

/// Writes the whole folder.
pub(crate) fn folder(dir: &Path, volume: u64) {
    prices(dir, volume);
    alpha(dir, &rows());
    let idle = [
        row(0, DAYS[0], Value::Null, (0, 0, 1_000.0)),
        row(1, DAYS[1], act("no_trade", "", 0), (0, 0, 1_000.0)),
    ];
    agent(dir, CHINESE, &idle, &[(DAYS[1], log(CHINESE, DAYS[1], &[SAYS]))]);
}

/// Copies a fixture of another tool's run.
pub(crate) fn fixture(tool: &str, to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/imports").join(tool);
    copy(&from, to);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("makes folders");
    for entry in fs::read_dir(from).expect("reads a folder") {
        let path = entry.expect("reads an entry").path();
        let to = to.join(path.file_name().expect("has a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("copies");
        }
    }
}

/// Replaces a text in a file. It must be there.
pub(crate) fn replace(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("reads");
    assert!(text.contains(from), "{}: {from} is not in {text}", path.display());
    fs::write(path, text.replacen(from, to, 1)).expect("writes");
}
