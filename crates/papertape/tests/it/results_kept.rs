//! Results are computed once and cached; the cache is never stale.

use crate::api_support::{DAYS, World, config, week};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::market::Dataset;
use papertape_runtime::services::Datasets;
use papertape_service::app::App;
use serde_json::{Value, json};
use std::sync::Arc;

/// The results from a process with an empty cache.
async fn afresh(world: &World, uri: &str) -> Value {
    let app = App::compose(config(&world._dir), world.app.store.clone(), papertape::integrations())
        .expect("it is composed");
    let router = papertape_api::router(app.clone());
    let other = World { app, router, job: String::new(), _dir: tempfile::tempdir().expect("a directory") };
    other.good(uri).await
}

/// Checks that the result is the same with and without the cache, also the next time.
async fn agreed(world: &World, uri: &str) -> Value {
    let found = world.good(uri).await;
    assert_eq!(found, world.good(uri).await, "{uri}: asked twice");
    assert_eq!(found, afresh(world, uri).await, "{uri}: worked out anew");
    found
}

fn closes(range: &Value, at: usize) -> usize {
    range["results"][at]["daily_portfolio_values"].as_array().map_or(0, Vec::len)
}

/// Goal: a resumed job has the results of all its days, and not the ones cached before.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_resumed_job_came_to_replaces_what_was_kept() {
    let world = World::empty().await;
    let mut body = json!({
        "start_date": DAYS[0], "end_date": DAYS[4], "models": ["house::momentum"], "symbols": ["IBM"],
        "memory": "off", "summaries": false,
    });
    let queue = async |body: &Value| {
        let queued = world.post("/simulate/trigger", body).await.json();
        queued["job_id"].as_str().unwrap_or_else(|| panic!("{queued}")).to_owned()
    };
    let whole = queue(&body).await;
    world.work(&whole).await;
    let used = world.good(&format!("/jobs/{whole}")).await["job"]["usage"].clone();
    let tokens =
        used["input_tokens"].as_u64().expect("a count") + used["output_tokens"].as_u64().expect("a count");
    body["replace_existing"] = true.into();
    body["budget"] = json!({ "job": { "tokens": tokens * 3 / 5 } });

    let job = queue(&body).await;
    world.work(&job).await;
    let uri = format!("/results?job_id={job}");
    let before = closes(&agreed(&world, &uri).await, 0);
    assert!((1..5).contains(&before), "{before} days for three fifths of what five take");
    let larger = json!({ "budget": { "job": { "tokens": tokens * 2 } } });
    assert_eq!(world.post(&format!("/simulate/{job}/resume"), &larger).await.status, 202);
    assert_eq!(closes(&agreed(&world, &uri).await, 0), before, "it waits");
    world.work(&job).await;
    assert_eq!(closes(&agreed(&world, &uri).await, 0), 5);
}

/// Goal: without a job ID the newest completed job counts at each request: after one that replaces it, one
/// that continues it, one that is deleted. Every range has its own days.
#[tokio::test(flavor = "multi_thread")]
async fn which_jobs_count_is_asked_each_time() {
    let world = World::new().await;
    let newest = "/results";
    assert_eq!(agreed(&world, newest).await["results"][0]["job_id"], world.job.as_str());
    let mut again = week();
    again.replace_existing = true;
    let replaced = world.run(again).await;
    assert_eq!(agreed(&world, newest).await["results"][0]["job_id"], replaced.as_str());
    assert_eq!(agreed(&world, &format!("/results?job_id={}", world.job)).await["count"], 2);

    let mut on = week();
    (on.start_date, on.end_date) = (None, Some(jiff::civil::date(2012, 10, 9)));
    let next = world.run(on).await;
    let whole = agreed(&world, newest).await;
    assert_eq!((whole["results"][1]["job_id"].as_str(), closes(&whole, 1)), (Some(next.as_str()), 7));
    let part = agreed(&world, &format!("/results?start_date={}&end_date={}", DAYS[1], DAYS[3])).await;
    assert_eq!(closes(&part, 1), 3);
    assert_eq!(closes(&agreed(&world, &format!("/results?end_date={}", DAYS[3])).await, 1), 4);
    assert_eq!(closes(&agreed(&world, &format!("/results?job_id={next}")).await, 1), 2, "the job's own days");

    let gone = JobId::new(&next);
    let deleted = world.app.store.delete_job(&gone, false).await.expect("deletes");
    assert!(matches!(deleted, papertape_store::Deletion::Deleted(_)), "{deleted:?}");
    assert_eq!(agreed(&world, newest).await["results"][1]["job_id"], replaced.as_str());
    assert_eq!(world.get(&format!("/results?job_id={next}")).await.status, 404);
}

/// A catalogue without datasets.
struct Nothing;

impl Datasets for Nothing {
    fn open(&self, hash: ContentHash) -> Result<Arc<Dataset>, String> {
        Err(format!("there is no dataset {hash}"))
    }
}

/// Goal: cached results include baselines as long as their data is available, and no longer.
#[tokio::test(flavor = "multi_thread")]
async fn baselines_go_and_come_with_their_data() {
    let world = World::new().await;
    let uri = format!("/results?job_id={}", world.job);
    assert!(agreed(&world, &uri).await["results"][0]["baselines"].is_object());
    let mut app = world.app.clone();
    app.services.datasets = Arc::new(Nothing);
    let without = World {
        router: papertape_api::router(app.clone()),
        app,
        job: String::new(),
        _dir: tempfile::tempdir().expect("a directory"),
    };
    let bare = without.good(&uri).await;
    assert_eq!(bare, without.good(&uri).await);
    assert!(bare["results"][0]["baselines"].is_null());
    assert!(agreed(&world, &uri).await["results"][0]["baselines"].is_object());
}

/// Goal: for texts, the results are as current as the summaries, which come after the sessions.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_read_each_time() {
    let world = World::new().await;
    let of = |level: &str| format!("/results?job_id={}&reasoning={level}", world.job);
    let plain = agreed(&world, &of("none")).await;
    assert!(plain["results"][0]["reasoning"].is_null());
    for level in ["summary", "full"] {
        let told = agreed(&world, &of(level)).await;
        assert_eq!(told["results"][0]["reasoning"].as_array().map(Vec::len), Some(5), "{level}");
        assert_eq!(told["results"][0]["period_metrics"], plain["results"][0]["period_metrics"]);
    }
    assert_eq!(world.good(&of("none")).await, plain);
}
