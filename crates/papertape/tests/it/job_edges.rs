//! Edge cases of jobs: what a decomposition leaves out, actions of the wrong kind, attempts, cancels, shutdowns.

use crate::assistant_support::{Desk, actions, started, until};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};

/// A scripted model's answer, with the actions that it requests.
fn answer(message: &str, actions: Value) -> ScriptedAnswer {
    ScriptedAnswer::text(json!({ "llm_reply": { "message": message }, "actions": actions }).to_string())
}

// Goal: a decomposition reports each child and dependency that it left out, in its result, by either route,
// and in the last row of its log; edges to later children are retained.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decomposition_reports_what_it_left_out() {
    let child = |name: &str, dependencies: Value| json!({ "name": name, "instruction": "x", "dependencies": dependencies });
    let children = json!({ "children": [
        child("", json!([])), child("A", json!([2])), child("B", json!([3])), child("C", json!([1, 0])),
        child("D", json!([])),
    ] });
    let server = ModelServer::scripted([ScriptedAnswer::text(children.to_string())]).await;
    let desk = Desk::scripted(&server, |_| {}).await;
    let world = &desk.world;
    let plan = world.post("/plans", &json!({ "name": "P", "goal": "g" })).await.json()["plan"]["id"].clone();
    let body = json!({ "max_depth": 1, "max_children": 3 });
    let queued = world.post(&format!("/plans/{plan}/decompose"), &body).await.json();
    let job = queued["job_id"].as_str().expect("a job");
    desk.ended(job).await;
    let tasks = world.good(&format!("/plans/{plan}/tasks")).await;
    let named = |name: &str| {
        let all = tasks["tasks"].as_array().expect("tasks").iter();
        all.clone().find(|task| task["name"] == name).expect("a task").clone()
    };
    let (a, b, c) = (named("A"), named("B"), named("C"));
    assert_eq!((&a["dependencies"], &b["dependencies"]), (&json!([b["id"]]), &json!([c["id"]])));
    assert_eq!(c["dependencies"], json!([]));
    let left_out = json!({
        "children": [{ "parent": null, "reason": "no_name", "count": 1 },
            { "parent": null, "reason": "max_children", "count": 1 }],
        "dependencies": [
            { "parent": null, "reason": "cycle", "from": { "place": 3, "name": "C", "task_id": c["id"] },
              "to": { "place": 1, "name": "A", "task_id": a["id"] } },
            { "parent": null, "reason": "not_made", "from": { "place": 3, "name": "C", "task_id": c["id"] },
              "to": { "place": 0, "name": null, "task_id": null } },
        ],
        "more_dependencies": 0,
    });
    let found = world.good(&format!("/jobs/{job}")).await;
    assert_eq!(found["result"]["omitted"], left_out, "{found:#}");
    assert_eq!(found["result"]["stats"]["children_omitted"], 2);
    assert_eq!(world.good(&format!("/tasks/decompose/jobs/{job}")).await["result"]["omitted"], left_out);
    let last = found["logs"].as_array().and_then(|rows| rows.last()).expect("rows");
    assert_eq!(last["details"]["left_out"]["dependencies"], left_out["dependencies"], "{last:#}");
    let words = "1 个没有名称，1 个超出 max_children，2 个依赖被丢弃";
    assert!(last["message"].as_str().is_some_and(|message| message.contains(words)), "{last:#}");
    desk.stop().await;
}

// Goal: an action whose kind does not match its name is returned to the model with the right kind, recorded
// as failed and never run; requested again with that kind, it is executed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_action_of_the_wrong_kind_is_not_run() {
    let run = |kind: &str| {
        json!([{ "kind": kind, "name": "run_simulation", "order": 1, "parameters": { "end_date": "2012-10-01",
            "start_date": "2012-10-01", "models": ["house::momentum"], "symbols": ["AAPL"], "wait": false } }])
    };
    let server = ModelServer::scripted([
        answer("wrong", run("plan_operation")),
        answer("right", run("tool_operation")),
        answer("done", json!([])),
    ])
    .await;
    let desk = Desk::scripted(&server, |_| {}).await;
    let told = desk.say(None, "Run it").await;
    let expected = [("run_simulation".to_owned(), Some(false)), ("run_simulation".to_owned(), Some(true))];
    assert_eq!(actions(&told), expected, "{told:#}");
    let requests = server.requests();
    let again = requests[1].body.to_string();
    assert!(
        again.contains("the kind of `run_simulation` is `tool_operation`, not `plan_operation`"),
        "{again}"
    );
    let jobs = desk.world.good("/jobs?kind=simulate").await;
    assert_eq!(jobs["jobs"].as_array().map(Vec::len), Some(1), "{jobs:#}");
    let job = told["metadata"]["job_id"].as_str().expect("a job");
    let logs = desk.world.good(&format!("/jobs/{job}")).await["logs"].clone();
    let failed = logs.as_array().expect("rows").iter().filter(|row| row["status"] == "failed");
    assert_eq!(failed.map(|row| &row["action_name"]).collect::<Vec<_>>(), ["run_simulation"], "{logs:#}");
    desk.stop().await;
}

/// A turn whose simulation waits for a model that does not respond until the server lets it, and the answers
/// of the turn's model after it.
async fn held(after: &[&str]) -> (ModelServer, Desk, [JobId; 2], String) {
    let run = json!([{ "kind": "tool_operation", "name": "run_simulation", "order": 1, "parameters": {
        "start_date": "2012-10-01", "end_date": "2012-10-01", "models": ["test::slow"], "symbols": ["AAPL"],
        "memory": "off" } }]);
    let server =
        ModelServer::scripted([answer("I run it.", run), ScriptedAnswer::text("<FINISH_SIGNAL>").held()])
            .await;
    for words in after {
        server.push(answer(words, json!([])));
    }
    let desk = Desk::scripted(&server, |config| config.simulation.summaries = false).await;
    let taken = desk.take(json!({ "message": "Run it" }), "en").await;
    let turn = JobId::new(taken["job_id"].as_str().expect("a job"));
    let run = started(&desk.world.app.store, &turn, "run_simulation").await;
    server.request(2).await;
    let session = taken["session"]["id"].as_str().expect("a session").to_owned();
    (server, desk, [turn, run], session)
}

async fn cancel(desk: &Desk, job: &JobId) {
    let asked = desk.world.post(&format!("/simulate/{job}/cancel"), &json!({})).await;
    assert_eq!(asked.status, 202, "{}", asked.text);
}

async fn resume(desk: &Desk, job: &JobId) {
    let asked = desk.world.post(&format!("/simulate/{job}/resume"), &json!({})).await;
    assert_eq!(asked.status, 202, "{}", asked.text);
}

// Goal: a turn is only cancelled together with the simulation that it started, which finishes its step first;
// resumed right after, in the middle of that, both continue and nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parent_is_cancelled_with_its_children() {
    for resumed in [false, true] {
        let (server, desk, [turn, run], session) = held(&["Done."]).await;
        let store = &desk.world.app.store;
        cancel(&desk, &turn).await;
        // Its worker has seen the cancel, and says so in the conversation.
        let mut follower = store.follow(&turn);
        while desk.world.good(&format!("/chat/sessions/{session}")).await["messages"][0]["metadata"]["error"]
            .is_null()
        {
            follower.changed().await;
        }
        // Then it cancels its simulation, which is still at its step.
        let mut follower = store.follow(&run);
        while !store.job_details(&run).await.expect("reads").expect("is there").cancel_requested {
            follower.changed().await;
        }
        let now = store.get_job(&turn).await.expect("reads").expect("is there");
        assert_eq!(now.status, JobStatus::Running, "its simulation has not stopped");
        if resumed {
            resume(&desk, &turn).await;
        }
        server.release();
        if resumed {
            until(store, &turn, |row| row.status == JobStatus::Completed).await;
            until(store, &run, |row| row.status == JobStatus::Completed).await;
            let rows = desk.world.good("/jobs?kind=simulate").await;
            assert_eq!(rows["jobs"].as_array().map(Vec::len), Some(1), "the same simulation went on");
        } else {
            until(store, &turn, |row| row.status == JobStatus::Cancelled).await;
            let [turn, run] = [&turn, &run].map(|job| store.get_job(job));
            let (turn, run) = futures::future::join(turn, run).await;
            let [turn, run] = [turn, run].map(|row| row.expect("reads").expect("is there"));
            assert!(run.status.is_stopped() && run.completed_at <= turn.completed_at, "{turn:?} {run:?}");
        }
        desk.stop().await;
    }
}

// Goal: a simulation that is resumed right after its cancel, while its worker is still at a step, runs to its
// end, whether the worker has seen the cancel or not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_right_after_a_cancel_is_not_lost() {
    let server = ModelServer::scripted([ScriptedAnswer::text("<FINISH_SIGNAL>").held()]).await;
    let desk = Desk::scripted(&server, |_| {}).await;
    let store = &desk.world.app.store;
    let body = json!({ "start_date": "2012-10-01", "end_date": "2012-10-01", "models": ["test::slow"],
        "symbols": ["AAPL"], "summaries": false, "memory": "off" });
    let queued = desk.world.post("/simulate/trigger", &body).await.json();
    let job = JobId::new(queued["job_id"].as_str().expect("a job"));
    server.request(1).await;
    cancel(&desk, &job).await;
    resume(&desk, &job).await;
    server.release();
    until(store, &job, |row| row.status == JobStatus::Completed).await;
    assert_eq!(server.requests().len(), 1, "no call is repeated");
    desk.stop().await;
}

// Goal: a job is deleted over the API: rejected while it runs or has dependents, with a message that names
// them; then gone everywhere, with its streams, and the remaining jobs verify and export as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_deleted() {
    let desk = Desk::new(|_| {}).await;
    let world = &desk.world;
    let words = "Backtest momentum on IBM from 2012-10-01 to 2012-10-02";
    let told = desk.say(None, words).await;
    let turn = told["metadata"]["job_id"].as_str().expect("a job").to_owned();
    let jobs = world.good("/jobs?kind=simulate").await;
    let run = jobs["jobs"][0]["job_id"].as_str().expect("a job").to_owned();
    let delete = async |path: &str| {
        let request = axum::http::Request::delete(path).header("host", "localhost");
        world.send(request.body(axum::body::Body::empty()).expect("a request")).await
    };
    let refused = delete(&format!("/jobs/{turn}")).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains(&format!("1 job(s) depend on job {turn}: {run};")), "{}", refused.text);
    assert_eq!(delete(&format!("/jobs/{turn}?dependents=maybe")).await.status, 400);
    assert_eq!(delete("/jobs/none").await.status, 404);

    let other = JobId::new(&run);
    let mut before = Vec::new();
    assert!(world.app.store.canonical_export(&other, &mut before).await.expect("exports"));
    let body = json!({ "start_date": "2012-10-01", "end_date": "2012-10-02", "models": ["house::momentum"],
        "symbols": ["AAPL"], "summaries": false, "memory": "off" });
    let queued = world.post("/simulate/trigger", &body).await.json();
    let third = queued["job_id"].as_str().expect("a job").to_owned();
    desk.ended(&third).await;
    let gone = delete(&format!("/jobs/{third}")).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(gone.json()["jobs"], json!([third]), "{}", gone.text);
    assert!(gone.json()["texts"].as_u64().is_some_and(|texts| texts > 0), "{}", gone.text);
    for path in ["/jobs/{id}", "/results?job_id={id}", "/jobs/{id}/stream", "/simulate/status/{id}"] {
        let path = path.replace("{id}", &third);
        assert_eq!(world.get(&path).await.status, 404, "{path}");
    }
    let mut after = Vec::new();
    assert!(world.app.store.canonical_export(&other, &mut after).await.expect("exports"));
    assert!(
        before == after && world.app.store.verify_chain(&other).await.expect("verifies").broken.is_none()
    );

    let gone = delete(&format!("/jobs/{turn}?dependents=true")).await;
    assert_eq!(gone.json()["jobs"], json!([turn, run]), "{}", gone.text);
    assert_eq!(world.good("/jobs").await["jobs"], json!([]));
    // The conversation stays, with a message whose job is gone.
    let session = told["session_id"].as_str().expect("a session");
    let talk = world.good(&format!("/chat/sessions/{session}")).await;
    assert_eq!(talk["messages"].as_array().map(Vec::len), Some(2), "{talk:#}");
    desk.stop().await;
}
