//! `papertape import tradingagents`: analyses become sessions of a desk, with every role's messages; the memory log
//! becomes memories with the day on which their outcome was known; nothing is invented.

use crate::cli_tool::Tool;
use crate::import_support::{fixture, put, replace};
use papertape_protocol::query::SessionPageQuery;
use papertape_service::app::{Access, App};
use papertape_service::config::Config;
use papertape_testkit::postgres;
use serde_json::{Value, json};

const DRY: [&str; 5] = ["import", "tradingagents", "runs", "--dataset", "us-daily-2000-2013"];
const WRITE: [&str; 6] = ["import", "tradingagents", "runs", "--dataset", "us-daily-2000-2013", "--write"];
const STATE: &str = "logs/AAPL/TradingAgentsStrategy_logs/full_states_log_2012-10-01.json";

fn tool() -> Tool {
    let tool = Tool::new();
    fixture("tradingagents", &tool.path("runs"));
    tool
}

/// The lines of a kind, as text.
fn told(report: &Value, kind: &str) -> String {
    report["report"][kind]["first"].to_string()
}

fn report(tool: &Tool, args: &[&str], code: i32) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let done = tool.ends(&args, code);
    serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
}

fn session(tool: &Tool, job: &str, date: &str) -> Value {
    tool.json(&["reasoning", job, "--date", date])["sessions"][0].clone()
}

/// The paths of a session's messages and their texts.
fn messages(session: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let all = session["conversation"].as_array().expect("a list");
    all.iter().map(|one| (text(&one["path"]), text(&one["content"]))).collect()
}

/// Everything that must hold for the fixture's job.
fn holds(tool: &Tool, job: &str) {
    let first = messages(&session(tool, job, "2012-10-01"));
    let paths: Vec<&str> = first.iter().map(|(path, _)| path.as_str()).collect();
    let of_aapl = [
        "Market Analyst#1",
        "Sentiment Analyst#1",
        "News Analyst#1",
        "Fundamentals Analyst#1",
        "Bull Researcher#1",
        "Bear Researcher#1",
        "Bull Researcher#2",
        "Bear Researcher#2",
        "Research Manager#1",
        "Trader#1",
        "Aggressive Analyst#1",
        "Conservative Analyst#1",
        "Neutral Analyst#1",
        "Portfolio Manager#1",
    ];
    let expected: Vec<String> = of_aapl.iter().map(|node| format!("AAPL/{node}/said#1")).collect();
    assert_eq!(paths[..14], expected);
    assert_eq!(first[6].1, "As the bear says:\nBear Analyst: weak hands. Demand stays strong.");
    assert!(first[2].1.contains("Umsätze steigen — 营收增长。"), "{:?}", first[2]);
    // IBM had no Fundamentals Analyst, and one round.
    assert_eq!(paths.len(), 14 + 11, "{paths:?}");

    // The ratings, and the state with TradingAgents' field names; a decision without a rating is no Hold.
    let results = tool.json(&["results", job, "--date", "2012-10-01"])["results"][0].clone();
    let metadata = &results["metadata"];
    assert_eq!(metadata["agent_kind"], "desk", "{metadata}");
    assert_eq!(metadata["decisions"]["ratings"], json!({ "Buy": 1 }), "{metadata}");
    assert_eq!(metadata["decisions"]["unparseable"], 1, "{metadata}");
    tool.ok(&["export", "state", job, "--output", "exported"]);
    let read = |path: &str| -> Value {
        let text = std::fs::read_to_string(tool.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str(&text).expect("is JSON")
    };
    let exported = read(&format!("exported/results/{}", STATE.trim_start_matches("logs/")));
    let original = read(&format!("runs/{STATE}"));
    for (field, value) in original.as_object().expect("an object") {
        let parts: Vec<&String> = value.as_object().into_iter().flat_map(|parts| parts.keys()).collect();
        if parts.is_empty() {
            assert_eq!(&exported[field], value, "{field}");
        }
        for part in parts {
            assert_eq!(exported[field][part], value[part], "{field}.{part}");
        }
    }
    assert_eq!(results["provenance"]["point_in_time"], "unverified", "{results}");
    assert_eq!(results["provenance"]["point_in_time_reason"]["kind"], "import");

    // No account and no orders.
    let day = tool.json(&["results", job, "--date", "2012-10-04"])["results"][0].clone();
    assert_eq!(
        (&day["metadata"]["recorded"]["orders"], &day["metadata"]["recorded"]["value"]),
        (&json!(0), &json!(10010))
    );
    assert_eq!(
        session(tool, job, "2012-10-01")["positions"]
            .as_array()
            .map_or(0, |all| { all.iter().filter(|one| one["action_type"] != "no_trade").count() }),
        0
    );
    // The decision that only the backtest has.
    let only = messages(&session(tool, job, "2012-10-04"));
    assert_eq!(only.len(), 1, "{only:?}");
    assert_eq!(only[0].0, "AAPL/Portfolio Manager#1/said#1");

    // A reflection is known at the close of the fifth trading day after its decision, and is a memory then.
    let known = messages(&session(tool, job, "2012-10-08"));
    assert!(
        known.iter().any(|(path, text)| path.contains("memory log") && text.contains("-3.0% return")),
        "{known:?}"
    );
    let rounds = tool.json(&["memory", "rounds", "--job", job]);
    let all = rounds["rounds"].as_array().expect("a list");
    let reflected: Vec<&Value> = all
        .iter()
        .filter(|one| one["summary"].as_str().is_some_and(|text| text.contains("the average gave way")))
        .collect();
    assert_eq!(reflected.len(), 1, "{rounds}");
    assert!(reflected[0]["known_at"].as_str().is_some_and(|at| at.starts_with("2012-10-08")), "{rounds}");
    assert!(
        all.iter().any(|one| one["summary"].as_str().is_some_and(|text| text.contains("Too small a move")))
    );

    assert!(tool.ok(&["verify", job]).err.contains("intact"));
    assert_eq!(tool.json(&["replay", job])["equal"], true);
}

// Goal: a dry run reports and writes nothing; the import shows every role's report, the ratings and the memories; the
// second import writes nothing, wherever the files are.
#[test]
fn analyses_become_sessions_of_a_desk_once() {
    let tool = tool();
    let dry = tool.json(&DRY);
    assert_eq!((&dry["written"], &dry["report"]["problems"]["count"]), (&json!(false), &json!(0)), "{dry}");
    let agent = &dry["report"]["agents"][0];
    let numbers = ["rows", "messages", "days_with_messages", "reflections", "trades"];
    let numbers: Vec<u64> = numbers.iter().map(|name| agent[*name].as_u64().unwrap_or_default()).collect();
    assert_eq!(numbers, [4, 38, 3, 2, 0], "{agent}");
    assert!(told(&dry, "skipped").contains("RateLimitError"), "{dry}");
    let notes = dry["report"]["notes"].to_string();
    for note in ["unparseable", "pending", "2 trades, but no file lists them", "not recomputed"] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    assert!(!tool.path("data").join("papertape.db").exists(), "a dry run makes nothing");

    let written = tool.json(&WRITE);
    let job = written["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    assert_eq!(written["jobs"].as_array().map(Vec::len), Some(1));
    holds(&tool, &job);
    let shown = tool.ok(&["reasoning", &job, "--date", "2012-10-01"]).out;
    assert!(shown.contains("AAPL/Research Manager#1"), "{shown}");
    let about = tool.json(&["jobs", &job]);
    assert!(about["warnings"].to_string().contains("no account and no trades"), "{about}");

    let again = tool.json(&WRITE);
    assert_eq!(again["jobs"], json!([{ "job_id": job, "status": "completed", "imported": false }]));
    std::fs::rename(tool.path("runs"), tool.path("moved")).expect("moves");
    let args: Vec<&str> = WRITE.iter().map(|arg| if *arg == "runs" { "moved" } else { arg }).collect();
    assert!(tool.ok(&args).err.contains("nothing written"));
    assert_eq!(tool.json(&["jobs"])["count"], 1);
    let rounds = tool.json(&["memory", "rounds", "--job", &job]);
    let reflected = rounds.to_string().matches("Too small a move").count();
    assert_eq!(reflected, 1, "{rounds}");
}

// Goal: the same on PostgreSQL.
#[test]
fn postgres_takes_analyses_once() {
    let place = postgres::place().expect("starts PostgreSQL");
    let tool = tool().with("PAPERTAPE_DATABASE_URL", &place.url);
    // The database is shared between tests: this text makes the content unique.
    let unique = format!("Margins are stable in schema {}.", place.schema);
    replace(&tool.path("runs").join(STATE), "Margins are stable.", &unique);
    let written = tool.json(&WRITE);
    let job = written["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    holds(&tool, &job);
    assert_eq!(
        tool.json(&WRITE)["jobs"][0],
        json!({ "job_id": job, "status": "completed", "imported": false })
    );
}

// Goal: a desk of another model goes on from an imported day, and only from its start.
#[test]
fn another_model_goes_on_after_an_imported_analysis() {
    let tool = tool();
    let args: Vec<&str> = WRITE.iter().copied().chain(["--initial-cash", "10000"]).collect();
    let job = tool.json(&args)["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    let cut = ["branch", &job, "--date", "2012-10-03", "--model", "house::momentum"];
    let inside: Vec<&str> = cut.iter().copied().chain(["--at", "AAPL/Trader#1"]).collect();
    assert!(tool.ends(&inside, 2).err.contains("the start of the day"), "{inside:?}");
    let branch = tool.job(&cut);
    let before = messages(&session(&tool, &branch, "2012-10-01"));
    assert_eq!(before, messages(&session(&tool, &job, "2012-10-01")));
    let after = messages(&session(&tool, &branch, "2012-10-03"));
    assert!(after.iter().any(|(path, _)| path.starts_with("AAPL/Portfolio Manager#1/model")), "{after:?}");
    assert_eq!(tool.json(&["replay", &branch])["equal"], true);
}

// Goal: files that contradict each other are reported by file with what each says, and keep the import out unless they
// are accepted.
#[test]
fn contradictions_between_the_files_are_told() {
    let tool = tool();
    let runs = tool.path("runs");
    replace(&runs.join("memory/trading_memory.md"), "| AAPL | Buy |", "| AAPL | Sell |");
    replace(&runs.join("backtest/scorecard.json"), "\"total_return\": 0.00", "\"total_return\": 0.25");
    let found = report(&tool, &WRITE, 1);
    let disagreements = told(&found, "disagreements");
    assert!(
        disagreements.contains("the rating is Sell in the log, but Buy in its decision on AAPL"),
        "{disagreements}"
    );
    assert!(disagreements.contains("trading_memory.md") && disagreements.contains("scorecard.json"));
    let amounts = &found["report"]["disagreements"]["first"];
    let of_card = amounts.as_array().expect("a list").iter().find(|one| one["what"] == "total_return");
    assert!(
        of_card.is_some_and(|one| one["recorded"].as_str().is_some_and(|text| text.starts_with("0.25"))),
        "{amounts}"
    );
    assert!(!tool.path("data").join("papertape.db").exists());
    let args: Vec<&str> = WRITE.iter().copied().chain(["--accept-disagreements"]).collect();
    let job = tool.json(&args)["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    assert!(tool.json(&["jobs", &job])["warnings"].to_string().contains("the rating is Sell in the log"));
}

// Goal: a memory without a date, or whose outcome has none, is never a memory; the report says so.
#[test]
fn undated_memories_are_never_shown() {
    let tool = tool();
    let log = tool.path("runs").join("memory/trading_memory.md");
    replace(
        &log,
        "[2012-10-01 | AAPL | Buy | -3.0% | -2.2% | 5d]",
        "[some day | AAPL | Buy | -3.0% | -2.2% | 5d]",
    );
    replace(&log, "| +0.4% | 2d]", "| +0.4% | n/a]");
    let found = tool.json(&WRITE);
    let skipped = told(&found, "skipped");
    assert_eq!(skipped.matches("an undated memory is never shown").count(), 2, "{skipped}");
    let job = found["jobs"][0]["job_id"].as_str().expect("an id");
    let rounds = tool.json(&["memory", "rounds", "--job", job]).to_string();
    assert!(!rounds.contains("the average gave way") && !rounds.contains("Too small a move"), "{rounds}");
}

// Goal: links are not followed, neither loops nor to files outside; days without prices are left out; both are said.
#[test]
fn links_and_foreign_days_are_left_out() {
    let tool = tool();
    let runs = tool.path("runs");
    std::os::unix::fs::symlink(&runs, runs.join("logs/loop")).expect("links");
    put(&tool.path("outside/full_states_log_2012-10-02.json"), "{}");
    let link = runs.join("logs/full_states_log_2012-10-02.json");
    std::os::unix::fs::symlink(tool.path("outside/full_states_log_2012-10-02.json"), link).expect("links");
    let future = runs.join("logs/full_states_log_9999-12-31.json");
    std::fs::copy(runs.join(STATE), &future).expect("copies");
    replace(&future, "\"2012-10-01\"", "\"9999-12-31\"");
    // A byte order mark and carriage returns are no problem.
    let plain = std::fs::read_to_string(runs.join(STATE)).expect("reads");
    std::fs::write(runs.join(STATE), format!("\u{feff}{}", plain.replace('\n', "\r\n"))).expect("writes");
    let found = tool.json(&DRY);
    let skipped = told(&found, "skipped");
    assert_eq!(skipped.matches("a symbolic link").count(), 2, "{skipped}");
    assert!(
        skipped.contains("full_states_log_9999-12-31.json") && skipped.contains("not a trading day"),
        "{skipped}"
    );
    assert_eq!(found["report"]["agents"][0]["rows"], 4, "{found}");
    assert!(
        tool.ends(&["import", "tradingagents", "runs", "--dataset", "nowhere"], 4).err.contains("nowhere")
    );
    std::fs::create_dir(tool.path("empty")).expect("makes it");
    tool.ends(&["import", "tradingagents", "empty", "--dataset", "us-daily-2000-2013"], 2);
    tool.ends(&["import", "tradingagents", "missing", "--dataset", "us-daily-2000-2013"], 2);
}

// Goal: the logs of older versions, which hold all days of a process under their dates, give the same analyses; a day
// that another file repeats is imported once.
#[test]
fn logs_of_older_versions_are_read() {
    let tool = tool();
    let first = tool.json(&DRY)["report"]["agents"][0].clone();
    let states = tool.path("runs").join("logs/AAPL/TradingAgentsStrategy_logs");
    let read = |date: &str| {
        let text =
            std::fs::read_to_string(states.join(format!("full_states_log_{date}.json"))).expect("reads");
        serde_json::from_str::<Value>(&text.replace("aggressive_history", "risky_history")).expect("is JSON")
    };
    let (one, two) = (read("2012-10-01"), read("2012-10-03"));
    let both = json!({ "2012-10-01": one, "2012-10-03": two });
    put(&states.join("full_states_log_2012-10-01.json"), &json!({ "2012-10-01": one }).to_string());
    put(&states.join("full_states_log_2012-10-03.json"), &both.to_string());
    let found = tool.json(&DRY);
    assert_eq!(found["report"]["agents"][0], first, "{found}");
    assert!(told(&found, "skipped").contains("repeats"), "{found}");
}

// Goal: an imported session has no model calls, so none of its steps names a model or a finish reason.
#[tokio::test(flavor = "multi_thread")]
async fn imported_steps_name_no_model() {
    let tool = tool();
    let job = tool.json(&WRITE)["jobs"][0]["job_id"].as_str().expect("an id").to_owned();
    let first = session(&tool, &job, "2012-10-01");
    let config = Config { data_dir: tool.path("data"), ..Config::default() };
    let app = App::open(config, Access::Read, papertape::integrations()).await.expect("it opens");
    let id = first["session_id"].as_i64().expect("an ID");
    let query = SessionPageQuery { limit: Some(1000), cursor: None };
    let steps = papertape_service::view::steps(&app, id, query).await.expect("it reads").steps;
    let imported: Vec<_> = steps.iter().filter(|step| step.kind == "said").collect();
    assert_eq!(imported.len(), 25, "{steps:?}");
    assert!(imported.iter().all(|step| step.model.is_none() && step.finish_reason.is_none()), "{imported:?}");
}
