//! `papertape profile`: over files, and over a desk's run.

use crate::cli_tool::{SHORT, Tool};
use serde_json::{Value, json};

/// The invariants of a small trace.
fn invariants(model: &str) -> Value {
    json!({
        "provider": "house", "model": model, "overall_timeout_secs": 120, "max_debate_rounds": 1,
        "max_risk_discuss_rounds": 1
    })
}

/// A trace in our format in which each node takes `scale` times as long; `late` is a node that hit its deadline.
fn ours(run_id: &str, style: &str, scale: f64, late: &str) -> Value {
    let nodes = [
        ("Market Analyst", "analyst", "quick", 0.0, 2.0, 3),
        ("News Analyst", "analyst", "quick", 0.0, 3.0, 2),
        ("Bull Researcher", "research", "quick", 3.0, 4.0, 0),
        ("Bear Researcher", "research", "quick", 4.0, 5.5, 0),
        ("Research Manager", "research", "deep", 5.5, 8.0, 0),
        ("Trader", "trading", "quick", 8.0, 9.0, 0),
        ("Portfolio Manager", "portfolio", "deep", 9.0, 11.0, 0),
    ];
    let mut is_degraded = false;
    let timings: Vec<Value> = nodes
        .iter()
        .map(|(node, phase, kind, start, end, tools)| {
            is_degraded |= *node == late;
            let reason = is_degraded.then_some("bull_researcher_timeout");
            let status = (*phase == "research").then_some(if is_degraded { "degraded" } else { "full" });
            json!({
                "run_id": run_id, "nodes": [node], "phases": [phase], "llm_kinds": [kind], "round": 1,
                "start_at": start * scale, "end_at": end * scale,
                "elapsed_ms": ((end - start) * scale * 1000.0).round(),
                "state": if *node == late { "timeout" } else { "ok" },
                "research_status": status, "degraded_reason": status.and(reason),
                "history_len": if *phase == "research" { 900 } else { 0 }, "response_len": 300,
                "tool_calls": tools, "input_tokens": 1200, "output_tokens": 240
            })
        })
        .collect();
    json!({
        "trace_schema_version": "papertape.profile_trace.v1", "elapsed_definition": "node_span",
        "run_id": run_id, "status": "ok", "ticker": "AAPL", "date": "2012-10-02",
        "selected_analysts": ["market", "news"], "analysis_prompt_style": style,
        "model": "house::momentum", "invariants": invariants("momentum"), "node_timings": timings,
        "phase_totals_seconds": {
            "analyst": 3.0 * scale, "research": 5.0 * scale, "trading": scale, "risk": 0.0,
            "portfolio": 2.0 * scale
        },
        "summary": {
            "event_count": 7, "total_elapsed_ms": (11_000.0 * scale).round(),
            "degraded_event_count": if is_degraded { 3 } else { 0 },
            "final_research_status": if is_degraded { "degraded" } else { "full" },
            "final_degraded_reason": is_degraded.then_some("bull_researcher_timeout")
        },
        "dump_path": null, "raw_events": []
    })
}

/// A trace as the `TradingAgents` harness writes it.
fn theirs() -> Value {
    let node = |name: &str, phase: &str, kind: &str, from: f64, to: f64, status: Option<&str>, len: u64| {
        json!({
            "run_id": "20260411T101500Z", "nodes": [name], "phases": [phase], "llm_kinds": [kind],
            "start_at": from, "end_at": to, "elapsed_ms": ((to - from) * 1000.0).round() as u64,
            "selected_analysts": ["market"], "analysis_prompt_style": "compact",
            "research_status": status, "degraded_reason": null, "history_len": len, "response_len": len / 2
        })
    };
    json!({
        "status": "ok", "ticker": "AAPL", "date": "2026-04-11", "selected_analysts": ["market"],
        "analysis_prompt_style": "compact",
        "node_timings": [
            node("Market Analyst", "analyst", "quick", 0.0, 6.212, None, 0),
            node("tools_market", "unknown", "unknown", 6.212, 6.4, None, 0),
            node("Bull Researcher", "research", "quick", 6.4, 14.4, Some("full"), 1800),
            node("Research Manager", "research", "deep", 14.4, 22.4, Some("full"), 2200),
            node("Portfolio Manager", "portfolio", "deep", 22.4, 28.4, None, 0)
        ],
        "phase_totals_seconds": {"analyst": 6.212, "unknown": 0.188, "research": 16.0, "portfolio": 6.0},
        "dump_path": "orchestrator/profile_runs/AAPL_2026-04-11_20260411T101500Z.json",
        "raw_events": []
    })
}

/// A directory with two cohorts of ours, a trace of theirs, and files that are not traces.
fn desk() -> Tool {
    let tool = Tool::new();
    let write = |name: &str, value: &Value| {
        let path = tool.path(name);
        std::fs::create_dir_all(path.parent().expect("is in a directory")).expect("makes it");
        std::fs::write(path, value.to_string()).expect("writes");
    };
    for (at, scale) in [0.9, 1.0, 1.05].into_iter().enumerate() {
        write(&format!("compact/{at}.json"), &ours(&format!("c{at}"), "compact", scale, ""));
        let late = if at == 2 { "Bull Researcher" } else { "" };
        write(&format!("detailed/{at}.json"), &ours(&format!("d{at}"), "detailed", scale * 2.0, late));
    }
    std::fs::write(tool.path("compact/notes.txt"), "no trace").expect("writes");
    write("theirs.json", &theirs());
    tool
}

const AB: [&str; 10] =
    ["profile", "ab", "--a", "compact", "--b", "detailed", "--label-a", "compact", "--label-b", "detailed"];

// Goal: two cohorts are compared from their files only: no database is needed or created.
#[test]
fn cohorts_are_compared_from_their_files() {
    let tool = desk();
    let done = tool.ok(&AB);
    insta::assert_snapshot!("profile_ab", format!("{}---\n{}", done.out, done.err));
    let mut report = tool.json(&AB);
    assert_eq!(report["comparison"]["faster_label"], "compact");
    assert_eq!(report["comparison"]["recommended_label"], Value::Null, "three runs each are within noise");
    insta::assert_json_snapshot!("profile_ab_json", report.take());
    let to_a_file: Vec<&str> = AB.iter().copied().chain(["--output", "report.json"]).collect();
    tool.ok(&to_a_file);
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(tool.path("report.json")).expect("is there"))
            .expect("is JSON");
    assert_eq!(written, tool.json(&AB));
    assert!(!tool.path("data").exists());
}

// Goal: a trace is drawn, in plain text without a terminal, and printed unchanged with --json.
#[test]
fn a_trace_is_drawn() {
    let tool = desk();
    insta::assert_snapshot!("profile_show", tool.ok(&["profile", "show", "detailed/2.json"]).out);
    insta::assert_snapshot!("profile_show_theirs", tool.ok(&["profile", "show", "theirs.json"]).out);
    let shown = tool.json(&["profile", "show", "compact/0.json"]);
    assert_eq!((&shown["run_id"], &shown["node_timings"][0]["elapsed_ms"]), (&"c0".into(), &1800.into()));
    assert_eq!(tool.json(&["profile", "show", "compact"]).as_array().map(Vec::len), Some(3));
}

// Goal: traces that cannot be compared or read are rejected with the reason and the file.
#[test]
fn incomparable_traces_are_rejected() {
    let tool = desk();
    let check = |args: &[&str], code: i32, said: &str| {
        let args: Vec<&str> = ["profile", "ab"].iter().chain(args).copied().collect();
        let done = tool.ends(&args, code);
        assert!(done.err.contains(said) && done.out.is_empty(), "{said}: {done:#?}");
    };
    check(
        &["--a", "compact", "--b", "detailed", "--label-a", "x", "--label-b", "x"],
        2,
        "both cohorts are labeled `x`",
    );
    check(
        &["--a", "compact", "--b", "compact"],
        2,
        "duplicate run c0: in compact/0.json and in compact/0.json",
    );
    check(&["--a", "compact", "--b", "nowhere"], 4, "nowhere: ");
    check(&["--a", "compact"], 2, "--b");
    check(&["--a", "compact", "--b", "theirs.json"], 2, "date: 2012-10-02 against 2026-04-11");
    check(&["--a", "compact", "--b", "detailed", "--vary", "lunch"], 2, "`lunch` is none of: ticker, date");
    tool.ok(&["profile", "ab", "--a", "compact", "--b", "theirs.json", "--vary", "date"]);
    std::fs::create_dir(tool.path("empty")).expect("makes it");
    check(&["--a", "compact", "--b", "empty"], 2, "the cohort `B` has no traces");
    std::fs::write(tool.path("detailed/bad.json"), "{}").expect("writes");
    std::fs::write(tool.path("detailed/worse.json"), "\u{0}").expect("writes");
    check(
        &["--a", "compact", "--b", "detailed"],
        1,
        "cannot read 2 traces:\n  detailed/bad.json: not a trace: missing field",
    );
    tool.ends(&["profile", "show", "detailed/bad.json"], 1);
    tool.ends(&["profile", "show", "nowhere"], 4);
}

// Goal: one ticker-day of a desk is run and its trace written, drawn and read back; the job is in the database.
#[test]
fn a_chain_is_run_and_its_trace_written() {
    let tool = Tool::new();
    let chain = [
        "profile",
        "chain",
        "--ticker",
        "AAPL",
        "--date",
        "2012-10-02",
        "--analysis-prompt-style",
        "compact",
        "--selected-analysts",
        "market,news",
        "--dump-dir",
        "runs",
    ];
    let trace = tool.json(&chain);
    assert_eq!(
        (&trace["status"], &trace["trace_schema_version"]),
        (&"ok".into(), &"papertape.profile_trace.v1".into())
    );
    assert_eq!(trace["selected_analysts"], json!(["market", "news"]));
    assert_eq!(trace["invariants"]["max_debate_rounds"], 1);
    assert_eq!(trace["raw_events"], json!([]));
    let nodes: Vec<&str> = trace["node_timings"]
        .as_array()
        .expect("has nodes")
        .iter()
        .filter_map(|node| node["nodes"][0].as_str())
        .collect();
    assert_eq!(nodes.len(), 10, "{nodes:?}");
    assert!(
        nodes.ends_with(&[
            "Trader",
            "Aggressive Analyst",
            "Conservative Analyst",
            "Neutral Analyst",
            "Portfolio Manager"
        ]),
        "{nodes:?}"
    );
    let path = trace["dump_path"].as_str().expect("is written");
    assert!(path.starts_with("runs/AAPL_2012-10-02_"), "{path}");
    let written = std::fs::read_to_string(tool.path(path)).expect("is there");
    assert_eq!(serde_json::from_str::<Value>(&written).expect("is JSON"), trace);
    assert!(tool.ok(&["profile", "show", path]).out.contains("Portfolio Manager"));

    let jobs = tool.json(&["jobs"]);
    assert_eq!(
        (&jobs["jobs"][0]["kind"], &jobs["jobs"][0]["status"]),
        (&"profile".into(), &"completed".into())
    );
    // The same command runs again: a timing is never taken from an earlier run.
    let second = tool.json(&chain);
    assert_ne!(second["run_id"], trace["run_id"]);
    let (a, b) = (path, second["dump_path"].as_str().expect("is written"));
    tool.ok(&["profile", "ab", "--a", a, "--b", b]);

    // The written file equals the export from the database.
    let exported = tool.json(&["profile", "export", "latest", "--dump-dir", "runs"]);
    assert_eq!((&exported["trace_count"], &exported["files"][0]), (&1.into(), &b.into()));
    let again = std::fs::read_to_string(tool.path(b)).expect("is there");
    assert_eq!(serde_json::from_str::<Value>(&again).expect("is JSON"), second);
}

// Goal: a run that hits its overall timeout ends with a trace that says so, with its open steps on request;
// other traces contain none of that.
#[test]
fn a_run_that_times_out_has_an_error_trace() {
    // A provider that accepts every call and never responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = silent.local_addr().expect("has an address");
    let provider =
        format!("[models.providers.silent]\nkind = 'openai_compatible'\nbase_url = 'http://{address}/v1'");
    let tool = Tool::new().configured(&provider);
    let chain = [
        "--json",
        "profile",
        "chain",
        "--ticker",
        "AAPL",
        "--date",
        "2012-10-02",
        "--provider",
        "silent",
        "--model",
        "any",
        "--overall-timeout",
        "3",
        "--dump-raw-on-failure",
        "--dump-dir",
        "runs",
    ];
    let done = tool.ends(&chain, 1);
    let trace: Value = serde_json::from_str(&done.out).expect("stdout is JSON");
    assert_eq!((&trace["status"], &trace["exception_type"]), (&"error".into(), &"overall_timeout".into()));
    let open: Vec<&str> = trace["open_nodes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|open| open["node"].as_str())
        .collect();
    assert!(open.contains(&"Market Analyst") && open.contains(&"News Analyst"), "{open:?}");
    let error = format!("overall timeout: the run did not end within 3 s; open then: {}", open.join(", "));
    assert_eq!(trace["error"], error);
    assert_eq!(trace["invariants"]["provider"], "silent");
    let raw = trace["raw_events"].as_array().expect("has raw events");
    let call = raw.iter().find(|step| step["path"] == "AAPL/Market Analyst#1/model#1");
    // The session's own timeout is over at the same moment: that may still be recorded for its calls.
    let open = ["intent", "done(timed_out)", "abandoned"];
    let state = call.and_then(|step| step["state"].as_str());
    assert!(state.is_some_and(|state| open.contains(&state)), "{raw:#?}");
    assert!(tool.path(trace["dump_path"].as_str().expect("is written")).exists());
    let drawn = tool.ok(&["profile", "show", "runs"]).out;
    assert!(drawn.contains("AAPL on 2012-10-02: error") && drawn.contains("no completed nodes"), "{drawn}");
    assert!(drawn.contains("open at the end: ") && drawn.contains("Market Analyst (since "), "{drawn}");
    assert_eq!(tool.json(&["jobs", "latest"])["status"], "failed");
    // A failed job is exported as well; by default, a trace contains no raw steps.
    let exported = tool.json(&["profile", "export", "latest", "--dump-dir", "again"]);
    assert_eq!((&exported["trace_count"], &exported["error_count"]), (&1.into(), &1.into()));
    let path = exported["files"][0].as_str().expect("is written");
    assert_eq!(tool.json(&["profile", "show", path])["raw_events"], json!([]));
}

// Goal: a request that cannot be timed is rejected before anything runs.
#[test]
fn invalid_profile_requests_are_rejected() {
    let tool = Tool::new();
    let check = |args: &[&str], code: i32, said: &str| {
        let args: Vec<&str> = ["profile"].iter().chain(args).copied().collect();
        let done = tool.ends(&args, code);
        assert!(done.err.contains(said), "{said}: {done:#?}");
    };
    let chain = ["chain", "--ticker", "AAPL", "--date", "2012-10-02"];
    let with = |more: &[&'static str]| -> Vec<&str> { chain.iter().chain(more).copied().collect() };
    check(&["export", "nope"], 4, "no database in");
    check(&["chain", "--ticker", "TSLA", "--date", "2012-10-02"], 2, "TSLA");
    check(&["chain", "--ticker", "AAPL", "--date", "2012-10-06"], 2, "no trading day");
    check(&with(&["--selected-analysts", "market,lunch"]), 2, "unknown analyst `lunch`");
    check(&with(&["--analysis-prompt-style", "long"]), 2, "standard, compact, detailed");
    check(&with(&["--model", "magic"]), 2, "house::momentum");
    check(&with(&["--overall-timeout", "0"]), 2, "--overall-timeout");
    tool.ok(&SHORT);
    check(&["export", "latest"], 2, "has no desk");
    check(&["export", "nope"], 4, "unknown job nope");
}
