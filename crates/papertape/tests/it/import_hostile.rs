//! Hostile files: each fails with a message that names the file and the place, and nothing is written.

use crate::cli_tool::Tool;
use crate::import_support::{fixture, put, replace};
use std::fs::{self, File};
use std::path::Path;

const STATES: &str = "logs/AAPL/TradingAgentsStrategy_logs";
const STATE: &str = "logs/AAPL/TradingAgentsStrategy_logs/full_states_log_2012-10-01.json";
const RUN: &str = "storage/reports/backtest/RUN_1";

/// A file, what is done to the folder, and what the message must contain.
struct Hostile {
    /// The file's name, as the message must have it.
    file: &'static str,
    spoil: fn(&Path),
    message: &'static str,
}

const fn hostile(file: &'static str, message: &'static str, spoil: fn(&Path)) -> Hostile {
    Hostile { file, spoil, message }
}

fn bytes(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("lies in a folder")).expect("makes folders");
    fs::write(path, bytes).expect("writes");
}

fn cut(path: &Path) {
    let whole = fs::read(path).expect("reads");
    fs::write(path, &whole[..whole.len() / 2]).expect("writes");
}

/// A file of this size without content on the disk.
fn huge(path: &Path) {
    let file = File::create(path).expect("creates");
    file.set_len(65 * 1024 * 1024).expect("sets its length");
}

fn trades(dir: &Path, row: &str) {
    let head = "ts,symbol,side,qty,exec_price,exec_ref_price,commission_bps\n";
    put(&dir.join(RUN).join("trades.parquet"), &format!("{head}2025-03-04,AAA,buy,1,101.5,101.5,0\n{row}\n"));
}

fn nav(dir: &Path, rows: &str) {
    put(&dir.join(RUN).join("daily_nav.parquet"), &format!("nav,date\n{rows}\n"));
}

static OF_TRADINGAGENTS: [Hostile; 24] = [
    hostile("full_states_log_2012-10-01.json, line ", "EOF while parsing", |dir| cut(&dir.join(STATE))),
    hostile("full_states_log_2012-10-01.json, line 4", "expected a string", |dir| {
        replace(&dir.join(STATE), "\"# AAPL: market\\nThe price is above its 50-day average.\"", "7");
    }),
    hostile("full_states_log_2012-10-01.json, line ", "missing field `news_report`", |dir| {
        replace(&dir.join(STATE), "\"news_report\"", "\"old_report\"");
    }),
    hostile("full_states_log_2012-10-01.json, line ", "duplicate field `trade_date`", |dir| {
        replace(&dir.join(STATE), "\"market_report\"", "\"trade_date\": \"2012-10-01\", \"market_report\"");
    }),
    hostile("scorecard.json, line 1", "recursion limit", |dir| {
        put(&dir.join("backtest/scorecard.json"), &format!("{{\"x\": {}", "[".repeat(200_000)));
    }),
    hostile("full_states_log_2012-10-01.json, line 2", "it is not UTF-8", |dir| {
        bytes(&dir.join(STATE), b"{\n\"company_of_interest\": \"\xff\xfe\"}");
    }),
    hostile("full_states_log_2012-10-01.json, line 1", "the file is empty", |dir| {
        bytes(&dir.join(STATE), b"\n")
    }),
    hostile("full_states_log_2012-10-01.json, line 1", "the limit is 67108864", |dir| huge(&dir.join(STATE))),
    hostile("full_states_log_2012-10-01.json, line 1", "not the expected JSON", |dir| {
        bytes(&dir.join(STATE), b"PK\x03\x04\x14\0\0\0\x08\0full_states_log.json");
    }),
    hostile("full_states_log_2012-10-02.json, line 1", "it is a folder, not a file", |dir| {
        fs::create_dir(dir.join(STATES).join("full_states_log_2012-10-02.json")).expect("makes it");
    }),
    hostile("full_states_log_2012-10-01.json, line 1", "`trade_date`", |dir| {
        replace(&dir.join(STATE), "\"trade_date\": \"2012-10-01\"", "\"trade_date\": \"0000-00-00\"");
    }),
    hostile("full_states_log_2012-10-01.json, line 1", "unlike its name", |dir| {
        replace(&dir.join(STATE), "\"trade_date\": \"2012-10-01\"", "\"trade_date\": \"2012-10-02\"");
    }),
    hostile("full_states_log_2012-10-01.json, line 1", "is not a ticker", |dir| {
        replace(&dir.join(STATE), "\"AAPL\"", "\"../../etc/passwd\"");
    }),
    hostile("full_states_log_2012-10-01.json, line 1", "another analysis of AAPL on 2012-10-01", |dir| {
        let copy = dir.join("copy/full_states_log_2012-10-01.json");
        put(&copy, &fs::read_to_string(dir.join(STATE)).expect("reads"));
        replace(&copy, "Demand is strong.", "Demand is weak.");
        replace(&copy, "Demand is strong.", "Demand is weak.");
    }),
    hostile("trading_memory.md, line 1", "is not `[DATE | TICKER", |dir| {
        replace(
            &dir.join("memory/trading_memory.md"),
            "[2012-10-01 | AAPL | Buy | -3.0% | -2.2% | 5d]",
            "Hello",
        );
    }),
    hostile("trading_memory.md, line 17", "it has no `DECISION:`", |dir| {
        replace(&dir.join("memory/trading_memory.md"), "DECISION:\nWe", "We");
    }),
    hostile("trading_memory.md, line 27", "another entry of AAPL on 2012-10-01 is on line 1", |dir| {
        replace(&dir.join("memory/trading_memory.md"), "[2012-10-03 | AAPL", "[2012-10-01 | AAPL");
    }),
    hostile("decisions.jsonl, line 2", "only 1 is supported", |dir| {
        let path = dir.join("backtest/decisions.jsonl");
        let text = fs::read_to_string(&path).expect("reads");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines[1] = lines[1].replace("\"schema_version\": 1", "\"schema_version\": 2");
        put(&path, &lines.join("\n"));
    }),
    hostile("decisions.jsonl, line 1", "not a record of a decision", |dir| {
        replace(&dir.join("backtest/decisions.jsonl"), "\"wall_seconds\": 1.5", "\"wall_seconds\": NaN");
    }),
    hostile("decisions.jsonl, line 1", "a line of more than 64 MiB", |dir| {
        huge(&dir.join("backtest/decisions.jsonl"));
    }),
    hostile("equity.csv, line 1", "there is no column `equity`", |dir| {
        replace(&dir.join("backtest/equity.csv"), "equity", "money");
    }),
    hostile("equity.csv, line 3", "is below 0", |dir| {
        replace(&dir.join("backtest/equity.csv"), "10050.5", "-10050.5");
    }),
    hostile("equity.csv, line 4", "does not follow the row before it", |dir| {
        replace(&dir.join("backtest/equity.csv"), "2012-10-03", "2012-10-02");
    }),
    hostile("scorecard.json, line ", "number out of range", |dir| {
        replace(&dir.join("backtest/scorecard.json"), "\"n_days\": 4", "\"n_days\": 1e400");
    }),
];

static OF_STOCKBENCH: [Hostile; 21] = [
    hostile("trades.parquet, line 1", "Parquet", |dir| cut(&dir.join(RUN).join("trades.parquet"))),
    hostile("trades.parquet, line 1", "Parquet", |dir| {
        // Its footer claims to have four gigabytes.
        bytes(&dir.join(RUN).join("trades.parquet"), b"PAR1\xf0\xff\xff\xffPAR1");
    }),
    hostile("trades.parquet, line 1", "the file is empty", |dir| {
        bytes(&dir.join(RUN).join("trades.parquet"), b"");
    }),
    hostile("trades.parquet, line 1", "there is no column `commissionbps`", |dir| {
        put(
            &dir.join(RUN).join("trades.parquet"),
            "ts,symbol,side,qty,exec_price,exec_ref_price\n2025-03-03,AAA,buy,1,100,100\n",
        );
    }),
    hostile("trades.parquet, line 3", "`exec_ref_price`: -101.5 is not above 0", |dir| {
        trades(dir, "2025-03-04,AAA,buy,1,101.5,-101.5,0");
    }),
    hostile("trades.parquet, line 3", "`qty`: `1e400` is not a number", |dir| {
        trades(dir, "2025-03-04,AAA,buy,1e400,101.5,101.5,0");
    }),
    hostile("trades.parquet, line 3", "`hold` is neither buy nor sell", |dir| {
        trades(dir, "2025-03-04,AAA,hold,1,101.5,101.5,0");
    }),
    hostile("trades.parquet, line 3", "before the row before it", |dir| {
        trades(dir, "2025-03-03,AAA,buy,1,100,100,0");
    }),
    hostile("trades.parquet, line 3", "`ts`", |dir| trades(dir, "9999-99-99,AAA,buy,1,100,100,0")),
    hostile("daily_nav.parquet, line 2", "`nav`: `NaN` is not a number", |dir| nav(dir, "NaN,2025-03-03")),
    hostile("daily_nav.parquet, line 2", "`nav`: -1 is below 0", |dir| nav(dir, "-1,2025-03-03")),
    hostile("daily_nav.parquet, line 3", "a second row of 2025-03-03", |dir| {
        nav(dir, "1,2025-03-03\n1,2025-03-03");
    }),
    hostile("metrics.json, line 1", "invalid type", |dir| put(&dir.join(RUN).join("metrics.json"), "[1, 2]")),
    hostile("metrics.json, line 5", "`sortino` is not a number", |dir| {
        replace(&dir.join(RUN).join("metrics.json"), "\"sortino\": 0", "\"sortino\": \"high\", \"x\": 0");
    }),
    hostile("detailed_trading_summary.json, line ", "EOF while parsing", |dir| {
        cut(&dir.join(RUN).join("detailed_trading_summary.json"));
    }),
    hostile("2025-03-05.parquet, line 1", "Parquet", |dir| {
        cut(&dir.join("storage/parquet/AAA/day/2025-03-05.parquet"));
    }),
    hostile("2025-03-05.parquet, line 2", "price", |dir| {
        let text = "date,open,high,low,close,volume\n2025-03-05,-5,1,-5,1,10\n";
        put(&dir.join("storage/parquet/AAA/day/2025-03-05.parquet"), text);
    }),
    hostile("2025-03-04.json, line ", "it is not complete JSON", |dir| {
        cut(&dir.join("storage/cache/news_by_day/AAA/2025-03-04.json"));
    }),
    hostile("2025-03-04.json, line 1", "undated", |dir| {
        let news = dir.join("storage/cache/news_by_day/AAA/2025-03-04.json");
        replace(&news, "\"published_utc\": \"2025-03-04T18:00:00\"", "\"published_utc\": null");
        replace(&news, "\"datetime\": 1741082400", "\"datetime\": 0");
    }),
    hostile("AAA.dividends.json, line 1", "its ticker is `BBB`", |dir| {
        replace(&dir.join("storage/cache/corporate_actions/AAA.dividends.json"), "\"AAA\"", "\"BBB\"");
    }),
    hostile("BBB.splits.json, line 1", "is not a ratio", |dir| {
        let splits = dir.join("storage/cache/corporate_actions/BBB.splits.json");
        replace(&splits, "\"split_from\": 1", "\"split_from\": 0");
    }),
];

/// Runs each file through the import with `--write`.
fn refused(tool: &str, args: &[&str], all: &[Hostile]) {
    for one in all {
        let work = Tool::new();
        let dir = work.path("runs");
        fixture(tool, &dir);
        (one.spoil)(&dir);
        let command: Vec<&str> =
            ["import", tool, "runs", "--write"].into_iter().chain(args.iter().copied()).collect();
        let done = work.run(&command);
        let context = format!("{} {}: {done:#?}", one.file, one.message);
        assert_eq!(done.code, 1, "{context}");
        let line = done.err.lines().find(|line| line.contains(one.message));
        assert!(line.is_some_and(|line| line.contains(one.file)), "{context}");
        assert!(!done.err.contains("panicked"), "{context}");
        assert!(!work.path("data").exists(), "{context}");
    }
}

// Goal: 24 files that no TradingAgents would write keep everything out, each with its file, its line and the reason.
#[test]
fn hostile_files_of_tradingagents_fail_cleanly() {
    refused("tradingagents", &["--dataset", "us-daily-2000-2013"], &OF_TRADINGAGENTS);
}

// Goal: the same for 21 files of StockBench's runs and of its storage.
#[test]
fn hostile_files_of_stockbench_fail_cleanly() {
    refused("stockbench", &[], &OF_STOCKBENCH);
}
