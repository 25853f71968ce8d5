//! Reading traces: ours and those of `TradingAgents`.

use papertape_runtime::profile::read::{Unreadable, read};
use papertape_runtime::profile::trace::{ElapsedDefinition, SCHEMA, Status};
use serde_json::{Value, json};

/// A small trace in our format.
pub(crate) fn ours() -> Value {
    json!({
        "trace_schema_version": SCHEMA, "elapsed_definition": "node_span", "run_id": "j1-1-AAPL",
        "status": "ok", "ticker": "AAPL", "date": "2012-10-02", "selected_analysts": ["market"],
        "analysis_prompt_style": "compact", "model": "house::momentum",
        "invariants": {
            "provider": "house", "model": "momentum", "overall_timeout_secs": 120,
            "max_debate_rounds": 1, "max_risk_discuss_rounds": 1, "max_retries": 0
        },
        "node_timings": [
            {"run_id": "j1-1-AAPL", "nodes": ["Market Analyst"], "phases": ["analyst"],
             "llm_kinds": ["quick"], "round": 1, "start_at": 0.0, "end_at": 1.5, "elapsed_ms": 1500,
             "state": "ok", "research_status": null, "history_len": null, "tool_calls": 3},
            {"run_id": "j1-1-AAPL", "nodes": ["Bull Researcher"], "phases": ["research"],
             "llm_kinds": ["quick"], "start_at": 1.5, "end_at": 2.5, "elapsed_ms": 1000, "state": "ok",
             "research_status": "full", "history_len": 640, "response_len": 620},
            {"run_id": "j1-1-AAPL", "nodes": ["Portfolio Manager"], "phases": ["portfolio"],
             "llm_kinds": ["deep"], "start_at": 2.5, "end_at": 4.0, "elapsed_ms": 1500, "state": "ok"}
        ],
        "phase_totals_seconds": {"analyst": 1.5, "research": 1.0, "trading": 0.0, "risk": 0.0, "portfolio": 1.5},
        "summary": {"event_count": 3, "total_elapsed_ms": 4000, "degraded_event_count": 0,
                    "final_research_status": "full", "final_degraded_reason": null},
        "dump_path": null, "raw_events": []
    })
}

/// A trace as the harness of `TradingAgents` writes it: no schema, no summary, no `run_id` at the top level,
/// phases missing from its table, and lengths of 0 for nodes that do not carry the debate.
pub(crate) fn theirs() -> Value {
    let node = |node: &str, phase: &str, kind: &str, at: (f64, f64), status: Option<&str>, len: u64| {
        json!({
            "run_id": "20260411T101500Z", "nodes": [node], "phases": [phase], "llm_kinds": [kind],
            "start_at": at.0, "end_at": at.1, "elapsed_ms": ((at.1 - at.0) * 1000.0).round() as u64,
            "selected_analysts": ["market"], "analysis_prompt_style": "compact",
            "research_status": status, "degraded_reason": status.filter(|s| *s != "full").map(|_| "bull_researcher_timeout"),
            "history_len": len, "response_len": len / 2
        })
    };
    json!({
        "status": "ok", "ticker": "AAPL", "date": "2026-04-11", "selected_analysts": ["market"],
        "analysis_prompt_style": "compact",
        "node_timings": [
            node("Market Analyst", "analyst", "quick", (0.0, 6.212), None, 0),
            node("tools_market", "unknown", "unknown", (6.212, 6.4), None, 0),
            node("Bull Researcher", "research", "quick", (6.4, 36.4), Some("degraded"), 180),
            node("Research Manager", "research", "deep", (36.4, 44.4), Some("degraded"), 2200),
            node("Portfolio Manager", "portfolio", "deep", (44.4, 50.4), None, 0)
        ],
        "phase_totals_seconds": {"analyst": 6.212, "unknown": 0.188, "research": 38.0, "portfolio": 6.0},
        "dump_path": "orchestrator/profile_runs/AAPL_2026-04-11_20260411T101500Z.json",
        "raw_events": []
    })
}

fn text(value: &Value) -> String {
    value.to_string()
}

// Goal: our traces are read back as written, and unknown fields of later versions are ignored.
#[test]
fn our_own_traces_come_back_and_unknown_fields_are_passed_over() {
    let mut value = ours();
    let trace = read(&text(&value), "file").expect("reads");
    assert_eq!(trace.invariants.settings["max_retries"], 0);
    assert_eq!(trace.invariants.overall_timeout_secs, Some(120.0));
    assert_eq!(read(&serde_json::to_string(&trace).expect("writes"), "file"), Ok(trace.clone()));
    assert_eq!((trace.status, trace.elapsed_definition), (Status::Ok, ElapsedDefinition::NodeSpan));
    assert!(!trace.is_degraded());
    // The portfolio manager has no debate state: the last research node does.
    assert_eq!(trace.at_the_end(|node| node.history_len), Some(640));
    value["colour"] = json!("blue");
    value["node_timings"][0]["colour"] = json!("red");
    assert_eq!(read(&text(&value), "file"), Ok(trace));
}

// Goal: a trace without a schema version is completed with what its format implies.
#[test]
fn a_trace_of_tradingagents_is_completed() {
    let trace = read(&text(&theirs()), "file").expect("reads");
    assert_eq!(trace.elapsed_definition, ElapsedDefinition::SincePreviousEvent);
    assert_eq!((trace.run_id.as_str(), trace.trace_schema_version.as_deref()), ("20260411T101500Z", None));
    let summary = &trace.summary;
    assert_eq!((summary.event_count, summary.total_elapsed_ms, summary.degraded_event_count), (5, 50_400, 2));
    assert_eq!(summary.final_research_status.as_deref(), Some("degraded"), "the last that is not null");
    assert_eq!(summary.final_degraded_reason.as_deref(), Some("bull_researcher_timeout"));
    assert!(trace.is_degraded());
    assert_eq!(trace.at_the_end(|node| node.history_len), Some(2200), "0 after the research means nothing");
    let rounds = (trace.invariants.max_debate_rounds, trace.invariants.max_risk_discuss_rounds);
    assert_eq!(rounds, (Some(1), Some(1)), "built into the harness");
    assert_eq!(trace.invariants.model, None, "it does not say");
}

// Goal: with their schema version there is a summary, whose status is that of the last event.
#[test]
fn a_summary_of_tradingagents_is_read_and_its_status_is_the_last_that_is_not_null() {
    let mut value = theirs();
    value["trace_schema_version"] = json!("tradingagents.profile_trace.v1alpha1");
    value.as_object_mut().expect("is an object").remove("phase_totals_seconds");
    value["summary"] = json!({
        "event_count": 5, "total_elapsed_ms": 50_397, "phase_totals_seconds": {"research": 38.0},
        "degraded_event_count": 2, "final_research_status": null, "final_degraded_reason": null,
        "unique_nodes": ["Bull Researcher"], "node_hit_count": {"Bull Researcher": 1}
    });
    let trace = read(&text(&value), "file").expect("reads");
    assert_eq!(trace.summary.total_elapsed_ms, 50_397);
    assert_eq!(trace.summary.final_research_status.as_deref(), Some("degraded"));
    assert_eq!(trace.phase_totals_seconds["research"].to_string(), "38");
    // A file of summaries only, without a run: the file name serves as the run's ID.
    value["node_timings"] = json!([]);
    value["summary"]["final_research_status"] = json!("failed");
    let trace = read(&text(&value), "a.json").expect("reads");
    assert_eq!((trace.run_id.as_str(), trace.is_degraded()), ("a.json", true), "failed counts as degraded");
}

// Goal: an error's fields are read, and the run counts as an error.
#[test]
fn a_run_that_broke_off_is_read() {
    let mut value = theirs();
    value["status"] = json!("error");
    value["run_id"] = json!("20260411T101500Z");
    value["error"] = json!("profiling timeout after 120s");
    value["exception_type"] = json!("_ProfileTimeout");
    value["raw_events"] = json!([{"Market Analyst": {"market_report": "…"}}]);
    let trace = read(&text(&value), "file").expect("reads");
    assert_eq!((trace.status, trace.error.as_deref()), (Status::Error, Some("profiling timeout after 120s")));
}

// Goal: an invalid trace is rejected with the reason and the location.
#[test]
fn what_is_no_trace_is_refused_with_the_place() {
    let check = |value: &Value, said: &str| {
        let error = read(&text(value), "file").expect_err("is no trace").to_string();
        assert!(error.contains(said), "{error} | {said}");
    };
    for (text, said) in
        [("", "EOF"), ("[1]", "invalid type"), ("{\"status\": \"ok\"", "EOF"), ("{}", "status")]
    {
        let error = read(text, "file").expect_err("is no trace").to_string();
        assert!(error.starts_with("not a trace: ") && error.contains(said), "{error}");
    }
    let mut value = ours();
    value["trace_schema_version"] = json!("papertape.profile_trace.v2");
    check(&value, "papertape.profile_trace.v2");
    assert!(matches!(read(&text(&value), "file"), Err(Unreadable::Schema(_))));
    let mut value = ours();
    value["status"] = json!("fine");
    check(&value, "fine");
    let mut value = ours();
    value["node_timings"][1]["phases"] = json!(["research", "lunch"]);
    check(&value, "node_timings[1].phases: unknown phase `lunch`; expected one of analyst, research");
    let mut value = ours();
    value["node_timings"][1]["phases"] = json!([]);
    check(&value, "every node has a phase");
    let mut value = ours();
    value["node_timings"][2]["end_at"] = json!(1.0);
    check(&value, "node_timings[2].end_at: 2.5 s to 1 s is not a valid period");
    let mut value = ours();
    value["node_timings"][2]["nodes"] = json!([]);
    check(&value, "no node is named");
    let mut value = ours();
    value["phase_totals_seconds"]["lunch"] = json!(1.0);
    check(&value, "phase_totals_seconds.lunch");
    let mut value = ours();
    value["phase_totals_seconds"]["risk"] = json!(-1.0);
    check(&value, "-1 s is below zero");
    let mut value = theirs();
    value["node_timings"][0]["elapsed_ms"] = json!(-3);
    check(&value, "-3 is not a duration");
    for field in ["run_id", "elapsed_definition", "node_timings", "summary", "ticker", "date"] {
        let mut value = ours();
        value.as_object_mut().expect("is an object").remove(field);
        check(&value, &format!("missing field `{field}`"));
    }
}
