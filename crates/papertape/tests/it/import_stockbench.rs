//! `papertape import stockbench`: books recomputed from the trades and compared with NAV and metrics, and a dataset from
//! the storage, in one command.

use crate::cli_tool::Tool;
use crate::import_support::{fixture, put, replace};
use papertape_testkit::postgres;
use serde_json::{Value, json};

const DRY: [&str; 3] = ["import", "stockbench", "bench"];
const WRITE: [&str; 4] = ["import", "stockbench", "bench", "--write"];
const RUN: &str = "storage/reports/backtest/RUN_1";

fn tool() -> Tool {
    let tool = Tool::new();
    fixture("stockbench", &tool.path("bench"));
    tool
}

fn report(tool: &Tool, args: &[&str], code: i32) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let done = tool.ends(&args, code);
    serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
}

fn disagreements(report: &Value) -> Vec<Value> {
    report["report"]["disagreements"]["first"].as_array().expect("a list").clone()
}

/// Everything that must hold for the fixture's job.
fn holds(tool: &Tool, job: &str) {
    let results = tool.json(&["results", job]);
    let values = results["results"][0]["daily_portfolio_values"].as_array().expect("a list").clone();
    assert_eq!(values.len(), 6, "{results}");
    // 60.25 shares of AAA are left, which closed at 101.5; cash is what the NAV of 1.00215681937500 leaves at 101.
    let last = values[5]["portfolio_value"].as_f64().expect("a number");
    assert!((last - (100_215.681_937_5 + 60.25 * 0.5)).abs() < 1e-6, "{last}");
    let day = tool.json(&["results", job, "--date", "2025-03-06"])["results"][0].clone();
    let recorded = &day["metadata"]["recorded"];
    assert_eq!(recorded["differences"], json!([]), "{recorded}");
    assert_eq!(recorded["computed_value"], json!(100_204.380_187_5), "{recorded}");
    assert_eq!(day["provenance"]["point_in_time_reason"]["kind"], "import", "{day}");
    let first = tool.json(&["reasoning", job, "--date", "2025-03-03"])["sessions"][0].clone();
    let actions: Vec<String> = first["positions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| format!("{} {} {}", row["action_type"], row["amount"], row["price"]))
        .collect();
    assert_eq!(actions, [r#""buy" 100.5 100"#, r#""buy" 50.25 50"#]);
    assert!(tool.ok(&["verify", job]).err.contains("intact"));
    assert_eq!(tool.json(&["replay", job])["equal"], true);
}

// Goal: the fixture's NAV and metrics, which its tool's formulas gave, follow from its trades to the last one; one
// command writes the dataset with prices, actions and news and the job; the second writes nothing.
#[test]
fn a_run_and_its_data_are_imported_once() {
    let tool = tool();
    let dry = tool.json(&DRY);
    assert_eq!(dry["report"]["disagreements"]["count"], 0, "{dry}");
    let dataset = &dry["report"]["dataset"];
    assert_eq!(
        (&dataset["symbols"], &dataset["days"], &dataset["bars"], &dataset["is_there"]),
        (&json!(2), &json!(6), &json!(12), &json!(false)),
        "{dry}"
    );
    let agent = &dry["report"]["agents"][0];
    assert_eq!(
        (&agent["agent"], &agent["trades"], &agent["sessions"]),
        (&json!("RUN_1"), &json!(5), &json!(6))
    );
    assert!(!tool.path("data").exists(), "a dry run makes nothing");

    let written = tool.json(&WRITE);
    let job = written["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    holds(&tool, &job);
    let about = tool.json(&["data", "show", "stockbench"]).to_string();
    assert!(about.contains("\"news\":2"), "{about}");

    let again = tool.json(&WRITE);
    assert_eq!(again["jobs"], json!([{ "job_id": job, "status": "completed", "imported": false }]));
    assert_eq!(again["report"]["dataset"]["is_there"], true);
    let of_run = tool.json(&["import", "stockbench", &format!("bench/{RUN}"), "--write"]);
    assert_eq!(of_run["jobs"][0]["job_id"], job.as_str(), "the folder of one run finds the storage above it");
    assert_eq!(tool.json(&["jobs"])["count"], 1);
    assert_eq!(
        tool.json(&["import", "stockbench", "bench", "--dataset", "stockbench"])["jobs"][0]["job_id"],
        job.as_str()
    );
}

// Goal: the same on PostgreSQL.
#[test]
fn postgres_takes_a_run_once() {
    let place = postgres::place().expect("starts PostgreSQL");
    let tool = tool().with("PAPERTAPE_DATABASE_URL", &place.url);
    // The database is shared between tests: this headline makes the dataset unique.
    let news = tool.path("bench/storage/cache/news_by_day/AAA/2025-03-04.json");
    replace(&news, "AAA opens a plant", &format!("AAA opens a plant in {}", place.schema));
    let written = tool.json(&WRITE);
    let job = written["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    holds(&tool, &job);
    assert_eq!(
        tool.json(&WRITE)["jobs"][0],
        json!({ "job_id": job, "status": "completed", "imported": false })
    );
}

// Goal: a storage without runs is a dataset alone, written once. News count as published at the later of two times that
// a file has for them.
#[test]
fn a_storage_alone_becomes_a_dataset() {
    let tool = tool();
    std::fs::remove_dir_all(tool.path("bench/storage/reports")).expect("removes");
    assert!(tool.ok(&DRY).err.contains("to import, use --write"));
    assert!(!tool.path("data").exists());
    assert_eq!(tool.json(&WRITE)["written"], true);
    assert_eq!(tool.json(&WRITE)["written"], false);
    assert!(tool.ok(&WRITE).err.contains("nothing written"));
    std::fs::create_dir(tool.path("out")).expect("makes it");
    tool.ok(&["data", "export", "stockbench", "--output", "out"]);
    let news = std::fs::read_dir(tool.path("out")).expect("reads").map(|entry| entry.expect("reads").path());
    let news = news.filter(|path| path.display().to_string().contains("news")).collect::<Vec<_>>();
    let news = std::fs::read_to_string(&news[0]).expect("reads");
    assert!(news.contains("2025-03-04T18:00:00Z") && news.contains("2025-03-04T09:00:00Z"), "{news}");
}

// Goal: a NAV, a metric and a trade's price that do not follow are each reported by file and row with both numbers, and
// nothing is mended; accepted, the books are recomputed and the sessions name the difference.
#[test]
fn what_does_not_follow_from_the_trades_is_told_with_both_numbers() {
    let tool = tool();
    let run = tool.path("bench").join(RUN);
    put(
        &run.join("trades.parquet"),
        "ts,symbol,side,qty,exec_price,exec_ref_price,commission_bps\n\
         2025-03-03,AAA,buy,100.5,100.05,100,10\n\
         2025-03-03,BBB,buy,50.25,50.025,50,10\n\
         2025-03-05,AAA,sell,40.25,99.200375,98.5,10\n\
         2025-03-07,BBB,buy,10,50.52525,50.5,10\n\
         2025-03-10,BBB,sell,60.25,52.9735,53,10\n",
    );
    put(
        &run.join("daily_nav.parquet"),
        "nav,date\n0.999874375,2025-03-03\n1.001130625,2025-03-04\n0.999708801875,2025-03-05\n\
         1.5,2025-03-06\n1.002339376875,2025-03-07\n1.002156819375,2025-03-10\n",
    );
    replace(&run.join("metrics.json"), "\"trades_count\": 5", "\"trades_count\": 7");
    let found = report(&tool, &WRITE, 1);
    let all = disagreements(&found);
    let one = |file: &str, what: &str| {
        let is_meant = |one: &&Value| {
            one["file"].as_str().is_some_and(|name| name.ends_with(file))
                && one["amounts"].is_null()
                && one.to_string().contains(what)
        };
        all.iter().find(is_meant).unwrap_or_else(|| panic!("{file}, {what}: {all:#?}")).clone()
    };
    let price = one("trades.parquet", "open of AAA");
    assert_eq!(
        (&price["recorded"], &price["computed"], &price["line"]),
        (&json!("98.5"), &json!("99.25"), &json!(4))
    );
    let nav = one("daily_nav.parquet", "\"nav\"");
    assert_eq!(
        (&nav["recorded"], &nav["date"], &nav["line"]),
        (&json!("1.5"), &json!("2025-03-06"), &json!(5)),
        "{nav}"
    );
    assert!(nav["computed"].as_str().is_some_and(|text| text.starts_with("1.002043801875")), "{nav}");
    let count = one("metrics.json", "trades_count");
    assert_eq!((&count["recorded"], &count["computed"]), (&json!("7"), &json!("5")), "{count}");
    assert_eq!(all.len(), 3, "{all:#?}");
    assert!(!tool.path("data").exists(), "nothing is written");
    let shown = tool.ends(&DRY, 1).err;
    assert!(shown.contains("nav is 1.5 in the log, but 1.002043801875"), "{shown}");

    let args: Vec<&str> = WRITE.iter().copied().chain(["--accept-disagreements"]).collect();
    let job = tool.json(&args)["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    let day = tool.json(&["results", &job, "--date", "2025-03-06"])["results"][0].clone();
    let difference = &day["metadata"]["recorded"]["differences"][0];
    assert_eq!((&difference["item"], &difference["recorded"]), (&json!("value"), &json!(150_000)), "{day}");
    assert_eq!(tool.json(&["jobs", &job])["warnings"].as_array().map(Vec::len), Some(4));
}

// Goal: without a stated initial cash nothing is assumed; given, the run imports; a symbol without splits is left out of
// the dataset and said.
#[test]
fn nothing_is_assumed_about_cash_and_splits() {
    let tool = tool();
    let run = tool.path("bench").join(RUN);
    std::fs::remove_file(run.join("detailed_trading_summary.json")).expect("removes");
    let found = report(&tool, &WRITE, 1);
    assert!(found["report"]["problems"].to_string().contains("--initial-cash"), "{found}");
    assert!(!tool.path("data").exists());
    let args: Vec<&str> = DRY.iter().copied().chain(["--initial-cash", "100000"]).collect();
    assert_eq!(tool.json(&args)["report"]["disagreements"]["count"], 0);
    let wrong: Vec<&str> = DRY.iter().copied().chain(["--initial-cash", "50000"]).collect();
    assert!(report(&tool, &wrong, 1)["report"]["disagreements"]["count"].as_u64() > Some(0));

    std::fs::remove_file(tool.path("bench/storage/cache/corporate_actions/BBB.splits.json"))
        .expect("removes");
    let found = report(&tool, &args, 1);
    assert!(found["report"]["skipped"].to_string().contains("prices of BBB"), "{found}");
    assert!(
        disagreements(&found).iter().any(|one| one.to_string().contains("no open price of BBB")),
        "{found}"
    );
}
