//! Starting, stopping, resuming and branching through the API.

use crate::api_support::{World, settled};
use serde_json::json;

/// Goal: a simulation is queued as requested, and reports what it skips and what it continues, and nothing
/// within its limits is rejected.
#[tokio::test(flavor = "multi_thread")]
async fn a_simulation_is_triggered() {
    let world = World::new().await;
    let body = json!({
        "start_date": "2012-10-01",
        "end_date": "2012-10-08",
        "models": ["house::buy_and_hold"],
        "agents": [{ "name": "careful", "model": "house::contrarian", "language": "zh", "limits": { "max_steps": 5 } }],
        "symbols": ["AAPL", "IBM"],
        "initial_cash": 10000,
        "seed": 0,
        "budget": { "job": { "tokens": 1000000 } },
        "summaries": true,
        "replace_existing": false,
        "masking": null
    });
    let answer = world.post("/simulate/trigger", &body).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    let answer = answer.json();
    let job = answer["job_id"].as_str().expect("an id").to_owned();
    let mut shown = settled(answer);
    let warnings = shown["warnings"].to_string().replace(&world.job, "[job]");
    shown["warnings"] = serde_json::from_str(&warnings).expect("JSON");
    insta::assert_json_snapshot!("triggered", shown);
    world.work(&job).await;
    let status = world.good(&format!("/simulate/status/{job}")).await;
    assert_eq!(status["status"], "completed");
    assert_eq!(
        status["progress"],
        json!({ "total_model_days": 12, "completed": 7, "failed": 0, "skipped": 5, "pending": 0 })
    );
    let went_on =
        world.post("/simulate/trigger", &json!({ "end_date": "2012-10-09", "models": ["careful"] })).await;
    assert_eq!(
        went_on.status, 400,
        "an agent that the config does not know cannot be named: {}",
        went_on.text
    );
    let body =
        json!({ "end_date": "2012-10-09", "models": ["house::buy_and_hold"], "symbols": ["AAPL", "IBM"] });
    let went_on = world.post("/simulate/trigger", &body).await.json();
    assert_eq!(went_on["continues"]["house::buy_and_hold"], json!({ "job": job, "date": "2012-10-08" }));
    assert_eq!(went_on["warnings"], json!([]));
    // An account continues under the rules that it was traded by, with what it holds.
    let mut other = body;
    other["initial_cash"] = json!(5);
    let warned = world.post("/simulate/trigger", &other).await.json();
    assert!(warned["warnings"][0].as_str().is_some_and(|text| text.starts_with("initial_cash")), "{warned}");
    other["market"] = json!("crypto");
    let refused = world.post("/simulate/trigger", &other).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(
        refused.text.contains("uses the market us_equity (frictionless), not crypto (frictionless)"),
        "{}",
        refused.text
    );
    // Days that the data does not have are reported, not silently skipped.
    let body =
        json!({ "start_date": "2013-02-25", "end_date": "2014-10-02", "models": ["house::buy_and_hold"] });
    let warned = world.post("/simulate/trigger", &body).await.json();
    assert!(warned["warnings"][0].as_str().is_some_and(|text| text.contains("to 2013-03-01")), "{warned}");
}

/// Goal: a queued job can be cancelled, resumed and run; a repeated request returns the state.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_cancelled_and_resumed() {
    let world = World::empty().await;
    let body = json!({ "start_date": "2012-10-01", "end_date": "2012-10-02", "models": ["house::momentum"], "symbols": ["IBM"] });
    let queued = world.post("/simulate/trigger", &body).await.json();
    let job = queued["job_id"].as_str().expect("an id");
    let cancelled = world.post(&format!("/simulate/{job}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 202);
    insta::assert_json_snapshot!("cancelled", settled(cancelled.json()));
    assert_eq!(world.post(&format!("/simulate/{job}/cancel"), &json!({})).await.status, 202);
    assert_eq!(world.good(&format!("/jobs/{job}")).await["job"]["status"], "cancelled");
    let resumed = world.post(&format!("/simulate/{job}/resume"), &json!({})).await;
    assert_eq!(resumed.status, 202);
    insta::assert_json_snapshot!("resumed", settled(resumed.json()));
    world.work(job).await;
    assert_eq!(world.good(&format!("/simulate/status/{job}")).await["status"], "completed");
    assert_eq!(world.post(&format!("/simulate/{job}/cancel"), &json!({})).await.status, 409);
}

/// Goal: a job that has used up its budget resumes with a larger one; an invalid budget is rejected.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_resumed_with_a_larger_budget() {
    let world = World::empty().await;
    let body = json!({
        "start_date": "2012-10-01", "end_date": "2012-10-02", "models": ["house::momentum"], "symbols": ["IBM"],
        "budget": { "job": { "tokens": 6_000 } },
    });
    let queued = world.post("/simulate/trigger", &body).await.json();
    let job = queued["job_id"].as_str().expect("an id");
    world.work(job).await;
    let stopped = world.good(&format!("/jobs/{job}")).await;
    assert!(
        stopped["job"]["error"].as_str().is_some_and(|error| error.starts_with("budget exhausted: job: "))
    );
    let resume = format!("/simulate/{job}/resume");
    let wrong = world.post(&resume, &json!({ "budget": { "jobs": {} } })).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    let negative = world.post(&resume, &json!({ "budget": { "day": { "usd": -5 } } })).await;
    assert_eq!(negative.status, 400, "{}", negative.text);
    assert_eq!(negative.json()["message"], "budget: day.usd: must not be negative, got -5");
    let larger = json!({ "budget": { "job": { "tokens": 500_000 } } });
    assert_eq!(world.post(&resume, &larger).await.status, 202);
    world.work(job).await;
    assert_eq!(world.good(&format!("/simulate/status/{job}")).await["status"], "completed");
    assert_eq!(world.post(&resume, &larger).await.status, 409);
}

/// Goal: a branch shares its parent's past, and its change decides what follows.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_branched() {
    let world = World::new().await;
    let body = json!({ "agent": "house::momentum", "date": "2012-10-03", "model": "house::buy_and_hold" });
    let branched = world.post(&format!("/simulate/{}/branch", world.job), &body).await;
    assert_eq!(branched.status, 202, "{}", branched.text);
    let branched = branched.json();
    insta::assert_json_snapshot!("branched", settled(branched.clone()));
    let job = branched["job_id"].as_str().expect("an id");
    assert_eq!(branched["parent"], world.job.as_str());
    world.work(job).await;
    let model = "house::momentum";
    let path = |job: &str, date: &str| format!("/results?job_id={job}&date={date}&model={model}");
    let before = |job: &str| path(job, "2012-10-02");
    let (parent, branch) = (world.good(&before(&world.job)).await, world.good(&before(job)).await);
    assert_eq!(parent["results"][0]["final_position"], branch["results"][0]["final_position"]);
    let after = world.good(&path(job, "2012-10-03")).await;
    assert_eq!(after["results"][0]["metadata"]["model"], "house::buy_and_hold");
    let shown = world.good(&format!("/jobs/{job}")).await;
    assert_eq!(shown["job"]["simulation"]["branch"]["date"], "2012-10-03");
}
