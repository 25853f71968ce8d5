//! Results of days on which things go wrong: an order that is rejected, a position that the market closes,
//! and a session that fails.

use crate::api_support::{World, config};
use papertape_agents::config::AgentConfig;
use papertape_core::broker::{Fees, MarketProfile};
use papertape_core::id::AgentName;
use papertape_core::money::Money;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_service::app::{Access, App};
use papertape_service::trigger::Request as Simulation;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};

/// On the first day it buys with a target within reach, and requests more than it can pay for; on the second
/// its provider rejects the call; then it does nothing.
fn answer(body: &Value) -> ScriptedAnswer {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said = |role: &'static str| messages.iter().filter(move |message| message["role"] == role);
    let is_day = |date: &str| said("user").any(|message| message["content"].to_string().contains(date));
    match said("tool").count() {
        _ if is_day("2012-10-02") => ScriptedAnswer::error(400, "no"),
        0 if is_day("2012-10-01") => {
            ScriptedAnswer::call("1", "buy", r#"{"symbol": "IBM", "quantity": 10, "target": 209}"#)
        }
        1 if is_day("2012-10-01") => {
            ScriptedAnswer::call("2", "buy", r#"{"symbol": "AAPL", "quantity": 100000}"#)
        }
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Goal: the cost and the realized profit of a forced fill are reported, a rejection with its numbers, and a
/// failed day does not count as full research.
#[tokio::test(flavor = "multi_thread")]
async fn bad_days_are_told_as_they_were() {
    let server = ModelServer::answering(answer).await;
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        api_key_env: None,
        stream: true,
        ..ProviderConfig::default()
    };
    config.models.providers.insert("lab".to_owned(), provider);
    let fees = Fees { bps: 0.into(), minimum: Money::from(1) };
    config
        .markets
        .insert("costly".to_owned(), MarketProfile { fees, ..MarketProfile::us_equity().frictionless() });
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    let mut world = World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir };
    world.job = world
        .run(Simulation {
            agents: vec![AgentConfig::solo(AgentName::new("trader"), "lab::one".parse().expect("a model"))],
            models: Vec::new(),
            market: Some("costly".to_owned()),
            costs: Some(papertape_core::broker::CostModel::Market),
            summaries: Some(false),
            ..crate::api_support::week()
        })
        .await;

    let day = world.good(&format!("/results?job_id={}&date=2012-10-01", world.job)).await;
    let day = &day["results"][0];
    let trades = day["trades"].as_array().expect("trades");
    let kinds: Vec<&str> = trades.iter().filter_map(|trade| trade["action_type"].as_str()).collect();
    assert_eq!(kinds, ["buy", "target"]);
    assert!(trades[0]["order_id"].is_string() && trades[0]["realized_pnl"].is_null());
    assert!(trades[1]["order_id"].is_null(), "nobody ordered it");
    assert!(trades.iter().all(|trade| number(&trade["fee"]).to_string() == "1"), "{trades:?}");
    let gain = (209.0 - number(&trades[0]["price"])) * 10.0 - 2.0;
    assert!((number(&trades[1]["realized_pnl"]) - gain).abs() < 1e-9, "less both fees");
    let [refused] = &day["rejections"].as_array().expect("rejections")[..] else { panic!("one: {day}") };
    assert_eq!(refused["code"], "insufficient_cash");
    assert!(
        refused["numbers"]["needed"].is_number() && refused["numbers"]["available"].is_number(),
        "{refused}"
    );
    assert_eq!(day["metadata"]["is_llm"], true);

    let answer = world.get("/results?model=trader").await;
    assert_eq!(answer.status, 404, "a job that is not complete must be named: {}", answer.text);
    let range = world.good(&format!("/results?job_id={}", world.job)).await;
    let range = &range["results"][0];
    assert_eq!(number(&range["period_metrics"]["win_rate"]).to_string(), "1");
    assert_eq!(number(&range["period_metrics"]["costs"]).to_string(), "2");
    assert_eq!(range["provenance"]["failed_days"], json!(["2012-10-02"]));
    assert_eq!(range["provenance"]["degraded_days"], json!(["2012-10-02"]));
    assert_eq!(range["full_research"]["days"], 4);
    assert_eq!(range["full_research"]["total_days"], 5);
    let total = |metrics: &Value| number(&metrics["total_return"]);
    let (all, full) = (&range["period_metrics"], &range["full_research"]["period_metrics"]);
    // The portfolio is all cash from the end of the first day, so that leaving out a day changes nothing.
    assert!((total(all) - total(full)).abs() < 1e-12 && (total(all) - gain / 10_000.0).abs() < 1e-12);
    let failed = world.good(&format!("/reasoning?job_id={}&date=2012-10-02", world.job)).await;
    assert_eq!(failed["sessions"][0]["status"], "failed");
    assert!(failed["sessions"][0]["error"].as_str().is_some_and(|error| error.starts_with("bad_request")));
}
