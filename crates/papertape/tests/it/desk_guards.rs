//! The guard table over the whole product: each node of a desk hangs or fails behind a real wire, and the day
//! ends with exactly the state, the provenance and the orders that the table defines.

use crate::desk_support::{Broken, Day, DeskWorld, Fault, buyers, deadline, desk, one_day};
use papertape_agents::config::Analyst;
use papertape_core::id::JobId;
use papertape_core::record::JobStatus;
use papertape_service::trigger::Request as Simulation;
use serde_json::{Value, json};

/// The table's row for a node.
struct Row {
    node: &'static str,
    /// The desk's analyst.
    analyst: Analyst,
    /// The path of its text in the state.
    place: &'static str,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// A side of the debate, and the opposing side.
    Argue(&'static str, &'static str),
    JudgeResearch,
    /// A voice in the risk debate.
    Discuss(&'static str),
    /// Without it there is no decision.
    Decide,
    Read,
}

const fn row(node: &'static str, place: &'static str, role: Role) -> Row {
    Row { node, analyst: Analyst::Market, place, role }
}

const fn reader(node: &'static str, analyst: Analyst, place: &'static str) -> Row {
    Row { node, analyst, place, role: Role::Read }
}

const TABLE: [Row; 12] = [
    reader("Market Analyst", Analyst::Market, "/market_report"),
    reader("Sentiment Analyst", Analyst::Social, "/sentiment_report"),
    reader("News Analyst", Analyst::News, "/news_report"),
    reader("Fundamentals Analyst", Analyst::Fundamentals, "/fundamentals_report"),
    row("Bull Researcher", "/investment_debate_state/bull_history", Role::Argue("bull", "bear")),
    row("Bear Researcher", "/investment_debate_state/bear_history", Role::Argue("bear", "bull")),
    row("Research Manager", "/investment_plan", Role::JudgeResearch),
    row("Trader", "/trader_investment_plan", Role::Decide),
    row("Aggressive Analyst", "/risk_debate_state/current_aggressive_response", Role::Discuss("aggressive")),
    row(
        "Conservative Analyst",
        "/risk_debate_state/current_conservative_response",
        Role::Discuss("conservative"),
    ),
    row("Neutral Analyst", "/risk_debate_state/current_neutral_response", Role::Discuss("neutral")),
    row("Portfolio Manager", "/final_trade_decision", Role::Decide),
];

impl Row {
    /// The node's name as it appears in a reason.
    fn word(&self) -> String {
        self.node.to_lowercase().replace(' ', "_")
    }

    /// The expected text in the state in place of its own.
    fn text(&self, cause: &str) -> String {
        let node = self.node;
        let nothing = format!("[The {node} gave no answer: {cause}. Its view is unknown.]");
        match self.role {
            Role::Argue(own, _) => format!(
                "{} Analyst: [The {node} gave no argument: {cause}. Research is degraded, and this side of \
                 the debate is untested.]",
                if own == "bull" { "Bull" } else { "Bear" }
            ),
            Role::JudgeResearch => format!(
                "Recommendation: HOLD\n\nResearch is degraded: the {node} gave no judgment: {cause}. \
                 There is no plan to act on; leave the position as it is."
            ),
            Role::Discuss(_) => format!("{node}: {nothing}"),
            Role::Decide | Role::Read => nothing,
        }
    }

    /// The six fields after the node failed for this reason.
    fn research(&self, reason: &str, timed_out: bool) -> Value {
        let (covered, confidence) = match self.role {
            Role::Argue(_, other) => (json!([other, "manager"]), 0.5),
            Role::JudgeResearch => (json!(["bull", "bear"]), 0.0),
            _ => return whole_research(),
        };
        json!({
            "research_status": "degraded", "research_mode": "degraded_synthesis",
            "timed_out_nodes": if timed_out { vec![self.node] } else { vec![] },
            "degraded_reason": reason, "covered_dimensions": covered, "manager_confidence": confidence
        })
    }

    fn is_research(&self) -> bool {
        matches!(self.role, Role::Argue(..) | Role::JudgeResearch)
    }

    /// A desk on which only this node is broken, and that would buy.
    fn simulation(&self) -> Simulation {
        Simulation { replace_existing: true, agents: vec![desk(&[self.analyst])], ..one_day(&["AAPL"]) }
    }
}

fn whole_research() -> Value {
    json!({
        "research_status": "full", "research_mode": "debate", "timed_out_nodes": [],
        "degraded_reason": null, "covered_dimensions": ["bull", "bear", "manager"],
        "manager_confidence": 1.0
    })
}

fn text<'a>(state: &'a Value, place: &str) -> &'a str {
    state.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{place} is a string"))
}

/// The six fields, which are flat in the debate.
fn in_debate(state: &Value) -> Value {
    let mut debate = state["investment_debate_state"].clone();
    let map = debate.as_object_mut().expect("an object");
    map.retain(|key, _| whole_research().get(key).is_some());
    debate
}

async fn state(desk: &DeskWorld, session: i64, symbol: &str) -> Value {
    desk.world.good(&format!("/sessions/{session}/state?ticker={symbol}")).await
}

/// Checks that every text key of the state holds a string, whichever node failed.
fn all_are_strings(state: &Value) {
    let flat = ["company_of_interest", "trade_date", "past_context", "final_trade_decision"];
    let more = ["market_report", "sentiment_report", "news_report", "fundamentals_report"];
    for key in flat.iter().chain(&more).chain(&["investment_plan", "trader_investment_plan"]) {
        text(state, &format!("/{key}"));
    }
    for key in ["bull_history", "bear_history", "history", "current_response", "judge_decision"] {
        text(state, &format!("/investment_debate_state/{key}"));
    }
    for voice in ["aggressive", "conservative", "neutral"] {
        text(state, &format!("/risk_debate_state/{voice}_history"));
        text(state, &format!("/risk_debate_state/current_{voice}_response"));
    }
    for key in ["history", "latest_speaker", "judge_decision"] {
        text(state, &format!("/risk_debate_state/{key}"));
    }
}

/// Breaks a node and compares the day with its row. `error` is the kind of its failure; `None`: its deadline passes.
async fn hold(desk: &DeskWorld, row: &Row, fault: Fault, error: Option<&str>) {
    let what = format!("{}: {fault:?}", row.node);
    desk.break_nodes([Broken::new(row.node, fault)].into_iter().chain(buyers()));
    let (job, end) = desk.run(row.simulation()).await;
    assert_eq!((end.status, end.error), (JobStatus::Completed, None), "{what}");
    let reason = format!("{}_{}", row.word(), error.unwrap_or("timeout"));
    let day = desk.day(&job).await;
    let state = state(desk, day.session, "AAPL").await;
    hold_provenance(row, &reason, error, &day, &what);
    hold_state(row, &reason, error, &state, &what);
    hold_steps(desk, row, &reason, error, (&day, &state), &what).await;
    hold_live(desk, row, &reason, &job, &what).await;
}

fn hold_provenance(row: &Row, reason: &str, error: Option<&str>, day: &Day, what: &str) {
    let research = row.research(reason, error.is_none());
    let kind = if error.is_some() { "error" } else { "timeout" };
    let quality = if row.is_research() { "research_degraded" } else { "node_degraded" };
    let entry = json!({ "symbol": "AAPL", "node": row.node, "kind": kind, "reason": reason });
    let decides = row.role == Role::Decide;

    let metadata = &day.metadata;
    assert_eq!(metadata["research"], research, "{what}");
    assert_eq!(metadata["by_symbol"]["AAPL"]["research"], research, "{what}");
    assert_eq!(metadata["degradations"], json!([entry]), "{what}");
    assert_eq!(metadata["data_quality"]["state"], quality, "{what}");
    assert_eq!(metadata["data_quality"]["reason_codes"], json!([reason]), "{what}");
    assert_eq!(metadata["sample_quality"], "degraded_research", "{what}");
    let unparseable = usize::from(decides && error == Some("unparseable"));
    let fallback = usize::from(decides) - unparseable;
    let ratings = if decides { json!({}) } else { json!({ "Buy": 1 }) };
    let decisions =
        json!({ "symbols": 1, "ratings": ratings, "unparseable": unparseable, "fallback": fallback });
    assert_eq!(metadata["decisions"], decisions, "{what}");

    let took = if error.is_some() { 0 } else { deadline(row.node).as_millis() };
    let mut timed = entry;
    timed["elapsed_ms"] = json!(took);
    let provenance = &day.answer["provenance"];
    assert_eq!(provenance["degradations"], json!([timed]), "{what}");
    for place in [provenance, &day.answer["metadata"]] {
        assert_eq!(place["research"], research, "{what}");
        assert_eq!(place["data_quality"]["state"], quality, "{what}");
        assert_eq!(place["sample_quality"], "degraded_research", "{what}");
    }
    let trades = day.answer["trades"].as_array().map(Vec::len);
    assert_eq!(trades, Some(usize::from(!decides)), "{what}: no order without a decision");
    assert_eq!(day.answer["rejections"], json!([]), "{what}");
}

fn hold_state(row: &Row, reason: &str, error: Option<&str>, state: &Value, what: &str) {
    all_are_strings(state);
    let cause = error.map_or("it timed out".to_owned(), |_| format!("it failed ({reason})"));
    let expected = row.text(&cause);
    assert_eq!(text(state, row.place), expected, "{what}");
    assert_eq!(in_debate(state), row.research(reason, error.is_none()), "{what}");
    let debate = &state["investment_debate_state"];
    let risk = &state["risk_debate_state"];
    let joined = [&debate["bull_history"], &debate["bear_history"]].map(|own| own.as_str().unwrap());
    assert_eq!(debate["history"], joined.join("\n"), "{what}: each speaks once, in turn");
    assert_eq!(debate["count"], 2, "{what}");
    assert_eq!(debate["judge_decision"], state["investment_plan"], "{what}");
    assert_eq!(debate["current_response"], state["investment_plan"], "{what}: the manager spoke last");
    let own = ["aggressive", "conservative", "neutral"].map(|voice| {
        let own = risk[format!("{voice}_history")].as_str().unwrap();
        assert_eq!(risk[format!("current_{voice}_response")], own, "{what}");
        own
    });
    assert_eq!(risk["history"], own.join("\n"), "{what}");
    assert_eq!((&risk["count"], &risk["latest_speaker"]), (&json!(3), &json!("Judge")), "{what}");
    assert_eq!(risk["judge_decision"], state["final_trade_decision"], "{what}");
    assert_eq!(state["trader_investment_decision"], state["trader_investment_plan"], "{what}");
}

/// Checks that every node has left its step, the broken one with its reason, and that its fallback text is
/// the last one in the debate.
async fn hold_steps(
    desk: &DeskWorld,
    row: &Row,
    reason: &str,
    error: Option<&str>,
    (day, state): (&Day, &Value),
    what: &str,
) {
    let nodes = desk.nodes(day.session).await;
    assert_eq!(nodes.len(), 9, "{what}: every node leaves its step");
    let at = nodes.iter().position(|(name, _)| *name == format!("AAPL/{}#1", row.node));
    let at = at.expect("it left its step");
    for (number, (name, outcome)) in nodes.iter().enumerate() {
        let kind = if error.is_some() { "error" } else { "timeout" };
        let (ended, why) = if number == at { (kind, json!(reason)) } else { ("ok", Value::Null) };
        assert_eq!((&outcome["state"], &outcome["reason"]), (&json!(ended), &why), "{what}: {name}");
        let degraded = row.is_research() && number >= at;
        let status = if degraded { "degraded" } else { "full" };
        assert_eq!(outcome["research_status"], status, "{what}: {name}");
        let why = if degraded { json!(reason) } else { Value::Null };
        assert_eq!(outcome["degraded_reason"], why, "{what}: {name}");
    }
    let own = text(state, row.place).chars().count();
    assert_eq!(nodes[at].1["response_len"], own, "{what}: its text is the current response");
}

async fn hold_live(desk: &DeskWorld, row: &Row, reason: &str, job: &JobId, what: &str) {
    let live = desk.world.good(&format!("/live/AAPL?job_id={job}")).await;
    let without = row.node == "Portfolio Manager";
    assert_eq!(live["status"], if without { "failed" } else { "degraded_success" }, "{what}");
    assert_eq!(live["result"].is_null(), without, "{what}");
    assert_eq!(live["error"].is_null(), !without, "{what}");
    assert_eq!(live["degradation"]["reason_codes"], json!([reason]), "{what}");
    assert_eq!(live["degradation"]["source_diagnostics"][row.node]["reason"], reason, "{what}");
    assert!(live["research"].is_object(), "{what}: research stands in failures too");
}

/// Goal: a node that hangs is cut off at its own deadline, its connection is closed, and the day continues.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_hangs_is_cut_off() {
    let desk = DeskWorld::new().await;
    for row in &TABLE {
        let before = desk.server.count();
        hold(&desk, row, Fault::Hang, None).await;
        let requests = desk.server.requests().split_off(before);
        for (at, request) in requests.iter().enumerate() {
            if crate::desk_support::node(&request.body) == Some(row.node) {
                desk.server.closed(before + at + 1).await;
            }
        }
        let requests = desk.server.requests().split_off(before);
        let cut: Vec<_> = requests.iter().filter(|request| request.closed_early).collect();
        let cut: Vec<_> = cut.iter().filter_map(|request| crate::desk_support::node(&request.body)).collect();
        assert_eq!(cut, [row.node], "its connection is closed, and no other");
    }
}

/// Goal: a provider that rejects a node's request by status degrades it. One that denies the model stops the
/// agent instead.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_refused() {
    let desk = DeskWorld::new().await;
    for row in &TABLE {
        hold(&desk, row, Fault::Refuse(429), Some("rate_limited")).await;
    }
    for (status, error) in [(503, "unavailable"), (400, "bad_request")] {
        for row in [&TABLE[0], &TABLE[5], &TABLE[6], &TABLE[7]] {
            hold(&desk, row, Fault::Refuse(status), Some(error)).await;
        }
    }
}

/// Goal: an unusable response: not JSON, a stream that ends early, an empty one.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_answer_is_none() {
    let desk = DeskWorld::new().await;
    for row in &TABLE {
        hold(&desk, row, Fault::Garbage, Some("bad_answer")).await;
        hold(&desk, row, Fault::Cut, Some("bad_answer")).await;
        hold(&desk, row, Fault::Empty, Some("empty_answer")).await;
    }
}

/// Goal: an unparseable answer is requested once more, and then counted: never an order, and never a Hold.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_read() {
    let desk = DeskWorld::new().await;
    for row in TABLE.iter().filter(|row| matches!(row.role, Role::JudgeResearch | Role::Decide)) {
        let before = desk.server.count();
        let say = Fault::Say("I would rather not say.".to_owned());
        hold(&desk, row, say, Some("unparseable")).await;
        let asked = desk.asked_since(before);
        assert_eq!(asked.iter().filter(|node| *node == row.node).count(), 2, "one repair, and no more");
    }
}

/// Goal: an undisturbed desk is `full`, `debate` and 1.0, and its order is placed.
#[tokio::test(flavor = "multi_thread")]
async fn a_desk_that_nobody_disturbs() {
    let desk = DeskWorld::new().await;
    desk.break_nodes(buyers());
    let all = [Analyst::Market, Analyst::Social, Analyst::News, Analyst::Fundamentals];
    let agents = vec![crate::desk_support::desk(&all)];
    let (job, _) = desk.run(Simulation { agents, ..one_day(&["AAPL"]) }).await;
    let day = desk.day(&job).await;
    assert_eq!(day.metadata["research"], whole_research());
    assert_eq!(day.metadata["degradations"], json!([]));
    assert_eq!(day.metadata["data_quality"]["state"], "ok");
    assert_eq!(day.metadata["sample_quality"], "full_research");
    assert_eq!(day.answer["trades"].as_array().map(Vec::len), Some(1));
    let state = state(&desk, day.session, "AAPL").await;
    all_are_strings(&state);
    assert_eq!(in_debate(&state), whole_research());
    let nodes = desk.nodes(day.session).await;
    let names: Vec<String> = TABLE.iter().map(|row| format!("AAPL/{}#1", row.node)).collect();
    assert_eq!(nodes.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), names);
    assert_eq!(desk.world.good("/live/AAPL").await["status"], "completed");
}

/// Goal: analysts are independent: one that fails affects no other, and two failures appear in the order of
/// the graph, whatever the order in which they occurred.
#[tokio::test(flavor = "multi_thread")]
async fn an_analyst_falls_alone() {
    let desk = DeskWorld::new().await;
    let failing = [("News Analyst", 503), ("Market Analyst", 429)];
    let broken = failing.map(|(node, status)| Broken::new(node, Fault::Refuse(status)));
    desk.break_nodes(broken.into_iter().chain(buyers()));
    let all = [Analyst::Market, Analyst::Social, Analyst::News, Analyst::Fundamentals];
    let agents = vec![crate::desk_support::desk(&all)];
    let (job, _) = desk.run(Simulation { agents, ..one_day(&["AAPL"]) }).await;
    let day = desk.day(&job).await;
    let reasons = ["market_analyst_rate_limited", "news_analyst_unavailable"];
    assert_eq!(day.metadata["data_quality"]["reason_codes"], json!(reasons));
    assert_eq!(day.metadata["research"], whole_research());
    let state = state(&desk, day.session, "AAPL").await;
    for (place, gone) in [
        ("/market_report", true),
        ("/sentiment_report", false),
        ("/news_report", true),
        ("/fundamentals_report", false),
    ] {
        assert_eq!(text(&state, place).contains(" gave no answer: "), gone, "{place}");
    }
}

/// Goal: if several nodes fail, over two symbols and two rounds, the first reason in path order counts, all
/// are in `degradations` in path order, and each node is named once.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_reason_in_path_order_stands() {
    let desk = DeskWorld::new().await;
    let of = |node, symbol, fault| Broken { symbol: Some(symbol), ..Broken::new(node, fault) };
    desk.break_nodes(
        [
            of("Portfolio Manager", "IBM", Fault::Say("Well.".to_owned())),
            of("Bull Researcher", "IBM", Fault::Hang),
            of("Research Manager", "AAPL", Fault::Empty),
            of("Neutral Analyst", "AAPL", Fault::Hang),
            of("Bear Researcher", "AAPL", Fault::Hang),
        ]
        .into_iter()
        .chain(buyers()),
    );
    let mut agent = crate::desk_support::desk(&[Analyst::Market]);
    let config = agent.desk.as_mut().expect("a desk");
    config.max_debate_rounds = 2;
    // One after the other: a deadline that passes for one does not pass for another.
    config.symbols_at_once = 1;
    let (job, end) = desk.run(Simulation { agents: vec![agent], ..one_day(&["IBM", "AAPL"]) }).await;
    assert_eq!(end.status, JobStatus::Completed);
    let day = desk.day(&job).await;
    let metadata = &day.metadata;
    let reasons: Vec<String> = metadata["degradations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|gone| format!("{} {}", gone["symbol"].as_str().unwrap(), gone["reason"].as_str().unwrap()))
        .collect();
    let expected = [
        "AAPL bear_researcher_timeout",
        "AAPL bear_researcher_timeout",
        "AAPL research_manager_empty_answer",
        "AAPL neutral_analyst_timeout",
        "IBM bull_researcher_timeout",
        "IBM bull_researcher_timeout",
        "IBM portfolio_manager_unparseable",
    ];
    assert_eq!(reasons, expected);
    let rolled_up = json!({
        "research_status": "degraded", "research_mode": "degraded_synthesis",
        "timed_out_nodes": ["Bear Researcher", "Bull Researcher"],
        "degraded_reason": "bear_researcher_timeout", "covered_dimensions": [], "manager_confidence": 0.0
    });
    assert_eq!(metadata["research"], rolled_up);
    let aapl = state(&desk, day.session, "AAPL").await;
    assert_eq!(aapl["investment_debate_state"]["timed_out_nodes"], json!(["Bear Researcher"]));
    assert_eq!(aapl["investment_debate_state"]["count"], 4, "the debate went on in both rounds");
    let ibm = state(&desk, day.session, "IBM").await;
    assert_eq!(ibm["investment_debate_state"]["manager_confidence"], 0.5);
    assert_eq!(ibm["investment_debate_state"]["covered_dimensions"], json!(["bear", "manager"]));
    let decisions = &metadata["decisions"];
    assert_eq!((&decisions["ratings"], &decisions["unparseable"]), (&json!({ "Buy": 1 }), &json!(1)));
    let trades = day.answer["trades"].as_array().expect("a list");
    assert!(trades.iter().all(|trade| trade["symbol"] == "AAPL"), "IBM has no decision: {trades:?}");
    assert_eq!(trades.len(), 1);
}
