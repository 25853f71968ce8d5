//! Traces from hand-written rows of the record.

use papertape_core::record::DayStatus;
use papertape_core::tape::{StepClass, StepPath};
use papertape_core::time::{Timestamp, from_micros};
use papertape_runtime::profile::from_record::{NodeRow, RunFacts, StepRow, trace};
use papertape_runtime::profile::read::read;
use papertape_runtime::profile::trace::{Invariants, SCHEMA, Status, Trace};
use serde_json::{Value, json};

/// An instant this many milliseconds into the day.
fn at(ms: i64) -> Timestamp {
    from_micros(1_349_181_000_000_000 + ms * 1000).expect("is an instant")
}

fn facts(ticker: &str) -> RunFacts {
    RunFacts {
        run_id: format!("job-7-{ticker}"),
        ticker: ticker.to_owned(),
        date: "2012-10-02".to_owned(),
        selected_analysts: vec!["market".to_owned(), "news".to_owned()],
        analysis_prompt_style: Some("standard".to_owned()),
        model: Some("house::momentum".to_owned()),
        invariants: Invariants::default(),
        session: DayStatus::Completed,
        session_error: None,
    }
}

fn step(path: &str, class: StepClass, from: i64, to: Option<i64>) -> StepRow {
    let is_call = class == StepClass::External;
    StepRow {
        path: StepPath::new(path),
        class,
        started_at: at(from),
        ended_at: to.map(at),
        input_tokens: if is_call { 100 } else { 0 },
        output_tokens: if is_call { 10 } else { 0 },
        is_answered: is_call && to.is_some(),
        is_reused: false,
        interrupted: 0,
    }
}

fn call(path: &str, from: i64, to: i64) -> StepRow {
    step(path, StepClass::External, from, Some(to))
}

fn node(symbol: &str, name: &str, phase: &str, kept: i64, outcome: Value) -> NodeRow {
    NodeRow {
        path: StepPath::new(format!("{symbol}/{name} end#1/node#1")),
        at: at(kept),
        arguments: json!({"symbol": symbol, "node": name, "round": 1, "phase": phase, "llm_kind": "quick"}),
        outcome,
    }
}

fn fine() -> Value {
    // As recorded in every node's step.
    json!({"state": "ok", "tool_calls": 2, "research_status": "degraded", "degraded_reason": "x"})
}

fn research(status: &str, reason: Option<&str>, history_len: u64) -> Value {
    json!({"state": "ok", "research_status": status, "degraded_reason": reason, "history_len": history_len, "response_len": 20})
}

/// A day of two symbols: two concurrent analysts, a Bull that reached its deadline, the rest in order.
fn day() -> (Vec<StepRow>, Vec<NodeRow>) {
    let steps = vec![
        step("pre#1/order#1", StepClass::Order, -50, Some(-50)),
        step("AAPL/Market Analyst#1/bars#1", StepClass::Local, 0, Some(0)),
        call("AAPL/Market Analyst#1/model#1", 10, 400),
        call("AAPL/Market Analyst#1/model#2", 500, 1000),
        call("AAPL/News Analyst#1/model#1", 200, 1500),
        call("AAPL/News Analyst#10/model#1", 9000, 9100),
        step("AAPL/Bull Researcher#1/model#1", StepClass::External, 1600, None),
        step("AAPL/Bull Researcher#1/guard#1", StepClass::Guard, 3600, Some(3600)),
        call("AAPL/Research Manager#1/model#1", 3700, 4700),
        call("AAPL/Portfolio Manager#1/model#1", 5000, 6000),
        call("IBM/Market Analyst#1/model#1", 5, 60_000),
        step("sizing#1/order#1", StepClass::Order, 61_000, Some(61_000)),
    ];
    let bull = json!({"state": "timeout", "reason": "bull_researcher_timeout", "research_status": "degraded",
        "degraded_reason": "bull_researcher_timeout", "history_len": 60, "response_len": 60});
    let nodes = vec![
        node("AAPL", "News Analyst", "analyst", 1600, fine()),
        node("AAPL", "Market Analyst", "analyst", 1600, fine()),
        node("AAPL", "Bull Researcher", "research", 3700, bull),
        node(
            "AAPL",
            "Research Manager",
            "research",
            5000,
            research("degraded", Some("bull_researcher_timeout"), 900),
        ),
        node("AAPL", "Trader", "trading", 4900, json!({"state": "ok", "history_len": null})),
        node("AAPL", "Portfolio Manager", "portfolio", 6001, fine()),
        node("IBM", "Market Analyst", "analyst", 60_001, fine()),
    ];
    (steps, nodes)
}

fn of_aapl() -> Trace {
    let (steps, nodes) = day();
    trace(facts("AAPL"), &steps, &nodes).expect("has good rows")
}

// Goal: a node is timed by its own calls, from the start of the run, whatever else runs at the time.
#[test]
fn nodes_are_timed_by_their_calls_from_the_runs_start() {
    let trace = of_aapl();
    let spans: Vec<(&str, String, u64)> = trace
        .node_timings
        .iter()
        .map(|node| (node.nodes[0].as_str(), format!("{}-{}", node.start_at, node.end_at), node.elapsed_ms))
        .collect();
    assert_eq!(
        spans,
        [
            ("Market Analyst", "0.01-1".to_owned(), 990),
            ("News Analyst", "0.2-1.5".to_owned(), 1300),
            // Its call never ended, but its guard did.
            ("Bull Researcher", "1.6-3.6".to_owned(), 2000),
            ("Research Manager", "3.7-4.7".to_owned(), 1000),
            // It made no calls: its own step is all there is.
            ("Trader", "4.9-4.9".to_owned(), 0),
            ("Portfolio Manager", "5-6".to_owned(), 1000),
        ]
    );
    let market = &trace.node_timings[0];
    assert_eq!(
        (market.input_tokens, market.output_tokens, market.tool_calls),
        (Some(200), Some(20), Some(2))
    );
    assert_eq!((market.run_id.as_str(), market.round), ("job-7-AAPL", Some(1)));
    assert_eq!(trace.trace_schema_version.as_deref(), Some(SCHEMA));
    assert_eq!(read(&serde_json::to_string(&trace).expect("writes"), "f"), Ok(trace), "it can be read back");
}

// Goal: a phase lasts as long as any of its nodes runs: overlaps count once, gaps not at all.
#[test]
fn a_phase_is_the_union_of_its_nodes() {
    let trace = of_aapl();
    let totals = serde_json::to_value(&trace.phase_totals_seconds).expect("writes");
    assert_eq!(
        totals,
        json!({"analyst": 1.49, "research": 3.0, "trading": 0.0, "risk": 0.0, "portfolio": 1.0})
    );
    assert_eq!(trace.summary.total_elapsed_ms, 6000, "wall time from the first step to the last node's end");
}

// Goal: the summary counts degraded nodes and has the last research status that is not null.
#[test]
fn the_summary_tells_what_became_of_the_research() {
    let summary = of_aapl().summary;
    assert_eq!((summary.event_count, summary.degraded_event_count), (6, 2));
    assert_eq!(summary.final_research_status.as_deref(), Some("degraded"));
    assert_eq!(summary.final_degraded_reason.as_deref(), Some("bull_researcher_timeout"));
}

// Goal: nodes of other tickers, and rounds with a common prefix, are kept apart.
#[test]
fn tickers_and_rounds_are_kept_apart() {
    let (steps, nodes) = day();
    let ibm = trace(facts("IBM"), &steps, &nodes).expect("has good rows");
    assert_eq!((ibm.node_timings.len(), ibm.summary.total_elapsed_ms), (1, 59_995));
    // `News Analyst#1` is not `News Analyst#10`.
    assert_eq!(of_aapl().node_timings[1].elapsed_ms, 1300);
    // A symbol whose name needs escaping in a path.
    let odd = trace(
        facts("BRK/B"),
        &[call("BRK%2FB/Trader#1/model#1", 0, 10)],
        &[node("BRK/B", "Trader", "trading", 11, fine())],
    );
    assert_eq!(odd.expect("has good rows").node_timings[0].elapsed_ms, 10);
}

// Goal: an incomplete run is an error that says what is missing.
#[test]
fn a_run_that_is_not_whole_is_an_error() {
    let (steps, mut nodes) = day();
    nodes.retain(|node| node.arguments["node"] != "Portfolio Manager");
    let of = |session: DayStatus, error: Option<&str>, nodes: &[NodeRow]| {
        let facts = RunFacts { session, session_error: error.map(str::to_owned), ..facts("AAPL") };
        let trace = trace(facts, &steps, nodes).expect("has good rows");
        (trace.status, trace.exception_type.unwrap_or_default(), trace.error.unwrap_or_default())
    };
    let (status, kind, error) = of(DayStatus::Running, None, &nodes);
    assert_eq!((status, kind.as_str()), (Status::Error, "unfinished"));
    assert!(error.contains("portfolio manager"), "{error}");
    assert_eq!(of(DayStatus::Completed, None, &nodes).1, "incomplete");
    assert_eq!(
        of(DayStatus::Failed, Some("no model"), &nodes),
        (Status::Error, "session_failed".to_owned(), "no model".to_owned())
    );
    // This ticker is finished, though the session continues with others.
    assert_eq!(of(DayStatus::Running, None, &day().1).0, Status::Ok);
    // Nothing at all yet.
    let empty = trace(RunFacts { session: DayStatus::Queued, ..facts("AAPL") }, &[], &[]).expect("is fine");
    assert_eq!(
        (empty.status, empty.summary.total_elapsed_ms, empty.node_timings.len()),
        (Status::Error, 0, 0)
    );
}

// Goal: copied and interrupted steps are counted, so that their time is not mistaken for call time.
#[test]
fn copied_and_cut_off_steps_are_counted() {
    let (mut steps, nodes) = day();
    steps[2].is_reused = true;
    steps[3].interrupted = 2;
    steps[10].is_reused = true;
    let summary = trace(facts("AAPL"), &steps, &nodes).expect("has good rows").summary;
    assert_eq!((summary.reused_steps, summary.interrupted_attempts), (1, 2));
}

// Goal: a clock that was set back causes no negative times.
#[test]
fn a_clock_that_was_set_back_makes_no_negative_time() {
    let steps = [call("AAPL/Trader#1/model#1", 100, 40)];
    let trace =
        trace(facts("AAPL"), &steps, &[node("AAPL", "Trader", "trading", 30, fine())]).expect("is fine");
    let timing = &trace.node_timings[0];
    assert_eq!((timing.elapsed_ms, timing.end_at >= timing.start_at), (0, true));
}

// Goal: an unreadable node step is named; nothing is guessed.
#[test]
fn a_node_without_a_known_phase_is_an_error() {
    let check = |node: NodeRow, said: &str| {
        let error = trace(facts("AAPL"), &[], &[node]).expect_err("is bad").to_string();
        assert!(error.contains("AAPL/Trader end#1/node#1") && error.contains(said), "{error}");
    };
    check(node("AAPL", "Trader", "lunch", 0, fine()), "unknown phase `lunch`");
    check(node("AAPL", "Trader", "trading", 0, json!({})), "state");
    let mut without = node("AAPL", "Trader", "trading", 0, fine());
    without.arguments = json!({"symbol": "AAPL", "node": "Trader"});
    check(without, "phase");
}

// Goal: the trace of an aborted run lists the nodes that were open, in the order of their start: not those that
// had ended, that wait for others with all their calls complete, or that belong to another symbol. A complete
// run's list is empty.
#[test]
fn a_broken_run_lists_the_nodes_that_were_open() {
    assert_eq!(of_aapl().open_nodes, []);
    let (mut steps, nodes) = day();
    steps.push(step("AAPL/Conservative Analyst#2/model#1", StepClass::External, 5_500, None));
    steps.push(step("AAPL/Aggressive Analyst#1/model#1", StepClass::External, 5_200, Some(5_300)));
    // Its deadline passed at the moment the run was aborted.
    steps.push(step("AAPL/Neutral Analyst#1/model#1", StepClass::External, 5_600, None));
    steps.push(step("AAPL/Neutral Analyst#1/guard#1", StepClass::Guard, 5_900, Some(5_900)));
    steps.push(step("IBM/Trader#1/model#1", StepClass::External, 5_400, None));
    let nodes: Vec<NodeRow> =
        nodes.into_iter().filter(|node| node.arguments["node"] != "Portfolio Manager").collect();
    let facts = RunFacts { session: DayStatus::Running, ..facts("AAPL") };
    let trace = trace(facts, &steps, &nodes).expect("has good rows");
    assert_eq!(trace.status, Status::Error);
    let open: Vec<(&str, Option<u32>, f64)> =
        trace.open_nodes.iter().map(|open| (open.node.as_str(), open.round, open.start_at)).collect();
    assert_eq!(open, [("Conservative Analyst", Some(2), 5.5), ("Neutral Analyst", Some(1), 5.6)]);
}
