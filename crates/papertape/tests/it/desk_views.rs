//! A desk's analysis as seen through the API: the live contract, the session's metadata, the state log, and
//! results by research quality.

use crate::api_support::settled;
use crate::desk_support::{Broken, DESK, DeskWorld, Fault, desk, one_day};
use papertape_agents::config::Analyst;
use papertape_service::trigger::Request as Simulation;
use serde_json::Value;

/// The response's data on the analysis, without values that differ between runs and without texts.
fn snapshot(name: &str, answer: Value) {
    insta::assert_json_snapshot!(name, settled(answer));
}

async fn live(desk: &DeskWorld, ticker: &str) -> Value {
    desk.world.good(&format!("/live/{ticker}")).await
}

/// Goal: an undisturbed analysis is `completed`, `full`, `debate` and 1.0, by instrument, by session and in
/// the results; its state has TradingAgents' shape with the six fields in the debate.
#[tokio::test(flavor = "multi_thread")]
async fn a_whole_analysis_says_so_everywhere() {
    let desk = DeskWorld::new().await;
    let (job, _) = desk.run(one_day(&["AAPL"])).await;
    let answer = live(&desk, "AAPL").await;
    assert_eq!((&answer["status"], &answer["error"]), (&"completed".into(), &Value::Null));
    snapshot("live_full", answer.clone());
    let session = answer["session_id"].as_i64().expect("an id");
    assert_eq!(desk.world.good(&format!("/sessions/{session}/live")).await, answer);
    let same = desk.world.good(&format!("/live/AAPL?date=2012-10-01&job_id={job}&model={DESK}")).await;
    assert_eq!(same, answer);

    let state = desk.world.good(&format!("/sessions/{session}/state")).await;
    let debate = &state["investment_debate_state"];
    let fields =
        ["research_status", "research_mode", "timed_out_nodes", "degraded_reason", "covered_dimensions"];
    let found: Vec<&Value> = fields.iter().map(|field| &debate[field]).collect();
    assert_eq!(
        serde_json::json!(found),
        serde_json::json!(["full", "debate", [], null, ["bull", "bear", "manager"]])
    );
    assert_eq!(debate["manager_confidence"], 1.0);
    for text in [
        "market_report",
        "investment_plan",
        "trader_investment_plan",
        "trader_investment_decision",
        "final_trade_decision",
    ] {
        assert!(state[text].as_str().is_some_and(|text| !text.is_empty()), "{text}");
    }
    assert_eq!(state["news_report"], "", "nobody was asked, and it is a string all the same");

    let day = desk.world.good(&format!("/results?job_id={job}&date=2012-10-01")).await;
    let day = &day["results"][0];
    for place in ["provenance", "metadata"] {
        assert_eq!(day[place]["research"], answer["research"], "{place}");
        assert_eq!(day[place]["sample_quality"], "full_research");
        assert_eq!(day[place]["data_quality"]["state"], "ok");
    }
    assert_eq!(day["metadata"]["agent_kind"], "desk");
}

/// Goal: a failed research node, and a failed node outside the research, are visible: there is a result, but
/// a degraded one, with the reason, the node and its time; the results count the day, but not as full research.
#[tokio::test(flavor = "multi_thread")]
async fn a_degraded_analysis_says_what_was_degraded() {
    let desk = DeskWorld::new().await;
    desk.break_nodes([Broken::new("Bull Researcher", Fault::Hang)]);
    let (job, _) = desk.run(one_day(&["AAPL"])).await;
    let answer = live(&desk, "AAPL").await;
    assert_eq!(answer["status"], "degraded_success");
    assert_eq!(answer["research"]["degraded_reason"], "bull_researcher_timeout");
    assert_eq!(answer["research"]["timed_out_nodes"], serde_json::json!(["Bull Researcher"]));
    assert_eq!(answer["research"]["manager_confidence"], 0.5);
    // The test's clock advanced by this much while the node ran.
    assert_eq!(answer["degradation"]["source_diagnostics"]["Bull Researcher"]["elapsed_ms"], 30_000);
    snapshot("live_research_degraded", answer);
    let range = desk.world.good(&format!("/results?job_id={job}")).await;
    let range = &range["results"][0];
    assert_eq!(range["full_research"]["days"], 0);
    assert_eq!(range["period_metrics"]["days"], 1);
    assert_eq!(range["provenance"]["degraded_days"], serde_json::json!(["2012-10-01"]));

    desk.break_nodes([Broken::new("Neutral Analyst", Fault::Refuse(400))]);
    desk.run(Simulation { replace_existing: true, ..one_day(&["AAPL"]) }).await;
    let answer = live(&desk, "AAPL").await;
    assert_eq!(answer["status"], "degraded_success");
    assert_eq!(answer["research"]["research_status"], "full", "research is not what was degraded");
    assert_eq!(answer["data_quality"]["state"], "node_degraded");
    snapshot("live_node_degraded", answer);
}

/// Goal: without a decision there is no result: `failed`, with the research that exists, and no invented
/// opinion; a session that its job has left open is reported as open.
#[tokio::test(flavor = "multi_thread")]
async fn a_failed_analysis_has_no_opinion() {
    let desk = DeskWorld::new().await;
    desk.break_nodes([Broken::new("Portfolio Manager", Fault::Say("I would rather not say.".to_owned()))]);
    let (job, _) = desk.run(one_day(&["AAPL"])).await;
    let answer = live(&desk, "AAPL").await;
    assert_eq!((&answer["status"], &answer["result"]), (&"failed".into(), &Value::Null));
    assert_eq!(answer["error"]["code"], "portfolio_manager_unparseable");
    assert_eq!(answer["research"]["research_status"], "full");
    snapshot("live_failed", answer);
    let day = desk.world.good(&format!("/results?job_id={job}&date=2012-10-01")).await;
    let decisions = &day["results"][0]["metadata"]["decisions"];
    assert_eq!((&decisions["unparseable"], &decisions["ratings"]), (&1.into(), &serde_json::json!({})));
    assert_eq!(day["results"][0]["trades"], serde_json::json!([]));
}

/// Goal: a session of several instruments has provenance by instrument and in total, and requires the caller
/// to name an instrument.
#[tokio::test(flavor = "multi_thread")]
async fn several_instruments_are_kept_apart() {
    let desk = DeskWorld::new().await;
    let broken = Broken { symbol: Some("IBM"), ..Broken::new("Bear Researcher", Fault::Refuse(400)) };
    desk.break_nodes([broken]);
    let (job, _) = desk.run(one_day(&["AAPL", "IBM"])).await;
    assert_eq!(live(&desk, "AAPL").await["status"], "completed");
    let ibm = live(&desk, "IBM").await;
    assert_eq!(ibm["status"], "degraded_success");
    let session = ibm["session_id"].as_i64().expect("an id");
    for what in ["live", "state"] {
        let asked = desk.world.get(&format!("/sessions/{session}/{what}")).await;
        assert_eq!((asked.status.as_u16(), asked.json()["error"].clone()), (400, "invalid_input".into()));
        assert!(asked.json()["message"].as_str().is_some_and(|text| text.starts_with("ticker: ")));
        desk.world.good(&format!("/sessions/{session}/{what}?ticker=AAPL")).await;
        let missing = desk.world.get(&format!("/sessions/{session}/{what}?ticker=MSFT")).await;
        assert_eq!(missing.status, 404);
    }
    let day = desk.world.good(&format!("/results?job_id={job}&date=2012-10-01")).await;
    let provenance = day["results"][0]["provenance"].clone();
    assert_eq!(provenance["research"]["research_status"], "degraded");
    assert_eq!(provenance["by_symbol"]["AAPL"]["research_status"], "full");
    snapshot("provenance_of_two", provenance);
    assert_eq!(desk.world.get("/live/MSFT").await.status, 404);
    assert_eq!(desk.world.get("/live/AAPL?date=2012-10-02").await.status, 404);
}

/// Goal: the same responses on PostgreSQL.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_answers_for_a_desk() {
    let desk = DeskWorld::on_postgres().await;
    desk.run(one_day(&["AAPL"])).await;
    let answer = live(&desk, "AAPL").await;
    insta::assert_json_snapshot!("live_full", settled(answer));
}

/// Goal: analysts without their sources say so, which is not a degradation.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_source_is_no_degradation() {
    let desk_world = DeskWorld::new().await;
    let all = [Analyst::Market, Analyst::Social, Analyst::News, Analyst::Fundamentals];
    desk_world.run(Simulation { agents: vec![desk(&all)], ..one_day(&["AAPL"]) }).await;
    let answer = live(&desk_world, "AAPL").await;
    assert_eq!(answer["status"], "completed");
    let missing = answer["data_quality"]["sources_missing"].as_object().expect("an object");
    assert!(!missing.is_empty(), "the bundled data has no news");
    assert_eq!(answer["degradation"]["degraded"], false);
}
