//! Days on which a node returns nothing: the guard table, node by node.

use crate::desk_stage::{NODES, desk, on, one_symbol, plan, proposal, run_timed, usual};
use crate::stage::Day;
use papertape_core::language::Language;
use papertape_core::message::FailureKind;
use papertape_core::tape::SessionStop;
use papertape_testkit::clock::FakeClock;
use papertape_testkit::host::{Act, MemoryHost};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A day on which one node does this, and all others answer as usual.
fn with(node: &'static str, act: Act<papertape_core::message::ModelReply>) -> (Day, Duration) {
    let clock = FakeClock::new();
    let day = run_timed(&one_symbol(), &clock, move |path, request| {
        if path.node() == node { act.clone() } else { usual(path, request) }
    });
    (day, clock.elapsed())
}

fn failing() -> Act<papertape_core::message::ModelReply> {
    Act::Fail(FailureKind::RateLimited, "too many".to_owned())
}

fn research(day: &Day) -> &Value {
    &day.metadata()["research"]
}

// Goal: Bull and Bear, timed out and failed: the exact values, a text in every string that an argument would
// fill, the count continues, and the manager has half of its confidence.
#[test]
fn a_researcher_who_gives_nothing() {
    for (node, own, other, speaker) in [
        ("Bull Researcher", "bull", "bear", "Bull Analyst"),
        ("Bear Researcher", "bear", "bull", "Bear Analyst"),
    ] {
        let key = if own == "bull" { "Bull Researcher#1" } else { "Bear Researcher#1" };
        for (act, reason, timed_out, elapsed) in
            [(Act::Hang, "timeout", json!([node]), 30), (failing(), "rate_limited", json!([]), 0)]
        {
            let (day, took) = with(key, act);
            assert_eq!(took, Duration::from_secs(elapsed), "it stops at its deadline");
            let reason = format!("{own}_researcher_{reason}");
            assert_eq!(
                research(&day),
                &json!({
                    "research_status": "degraded", "research_mode": "degraded_synthesis",
                    "timed_out_nodes": timed_out, "degraded_reason": reason,
                    "covered_dimensions": [other, "manager"], "manager_confidence": 0.5
                })
            );
            let state = day.state("AAPL");
            let debate = &state["investment_debate_state"];
            let said = debate[format!("{own}_history")].as_str().expect("a text");
            assert!(said.starts_with(&format!("{speaker}: [The {node} gave no argument: ")), "{said}");
            assert!(debate["history"].as_str().is_some_and(|history| history.contains(said)));
            assert_eq!(debate["count"], 2);
            assert_eq!(debate["degraded_reason"], reason);
            let metadata = day.metadata();
            assert_eq!(metadata["data_quality"]["state"], "research_degraded");
            assert_eq!(metadata["data_quality"]["reason_codes"], json!([reason]));
            assert_eq!(metadata["sample_quality"], "degraded_research");
            let kind = if elapsed > 0 { "timeout" } else { "error" };
            let entry = json!({ "symbol": "AAPL", "node": node, "kind": kind, "reason": reason });
            assert_eq!(metadata["degradations"], json!([entry]));
            assert_eq!(metadata["decisions"]["ratings"], json!({ "Buy": 1 }), "the desk goes on");
            assert_eq!(day.orders().len(), 1);
            assert_eq!(day.result.closing.status.as_str(), "completed");
        }
    }
}

// Goal: when Bull returned nothing, Bear's prompt has nothing to answer, and the fallback text appears only in
// the debate, not as Bull's argument.
#[test]
fn an_empty_chair_is_not_answered() {
    let (day, _) = with("Bull Researcher#1", Act::Hang);
    let task = day.task("AAPL/Bear Researcher#1");
    assert!(task.contains("nothing to answer"), "{task}");
    assert!(task.contains("[The Bull Researcher gave no argument: it timed out."), "{task}");
    assert!(!task.contains("Bull Researcher argument"), "{task}");
}

// Goal: a manager that returns nothing: confidence 0.0, and a plain HOLD in all three strings.
#[test]
fn a_manager_who_gives_nothing() {
    for (act, reason) in [(Act::Hang, "timeout"), (failing(), "rate_limited")] {
        let (day, _) = with("Research Manager#1", act);
        let reason = format!("research_manager_{reason}");
        assert_eq!(research(&day)["degraded_reason"], reason);
        assert_eq!(research(&day)["manager_confidence"], 0.0);
        assert_eq!(research(&day)["covered_dimensions"], json!(["bull", "bear"]));
        let state = day.state("AAPL");
        let text = state["investment_plan"].as_str().expect("a text");
        assert!(text.starts_with("Recommendation: HOLD\n\nResearch is degraded: "), "{text}");
        assert_eq!(state["investment_debate_state"]["judge_decision"], text);
        assert_eq!(state["investment_debate_state"]["current_response"], text);
        assert_eq!(state["investment_debate_state"]["count"], 2);
        assert_eq!(day.metadata()["by_symbol"]["AAPL"]["recommendation"], Value::Null);
        assert!(day.task("AAPL/Trader#1").contains("| Recommendation: HOLD"));
    }
}

// Goal: all other nodes: a degradation, a text that says so, and unchanged six fields.
#[test]
fn the_others_leave_the_six_fields_alone() {
    let places = [
        ("Market Analyst#1", "/market_report", 75),
        ("Sentiment Analyst#1", "/sentiment_report", 75),
        ("News Analyst#1", "/news_report", 75),
        ("Fundamentals Analyst#1", "/fundamentals_report", 75),
        ("Trader#1", "/trader_investment_plan", 60),
        ("Aggressive Analyst#1", "/risk_debate_state/current_aggressive_response", 30),
        ("Conservative Analyst#1", "/risk_debate_state/current_conservative_response", 30),
        ("Neutral Analyst#1", "/risk_debate_state/current_neutral_response", 30),
        ("Portfolio Manager#1", "/final_trade_decision", 60),
    ];
    for (node, place, deadline) in places {
        for (act, kind, word) in [(Act::Hang, "timeout", "timeout"), (failing(), "error", "rate_limited")] {
            let (day, took) = with(node, act);
            assert_eq!(took, Duration::from_secs(if kind == "timeout" { deadline } else { 0 }), "{node}");
            assert_eq!(
                research(&day),
                &json!({
                    "research_status": "full", "research_mode": "debate", "timed_out_nodes": [],
                    "degraded_reason": null, "covered_dimensions": ["bull", "bear", "manager"],
                    "manager_confidence": 1.0
                }),
                "{node}"
            );
            let name = node.trim_end_matches("#1");
            let reason = format!("{}_{word}", name.to_lowercase().replace(' ', "_"));
            let metadata = day.metadata();
            let entry = json!({ "symbol": "AAPL", "node": name, "kind": kind, "reason": reason });
            assert_eq!(metadata["degradations"], json!([entry]));
            assert_eq!(metadata["data_quality"]["state"], "node_degraded");
            assert_eq!(metadata["sample_quality"], "degraded_research");
            let state = day.state("AAPL");
            let text = state.pointer(place).and_then(Value::as_str).expect("a text");
            assert!(text.contains(&format!("[The {name} gave no answer: ")), "{text}");
            let decides = ["Trader", "Portfolio Manager"].contains(&name);
            assert_eq!(day.orders().len(), usize::from(!decides), "{node}: no order without a decision");
            assert_eq!(metadata["decisions"]["fallback"], usize::from(decides));
            assert_eq!(metadata["decisions"]["unparseable"], 0);
            assert_eq!(day.nodes("AAPL").len(), NODES.len(), "every node leaves its step");
            let at = NODES.iter().position(|known| *known == node).expect("a node");
            let (_, outcome) = &day.nodes("AAPL")[at];
            assert_eq!((&outcome["state"], &outcome["reason"]), (&json!(kind), &json!(reason)));
            assert_eq!(outcome["tool_calls"], Value::Null);
        }
    }
}

// Goal: an unparseable answer gets one repair request, and then counts as unparseable: no order, and never a
// Hold.
#[test]
fn an_unreadable_answer_is_repaired_once() {
    for node in ["Research Manager#1", "Trader#1", "Portfolio Manager#1"] {
        let good = match node {
            "Research Manager#1" => plan("Buy"),
            "Trader#1" => proposal("Buy"),
            _ => crate::desk_stage::decision("Buy"),
        };
        let clock = FakeClock::new();
        let day = run_timed(&one_symbol(), &clock, move |path, request| {
            match (path.node() == node, path.as_str().ends_with("model#1")) {
                (true, true) => Act::text("I would rather not say."),
                (true, false) => {
                    let last = crate::stage::last(request);
                    assert!(last.starts_with("Your answer could not be parsed. "), "{last}");
                    Act::text(good.to_string())
                }
                _ => usual(path, request),
            }
        });
        assert_eq!(day.metadata()["degradations"], json!([]), "{node}");
        assert_eq!(day.orders().len(), 1);

        let (day, _) = with(node, Act::text("I would rather not say."));
        let name = node.trim_end_matches("#1");
        let reason = format!("{}_unparseable", name.to_lowercase().replace(' ', "_"));
        assert_eq!(day.metadata()["degradations"][0]["reason"], reason);
        assert!(day.kept.step(&format!("AAPL/{node}/model#2")).is_some());
        assert!(day.kept.step(&format!("AAPL/{node}/model#3")).is_none());
        let decides = name != "Research Manager";
        assert_eq!(day.orders().len(), usize::from(!decides), "{node}");
        assert_eq!(day.metadata()["decisions"]["unparseable"], usize::from(decides));
        if decides {
            assert_eq!(day.metadata()["decisions"]["ratings"], json!({}));
        }
    }
}

// Goal: if a provider rejects the schema, the request is repeated without it.
#[test]
fn a_refused_schema_is_left_out() {
    let clock = FakeClock::new();
    let day = run_timed(&one_symbol(), &clock, |path, request| match &request.response_schema {
        Some(_) => Act::Fail(FailureKind::BadRequest, "no schemas here".to_owned()),
        None if path.node() == "Trader#1" => Act::text("Action: Buy\nReasoning: The plan says so."),
        None => usual(path, request),
    });
    assert_eq!(day.metadata()["degradations"], json!([]));
    assert_eq!(day.orders().len(), 1);
}

// Goal: the first reason in path order is used across rounds and symbols, and each node is named once.
#[test]
fn the_first_reason_stands() {
    let mut stage = desk();
    stage.agent.desk.as_mut().expect("a desk").max_debate_rounds = 2;
    let clock = FakeClock::new();
    let day = run_timed(&stage, &clock, |path, request| match path.as_str() {
        "AAPL/Bear Researcher#2/model#1" | "IBM/Bear Researcher#1/model#1" => Act::Hang,
        "AAPL/Bull Researcher#2/model#1" => failing().after(Duration::from_secs(20)),
        "IBM/Bear Researcher#2/model#1" => Act::Hang,
        _ => usual(path, request),
    });
    assert_eq!(
        research(&day),
        &json!({
            "research_status": "degraded", "research_mode": "degraded_synthesis",
            "timed_out_nodes": ["Bear Researcher"], "degraded_reason": "bull_researcher_rate_limited",
            "covered_dimensions": ["bull", "manager"], "manager_confidence": 0.5
        })
    );
    let reasons: Vec<String> = day.metadata()["degradations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|gone| format!("{} {}", gone["symbol"].as_str().unwrap(), gone["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(
        reasons,
        [
            "AAPL bull_researcher_rate_limited",
            "AAPL bear_researcher_timeout",
            "IBM bear_researcher_timeout",
            "IBM bear_researcher_timeout",
        ]
    );
    assert_eq!(
        day.metadata()["by_symbol"]["AAPL"]["research"]["covered_dimensions"],
        json!(["bull", "bear", "manager"])
    );
}

// Goal: a day on which every node fails is still completed, without an order, with every reason, in the
// desk's language; what happened to the books is reported again.
#[test]
fn a_desk_that_is_down() {
    let mut stage = desk();
    stage.agent.language = Language::Zh;
    let clock = FakeClock::new();
    let kept = Arc::default();
    let host = MemoryHost::new(&clock, &kept, |_, _| Act::Fail(FailureKind::Unavailable, "down".to_owned()));
    let mut start = stage.start();
    start.notices = vec!["split: AAPL".to_owned()];
    let day = on(&stage, &clock, &kept, host, start).expect("a day");
    assert_eq!(day.result.closing.status.as_str(), "completed");
    assert_eq!(day.result.closing.error, None);
    assert!(day.orders().is_empty());
    let metadata = day.metadata();
    assert_eq!(metadata["degradations"].as_array().map(Vec::len), Some(24));
    assert_eq!(metadata["decisions"]["fallback"], 2);
    assert_eq!(research(&day)["manager_confidence"], 0.0);
    assert_eq!(research(&day)["covered_dimensions"], json!([]));
    assert_eq!(metadata["by_symbol"]["IBM"]["rating"], Value::Null);
    assert_eq!(metadata["by_symbol"]["IBM"]["confidence"], Value::Null);
    let state = day.state("AAPL");
    assert!(state["investment_plan"].as_str().is_some_and(|text| text.starts_with("建议：HOLD（持有）")));
    let bull = state["investment_debate_state"]["bull_history"].as_str().expect("a text");
    assert!(bull.starts_with("Bull Analyst: 【Bull Researcher 没有给出论点："), "{bull}");
    assert_eq!(day.result.state.notices, ["split: AAPL"]);
}

// Goal: a stop is not a degradation: it ends the day without a verdict, and the day resumes from there.
#[test]
fn a_stop_is_no_degradation() {
    let stage = one_symbol();
    let clock = FakeClock::new();
    let kept = Arc::default();
    let host = MemoryHost::new(&clock, &kept, |path, request| match path.node() {
        "Bear Researcher#1" => Act::Stop(SessionStop::Budget("used up".to_owned())),
        _ => usual(path, request),
    });
    let stopped = on(&stage, &clock, &kept, host, stage.start());
    assert!(matches!(stopped, Err(SessionStop::Budget(_))));
    let host = MemoryHost::new(&clock, &kept, usual);
    let day = on(&stage, &clock, &kept, host, stage.start()).expect("a day");
    assert_eq!(research(&day)["research_status"], "full");
    assert!(day.calls().iter().all(|call| !call.contains("Market") && !call.contains("Bull")));
}

// Goal: an invalid prompt is found before a desk runs, and not by a node in the middle of a day.
#[test]
fn a_bad_prompt_is_found_at_start() {
    let bad = [("desk/trader.en.md".to_owned(), "{{ nothing.of.this }}".to_owned())];
    let error = papertape_agents::prompt::PromptSet::with_overrides(bad.into()).expect_err("no such value");
    assert!(error.to_string().contains("desk/trader.en.md"), "{error}");
}

// Goal: an argument or a report of invisible characters only (format characters, separators, controls) is not
// an answer; with one visible character it is.
#[test]
fn an_invisible_answer_is_empty() {
    let invisible = [
        "\u{200b}\u{2060}\u{feff}",
        "\u{ad}\u{200d}\u{e0041}",
        "\u{3000}\u{a0}\u{202f}",
        "\u{7f}\u{85}\u{1}",
        "",
    ];
    for text in invisible {
        for (node, reason) in [
            ("Bull Researcher#1", "bull_researcher_empty_answer"),
            ("Neutral Analyst#1", "neutral_analyst_empty_answer"),
            ("News Analyst#1", "news_analyst_empty_answer"),
        ] {
            let day = run_timed(&one_symbol(), &FakeClock::new(), move |path, request| {
                if path.node() == node { Act::text(text) } else { usual(path, request) }
            });
            assert_eq!(day.metadata()["degradations"][0]["reason"], reason, "{text:?}");
        }
    }
    let day = run_timed(&one_symbol(), &FakeClock::new(), |path, request| {
        if path.node() == "Bull Researcher#1" { Act::text("\u{200b}.") } else { usual(path, request) }
    });
    assert_eq!(day.metadata()["sample_quality"], "full_research");
}
