//! Experiments through the router: what is queued, what is sent, what is reused, what is spent, and what is reported.

use crate::api_support::{World, config};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::simulate::NoopObserver;
use papertape_service::app::{Access, App};
use papertape_service::config::Config;
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::model_server::{ModelServer, Reply, ScriptedAnswer, Tokens};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tempfile::TempDir;

/// It ends each day with its first answer.
async fn server() -> ModelServer {
    ModelServer::answering(|_| {
        let tokens = Some(Tokens { input: 900, cached: 0, output: 50 });
        let text = "Nothing to do. <FINISH_SIGNAL>".to_owned();
        ScriptedAnswer::reply(Reply { text, tokens, ..Reply::default() })
    })
    .await
}

fn with_models(dir: &TempDir, server: &ModelServer) -> Config {
    let mut config = config(dir);
    for (name, kind) in [("lab", ProviderKind::OpenaiCompatible), ("claude", ProviderKind::Anthropic)] {
        let provider = ProviderConfig {
            kind: Some(kind),
            base_url: Some(server.url()),
            api_key_env: (kind == ProviderKind::Anthropic).then(|| "PATH".to_owned()),
            stream: true,
            ..ProviderConfig::default()
        };
        config.models.providers.insert(name.to_owned(), provider);
    }
    config
}

async fn world(server: &ModelServer) -> World {
    let dir = tempfile::tempdir().expect("a directory");
    let app = App::open(with_models(&dir, server), Access::Own, papertape::integrations()).await;
    let app = app.expect("it opens");
    World { router: papertape_api::router(app.clone()), app, job: String::new(), _dir: dir }
}

/// One call per model-day.
fn body(agents: &[&str], more: &Value) -> Value {
    let mut body = json!({
        "simulation": {
            "start_date": "2012-10-01", "end_date": "2012-10-12", "models": agents, "symbols": ["IBM"],
            "summaries": false, "memory": "off", "initial_cash": 10_000
        }
    });
    for (field, value) in more.as_object().expect("an object") {
        match field.as_str() {
            "trials" | "windows" | "compare" => body[field] = value.clone(),
            _ => body["simulation"][field] = value.clone(),
        }
    }
    body
}

async fn create(world: &World, body: &Value) -> Value {
    let answer = world.post("/experiments", body).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    answer.json()
}

fn texts(list: &Value) -> Vec<String> {
    let text = |item: &Value| item.as_str().unwrap_or_else(|| panic!("{item} is no text")).to_owned();
    list.as_array().expect("a list").iter().map(text).collect()
}

/// Goal: every trial of a language model runs with its own seed, sent to a provider that takes one; a rule-based agent
/// runs once and says why; results list every trial with mean and spread; completed days are reused by the same seed
/// and by no other.
#[tokio::test(flavor = "multi_thread")]
async fn trials_differ_in_their_seed() {
    let server = server().await;
    let world = world(&server).await;
    let agents = ["lab::one", "house::momentum"];
    let plan =
        json!({ "trials": 3, "windows": { "count": 2, "days": 2 }, "seed": 7, "compare": "house::momentum" });
    let body = body(&agents, &plan);

    let estimate = world.post("/experiments/estimate", &body).await;
    assert_eq!(estimate.status, 200, "{}", estimate.text);
    let estimate = estimate.json();
    assert_eq!(estimate["estimate"]["model_days"], 16, "12 of the model and 4 of the rules");
    assert_eq!(estimate["estimate"]["agents"][0]["basis"], "assumption");
    assert_eq!(estimate["estimate"]["cost_usd"], Value::Null, "nobody knows the lab's price");
    assert_eq!(estimate["estimate"]["agents"][1]["calls"], 0);
    assert_eq!(world.good("/experiments").await["count"], 0, "an estimate queues nothing");

    let queued = create(&world, &body).await;
    let id = queued["experiment_id"].as_str().expect("an id").to_owned();
    let jobs = texts(&queued["jobs"]);
    assert_eq!(jobs.len(), 6);
    let manifest = &queued["manifest"];
    assert_eq!((&manifest["trials"], &manifest["planned_last_day"]), (&json!(3), &json!("2012-10-12")));
    assert_eq!(
        manifest["windows"],
        json!([
            { "start_date": "2012-10-01", "end_date": "2012-10-02", "days": 2 },
            { "start_date": "2012-10-11", "end_date": "2012-10-12", "days": 2 }
        ])
    );
    let rules = &manifest["agents"][1];
    assert_eq!((&rules["trials"], &rules["varies_by"]), (&json!(1), &json!("nothing")));
    assert!(rules["note"].as_str().is_some_and(|note| note.contains("rule-based")), "{rules}");
    let shown = world.good(&format!("/experiments/{id}")).await;
    assert_eq!(shown["experiment"]["status"], "queued");
    let interim = shown["experiment"]["interim"].as_str().expect("it is interim");
    assert!(interim.starts_with("0 of 6 planned runs"), "{interim}");

    for job in &jobs {
        world.work(job).await;
    }
    let mut seeds: BTreeMap<Option<u64>, usize> = BTreeMap::new();
    for request in server.requests() {
        *seeds.entry(request.body["seed"].as_u64()).or_default() += 1;
    }
    let planned: Vec<u64> =
        manifest["seeds"].as_array().expect("seeds").iter().filter_map(Value::as_u64).collect();
    assert_eq!(planned[0], 7);
    // The first trial is the run as it is without trials, which sends no seed unless the agent has one.
    assert_eq!(seeds, BTreeMap::from([(None, 4), (Some(planned[1]), 4), (Some(planned[2]), 4)]));

    let shown = world.good(&format!("/experiments/{id}")).await;
    assert_eq!(
        (&shown["experiment"]["status"], &shown["experiment"]["interim"]),
        (&json!("completed"), &Value::Null)
    );
    assert_eq!(shown["manifest"], *manifest, "the manifest never changes");
    let results = world.good(&format!("/experiments/{id}/results")).await;
    let of = |agent: usize, window: usize| &results["agents"][agent]["windows"][window];
    for window in 0..2 {
        let llm = of(0, window);
        assert_eq!(llm["trials"].as_array().map(Vec::len), Some(3));
        assert_eq!(
            llm["spread"]["total_return"],
            json!({ "n": 3, "mean": 0.0, "deviation": 0.0, "min": 0.0, "max": 0.0 })
        );
        assert_eq!(llm["trials"][2]["seed"], json!(planned[2]));
        assert_eq!(llm["trials"][0]["annualized_return"], Value::Null, "nothing is annualized under 60 days");
        let rules = of(1, window);
        assert_eq!(rules["trials"].as_array().map(Vec::len), Some(1), "it runs once: {rules}");
        assert_eq!(rules["spread"]["total_return"]["deviation"], Value::Null);
        assert!(rules["buy_and_hold"].is_number(), "{rules}");
    }

    // A job outside of the experiment continues the first trial, not the last.
    let newest = world.good("/results?model=lab::one").await;
    assert_eq!(newest["results"][0]["job_id"], json!(jobs[3]), "the first trial of the second window");

    let again = |more: Value| {
        let mut body = body.clone();
        for (field, value) in more.as_object().expect("an object") {
            match field.as_str() {
                "trials" => body[field] = value.clone(),
                _ => body["simulation"][field] = value.clone(),
            }
        }
        body
    };
    let days = async |body: &Value| {
        let answer = world.post("/experiments/estimate", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let estimate = answer.json()["estimate"]["agents"][0].clone();
        (estimate["model_days"].as_u64(), estimate["skipped_days"].as_u64(), estimate["basis"].clone())
    };
    let record = json!("record");
    assert_eq!(days(&again(json!({}))).await, (Some(0), Some(12), record.clone()), "the same seeds");
    assert_eq!(days(&again(json!({ "trials": 4 }))).await, (Some(4), Some(12), record.clone()));
    assert_eq!(days(&again(json!({ "seed": 8 }))).await, (Some(12), Some(0), record), "other seeds");
}

/// Goal: a provider without a seed gets none, and the plan says that trials differ by chance; requests that make no
/// sense name the field.
#[tokio::test(flavor = "multi_thread")]
async fn plans_say_what_they_cannot_do() {
    let server = server().await;
    let world = world(&server).await;
    let queued = create(&world, &body(&["claude::one"], &json!({ "trials": 2 }))).await;
    let agent = &queued["manifest"]["agents"][0];
    assert_eq!((&agent["trials"], &agent["varies_by"]), (&json!(2), &json!("chance")));
    let warning = "claude::one: trials differ only by chance: the provider of `claude::one` takes no seed";
    assert!(texts(&queued["warnings"]).iter().any(|text| text == warning), "{queued}");

    let once = create(&world, &body(&["house::momentum"], &json!({ "trials": 5 }))).await;
    assert_eq!(texts(&once["jobs"]).len(), 1, "rules run once");

    let wrong = [
        (json!({ "trials": 0 }), "trials: 0 is out of range; expected 1 to 100"),
        (json!({ "trials": 101 }), "trials: 101 is out of range; expected 1 to 100"),
        (
            json!({ "windows": { "count": 3, "days": 4 } }),
            "windows: 3 windows of 4 trading days need 12 days",
        ),
        (json!({ "start_date": null }), "start_date: an experiment needs a start_date"),
        (json!({ "compare": "nobody" }), "compare: unknown baseline `nobody`"),
        (json!({ "trials": 100, "windows": { "count": 3, "days": 1 } }), "trials: 300 jobs"),
    ];
    for (more, message) in wrong {
        let answer = world.post("/experiments", &body(&["lab::one"], &more)).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        let text = answer.json()["message"].as_str().expect("a message").to_owned();
        assert!(text.starts_with(message), "{text}");
    }
    for path in ["/experiments/nobody", "/experiments/nobody/results"] {
        assert_eq!(world.get(path).await.status, 404, "{path}");
    }
    for path in ["/experiments/nobody/cancel", "/experiments/nobody/resume"] {
        assert_eq!(world.post(path, &json!({})).await.status, 404, "{path}");
    }
    assert_eq!(server.count(), 0);
}

/// Runs jobs side by side in one process until they end.
async fn work(app: &App, jobs: &[String]) {
    let stopper = CancelSource::default();
    let signal = stopper.signal();
    let run = jobs.iter().map(async |job| {
        app.worker.run_job(&JobId::new(job), &signal, &NoopObserver).await.expect("the record holds");
    });
    futures::future::join_all(run).await;
}

/// Goal: jobs that run at the same time in two processes never use more than the limit that they share; the ones that
/// stop at it say so, and go on as one once it is raised, without repeating a call.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_two_processes_share_one_budget() {
    share_one_budget(&["trader"], None).await;
}

/// Goal: the same if each job is split into parts, which both processes run.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_two_processes_share_the_budget_of_split_jobs() {
    share_one_budget(&["one", "two", "three"], Some(3)).await;
}

async fn share_one_budget(names: &[&str], parts: Option<u32>) {
    let server = server().await;
    let place = papertape_testkit::postgres::place().expect("PostgreSQL");
    let dir = tempfile::tempdir().expect("a directory");
    let open = async || {
        let target = DatabaseTarget::Postgres(place.url.clone(), place.schema.clone());
        let store = Store::open(target).await.expect("it opens");
        App::compose(with_models(&dir, &server), store, papertape::integrations()).expect("it is composed")
    };
    let (app, other) = (open().await, open().await);
    let router = papertape_api::router(app.clone());
    let world = World {
        app: app.clone(),
        router,
        job: String::new(),
        _dir: tempfile::tempdir().expect("a directory"),
    };
    let limit = 20_000;
    let agent = |name| json!({ "name": name, "model": "lab::one", "sampling": { "max_tokens": 100 } });
    let mut body = body(&[], &json!({ "trials": 4, "budget": { "job": { "tokens": limit } } }));
    body["simulation"]["models"] = Value::Null;
    body["simulation"]["agents"] = names.iter().map(agent).collect();
    body["simulation"]["parts"] = json!(parts);
    let queued = create(&world, &body).await;
    let id = queued["experiment_id"].as_str().expect("an id").to_owned();
    assert_eq!(queued["estimate"]["exceeds_budget"], true);
    let jobs = texts(&queued["jobs"]);
    let row = app.store.get_job(&JobId::new(&jobs[0])).await.expect("reads").expect("is there");
    assert_eq!(row.parts, parts.unwrap_or(1));
    let mut backward = jobs.clone();
    backward.reverse();
    let ((), ()) = tokio::join!(work(&app, &jobs), work(&other, &backward));

    let shown = world.good(&format!("/experiments/{id}")).await;
    let used = |shown: &Value| {
        let usage = &shown["experiment"]["usage"];
        usage["input_tokens"].as_u64().unwrap_or_default()
            + usage["output_tokens"].as_u64().unwrap_or_default()
    };
    assert!(used(&shown) <= limit, "{} of {limit} tokens", used(&shown));
    assert!(used(&shown) > limit / 2, "most of it can be used: {} of {limit}", used(&shown));
    assert_eq!(used(&shown), 950 * server.count() as u64);
    assert_eq!(shown["experiment"]["status"], "partial", "{shown}");
    let errors = shown["jobs"].as_array().expect("a list").iter().filter_map(|job| job["error"].as_str());
    let errors: Vec<&str> = errors.collect();
    assert!(!errors.is_empty(), "{shown}");
    assert!(errors.iter().all(|error| error.starts_with("budget exhausted: experiment: ")), "{errors:?}");

    let resumed =
        world.post(&format!("/experiments/{id}/resume"), &json!({ "budget": { "tokens": 1_000_000 } })).await;
    assert_eq!(resumed.status, 202, "{}", resumed.text);
    let ((), ()) = tokio::join!(work(&app, &jobs), work(&other, &backward));
    let shown = world.good(&format!("/experiments/{id}")).await;
    assert_eq!(
        (&shown["experiment"]["status"], &shown["budget"]["tokens"]),
        (&json!("completed"), &json!(1_000_000))
    );
    assert_eq!(shown["manifest"]["budget"]["tokens"], json!(limit), "the plan stays");
    let days = shown["manifest"]["windows"][0]["days"].as_u64().expect("a number");
    assert_eq!((server.count() as u64, server.repeats()), (4 * days * names.len() as u64, 0));
    let again = world.post(&format!("/experiments/{id}/resume"), &json!({})).await;
    assert_eq!(again.status, 409, "{}", again.text);
}

/// Goal: cancel and resume act on all jobs, and a cancelled experiment is interim until its last day is done.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_cancelled_and_resumed_as_one() {
    let server = server().await;
    let world = world(&server).await;
    let queued = create(&world, &body(&["lab::one"], &json!({ "trials": 3 }))).await;
    let (id, jobs) = (queued["experiment_id"].as_str().expect("an id").to_owned(), texts(&queued["jobs"]));
    world.work(&jobs[1]).await;
    let cancelled = world.post(&format!("/experiments/{id}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, 202, "{}", cancelled.text);
    assert_eq!((&cancelled.json()["jobs"], &cancelled.json()["status"]), (&json!(2), &json!("partial")));
    let again = world.post(&format!("/experiments/{id}/cancel"), &json!({})).await;
    assert_eq!(again.status, 409, "{}", again.text);
    let results = world.good(&format!("/experiments/{id}/results")).await;
    let interim = results["interim"].as_str().expect("it is interim");
    assert!(interim.starts_with("1 of 3 planned runs"), "{interim}");
    let spread = &results["agents"][0]["windows"][0]["spread"];
    assert_eq!((&spread["trials"], &spread["total_return"]["n"]), (&json!(1), &json!(1)));

    let resumed = world.post(&format!("/experiments/{id}/resume"), &json!({})).await;
    assert_eq!((&resumed.json()["jobs"], &resumed.json()["status"]), (&json!(2), &json!("queued")));
    work(&world.app, &jobs).await;
    let shown = world.good(&format!("/experiments/{id}")).await;
    assert_eq!(
        (&shown["experiment"]["status"], &shown["experiment"]["interim"]),
        (&json!("completed"), &Value::Null)
    );
    assert_eq!(server.repeats(), 0);
}
