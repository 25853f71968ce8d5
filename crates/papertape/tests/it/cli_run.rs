//! A newcomer's path through the commands, on the bundled data, with house models.

use crate::cli_tool::{SHORT, Tool};

#[test]
fn a_job_can_be_run_read_replayed_verified_exported_and_branched() {
    let tool = Tool::new();
    let done = tool.ok(&SHORT);
    for text in ["house::momentum", "model          rules, not an LLM"] {
        assert!(done.out.contains(text), "{text}: {done:#?}");
    }
    let widest = done.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}: {done:#?}");
    assert!(done.out.contains("House models are rules, not LLMs"), "{done:#?}");
    assert!(done.err.contains("house::momentum: 3 of 3 days, 2012-10-03"), "{done:#?}");
    assert!(done.err.contains("papertape reasoning"), "{done:#?}");

    let jobs = tool.json(&["jobs"]);
    let job = jobs["jobs"][0]["job_id"].as_str().expect("has an id").to_owned();
    assert_eq!(jobs["count"], 1);
    assert!(tool.ok(&["jobs"]).out.contains(&job[job.len() - 8..]));
    assert_eq!(tool.json(&["jobs", "latest"])["job_id"], job.as_str());
    assert!(tool.ok(&["jobs", &job]).out.contains("3 model-days: 3 completed"));
    assert_eq!(tool.json(&["jobs", "--status", "failed"])["count"], 0);

    let results = tool.json(&["results", &job]);
    assert_eq!(results["results"][0]["model"], "house::momentum");
    assert_eq!(results["results"][0]["period_metrics"]["days"], 3);
    assert_eq!(tool.json(&["results", "--date", "2012-10-02"])["date"], "2012-10-02");
    assert!(tool.ok(&["results", &job, "--date", "2012-10-01"]).out.contains("on 2012-10-01, job"));

    let said = tool.ok(&["reasoning", &job, "--date", "2012-10-02"]).out;
    assert!(said.contains("Please analyze and update today's (2012-10-02) positions."), "{said}");
    assert!(said.contains("→ get_portfolio {}"), "{said}");
    let said = tool.json(&["reasoning", &job, "--date", "2012-10-02", "--brief"]);
    assert_eq!((&said["count"], said["sessions"][0].get("conversation")), (&1.into(), None));

    let replayed = tool.json(&["replay", &job]);
    assert_eq!((&replayed["equal"], &replayed["sessions_equal"]), (&true.into(), &3.into()));
    let verified = tool.json(&["verify", &job]);
    assert_eq!((&verified["whole"], verified["heads"].as_array().map(Vec::len)), (&true.into(), Some(3)));

    let exported = tool.ok(&["export", "canonical", &job]).out;
    let file = tool.path("job.jsonl");
    tool.ok(&["export", "canonical", "latest", "--output", "job.jsonl"]);
    assert_eq!(std::fs::read_to_string(file).expect("is written"), exported);
    assert!(!tool.path("job.jsonl.part").exists());

    let branch = ["branch", &job, "--date", "2012-10-02", "--model", "house::contrarian"];
    let branched = tool.json(&branch);
    assert_eq!((&branched["status"], &branched["parent"]), (&"completed".into(), &job.as_str().into()));
    let queued =
        tool.job(&["branch", &job, "--date", "2012-10-02", "--instructions", "Be bold.", "--no-run"]);
    assert_eq!(tool.json(&["jobs", &queued])["status"], "queued");
    assert_eq!(tool.json(&["cancel", &queued])["status"], "cancelled");
    assert_eq!(tool.json(&["resume", &queued])["status"], "completed");

    // Nothing is left to resume or to cancel.
    assert!(tool.ends(&["resume", &queued], 1).err.contains("is completed"));
    assert!(tool.ends(&["cancel", &queued], 1).err.contains("is already completed"));
}

#[test]
fn a_second_run_skips_completed_days_and_prints_the_same() {
    let tool = Tool::new();
    let first = tool.ok(&SHORT);
    let second = tool.ok(&SHORT);
    // The same metrics, and the jobs that produced them.
    let (table, below) = second.out.split_at(second.out.find(" completed before, by job").expect("says so"));
    assert!(first.out.starts_with(table.rsplit_once('\n').expect("lines").0), "{second:#?}");
    assert!(below.contains("completed before"), "{below}");
    assert!(second.err.contains("all 3 model-days are already completed"), "{second:#?}");
    // The newest job is the one that ran something.
    let status = tool.json(&["jobs", "latest"]);
    assert_eq!(status["progress"]["completed"], 3);
    // On request, it runs them again, and a run without a first day continues from there.
    let again: Vec<&str> = SHORT.iter().copied().chain(["--replace"]).collect();
    let again = tool.job(&again);
    assert_eq!(tool.json(&["jobs", &again])["progress"]["completed"], 3);
    let on =
        tool.json(&["run", "--end", "2012-10-05", "--model", "house::momentum", "--symbols", "AAPL,IBM"]);
    assert_eq!(on["date_range"], serde_json::json!(["2012-10-04", "2012-10-05"]));
}

#[test]
fn usage_errors_exit_with_code_2() {
    let tool = Tool::new();
    let check = |args: &[&str], reason: &str| {
        let done = tool.ends(args, 2);
        assert!(done.err.contains(reason), "{done:#?}");
        assert!(done.out.is_empty(), "{done:#?}");
    };
    check(&["run"], "--end");
    check(&["run", "--start", "2012-13-01", "--end", "2012-12-01"], "2012-13-01");
    check(&["run", "--start", "2012-12-02", "--end", "2012-12-01"], "--end: 2012-12-01 is before");
    check(&["run", "--start", "2012-12-01", "--end", "2012-12-02"], "no trading day");
    check(&["run", "--end", "2012-12-03"], "give a --start");
    check(&["run", "--demo", "--end", "2012-12-03"], "cannot be used with");
    check(
        &["run", "--start", "2012-12-03", "--end", "2012-12-03", "--model", "momentum"],
        "--model: unknown agent `momentum`",
    );
    check(
        &["run", "--start", "2012-12-03", "--end", "2012-12-03", "--model", "house::magic"],
        "house::momentum",
    );
    check(&["run", "--start", "2012-12-03", "--end", "2012-12-03", "--symbols", "TSLA"], "--symbols:");
    check(&["run", "--start", "2012-12-03", "--end", "2012-12-03", "--cash", "0"], "--cash:");
    check(&["run", "--demo", "--quick-model", "house::momentum"], "add --kind desk");
    check(&["run", "--demo", "--kind", "desk", "--analysts", "market,tea"], "unknown analyst `tea`");
    check(
        &["run", "--demo", "--kind", "desk", "--debate-rounds", "0"],
        "'--debate-rounds <COUNT>': expected a whole number from 1 to 10",
    );
    // A number or an ID says what was expected.
    check(&["plans", "show", "abc"], "'abc' for '<PLAN>': a plan ID is a number; run `papertape plans list`");
    check(&["plans", "delete", "1.5"], "'1.5' for '<PLAN>': a plan ID is a number");
    check(&["chat", "--plan", "first", "hi"], "'--plan <PLAN>': a plan ID is a number");
    check(&["jobs", "--limit", "all"], "'--limit <COUNT>': expected a whole number from 1 to 200");
    check(&["jobs", "--limit", "0"], "'--limit <COUNT>': expected a whole number from 1 to 200");
    check(&["actions", "latest", "--limit", "501"], "expected a whole number from 1 to 500");
    check(&["run", "--demo", "--seed", "x"], "'--seed <SEED>': expected a whole number, 0 or greater");
    check(&["run", "--demo", "--read-window", "11"], "expected a whole number from 0 to 10");
    check(&["serve", "--listen", "8080"], "expected an IP address with a port, such as 127.0.0.1:8080");
    for tokens in ["-5", "0", "many"] {
        let message = "'--budget-tokens <COUNT>': expected a whole number, 1 or greater";
        check(&["run", "--demo", "--budget-tokens", tokens], message);
        check(&["resume", "latest", "--budget-tokens", tokens], message);
    }
    check(&["run", "--demo", "--budget-usd", "-5"], "`-5` is below 0");
    check(&["resume", "latest", "--budget-usd", "-5"], "`-5` is below 0");
    check(&["run", "--demo", "--max-steps", "0"], "--max-steps");
    check(&["jobs", "--status", "lost"], "none of: queued");
    check(&["nonsense"], "nonsense");
    let without_key = ["run", "--start", "2012-12-03", "--end", "2012-12-03", "--model", "openai::gpt-5"];
    check(&without_key, "OPENAI_API_KEY");
    // With --json, the error is JSON too.
    let done = tool.ends(&["--json", "run", "--demo", "--style", "compact"], 2);
    let error: serde_json::Value = serde_json::from_str(&done.err).expect("stderr is JSON");
    assert_eq!(error["error"], "usage");
}

#[test]
fn missing_items_exit_with_code_4() {
    let tool = Tool::new();
    let commands: [&[&str]; 8] = [
        &["jobs", "nope"],
        &["results", "nope"],
        &["reasoning", "nope"],
        &["replay", "nope"],
        &["resume", "nope"],
        &["cancel", "nope"],
        &["verify", "nope"],
        &["export", "canonical", "nope"],
    ];
    for args in commands {
        assert!(tool.ends(args, 4).err.contains("no database in data"));
    }
    // A read command creates no database.
    assert!(!tool.path("data").exists());
    tool.ok(&SHORT);
    for args in commands {
        assert!(tool.ends(args, 4).err.contains("unknown job nope"), "{args:?}");
    }
    tool.ends(&["branch", "nope", "--date", "2012-10-02"], 4);
    tool.ends(&["reasoning", "latest", "--date", "2012-10-04"], 4);
    tool.ends(&["results", "--agent", "nobody"], 4);
}

/// Goal: without a job, agents share a table only if its days, data and baselines are true for all of them.
#[test]
fn results_of_different_days_and_symbols_have_their_own_tables() {
    let tool = Tool::new();
    let run = |end: &str, symbols: &str, model: &str| {
        let args = ["run", "--start", "2012-10-01", "--end", end, "--symbols", symbols, "--model", model];
        tool.ok(&[&args[..], &["--no-summaries"]].concat()).out
    };
    run("2012-10-03", "AAPL,IBM", "house::momentum");
    run("2012-10-03", "AAPL,IBM", "house::contrarian");
    let one = tool.ok(&["results"]).out;
    assert!(one.starts_with("2012-10-01 to 2012-10-03\n"), "{one}");
    assert_eq!(one.matches("Baselines: ").count(), 1, "{one}");
    assert!(!one.contains("do not compare"), "{one}");

    let other = run("2012-10-05", "MSFT", "house::buy_and_hold");
    let several = tool.ok(&["results"]).out;
    let data = "us-daily-2000-2013, us_equity (frictionless)";
    let on_one_line = several.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(on_one_line.starts_with(&format!("2012-10-01 to 2012-10-05, {data}: MSFT agent ")), "{several}");
    assert!(
        on_one_line.contains(&format!(" 2012-10-01 to 2012-10-03, {data}: AAPL, IBM agent ")),
        "{several}"
    );
    let baselines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("Baselines: ")).map(str::to_owned).collect()
    };
    assert_eq!(baselines(&several), [baselines(&other), baselines(&one)].concat(), "{several}");
    assert_eq!(several.matches("so do not compare returns across them").count(), 1, "{several}");
    assert_eq!(several.matches("House models are rules").count(), 1, "{several}");
}

#[test]
fn an_exhausted_budget_stops_the_job_and_a_larger_one_resumes_it() {
    let tool = Tool::new();
    // Enough for the first day, but not for three.
    let args: Vec<&str> = SHORT.iter().copied().chain(["--budget-tokens", "10000"]).collect();
    let done = tool.ends(&args, 3);
    assert!(done.err.contains(" tokens used, ") && done.err.contains("a larger budget"), "{done:#?}");
    let progress = tool.json(&["jobs", "latest"])["progress"].clone();
    assert!(progress["completed"] != 0 && progress["pending"] != 0, "{progress}");
    let more = tool.json(&SHORT);
    assert_eq!(
        (&more["status"], &more["progress"]["skipped"]),
        (&"completed".into(), &progress["completed"])
    );
}

#[test]
fn fewer_steps_are_fewer_model_calls() {
    let tool = Tool::new();
    let args: Vec<&str> = SHORT.iter().copied().chain(["--max-steps", "1"]).collect();
    tool.run(&args);
    let said = tool.json(&["reasoning", "latest", "--date", "2012-10-01"]);
    let spoken = said["sessions"][0]["conversation"].as_array().expect("has messages").iter();
    assert_eq!(spoken.filter(|message| message["role"] == "assistant").count(), 1);
}

#[test]
fn small_commands_work() {
    let tool = Tool::new();
    let data = tool.json(&["data", "list"]);
    assert_eq!(data["datasets"][0]["name"], "us-daily-2000-2013");
    assert!(tool.ok(&["data", "list"]).out.contains("AAPL, FB, GOOG, IBM, MSFT"));
    assert!(tool.ok(&["completions", "bash"]).out.contains("papertape"));
    assert!(tool.ok(&["--version"]).out.starts_with("papertape "));
    // Help is the first line of a command's documentation, without a period.
    for line in tool.ok(&["--help"]).out.lines().filter(|line| line.starts_with("  ")) {
        assert!(!line.ends_with('.'), "{line}");
    }
    assert!(!tool.path("data").exists());
}
