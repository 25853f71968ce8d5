//! The terms that a run was traded on appear with its results, and its orders are filled again at the next open.

use crate::api_support::{World, week};
use papertape_core::broker::CostModel;
use papertape_service::trigger::Request as Simulation;
use serde_json::{Value, json};

/// Goal: a run with the market's costs reports them, next to the result of the same orders at the next open;
/// a frictionless run is labeled as such; and the costs account for the difference.
#[tokio::test]
async fn results_say_what_they_were_traded_by() {
    let world = World::empty().await;
    let mut results: Vec<Value> = Vec::new();
    for costs in [CostModel::Market, CostModel::Frictionless] {
        let job = world.run(Simulation { costs: Some(costs), ..week() }).await;
        let ranged: Value = world.get(&format!("/results?job_id={job}")).await.json();
        let result = ranged["results"][0].clone();
        let date = result["start_date"].as_str().expect("a date").to_owned();
        let day: Value = world.get(&format!("/results?date={date}&job_id={job}")).await.json();
        assert_eq!(day["results"][0]["conventions"]["costs"], result["conventions"]["costs"]);
        results.push(result);
    }
    let [costly, free] = &results[..] else { panic!("two runs") };
    let told = &costly["conventions"];
    assert_eq!((&told["costs"], &told["fill"]), (&json!("market"), &json!("open")));
    assert_eq!(told["fill_label"], "shown open");
    assert_eq!(told["slippage"], json!([{ "symbols": [], "bps": 10 }]));
    let names: Vec<&str> =
        told["fees"].as_array().expect("fees").iter().filter_map(|fee| fee["name"].as_str()).collect();
    assert_eq!(names, ["commission", "sec_fee", "finra_taf"]);
    assert_eq!(told["annual_borrow_bps"], 50.0);
    assert_eq!((&told["participation_pct"], &told["participation_bars"]), (&json!(1), &json!(20)));
    let summary = told["summary"].as_str().expect("a summary");
    for part in ["shown open", "Slippage: 10 bps", "commission 0.005 per share", "Borrowed shares: 50 bps"] {
        assert!(summary.contains(part), "{summary}");
    }
    let told = &free["conventions"];
    assert_eq!((&told["costs"], &told["fees"]), (&json!("frictionless"), &json!([])));
    assert!(told["summary"].as_str().is_some_and(|summary| summary.contains("frictionless")), "{told}");
    assert!(costly["period_metrics"]["costs"].as_f64().expect("a figure") > 0.0);
    assert_eq!(free["period_metrics"]["costs"], 0.0);
    for result in [costly, free] {
        let again = &result["refilled_at_next_open"];
        assert_eq!(again["fill"], "next_open");
        assert!(again["total_return"].is_number() && again["unavailable"].is_null(), "{again}");
        let count = |name: &str| again[name].as_u64().expect("a count");
        assert!(count("orders") > 0, "{again}");
        assert_eq!(
            count("orders"),
            count("filled") + count("rejected") + count("without_next_bar"),
            "{again}"
        );
    }
}

/// Goal: a fee is shown with its parts, which add up to it; a sale pays duties that a purchase does not. The
/// session's head and its OTLP span contain the conventions of the day's result.
#[tokio::test]
async fn fees_are_shown_in_parts_and_conventions_with_every_session() {
    let world = World::empty().await;
    let month = Simulation { end_date: Some(jiff::civil::date(2012, 11, 2)), ..week() };
    let job = world.run(Simulation { costs: Some(CostModel::Market), ..month }).await;
    let job_id = papertape_core::id::JobId::new(&job);
    let ranged: Value = world.get(&format!("/reasoning?job_id={job}&limit=200")).await.json();
    let (mut bought, mut sold) = (0, 0);
    for session in ranged["sessions"].as_array().expect("sessions") {
        let (date, model) = (&session["date"], &session["model"]);
        let uri = format!(
            "/results?date={}&job_id={job}&model={}",
            date.as_str().unwrap(),
            model.as_str().unwrap()
        );
        let day: Value = world.get(&uri).await.json();
        let day = &day["results"][0];
        for trade in day["trades"].as_array().expect("trades") {
            let parts = trade["fee_parts"].as_array().expect("parts");
            let amounts =
                parts.iter().map(|part| part["amount"].to_string().parse::<rust_decimal::Decimal>());
            let sum: rust_decimal::Decimal = amounts.map(|amount| amount.expect("a number")).sum();
            let fee: rust_decimal::Decimal = trade["fee"].to_string().parse().expect("a number");
            assert_eq!(sum, fee, "{trade}");
            let names: Vec<&str> = parts.iter().filter_map(|part| part["name"].as_str()).collect();
            if trade["action_type"] == "buy" {
                assert_eq!(names, ["commission"], "{trade}");
                bought += 1;
            } else {
                assert_eq!(names, ["commission", "sec_fee", "finra_taf"], "{trade}");
                assert_eq!(parts[1]["category"], "duty");
                sold += 1;
            }
        }
        let head: Value = world.get(&format!("/sessions/{}", session["session_id"])).await.json();
        assert_eq!(head["conventions"], day["conventions"]);
    }
    assert!(bought > 0 && sold > 0, "{bought} bought, {sold} sold");
    let mut out = Vec::new();
    papertape_integrations::otlp::write_job(&world.app, &job_id, &mut out).await.expect("exports");
    let text = String::from_utf8(out).expect("text");
    for line in text.lines() {
        assert!(line.contains("papertape.conventions") && line.contains("shown open"), "{line}");
    }
}

/// Goal: an unknown cost model is an error that names the field.
#[tokio::test]
async fn unknown_costs_are_named() {
    let world = World::empty().await;
    let body = json!({ "start_date": "2012-10-01", "end_date": "2012-10-05", "costs": "cheap" });
    let answer = world.post("/simulate/trigger", &body).await;
    assert_eq!(answer.status.as_u16(), 400, "{}", answer.text);
    assert!(answer.text.contains("costs"), "{}", answer.text);
}
