//! `papertape import ai-trader`: runs from another tool, previewed before they are written, written once or
//! not at all, and usable by every other command.

use crate::cli_tool::Tool;
use crate::import_support::{
    ALPHA, CHINESE, DAYS, SAYS, act, agent, alpha, folder, jsonl, log, prices, put, row, rows,
};
use papertape_testkit::postgres;
use serde_json::{Value, json};
use std::path::Path;
use std::time::SystemTime;

const DRY: [&str; 3] = ["import", "ai-trader", "runs"];
const WRITE: [&str; 4] = ["import", "ai-trader", "runs", "--write"];

/// A tool with a folder `runs`, filled by `fill`.
fn tool(fill: impl Fn(&Path)) -> Tool {
    let tool = Tool::new();
    fill(&tool.path("runs"));
    tool
}

/// A volume that makes the prices unique to this test, because the database is shared.
fn volume() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("is after it");
    u64::try_from(since.as_micros()).expect("fits") % 1_000_000_000_000
}

/// The import's report, from a run with this exit code.
fn report(tool: &Tool, args: &[&str], code: i32) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    let done = tool.ends(&args, code);
    serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
}

/// Imports, and returns the job.
fn imported(tool: &Tool, args: &[&str]) -> String {
    let written = tool.json(args);
    assert_eq!(written["jobs"].as_array().map(Vec::len), Some(1), "{written}");
    written["jobs"][0]["job_id"].as_str().expect("an id").to_owned()
}

/// The lines of a kind, as text.
fn told(report: &Value, kind: &str) -> Vec<String> {
    let all = report["report"][kind]["first"].as_array().expect("a list");
    all.iter().map(ToString::to_string).collect()
}

fn reasoning(tool: &Tool, job: &str, agent: &str, date: &str) -> Value {
    tool.json(&["reasoning", job, "--agent", agent, "--date", date])["sessions"][0].clone()
}

/// Checks everything that must hold for the job of the valid folder.
fn holds(tool: &Tool, job: &str) {
    let about = tool.json(&["jobs", job]);
    assert_eq!(
        (about["status"].as_str(), about["progress"]["completed"].as_u64()),
        (Some("completed"), Some(8))
    );
    assert!(about["warnings"][0].as_str().expect("one").contains("unverified"), "{about}");

    let results = tool.json(&["results", job]);
    let of_alpha = results["results"].as_array().expect("a list").iter().find(|one| one["model"] == ALPHA);
    let values = of_alpha.expect("is there")["daily_portfolio_values"].as_array().expect("a list").clone();
    let last = values.last().expect("a day");
    assert_eq!((last["date"].as_str(), last["portfolio_value"].as_f64()), (Some(DAYS[4]), Some(995.0)));
    let provenance = &of_alpha.expect("is there")["provenance"];
    // Nobody answered on the last day, which is not a failure.
    let unanswered =
        json!({ "date": DAYS[4], "model": ALPHA, "state": "no_decision", "reason": "no_answer_recorded" });
    assert_eq!((&provenance["reasons"], &provenance["failed_days"]), (&json!([unanswered]), &json!([])));
    assert_eq!(about["quality"], json!({ "degraded_days": 1, "failed_days": 0, "first": unanswered }));
    let reason = &provenance["point_in_time_reason"];
    assert_eq!((&provenance["point_in_time"], &reason["kind"]), (&json!("unverified"), &json!("import")));
    assert_eq!((reason["job"].as_str(), reason["date"].as_str()), (Some(job), Some(DAYS[1])));
    let shown = tool.ok(&["results", job]).out;
    assert!(shown.contains("point-in-time unverified (imported: session"), "{shown}");

    let first = reasoning(tool, job, ALPHA, DAYS[1]);
    let actions: Vec<String> = first["positions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| format!("{} {} {} {}", row["action_type"], row["amount"], row["price"], row["cash_after"]))
        .collect();
    assert_eq!(actions, [r#""buy" 10 11.5 885"#, r#""buy" 4 20.5 803"#]);
    let messages: Vec<&str> = first["conversation"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["role"].as_str().expect("one"))
        .collect();
    assert_eq!(messages, ["user", "assistant", "assistant"]);
    assert!(first["session_summary"].is_string(), "{first}");
    assert!(first["conversation"][1]["summary"].is_string(), "{first}");

    assert!(tool.ok(&["verify", job]).err.contains("intact"));
    assert_eq!(tool.json(&["replay", job])["equal"], true);
}

/// The reflections, in the order of the exits.
fn reflections(tool: &Tool, job: &str) -> Vec<Value> {
    let found = tool.json(&["memory", "trades", "--job", job]);
    let mut found = found["trades"].as_array().expect("a list").clone();
    found.sort_by_key(|one| one["exit_time"].to_string());
    found
}

// Goal: a dry run reports and writes nothing; an import creates a job on which every command works, marked
// with its origin; a position that closes in two parts gets two reflections, and never again; the same import
// writes nothing more, wherever its files are.
#[test]
fn a_recorded_run_is_told_written_once_and_used() {
    let tool = tool(|dir| folder(dir, 1_000));
    let dry = tool.json(&DRY);
    assert_eq!((dry["written"].as_bool(), dry["jobs"].as_array().map(Vec::len)), (Some(false), Some(0)));
    let of_alpha = &dry["report"]["agents"][0];
    let numbers = ["rows", "trades", "trades_of_nothing", "no_trades", "messages", "sessions", "closings"];
    let numbers: Vec<u64> = numbers.iter().map(|name| of_alpha[*name].as_u64().expect("a number")).collect();
    assert_eq!(numbers, [7, 4, 1, 1, 8, 4, 2], "{of_alpha}");
    assert_eq!((&of_alpha["computed_cash"], &of_alpha["portfolio_value"]), (&json!("910"), &json!("995")));
    assert_eq!(dry["report"]["disagreements"]["count"], 0, "{dry}");
    assert!(!tool.path("data").exists(), "a dry run makes nothing");
    assert!(tool.ok(&DRY).err.contains("--write"));

    let job = imported(&tool, &WRITE);
    holds(&tool, &job);
    let shown = tool.ok(&["jobs", &job]).out;
    assert!(shown.contains("from runs (ai-trader)"), "{shown}");
    let closed = reflections(&tool, &job);
    let closed: Vec<(f64, bool)> =
        closed.iter().map(|one| (one["pnl"].as_f64().expect("a number"), one["symbol"] == "AAA")).collect();
    assert_eq!(closed, [(4.0, true), (-12.0, true)]);
    let zero = tool.json(&["results", &job, "--date", DAYS[3]]);
    assert!(zero.to_string().contains("invalid_amount"), "{zero}");

    let again = tool.json(&WRITE);
    assert_eq!(again["jobs"], json!([{ "job_id": job, "status": "completed", "imported": false }]));
    std::fs::rename(tool.path("runs"), tool.path("moved")).expect("moves");
    let moved = tool.json(&["import", "ai-trader", "moved", "--write"]);
    assert_eq!(moved["jobs"][0]["job_id"], job.as_str());
    assert_eq!(tool.json(&["import", "ai-trader", "moved"])["jobs"][0]["job_id"], job.as_str());
    assert_eq!(tool.json(&["jobs"])["count"], 1);
    assert_eq!(reflections(&tool, &job).len(), 2);

    let next = imported(&tool, &["import", "ai-trader", "moved", "--write", "--replace", "--memory", "off"]);
    assert_eq!(tool.json(&["jobs", &job])["superseded_by"], next.as_str());
    assert!(reflections(&tool, &next).is_empty(), "the memory is off");
    assert_eq!(tool.json(&["import", "ai-trader", "moved", "--write"])["jobs"][0]["job_id"], next.as_str());
}

// Goal: the same on PostgreSQL.
#[test]
fn postgres_takes_a_recorded_run_once() {
    let place = postgres::place().expect("starts PostgreSQL");
    let tool = tool(|dir| folder(dir, volume())).with("PAPERTAPE_DATABASE_URL", &place.url);
    let job = imported(&tool, &WRITE);
    holds(&tool, &job);
    assert_eq!(reflections(&tool, &job).len(), 2);
    let again = tool.json(&WRITE);
    assert_eq!(again["jobs"], json!([{ "job_id": job, "status": "completed", "imported": false }]));
    assert_eq!(reflections(&tool, &job).len(), 2);
}

// Goal: every unreadable row is reported by file and line, and then nothing is written, not even prices; the
// complete agents can be selected by name.
#[test]
fn rows_that_cannot_be_read_are_told_and_keep_all_out() {
    let whole = |row: Value| row.to_string();
    let lines = [
        whole(rows()[0].clone()),
        "{\"date\": \"2025-10-02\", \"id\": 1".to_owned(),
        whole(row(2, "2025-10-32", act("buy", "AAA", 1), (0, 0, 1.0))),
        whole(row(3, DAYS[1], act("hold", "AAA", 1), (0, 0, 1.0))),
        whole(row(4, DAYS[1], act("buy", "AAA", "ten"), (0, 0, 1.0))),
        whole(row(5, DAYS[1], act("buy", "AAA", -1), (0, 0, 1.0))),
        whole(json!({ "date": DAYS[1], "id": 6, "positions": { "AAA": 1 } })),
        "[1, 2]".to_owned(),
        "{\"date\": \"2025-10-02\", \"id\": 8, \"positions\": {\"CASH\": NaN}}".to_owned(),
        whole(json!({ "date": DAYS[1], "positions": { "CASH": 1 } })),
    ];
    let bad_log = jsonl(&[
        json!({ "new_messages": [{ "role": "wizard", "content": "x" }] }),
        json!({ "new_messages": "x" }),
        json!({ "signature": "x" }),
        json!({ "new_messages": [{ "role": "user", "content": 7 }] }),
    ]);
    let tool = tool(|dir| {
        folder(dir, 1_000);
        agent(dir, "broken", &[], &[(DAYS[1], bad_log.clone())]);
        put(&dir.join("agent_data/broken/position/position.jsonl"), &lines.join("\n"));
        std::fs::write(dir.join("agent_data/broken/log").join(DAYS[1]).join("notes.txt"), b"x")
            .expect("writes");
    });
    let found = report(&tool, &WRITE, 1);
    let problems = told(&found, "problems");
    assert_eq!(found["report"]["problems"]["count"], 13, "{problems:#?}");
    for line in 2..=10 {
        let place = format!("\"line\":{line},");
        let named = problems.iter().filter(|one| one.contains("position.jsonl") && one.contains(&place));
        assert_eq!(named.count(), 1, "line {line}: {problems:#?}");
    }
    for line in 1..=4 {
        let place = format!("\"line\":{line},");
        let named = problems.iter().filter(|one| one.contains("log.jsonl") && one.contains(&place));
        assert_eq!(named.count(), 1, "line {line}: {problems:#?}");
    }
    assert!(!tool.path("data").exists(), "nothing is half imported");
    assert!(tool.ends(&DRY, 1).err.contains("position.jsonl, line 3: `2025-10-32`"));

    let job =
        imported(&tool, &["import", "ai-trader", "runs", "--write", "--agent", ALPHA, "--agent", CHINESE]);
    holds(&tool, &job);
}

// Goal: a log line that a killed process truncated is left out on request, and the job says so; a row of the
// books never is. Integers as tables write them and roles in capitals are read.
#[test]
fn a_cut_line_of_a_log_is_left_out_where_asked_for() {
    let mut floats = rows();
    floats[6]["id"] = json!(6.0);
    let tool = tool(|dir| {
        folder(dir, 1_000);
        alpha(dir, &floats);
        let whole = log(ALPHA, DAYS[4], &[]).replace("\"user\"", "\"User\"");
        let cut = format!("{whole}{{\"signature\": \"alpha-1\", \"new_mess");
        put(&dir.join("agent_data").join(ALPHA).join("log").join(DAYS[4]).join("log.jsonl"), &cut);
    });
    assert!(tool.ends(&WRITE, 1).err.contains("--skip-unreadable"));
    let skip = ["import", "ai-trader", "runs", "--write", "--skip-unreadable"];
    let written = tool.json(&skip);
    assert_eq!(written["report"]["unreadable"]["first"][0]["line"], 2, "{written}");
    let job = written["jobs"][0]["job_id"].as_str().expect("an id");
    holds(&tool, job);
    let about = tool.json(&["jobs", job]);
    assert!(about["warnings"][1].as_str().expect("one").contains("log.jsonl, line 2"), "{about}");

    let positions = tool.path("runs").join("agent_data").join(ALPHA).join("position/position.jsonl");
    let mut rows = std::fs::read_to_string(&positions).expect("reads");
    rows.push_str("{\"date\"");
    put(&positions, &rows);
    assert_eq!(report(&tool, &skip, 1)["report"]["problems"]["count"], 1);
    put(&positions, &jsonl(&[json!({ "date": "2025-10-01 10:00:00", "id": 0, "positions": { "CASH": 1 } })]));
    assert!(tool.ends(&skip, 1).err.contains("hourly runs"));
}

// Goal: rejected prices prevent the whole import too, and an agent must start with cash only.
#[test]
fn prices_and_beginnings_that_are_none_keep_all_out() {
    let tool = tool(|dir| folder(dir, 1_000));
    let merged = tool.path("runs").join("merged.jsonl");
    let text = std::fs::read_to_string(&merged).expect("reads");
    put(&merged, &text.replace("\"14.2500\"", "\"much\""));
    let found = report(&tool, &WRITE, 1);
    assert!(told(&found, "problems")[0].contains("merged.jsonl"), "{found}");
    assert!(!tool.path("data").exists());
    put(&merged, &text);

    let mut held = rows();
    held[0] = row(0, DAYS[0], Value::Null, (3, 0, 1_000.0));
    alpha(&tool.path("runs"), &held);
    let found = report(&tool, &WRITE, 1);
    assert!(told(&found, "problems")[0].contains("start with cash only"), "{found}");
    assert!(!tool.path("data").exists());
}

// Goal: books that do not add up are reported row by row and not imported; if accepted, they are recomputed
// from actions and prices, and the job and its sessions record the differences.
#[test]
fn books_that_do_not_add_up_are_told_and_not_mended() {
    let mut wrong = rows();
    // 50 too much from the third row on, and a trade at a price that did not occur on that day.
    for (at, cash) in [(3, 903.0), (4, 960.0), (5, 960.0), (6, 960.0)] {
        wrong[at]["positions"]["CASH"] = json!(cash);
    }
    wrong[2]["this_action"]["price"] = json!(19.5);
    // A purchase that exceeds the cash.
    wrong.push(row(7, DAYS[4], act("buy", "BBB", 1_000), (0, 1_004, -19_540.0)));
    let tool = tool(|dir| {
        folder(dir, 1_000);
        alpha(dir, &wrong);
    });
    let found = report(&tool, &WRITE, 1);
    let disagreements = told(&found, "disagreements");
    assert_eq!(disagreements.len(), 3, "{disagreements:#?}");
    assert!(disagreements[0].contains("\"line\":3,") && disagreements[0].contains("19.5"));
    assert!(disagreements[1].contains("\"line\":4,") && disagreements[1].contains("\"computed\":\"853"));
    assert!(disagreements[2].contains("insufficient_cash"), "{disagreements:#?}");
    assert!(!tool.path("data").exists());
    assert!(tool.ends(&WRITE, 1).err.contains("--accept-disagreements"));

    let job = imported(&tool, &["import", "ai-trader", "runs", "--write", "--accept-disagreements"]);
    let about = tool.json(&["jobs", &job]);
    assert_eq!(about["warnings"].as_array().map(Vec::len), Some(4), "{about}");
    let day = tool.json(&["results", &job, "--date", DAYS[2]]);
    let of_alpha = day["results"].as_array().expect("a list").iter().find(|one| one["model"] == ALPHA);
    let recorded = &of_alpha.expect("is there")["metadata"]["recorded"];
    let difference = json!({ "item": "cash", "recorded": 903, "computed": 853 });
    assert_eq!((&recorded["orders"], &recorded["differences"]), (&json!(1), &json!([difference])), "{day}");
    let sold = reasoning(&tool, &job, ALPHA, DAYS[2]);
    assert_eq!(sold["positions"][0]["cash_after"], 853.0, "{day}");
    assert_eq!(tool.json(&["replay", &job])["equal"], true);
}

// Goal: unordered rows and duplicate rows produce the same job as ordered ones, and are reported.
#[test]
fn rows_out_of_order_and_twice_are_told_and_change_nothing() {
    let tool = tool(|dir| folder(dir, 1_000));
    let job = imported(&tool, &WRITE);
    let mut shuffled = rows();
    shuffled.swap(1, 4);
    shuffled.push(rows()[2].clone());
    alpha(&tool.path("runs"), &shuffled);
    let found = tool.json(&WRITE);
    assert_eq!(found["jobs"], json!([{ "job_id": job, "status": "completed", "imported": false }]));
    assert!(told(&found, "skipped").iter().any(|one| one.contains("it repeats line")), "{found}");
    let notes = found["report"]["notes"].to_string();
    assert!(notes.contains("are not sorted by ID"), "{notes}");

    // A later row with an earlier date is invalid.
    let mut back = rows();
    back[6] = row(6, DAYS[2], act("no_trade", "", 0), (0, 4, 910.0));
    alpha(&tool.path("runs"), &back);
    let found = report(&tool, &DRY, 1);
    assert!(told(&found, "problems")[0].contains("before row 5"), "{found}");
}

// Goal: Chinese text is stored verbatim, is found by search, and is remembered in Chinese on request.
#[test]
fn chinese_texts_are_kept_to_the_letter() {
    let tool = tool(|dir| folder(dir, 1_000));
    let job = imported(&tool, &["import", "ai-trader", "runs", "--write", "--language", "zh"]);
    let session = reasoning(&tool, &job, CHINESE, DAYS[1]);
    assert_eq!(session["conversation"][1]["content"], SAYS);
    let round = tool.json(&["memory", "rounds", "--job", &job, "--agent", CHINESE]);
    assert!(round.to_string().contains("[结论]"), "{round}");
    assert_eq!(tool.json(&["replay", &job])["equal"], true);
}

// Goal: empty folders, files and logs are reported, and nothing is imported.
#[test]
fn what_is_empty_is_told() {
    let tool = tool(|dir| {
        prices(dir, 1_000);
        agent(dir, "empty", &[], &[(DAYS[1], String::new())]);
        agent(dir, "weekend", &rows()[..1], &[("2025-10-04", log("weekend", "2025-10-04", &["Closed."]))]);
        put(&dir.join("agent_data/lost/log/yesterday/log.jsonl"), "");
    });
    let found = report(&tool, &WRITE, 1);
    assert_eq!(found["report"]["agents"], json!([]));
    let skipped = told(&found, "skipped").join("\n");
    for why in ["no position/position.jsonl", "no row", "not a trading day", "no messages"] {
        assert!(skipped.contains(why), "{why}: {skipped}");
    }
    assert!(!tool.path("data").exists());
    let none = tool.path("nothing");
    std::fs::create_dir(&none).expect("makes it");
    tool.ends(&["import", "ai-trader", "nothing"], 2);
    tool.ends(&["import", "ai-trader", "nowhere"], 2);
    tool.ends(&["import", "ai-trader", "runs", "--agent", "nobody"], 2);
}

// Goal: a recorded model cannot be called; a branch needs another model, has the recorded past, and pays only
// for what follows the cut.
#[test]
fn another_model_goes_on_where_a_recorded_one_was() {
    let tool = tool(|dir| folder(dir, 1_000));
    let job = imported(&tool, &WRITE);
    let cut = ["branch", &job, "--agent", ALPHA, "--date", DAYS[3]];
    assert!(tool.ends(&cut, 2).err.contains("name the model"));
    let args: Vec<&str> = cut.into_iter().chain(["--model", "house::buy_and_hold"]).collect();
    let branch = tool.job(&args);
    let before = |job: &str| reasoning(&tool, job, ALPHA, DAYS[2])["conversation"][1]["content"].clone();
    assert_eq!(before(&branch), before(&job));
    let after = reasoning(&tool, &branch, ALPHA, DAYS[3])["conversation"].to_string();
    assert!(!after.contains("AAA falls"), "{after}");
    assert_eq!(tool.json(&["replay", &branch])["equal"], true);
    // Its account follows from the recorded days.
    let day = tool.json(&["results", &branch, "--agent", ALPHA, "--date", DAYS[3]])["results"][0].clone();
    let last = tool.json(&["results", &job, "--agent", ALPHA, "--date", DAYS[2]])["results"][0].clone();
    let reason = json!({
        "kind": "branch", "job": job, "session": last["metadata"]["session_id"], "date": DAYS[2],
    });
    assert_eq!(day["provenance"]["point_in_time"], "unverified");
    assert_eq!(day["provenance"]["point_in_time_reason"], reason);
    let shown = tool.ok(&["results", &branch, "--agent", ALPHA, "--date", DAYS[3]]).out;
    assert!(shown.contains("point-in-time unverified: it branched off after session"), "{shown}");
    // A model given only by that name cannot run.
    let start = [
        "run",
        "--dataset",
        "ai-trader",
        "--start",
        DAYS[1],
        "--end",
        DAYS[2],
        "--model",
        "recorded::alpha-1",
    ];
    tool.ends(&start, 2);
    // Nor does an agent of that name continue an account that another program recorded.
    let idle = "[[agents]]\nname = \"智能体\"\nmodel = \"house::momentum\"\n";
    put(&tool.path("papertape.toml"), idle);
    let on = tool.ends(&["run", "--dataset", "ai-trader", "--end", DAYS[4], "--model", CHINESE], 2);
    assert!(on.err.contains("imported"), "{on:?}");
}

// Goal: a run that was restarted in the middle is reported as a fork, once, by the line and the row that it
// continues from; the return of a rejected agent is not shown, and those of others are.
#[test]
fn a_fork_is_named_and_a_rejected_agent_has_no_return() {
    let mut forked = rows();
    // After its last row the run continues from row 2, as if rows 3 to 6 had never existed.
    forked.push(row(7, DAYS[4], act("sell", "AAA", 10), (0, 4, 938.0)));
    let tool = tool(|dir| {
        folder(dir, 1_000);
        alpha(dir, &forked);
    });
    let report = report(&tool, &DRY, 1);
    let told = told(&report, "disagreements").join("\n");
    assert!(told.contains("line 8 restarts from row 2 (line 3)"), "{told}");
    let agents = report["report"]["agents"].as_array().expect("a list");
    let of = |name: &str| agents.iter().find(|one| one["agent"] == name).expect("is there").clone();
    assert_eq!(of(ALPHA)["portfolio_value"], Value::Null);
    assert_eq!(of(ALPHA)["rejected"], "its books do not add up");
    assert_eq!(of(CHINESE)["portfolio_value"], "1000");
    let shown = tool.ends(&DRY, 1);
    let line = shown.out.lines().find(|line| line.contains(ALPHA)).expect("a row").to_owned();
    assert!(!line.contains('%'), "{line}");
    assert!(shown.err.contains(&format!("{ALPHA} rejected")), "{}", shown.err);
}
