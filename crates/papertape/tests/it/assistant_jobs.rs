//! Jobs that the assistant starts: worker slots, retries, budgets, what a user lets a plan do.

use crate::api_support::World;
use crate::assistant_support::{Desk, Searched, actions, pages, searching, started, until};
use papertape_agents::config::MemoryMode;
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_llm::{ProviderConfig, ProviderKind};
use papertape_runtime::budget::Limit;
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::simulate::NoopObserver;
use papertape_service::config::Config;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};

fn tokens(tokens: u64) -> Limit {
    Limit { tokens: Some(tokens), usd: None }
}

/// A scripted model's answer, with the actions that it requests.
fn answer(message: &str, actions: Value) -> ScriptedAnswer {
    ScriptedAnswer::text(json!({ "llm_reply": { "message": message }, "actions": actions }).to_string())
}

/// A one-day simulation that a scripted model requests.
fn day_of(model: &str, more: Value) -> Value {
    let mut action = json!({ "kind": "tool_operation", "name": "run_simulation", "order": 1,
        "parameters": { "start_date": "2012-10-01", "end_date": "2012-10-01", "models": [model],
            "symbols": ["AAPL"], "memory": "off" } });
    for (key, value) in more.as_object().expect("an object") {
        match key.as_str() {
            "budget" => action["parameters"]["budget"] = value.clone(),
            "wait" => action["parameters"]["wait"] = value.clone(),
            key => action[key] = value.clone(),
        }
    }
    action
}

fn scripted_provider(config: &mut Config, server: &ModelServer) {
    let provider = ProviderConfig {
        kind: Some(ProviderKind::OpenaiCompatible),
        base_url: Some(server.url()),
        ..ProviderConfig::default()
    };
    config.models.providers.insert("test".to_owned(), provider);
}

/// The simulations, oldest first.
async fn simulations(desk: &Desk) -> Vec<Value> {
    let jobs = desk.world.good("/jobs?kind=simulate").await;
    jobs["jobs"].as_array().expect("jobs").iter().rev().cloned().collect()
}

/// The job that answers a message, from the immediate response.
fn job_of(taken: &Value) -> JobId {
    JobId::new(taken["job_id"].as_str().expect("a job"))
}

/// A running simulation whose model does not respond until the server lets it: it occupies the only slot.
async fn slow(desk: &Desk, server: &ModelServer) -> JobId {
    let body = json!({ "start_date": "2012-10-01", "end_date": "2012-10-01", "models": ["test::slow"],
        "symbols": ["AAPL"], "summaries": false, "memory": "off" });
    let queued = desk.world.post("/simulate/trigger", &body).await;
    assert_eq!(queued.status, 202, "{}", queued.text);
    server.request(1).await;
    job_of(&queued.json())
}

/// Goal: while simulations fill all slots, users still get answers, and a plan that waits for its own
/// simulation does not hold a slot that the simulation needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_do_not_wait_for_simulations() {
    let server = ModelServer::scripted([ScriptedAnswer::text("<FINISH_SIGNAL>").held()]).await;
    let desk = Desk::new(|config| {
        config.worker.parallel_jobs = 1;
        scripted_provider(config, &server);
    })
    .await;
    let slow = slow(&desk, &server).await;

    let told = desk.say(None, "help").await;
    assert_eq!(actions(&told), [("help".to_owned(), Some(true))], "{told:#}");
    let row = desk.world.good(&format!("/jobs/{slow}")).await;
    assert_eq!(row["job"]["status"], "running", "it has its place all the while");

    let words = "Create a plan P: Backtest house::momentum on AAPL from 2012-10-01 to 2012-10-02, compare it \
        with buy and hold; then decompose it and execute it";
    let taken = desk.take(json!({ "message": words }), "en").await;
    // The plan is running, and its simulation waits for the only slot.
    let turn = job_of(&taken);
    let execution = started(&desk.world.app.store, &turn, "execute_plan").await;
    started(&desk.world.app.store, &execution, "run_simulation").await;
    server.release();
    desk.ended(turn.as_str()).await;
    let plan = desk.world.good("/plans").await["plans"][0].clone();
    assert_eq!(plan["status"], "completed", "{plan:#}");
    desk.stop().await;
}

/// Goal: a failed simulation is retried according to the policy, even if a user had to confirm it first;
/// nothing is started twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_simulation_is_run_again() {
    let retried = json!({ "retry_policy": { "max_retries": "2", "backoff_sec": 0 } });
    let search = json!([{ "kind": "tool_operation", "name": "web_search", "parameters": { "query": "a" } }]);
    let server = ModelServer::scripted([
        answer("First I look.", search),
        answer("Now the run.", json!([day_of("test::trader", retried)])),
        answer("Shall I?", json!([])),
        // The trader's: its first day fails, the retry succeeds.
        ScriptedAnswer::error(400, "bad_request"),
        ScriptedAnswer::text("<FINISH_SIGNAL>"),
        answer("It is done.", json!([])),
    ])
    .await;
    let web = Searched::answering(pages()).await;
    let desk = Desk::scripted(&server, |config| {
        searching(config, &web.url);
        config.simulation.summaries = false;
    })
    .await;
    let asked = desk.say(None, "Look, then run it.").await;
    assert_eq!(actions(&asked)[1], ("run_simulation".to_owned(), None), "{asked:#}");
    let session = asked["session_id"].as_str().expect("a session");
    let done = desk.say(Some(session), "yes").await;
    assert_eq!(actions(&done), [("run_simulation".to_owned(), Some(true))], "{done:#}");
    let runs = simulations(&desk).await;
    let statuses: Vec<&str> = runs.iter().filter_map(|run| run["status"].as_str()).collect();
    assert_eq!(statuses, ["failed", "completed"], "{runs:#?}");
    let message = done["metadata"]["actions_summary"][0]["message"].as_str().expect("a message");
    assert!(message.contains(runs[1]["job_id"].as_str().expect("an id")), "{message}");
    // The failed attempt is in the log, once and in its place.
    let turn = done["metadata"]["job_id"].as_str().expect("a job");
    let logs = desk.world.good(&format!("/jobs/{turn}")).await["logs"].clone();
    let rows: Vec<&Value> = logs.as_array().expect("rows").iter().collect();
    let sequences: Vec<i64> = rows.iter().filter_map(|row| row["sequence"].as_i64()).collect();
    assert_eq!(sequences, (1..=rows.len() as i64).collect::<Vec<_>>(), "without gaps");
    let of_run: Vec<(&str, i64)> = rows
        .iter()
        .filter(|row| row["action_name"] == "run_simulation")
        .map(|row| {
            let attempt = row["details"]["attempt"]["number"].as_i64();
            (row["status"].as_str().expect("a status"), attempt.unwrap_or_default())
        })
        .collect();
    assert_eq!(of_run, [("running", 0), ("running", 1), ("completed", 0)], "{logs:#}");
    let attempt = rows.iter().find(|row| row["details"]["attempt"].is_object()).expect("a row");
    let details = &attempt["details"]["attempt"];
    assert_eq!((&details["max_attempts"], &details["pause_sec"]), (&json!(3), &json!(0.0)), "{details}");
    let failed = runs[0]["job_id"].as_str().expect("an id");
    assert!(details["error"].as_str().is_some_and(|error| error.contains(failed)), "{details}");
    assert!(attempt["message"].as_str().is_some_and(|words| words.contains("1")), "{attempt:#}");
    desk.stop().await;
}

/// Goal: a run that a user cancels is not restarted by a retry policy of the model.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_simulation_is_not_run_again() {
    let retried = json!({ "retry_policy": { "max_retries": 5, "backoff_sec": 0 } });
    let server = ModelServer::scripted([
        ScriptedAnswer::text("<FINISH_SIGNAL>").held(),
        answer("The run.", json!([day_of("house::momentum", retried)])),
        answer("It was cancelled.", json!([])),
    ])
    .await;
    let desk = Desk::scripted(&server, |config| {
        config.simulation.summaries = false;
        config.worker.parallel_jobs = 1;
    })
    .await;
    let slow = slow(&desk, &server).await;
    let turn = job_of(&desk.take(json!({ "message": "Run it." }), "en").await);
    // It has no slot, so it is cancelled at once.
    let run = started(&desk.world.app.store, &turn, "run_simulation").await;
    let cancelled = desk.world.post(&format!("/simulate/{run}/cancel"), &json!({})).await;
    assert!(cancelled.status.is_success(), "{}", cancelled.text);
    desk.ended(turn.as_str()).await;
    let runs = simulations(&desk).await;
    let ids: Vec<&str> = runs.iter().filter_map(|run| run["job_id"].as_str()).collect();
    assert_eq!(ids, [slow.as_str(), run.as_str()], "{runs:#?}");
    assert_eq!(runs[1]["status"], "cancelled");
    // The turn continues and reports it.
    let found = desk.world.good(&format!("/jobs/{turn}")).await;
    assert_eq!(found["job"]["status"], "completed", "{found:#}");
    let told = &found["actions_summary"][0];
    assert_eq!((&told["name"], &told["success"]), (&json!("run_simulation"), &json!(false)), "{told:#}");
    assert!(told["message"].as_str().is_some_and(|words| words.contains("cancelled")), "{told:#}");
    server.release();
    desk.stop().await;
}

/// Goal: a run that the assistant starts stays within the config's budget whatever the model requests, and
/// all runs of one turn stay within the turn's: what one has used is no longer available to the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_runs_of_a_turn_share_a_budget() {
    let huge = json!({ "budget": { "job": { "tokens": 1_000_000 } } });
    let small = json!({ "budget": { "job": { "tokens": 700 } } });
    let run = |more: &Value| answer("A run.", json!([day_of("house::momentum", more.clone())]));
    let server = ModelServer::scripted([
        run(&huge),
        run(&small),
        run(&json!({})),
        run(&json!({ "budget": { "job": { "tokens": 0 } } })),
        answer("Done.", json!([])),
    ])
    .await;
    let desk = Desk::scripted(&server, |config| {
        config.simulation.summaries = false;
        config.simulation.budget.job = tokens(50_000);
        config.chat.simulation_budget = tokens(60_000);
    })
    .await;
    let told = desk.say(None, "Run them.").await;
    let runs = simulations(&desk).await;
    let mut bounds = Vec::new();
    for run in &runs {
        let job = JobId::new(run["job_id"].as_str().expect("an id"));
        let row = desk.world.app.store.get_job(&job).await.expect("reads").expect("is there");
        bounds.push(row.config["budget"]["job"]["tokens"].as_u64().expect("a bound"));
    }
    let used = |at: usize| {
        let usage = &runs[at]["usage"];
        usage["input_tokens"].as_u64().expect("tokens") + usage["output_tokens"].as_u64().expect("tokens")
    };
    assert_eq!(bounds.len(), 3, "the fourth may use nothing: {told:#}");
    assert_eq!((bounds[0], bounds[1]), (50_000, 700));
    assert!(used(0) > 0, "{runs:#?}");
    assert_eq!(bounds[2], 50_000.min(60_000 - used(0) - used(1)), "what the others have used is gone");
    let last = &told["metadata"]["actions_summary"][3];
    assert_eq!(last["success"], false, "{told:#}");
    assert!(
        last["message"].as_str().expect("words").contains("has nothing left for simulations"),
        "{last:#}"
    );
    desk.stop().await;
}

/// Goal: a run that finds no budget left waits for those in progress, and continues with what they did not use.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_waits_for_what_others_may_still_use() {
    let beside = day_of("house::momentum", json!({ "blocking": false }));
    let server = ModelServer::scripted([
        answer("Two runs.", json!([beside, day_of("house::contrarian", json!({}))])),
        answer("Done.", json!([])),
    ])
    .await;
    let desk = Desk::scripted(&server, |config| {
        config.simulation.summaries = false;
        config.chat.simulation_budget = tokens(60_000);
    })
    .await;
    let told = desk.say(None, "Run both.").await;
    let done = ("run_simulation".to_owned(), Some(true));
    assert_eq!(actions(&told), [done.clone(), done], "{told:#}");
    let runs = simulations(&desk).await;
    let mut bounds = Vec::new();
    for run in &runs {
        let job = JobId::new(run["job_id"].as_str().expect("an id"));
        let row = desk.world.app.store.get_job(&job).await.expect("reads").expect("is there");
        bounds.push(row.config["budget"]["job"]["tokens"].as_u64().expect("a bound"));
    }
    // Either may come first.
    bounds.sort_unstable();
    assert_eq!(bounds[1], 60_000, "the first has all of it");
    assert!(bounds[0] < 60_000 && bounds[0] > 0, "the second has what the first left: {bounds:?}");
    desk.stop().await;
}

/// Goal: an execution that a turn starts has at most half of what the turn has left, and its simulations what
/// the turn's may still use.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_a_turn_runs_is_within_its_budget() {
    let desk = Desk::new(|config| {
        config.chat.budget = tokens(100_000);
        config.chat.simulation_budget = tokens(40_000);
    })
    .await;
    let words = "Create a plan P: Backtest house::momentum on AAPL on 2012-10-01, compare it with buy and hold; \
        then decompose it and execute it";
    let told = desk.say(None, words).await;
    let done = |name: &str| (name.to_owned(), Some(true));
    assert_eq!(
        actions(&told),
        [done("create_plan"), done("decompose_task"), done("execute_plan")],
        "{told:#}"
    );
    let jobs = desk.world.good("/jobs").await;
    for job in jobs["jobs"].as_array().expect("jobs") {
        let id = JobId::new(job["job_id"].as_str().expect("an id"));
        let row = desk.world.app.store.get_job(&id).await.expect("reads").expect("is there");
        let (own, runs) =
            (row.config["budget"]["job"]["tokens"].as_u64(), row.config["simulations"]["tokens"].as_u64());
        match row.kind.as_str() {
            "chat_action" => assert_eq!((own, runs), (Some(100_000), Some(40_000))),
            "plan_decompose" => assert!(own < Some(50_000) && runs == Some(0), "{own:?} {runs:?}"),
            "plan_execute" => assert!(own < Some(50_000) && runs == Some(40_000), "{own:?} {runs:?}"),
            _ => assert_eq!(own, Some(40_000)),
        }
    }
    desk.stop().await;
}

/// Goal: a plan that reads the web and then wants to spend is held back; the user is asked in the chat, and
/// after confirmation it continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_lets_a_plan_spend_after_the_web() {
    let web = Searched::answering(pages()).await;
    let desk = Desk::new(|config| searching(config, &web.url)).await;
    let made = desk.world.post("/plans", &json!({ "name": "Web first" })).await.json();
    let plan = made["plan"]["id"].as_i64().expect("an id");
    let task = async |name: &str, instruction: &str, after: &[i64]| {
        let body = json!({ "name": name, "instruction": instruction, "dependencies": after });
        let made = desk.world.post(&format!("/plans/{plan}/tasks"), &body).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.json()["task"]["id"].as_i64().expect("an id")
    };
    let read = task("Read", "Search the web for Apple.", &[]).await;
    let run = task("Run", "Backtest house::momentum on AAPL on 2012-10-01.", &[read]).await;

    let held = desk.say(None, &format!("execute plan {plan}")).await;
    assert_eq!(actions(&held), [("execute_plan".to_owned(), Some(false))], "{held:#}");
    let hint = format!("Say “execute plan {plan}, trusted”");
    assert!(held["content"].as_str().expect("words").contains(&hint), "{held:#}");
    let session = held["session_id"].as_str().expect("a session");
    let asked = desk.say(Some(session), &format!("execute plan {plan}, trusted")).await;
    assert_eq!(actions(&asked), [("execute_plan".to_owned(), None)], "{asked:#}");
    assert_eq!(asked["metadata"]["pending"][0]["parameters"]["trusted"], true, "{asked:#}");
    let content = asked["content"].as_str().expect("words");
    assert!(content.contains("after they have read text written by others"), "{content}");
    assert!(simulations(&desk).await.is_empty(), "nothing was spent");
    let jobs = desk.world.good(&format!("/plans/{plan}/jobs")).await;
    let held = jobs["jobs"].as_array().expect("jobs").iter().find(|job| job["job_type"] == "plan_execute");
    let held = held.and_then(|job| job["job_id"].as_str()).expect("a job").to_owned();
    let came = desk.world.good(&format!("/jobs/{held}")).await;
    assert_eq!(came["result"]["status"], "partial", "{came:#}");
    assert_eq!(came["result"]["blocked"], json!([run]));
    assert_eq!(came["result"]["tasks"], json!({ "completed": 1, "failed": 1 }));

    let done = desk.say(Some(session), "yes").await;
    assert_eq!(actions(&done), [("execute_plan".to_owned(), Some(true))], "{done:#}");
    assert_eq!(desk.world.good(&format!("/plans/{plan}")).await["plan"]["status"], "completed");
    assert_eq!(simulations(&desk).await.len(), 1);

    // A plan's status follows from its tasks, whoever changes them later.
    let status = async || desk.world.good(&format!("/plans/{plan}")).await["plan"]["status"].clone();
    let more = task("More", "Show the results of the run.", &[run]).await;
    assert_eq!(status().await, "partial");
    let patch = async |task: i64, body: Value| {
        let request = axum::http::Request::patch(format!("/plans/{plan}/tasks/{task}"))
            .header("host", "localhost")
            .header("content-type", "application/json");
        desk.world.send(request.body(axum::body::Body::from(body.to_string())).expect("a request")).await
    };
    assert_eq!(patch(more, json!({ "status": "skipped" })).await.status, 200);
    assert_eq!(status().await, "completed");
    let by_hand = patch(run, json!({ "status": "failed" })).await;
    assert_eq!(by_hand.json()["task"]["execution_result"], Value::Null, "{}", by_hand.text);
    assert_eq!(status().await, "partial");
    assert_eq!(patch(run, json!({ "status": "running" })).await.status, 400);
    desk.stop().await;
}

/// Goal: a cancelled execution leaves nothing that appears to run: neither its plan, its tasks, its actions
/// nor its simulations; resumed, it continues with all of them; and meanwhile nothing of the plan is deleted
/// and no second execution starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_execution_lets_go_and_goes_on() {
    let server = ModelServer::scripted([ScriptedAnswer::text("<FINISH_SIGNAL>").held()]).await;
    let desk = Desk::new(|config| {
        scripted_provider(config, &server);
        config.worker.parallel_jobs = 1;
        config.simulation.summaries = false;
        config.simulation.memory.mode = MemoryMode::Off;
    })
    .await;
    slow(&desk, &server).await;
    let plan = desk.world.post("/plans", &json!({ "name": "Long" })).await.json()["plan"]["id"].clone();
    let body = json!({ "name": "Run", "instruction": "Backtest house::momentum on AAPL on 2012-10-01." });
    let task = desk.world.post(&format!("/plans/{plan}/tasks"), &body).await.json()["task"]["id"].clone();
    let execute = format!("/plans/{plan}/execute");
    let job =
        desk.world.post(&execute, &json!({})).await.json()["job_id"].as_str().expect("a job").to_owned();
    // There is no slot for it.
    let (store, id) = (&desk.world.app.store, JobId::new(job.as_str()));
    let run = started(store, &id, "run_simulation").await;

    assert_eq!(desk.world.post(&execute, &json!({})).await.status, 409);
    for path in [format!("/plans/{plan}"), format!("/plans/{plan}/tasks/{task}")] {
        let request = axum::http::Request::delete(&path).header("host", "localhost");
        let kept = desk.world.send(request.body(axum::body::Body::empty()).expect("a request")).await;
        assert!(kept.status == 409 && kept.text.contains(&job), "{path}: {}", kept.text);
    }
    desk.world.post(&format!("/simulate/{job}/cancel"), &json!({})).await;
    until(store, &id, |row| row.status.is_stopped()).await;
    let stood = desk.world.good(&format!("/plans/{plan}")).await;
    assert_eq!(stood["plan"]["status"], "cancelled", "{stood:#}");
    let tasks = desk.world.good(&format!("/plans/{plan}/tasks")).await;
    assert_eq!(tasks["tasks"][0]["status"], "queued", "{tasks:#}");
    assert_eq!(desk.world.good(&format!("/jobs/{run}")).await["job"]["status"], "cancelled");
    let summary = desk.world.good(&format!("/jobs/{job}")).await["actions_summary"].clone();
    assert!(
        summary.as_array().expect("a summary").iter().all(|one| one["success"] != Value::Null),
        "{summary:#}"
    );

    let resumed = desk.world.post(&format!("/simulate/{job}/resume"), &json!({})).await;
    assert!(resumed.status.is_success(), "{}", resumed.text);
    let again = desk.world.post(&execute, &json!({})).await;
    assert_eq!(again.status, 409, "{}", again.text);
    server.release();
    until(store, &id, |row| row.status.is_stopped()).await;
    let stood = desk.world.good(&format!("/plans/{plan}")).await;
    assert_eq!(stood["plan"]["status"], "completed", "{stood:#}");
    assert_eq!(simulations(&desk).await.len(), 2, "the same simulation went on");
    desk.stop().await;
}

/// Goal: an execution whose worker is gone is cancelled at once, with its rows and with the simulation that
/// it started; resumed, both continue.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_that_nobody_has_is_cancelled_whole() {
    let world = World::empty().await;
    let store = &world.app.store;
    let plan = world.post("/plans", &json!({ "name": "Dead" })).await.json()["plan"]["id"].clone();
    let body = json!({ "name": "Run", "instruction": "Backtest house::momentum on AAPL on 2012-10-01." });
    world.post(&format!("/plans/{plan}/tasks"), &body).await;
    let job = job_of(&world.post(&format!("/plans/{plan}/execute"), &json!({})).await.json());
    let (worker, id, stopper) = (world.app.worker.clone(), job.clone(), CancelSource::default());
    let signal = stopper.signal();
    let working = tokio::spawn(async move { worker.run_job(&id, &signal, &NoopObserver).await });
    let run = started(store, &job, "run_simulation").await;
    // As a kill leaves it: its rows say that it runs, and its lease expires.
    working.abort();
    assert!(working.await.expect_err("it was stopped").is_cancelled());
    assert_eq!(store.end_leases().await.expect("ends"), 1);

    let cancelled = world.post(&format!("/simulate/{job}/cancel"), &json!({})).await;
    assert_eq!(cancelled.json()["status"], "cancelled", "{}", cancelled.text);
    let said = world.good(&format!("/jobs/{job}")).await;
    assert_eq!(said["job"]["status"], "cancelled");
    let summary = said["actions_summary"].as_array().expect("a summary");
    assert!(summary.len() > 1 && summary.iter().all(|one| one["success"] != Value::Null), "{summary:#?}");
    assert_eq!(world.good(&format!("/jobs/{run}")).await["job"]["status"], "cancelled");
    assert_eq!(world.good(&format!("/plans/{plan}")).await["plan"]["status"], "cancelled");

    let resumed = world.post(&format!("/simulate/{job}/resume"), &json!({})).await;
    assert!(resumed.status.is_success(), "{}", resumed.text);
    let (worker, id) = (world.app.worker.clone(), job.clone());
    let signal = stopper.signal();
    let working = tokio::spawn(async move { worker.run_job(&id, &signal, &NoopObserver).await });
    until(store, &run, |row| row.status == JobStatus::Queued).await;
    world.work(run.as_str()).await;
    let end = working.await.expect("no panic").expect("the record holds").expect("it was free");
    assert_eq!(end.status, JobStatus::Completed, "{end:?}");
}

/// Goal: a backtest whose days were already run is answered with the metrics of the run that did them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backtest_that_was_done_is_answered_all_the_same() {
    let desk = Desk::new(|_| {}).await;
    let words = "Backtest momentum on IBM from 2012-10-01 to 2012-10-05";
    let first = desk.say(None, words).await;
    let done = |name: &str| (name.to_owned(), Some(true));
    assert_eq!(actions(&first), [done("run_simulation"), done("query_results")], "{first:#}");
    let run = simulations(&desk).await[0]["job_id"].as_str().expect("an id").to_owned();
    let second = desk.say(None, words).await;
    assert_eq!(actions(&second), [done("run_simulation"), done("query_results")], "{second:#}");
    let content = second["content"].as_str().expect("words");
    assert!(
        content.contains("return ") && content.contains(&format!("already done by job {run}")),
        "{content}"
    );
    let newest = desk.say(None, "results of the newest run").await;
    assert!(newest["content"].as_str().expect("words").contains("return "), "{newest:#}");
    desk.stop().await;
}

/// Goal: the result of a decomposition is in its job, through either route, and in no other kind of job.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decomposition_says_why_it_stopped() {
    let world = World::empty().await;
    let goal = "Backtest house::momentum on AAPL on 2012-10-01, compare it with buy and hold, search memory for \
        AAPL, search the web for Apple";
    let made = world.post("/plans", &json!({ "name": "P", "goal": goal })).await.json();
    let plan = made["plan"]["id"].as_i64().expect("an id");
    let body = json!({ "max_depth": 1, "max_children": 3 });
    let queued = world.post(&format!("/plans/{plan}/decompose"), &body).await.json();
    let job = queued["job_id"].as_str().expect("a job").to_owned();
    assert_eq!(world.good(&format!("/jobs/{job}")).await["result"], Value::Null, "it has not ended");
    world.work(&job).await;
    let came = world.good(&format!("/tasks/decompose/jobs/{job}")).await;
    let result = &came["result"];
    assert_eq!(result["stopped_reason"], "max_depth", "{came:#}");
    let stats = json!({ "nodes_processed": 1, "nodes_created": 3, "leaves": 0, "nodes_failed": 0,
        "depth_reached": 1, "children_omitted": 1 });
    assert_eq!(result["stats"], stats);
    assert_eq!((result["created"].as_array().map(Vec::len), &result["failed"]), (Some(3), &json!([])));
    let left_out = json!({ "children": [{ "parent": null, "reason": "max_children", "count": 1 }],
        "dependencies": [], "more_dependencies": 0 });
    assert_eq!(result["omitted"], left_out);
    assert_eq!(&world.good(&format!("/jobs/{job}")).await["result"], result);
}

/// Goal: actions respond in the user's language, including the texts of runs and data.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn actions_speak_the_readers_language() {
    let desk = Desk::new(|_| {}).await;
    let messages = async |words: &str| {
        let told = desk.say_with(json!({ "message": words }), "zh-CN").await;
        let summary = told["metadata"]["actions_summary"].as_array().expect("a summary").clone();
        summary.iter().map(|one| one["message"].as_str().expect("words").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(messages("显示结果").await, ["还没有任何运行"]);
    let ran = messages("回测动量交易员，标的 AAPL，从 2012-10-01 到 2012-10-02，并与买入持有比较").await;
    assert!(ran[1].contains("个运行") && ran[1].contains("个基准"), "{ran:?}");
    assert!(messages("查询最新运行的状态").await[0].contains("个模型日"));
    assert!(messages("审计最新的运行").await[0].contains("个会话通过审计"));
    assert!(messages("搜索记忆：AAPL").await[0].contains("条已平仓交易的反思"));
    let told = &messages("回测动量，标的 TSLA，2012年10月").await[0];
    assert!(told.starts_with("标的无效，系统提示：“"), "{told}");
    let told = desk.say(None, "status of the newest run").await;
    let words = told["content"].as_str().expect("words");
    assert!(words.contains(": completed") && !words.contains('已'), "{words}");
    desk.stop().await;
}

/// Goal: a turn that is cancelled before it starts says so in the conversation.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_is_cancelled_in_the_queue_says_so() {
    let world = World::empty().await;
    let taken = world.post("/chat/message", &json!({ "message": "你好" })).await.json();
    let job = taken["job_id"].as_str().expect("a job");
    let busy = json!({ "message": "还在吗", "session_id": taken["session"]["id"] });
    assert_eq!(world.post("/chat/message", &busy).await.status, 409, "one answer at a time");
    let cancelled = world.post(&format!("/simulate/{job}/cancel"), &json!({})).await;
    assert!(cancelled.status.is_success(), "{}", cancelled.text);
    let session = taken["session"]["id"].as_str().expect("a session");
    let talk = world.good(&format!("/chat/sessions/{session}")).await;
    assert_eq!(talk["messages"][0]["content"], "本轮已被停止。", "{talk:#}");
    assert_eq!(talk["messages"][0]["metadata"]["error"], "cancelled");
}

/// Goal: runs and data are listed; a job is stopped only by its ID, after the user has confirmed; for one
/// that has ended, no confirmation is requested. A language model has the same actions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_listed_and_stopped() {
    let server = ModelServer::scripted([ScriptedAnswer::text("<FINISH_SIGNAL>").held()]).await;
    let desk = Desk::new(|config| {
        config.simulation.summaries = false;
        scripted_provider(config, &server);
    })
    .await;
    let none = desk.say(None, "stop the running job").await;
    assert!(none["content"].as_str().expect("words").contains("Nothing was cancelled"), "{none:#}");
    let data = desk.say(None, "what data do you have?").await;
    let content = data["content"].as_str().expect("words");
    assert!(content.contains("2000-03-01 to 2013-03-01, AAPL"), "{content}");

    let slow = slow(&desk, &server).await;
    let listed = desk.say(None, "list my runs").await;
    assert_eq!(actions(&listed), [("list_runs".to_owned(), Some(true))], "{listed:#}");
    let content = listed["content"].as_str().expect("words");
    assert!(content.contains(&format!("- {slow}: running, test::slow")), "{content}");
    let asked = desk.say(None, "stop the running job").await;
    assert_eq!(actions(&asked).last(), Some(&("cancel_job".to_owned(), None)), "{asked:#}");
    let question = asked["metadata"]["pending"][0]["question"].as_str().expect("a question");
    assert!(question.contains(&format!("job {slow}: running")), "{question}");
    let row = desk.world.good(&format!("/jobs/{slow}")).await;
    assert_eq!(row["job"]["status"], "running", "nothing is stopped before the yes");

    let session = asked["session_id"].as_str().expect("a session");
    let done = desk.say(Some(session), "yes").await;
    assert_eq!(actions(&done), [("cancel_job".to_owned(), Some(true))], "{done:#}");
    server.release();
    // The current step may have been its last one.
    until(&desk.world.app.store, &slow, |row| row.status.is_stopped()).await;
    let over = desk.say_with(json!({ "message": format!("取消 {slow}") }), "en").await;
    assert_eq!(actions(&over), [("cancel_job".to_owned(), Some(false))], "{over:#}");
    let content = over["content"].as_str().expect("words");
    assert!(content.contains("无需停止") && content.contains("：已"), "{content}");
    assert!(!content.contains("cancelled") && !content.contains("completed"), "one language: {content}");
    desk.stop().await;
}
