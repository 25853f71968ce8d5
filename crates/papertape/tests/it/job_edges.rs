//! Jobs at their edges: what a decomposition leaves out, actions of the wrong kind, attempts, cancels, shutdowns.

use crate::assistant_support::{Desk, actions};
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};

/// What a scripted model says, with the actions that it asks for.
fn answer(message: &str, actions: Value) -> ScriptedAnswer {
    ScriptedAnswer::text(json!({ "llm_reply": { "message": message }, "actions": actions }).to_string())
}

// Goal: a decomposition reports each child and dependency that it left out, in its result, by either route, and in
// the last row of its log; edges to later children are kept.
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
    assert_eq!(found["result"]["left_out"], left_out, "{found:#}");
    assert_eq!(found["result"]["stats"]["children_left_out"], 2);
    assert_eq!(world.good(&format!("/tasks/decompose/jobs/{job}")).await["result"]["left_out"], left_out);
    let last = found["logs"].as_array().and_then(|rows| rows.last()).expect("rows");
    assert_eq!(last["details"]["left_out"]["dependencies"], left_out["dependencies"], "{last:#}");
    let words = "1 个没有名称，1 个超出 max_children，2 个依赖被丢弃";
    assert!(last["message"].as_str().is_some_and(|message| message.contains(words)), "{last:#}");
    desk.stop().await;
}

// Goal: an action whose kind is not its name's is answered to the model with the right kind, recorded as failed and
// never run; requested again with that kind, it is done.
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
