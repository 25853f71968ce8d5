//! Provenance: the effect of each node, the roll-up over symbols, and how it is read.

use papertape_core::id::Symbol;
use papertape_core::provenance::{
    DayQuality, Degradation, DegradationKind, Provenance, QualityState, Research, ResearchMode,
    ResearchStatus, SampleQuality, extract, reason, roll_up,
};
use papertape_core::record::DayStatus;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn degraded(node: &str, error: Option<&str>) -> Degradation {
    Degradation::of(Some(Symbol::new("AAPL")), node, error)
}

// Goal: the exact values of an undisturbed run, before, during and after it.
#[test]
fn a_whole_debate_stays_full() {
    let mut research = Research::default();
    let start = json!({
        "research_status": "full", "research_mode": "debate", "timed_out_nodes": [],
        "degraded_reason": null, "covered_dimensions": [], "manager_confidence": null
    });
    assert_eq!(json!(research), start);
    for dimension in ["bull", "bear", "bull", "bear"] {
        research.cover(dimension);
    }
    research.judge();
    let end = json!({
        "research_status": "full", "research_mode": "debate", "timed_out_nodes": [],
        "degraded_reason": null, "covered_dimensions": ["bull", "bear", "manager"], "manager_confidence": 1.0
    });
    assert_eq!(json!(research), end);
}

// Goal: the first reason is kept, a timeout names its node once, an error names none, and the manager's
// confidence reflects what was left.
#[test]
fn degradations_leave_their_reasons() {
    let mut research = Research::default();
    research.cover("bull");
    research.degrade(&degraded("Bear Researcher", None));
    research.degrade(&degraded("Bull Researcher", Some("rate_limited")));
    research.degrade(&degraded("Bear Researcher", None));
    let mut judged = research.clone();
    judged.judge();
    let wanted = json!({
        "research_status": "degraded", "research_mode": "degraded_synthesis",
        "timed_out_nodes": ["Bear Researcher"], "degraded_reason": "bear_researcher_timeout",
        "covered_dimensions": ["bull", "manager"], "manager_confidence": 0.5
    });
    assert_eq!(json!(judged), wanted);
    research.leave_unjudged(&degraded("Research Manager", None));
    assert_eq!(research.manager_confidence, Some(0.0));
    assert_eq!(research.timed_out_nodes, ["Bear Researcher", "Research Manager"]);
    assert_eq!(research.covered_dimensions, ["bull"]);
    assert_eq!(reason("Research Manager", Some("unparseable")), "research_manager_unparseable");
    assert_eq!(degraded("Trader", Some("bad_prompt")).kind, DegradationKind::Error);
}

// Goal: several symbols are degraded if any is, and cover only what all of them cover.
#[test]
fn symbols_roll_up() {
    let mut whole = Research::default();
    whole.cover("bull");
    whole.cover("bear");
    whole.judge();
    let mut bad = Research::default();
    bad.cover("bull");
    bad.degrade(&degraded("Bear Researcher", None));
    bad.judge();
    assert_eq!(roll_up([&whole, &whole]), Some(whole.clone()));
    let all = roll_up([&whole, &bad, &whole]).expect("some");
    assert_eq!(all.research_status, ResearchStatus::Degraded);
    assert_eq!(all.research_mode, ResearchMode::DegradedSynthesis);
    assert_eq!(all.degraded_reason.as_deref(), Some("bear_researcher_timeout"));
    assert_eq!(all.timed_out_nodes, ["Bear Researcher"]);
    assert_eq!(all.covered_dimensions, ["bull", "manager"]);
    assert_eq!(all.manager_confidence, Some(0.5));
    assert_eq!(roll_up([&whole, &Research::default()]).expect("some").manager_confidence, None);
    assert_eq!(roll_up([]), None);
}

// Goal: provenance is read back as written, from metadata and from a full state; another tool's `failed` is
// read as degraded, and so is unreadable provenance.
#[test]
fn every_document_is_read_alike() {
    let symbol = Symbol::new("AAPL");
    let mut research = Research::default();
    research.degrade(&degraded("Bull Researcher", Some("unparseable")));
    let missing = BTreeMap::from([("news".to_owned(), "DATA_UNAVAILABLE: news".to_owned())]);
    let by_symbol = BTreeMap::from([(symbol, research.clone())]);
    let written = Provenance::of(by_symbol, vec![degraded("Bull Researcher", Some("unparseable"))], missing);
    let metadata = json!({
        "research": written.research,
        "by_symbol": { "AAPL": { "research": research, "rating": "Hold" } },
        "degradations": written.degradations,
        "data_quality": written.data_quality,
    });
    assert_eq!(extract(&metadata), written);
    assert_eq!(
        metadata["data_quality"],
        json!({
            "state": "research_degraded", "reason_codes": ["bull_researcher_unparseable"],
            "sources_missing": { "news": "DATA_UNAVAILABLE: news" }
        })
    );

    let state = json!({ "investment_debate_state": { "history": "…", "research_status": "failed" } });
    let read = extract(&state).research.expect("research");
    assert!(read.is_degraded());
    assert_eq!(json!(read)["research_status"], "degraded");
    assert!(extract(&json!({ "research": "?" })).is_degraded());
    assert_eq!(extract(&json!({})), Provenance::default());
    assert_eq!(extract(&Value::Null), Provenance::default());
}

// Goal: any degraded node rules out full quality, and is named as the reason.
#[test]
fn quality_in_a_word() {
    let of = |research: Research, degradations: Vec<Degradation>| {
        Provenance::of(BTreeMap::from([(Symbol::new("AAPL"), research)]), degradations, BTreeMap::new())
    };
    let whole = of(Research::default(), Vec::new());
    assert_eq!(json!(whole.data_quality), json!({ "state": "ok" }));
    assert_eq!(whole.sample_quality(), SampleQuality::FullResearch);
    let node = of(Research::default(), vec![degraded("Trader", None)]);
    assert_eq!(node.data_quality.state, QualityState::NodeDegraded);
    assert_eq!(json!(node.data_quality)["reason_codes"], json!(["trader_timeout"]));
    assert_eq!(node.sample_quality().as_str(), "degraded_research");
    assert!(node.is_degraded());
    let failed = extract(&json!({ "data_quality": { "state": "failed" } }));
    assert_eq!(failed.sample_quality(), SampleQuality::DegradedResearch);
}

// Goal: a timeout of the node and a timeout of the call count the same: one reason, one kind, and the node is
// listed among those that timed out.
#[test]
fn a_timeout_is_one_thing() {
    for error in [None, Some("timed_out")] {
        let gone = degraded("Bull Researcher", error);
        assert_eq!((gone.kind, gone.reason.as_str()), (DegradationKind::Timeout, "bull_researcher_timeout"));
        let mut research = Research::default();
        research.degrade(&gone);
        assert_eq!(research.timed_out_nodes, ["Bull Researcher"]);
        assert_eq!(reason("Trader", error), "trader_timeout");
    }
}

// Goal: the quality of a model-day, the same for every reader.
#[test]
fn the_quality_of_a_day() {
    let of = |status, error: Option<&str>, metadata: Option<Value>| {
        DayQuality::of(status, error, metadata.as_ref()).map(|quality| quality.line())
    };
    use DayStatus::{Completed, Failed, Running};
    let line = |text: &str| Some(text.to_owned());
    assert_eq!(of(Running, None, None), None);
    assert_eq!(of(Completed, None, Some(json!({ "data_quality": { "state": "ok" } }))), line("ok"));
    assert_eq!(of(Completed, None, Some(json!({}))), line("ok"));
    let undecided =
        json!({ "data_quality": { "state": "no_decision", "reason_codes": ["solo_step_limit"] } });
    assert_eq!(of(Completed, None, Some(undecided)), line("no_decision: solo_step_limit"));
    let two =
        json!({ "data_quality": { "state": "node_degraded", "reason_codes": ["a_timeout", "b_timeout"] } });
    assert_eq!(of(Completed, None, Some(two)), line("node_degraded: a_timeout"));
    let old = json!({ "research": { "research_status": "degraded", "degraded_reason": "bull_researcher_timeout" } });
    assert_eq!(of(Completed, None, Some(old)), line("research_degraded: bull_researcher_timeout"));
    let hidden = json!({ "data_quality": { "state": "ok" },
        "degradations": [{ "node": "Trader", "kind": "error", "reason": "trader_unparseable" }] });
    assert_eq!(of(Completed, None, Some(hidden)), line("node_degraded: trader_unparseable"));
    let failed = json!({ "data_quality": { "state": "failed", "reason_codes": ["solo_timeout"] } });
    assert_eq!(of(Failed, Some("timed_out: late"), Some(failed.clone())), line("failed: timed_out: late"));
    assert_eq!(of(Completed, None, Some(failed.clone())), line("node_degraded: solo_timeout"));
    assert_eq!(of(Failed, None, Some(failed)), line("failed: solo_timeout"));
    assert_eq!(of(Failed, Some("a wrong key"), None), line("failed: a wrong key"));
}
