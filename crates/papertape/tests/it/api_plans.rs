//! Plans, tasks, and the action log of jobs, through the API.

use crate::api_support::{Answer, World, settled};
use axum::body::Body;
use axum::http::{Method, Request};
use papertape_core::action::{ActionDraft, ActionEntry, ActionKind, ActionStatus};
use papertape_core::id::ContentHash;
use papertape_core::id::JobId;
use papertape_core::plan::PlanId;
use papertape_core::ports::{ActionLog as _, Queue as _};
use papertape_core::record::{JobStatus, NewJob};
use papertape_redact::Redactor;
use serde_json::{Value, json};
use std::time::Duration;

async fn send(world: &World, method: Method, uri: &str, body: &Value) -> Answer {
    let request = Request::builder().method(method).uri(uri).header("host", "localhost");
    let request = request.header("content-type", "application/json").body(Body::from(body.to_string()));
    world.send(request.expect("a request")).await
}

async fn task(world: &World, plan: &Value, body: Value) -> Value {
    let answer = world.post(&format!("/plans/{plan}/tasks"), &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()["task"]["id"].clone()
}

/// Goal: a plan and its tasks are created, read, changed, moved and deleted; the responses are as documented.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_kept_from_the_outside() {
    let world = World::empty().await;
    let made = world.post("/plans", &json!({ "name": "Autumn", "goal": "why it lost" })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let plan = made.json()["plan"]["id"].clone();
    let one = task(&world, &plan, json!({ "name": "one" })).await;
    let two = task(&world, &plan, json!({ "name": "two", "parent_id": one, "dependencies": [] })).await;
    let three = task(&world, &plan, json!({ "name": "three", "dependencies": [one], "position": 0 })).await;
    insta::assert_json_snapshot!("plan", settled(world.good(&format!("/plans/{plan}")).await));
    insta::assert_json_snapshot!("tasks", settled(world.good(&format!("/plans/{plan}/tasks")).await));
    insta::assert_json_snapshot!("plans", settled(world.good("/plans?limit=5").await));

    let uri = |task: &Value| format!("/plans/{plan}/tasks/{task}");
    let moved = json!({ "parent_id": null, "position": 0, "status": "completed", "name": "second" });
    let moved = send(&world, Method::PATCH, &uri(&two), &moved).await;
    assert_eq!(moved.status, 200, "{}", moved.text);
    let moved = moved.json()["task"].clone();
    assert_eq!(
        (&moved["parent_id"], &moved["position"], &moved["depth"]),
        (&Value::Null, &json!(0), &json!(0))
    );
    assert_eq!((&moved["name"], &moved["status"]), (&json!("second"), &json!("completed")));
    for (body, field) in [
        (json!({ "dependencies": [three] }), "dependencies: "),
        (json!({ "dependencies": [7777] }), "dependencies: "),
        (json!({ "parent_id": one }), "parent_id: "),
        (json!({ "parent_id": 7777 }), "parent_id: "),
        (json!({ "name": " " }), "name: "),
        (json!({ "instruction": "x".repeat(20_001) }), "instruction: "),
        (json!({ "status": "partial" }), "status: "),
        (json!({ "what": 1 }), "what: "),
    ] {
        let refused = send(&world, Method::PATCH, &uri(&one), &body).await;
        assert_eq!(refused.status, 400, "{body}: {}", refused.text);
        let message = refused.json()["message"].as_str().expect("a text").to_owned();
        assert!(message.starts_with(field), "{body}: {message}");
    }
    // If half of a request is invalid, none of it is applied.
    let half = json!({ "position": 2, "dependencies": [7777] });
    let before = world.good(&format!("/plans/{plan}/tasks")).await;
    assert_eq!(send(&world, Method::PATCH, &uri(&two), &half).await.status, 400);
    assert_eq!(world.good(&format!("/plans/{plan}/tasks")).await, before);

    let changed = send(&world, Method::PATCH, &format!("/plans/{plan}"), &json!({ "goal": "" })).await;
    assert_eq!((changed.json()["plan"]["name"].clone(), changed.status.as_u16()), (json!("Autumn"), 200));
    assert_eq!(send(&world, Method::DELETE, &uri(&one), &json!({})).await.status, 204);
    assert_eq!(world.get(&uri(&one)).await.status, 404);
    assert_eq!(send(&world, Method::DELETE, &format!("/plans/{plan}"), &json!({})).await.status, 204);
    for (method, uri) in [
        (Method::GET, format!("/plans/{plan}")),
        (Method::GET, format!("/plans/{plan}/tasks")),
        (Method::DELETE, format!("/plans/{plan}")),
        (Method::GET, format!("/plans/{plan}/jobs/none")),
        (Method::GET, format!("/plans/{plan}/jobs/none/actions")),
        (Method::GET, "/tasks/decompose/jobs/none".to_owned()),
    ] {
        let gone = send(&world, method, &uri, &json!({})).await;
        assert_eq!((gone.status.as_u16(), gone.json()["error"].clone()), (404, json!("not_found")), "{uri}");
    }
    for uri in ["/plans/x", "/plans/1/tasks/x", "/plans/99999999999999999999/jobs"] {
        assert_eq!(world.get(uri).await.status, 400, "{uri}");
    }
}

/// A job of plan 5 with this many rows, which are actions in two states.
async fn logged(world: &World, kind: &str, rows: usize) -> String {
    let id = JobId::new(format!("{kind}-job"));
    let job = NewJob {
        id: id.clone(),
        kind: kind.into(),
        config: json!({}),
        fingerprint: ContentHash::of(b""),
        warnings: Vec::new(),
        days: Vec::new(),
        parent: None,
        plan: Some(PlanId(5)),
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: world.app.services.clock.now(),
    };
    world.app.store.enqueue(job).await.expect("queues");
    let claimed = world.app.store.claim("test", Duration::from_secs(60), Some(&id)).await;
    let (lease, _) = claimed.expect("claims").expect("is free");
    for n in 0..rows {
        let status = if n % 2 == 0 { ActionStatus::Running } else { ActionStatus::Failed };
        let path = format!("turn#1/action#{}", n / 2);
        let draft = ActionDraft::of(ActionKind::ToolOperation, "web_search", status, &path);
        let message = Some("no search service is configured".to_owned());
        let entry = ActionEntry::redacted(&Redactor::default(), ActionDraft { message, ..draft });
        let at = world.app.services.clock.now();
        world.app.store.append_action_log(&lease, entry, at).await.expect("writes");
    }
    world.app.store.finish(&lease, JobStatus::Failed, None).await.expect("ends");
    id.to_string()
}

/// Goal: a job returns the newest part of its log and each action once, by the job and by its plan alike;
/// `before` and `cursor` reach the whole log; a job of another plan is not found.
#[tokio::test(flavor = "multi_thread")]
async fn a_jobs_log_is_read_by_job_and_by_plan() {
    let world = World::empty().await;
    let job = logged(&world, "plan_decompose", 60).await;
    let answer = world.good(&format!("/jobs/{job}")).await;
    let numbers = |answer: &Value| -> Vec<i64> {
        let rows = answer["logs"].as_array().expect("rows");
        rows.iter().map(|row| row["sequence"].as_i64().expect("a number")).collect()
    };
    assert_eq!(numbers(&answer), (11..=60).collect::<Vec<_>>());
    let summary = answer["actions_summary"].as_array().expect("a summary");
    assert_eq!(
        (summary.len(), summary[0]["display"].as_str()),
        (30, Some("tool_operation/web_search → 失败"))
    );
    let request = Request::get(format!("/jobs/{job}?limit=1")).header("host", "localhost");
    let request = request.header("accept-language", "en-GB, zh;q=0.5").body(Body::empty());
    let english = world.send(request.expect("a request")).await.json();
    assert_eq!(english["actions_summary"][29]["display"], "tool_operation/web_search → failed");
    for uri in [format!("/plans/5/jobs/{job}"), format!("/tasks/decompose/jobs/{job}")] {
        assert_eq!(world.good(&uri).await, answer, "{uri}");
    }
    insta::assert_json_snapshot!(
        "actions",
        settled(world.good(&format!("/plans/5/jobs/{job}/actions?limit=2")).await)
    );
    insta::assert_json_snapshot!("plan_jobs", settled(world.good("/plans/5/jobs?limit=5").await));
    let before = answer["before"].as_str().expect("there are older ones");
    let older = world.good(&format!("/plans/5/jobs/{job}/actions?before={before}")).await;
    assert_eq!((numbers(&older), &older["before"]), ((1..=10).collect(), &Value::Null));
    // For a job without a plan, this is the only way to its older rows.
    let same = world.good(&format!("/jobs/{job}?before={before}")).await;
    assert_eq!((numbers(&same), &same["before"]), ((1..=10).collect(), &Value::Null));
    let cursor = older["next_cursor"].as_str().expect("a cursor");
    let newer = world.good(&format!("/jobs/{job}?cursor={cursor}&limit=500")).await;
    assert_eq!(numbers(&newer), (11..=60).collect::<Vec<_>>());
    assert_eq!(newer["next_cursor"], answer["next_cursor"]);

    for (uri, status) in [
        (format!("/plans/6/jobs/{job}"), 404),
        (format!("/plans/6/jobs/{job}/actions"), 404),
        (format!("/jobs/{job}?cursor=x"), 400),
        (format!("/jobs/{job}?cursor=99999.1"), 400),
        (format!("/jobs/{job}?cursor=1.1"), 400),
        ("/plans/999/jobs".to_owned(), 404),
        (format!("/jobs/{job}?cursor={cursor}&before={before}"), 400),
        (format!("/jobs/{job}?limit=0"), 400),
        (format!("/jobs/{job}?limit=501"), 400),
        (format!("/plans/5/jobs/{job}/actions?cursor={cursor}&before={before}"), 400),
    ] {
        assert_eq!(world.get(&uri).await.status.as_u16(), status, "{uri}");
    }
    let other = logged(&world, "plan_execute", 2).await;
    assert_eq!(world.get(&format!("/tasks/decompose/jobs/{other}")).await.status, 404);
}

/// Goal: every row of the log is an event of the job's stream, complete and with the cursor to continue from.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_the_log_are_events_of_the_stream() {
    let world = World::empty().await;
    let job = logged(&world, "plan_execute", 2).await;
    let stream = world.get(&format!("/jobs/{job}/stream?after=0")).await.text;
    let events = stream.split("\n\n").filter(|event| event.contains("event: log_entry"));
    let data: Vec<Value> = events
        .filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data: ")))
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect();
    let logs = world.good(&format!("/jobs/{job}")).await["logs"].clone();
    let streamed: Vec<Value> = data.iter().map(|data| data["log_entry"].clone()).collect();
    assert_eq!(Value::Array(streamed), logs);
    assert!(
        data.iter().all(|data| data["cursor"].is_i64() && data["job"]["job_id"] == json!(job)),
        "{data:?}"
    );
}

/// Goal: a job imported from another database's file is only a log: it cannot be resumed.
#[tokio::test]
async fn an_imported_job_is_not_resumed() {
    let world = World::empty().await;
    let folder = world.app.config.data_dir.join("plans");
    std::fs::create_dir_all(&folder).expect("makes the folder");
    let file = rusqlite::Connection::open(folder.join("plan_3.sqlite")).expect("makes the file");
    file.execute_batch(
        "CREATE TABLE plan_job_index (job_id TEXT, plan_id INTEGER); INSERT INTO plan_job_index VALUES ('old', 3)",
    )
    .expect("makes it");
    drop(file);
    let told = world.app.portable_files().migrate(false).await.expect("migrates");
    assert_eq!(told[0].jobs_imported, 1, "{told:?}");
    let answer = world.post("/simulate/old/resume", &serde_json::json!({})).await;
    assert_eq!(answer.status, 409, "{}", answer.text);
    assert!(answer.text.contains("imported"), "{}", answer.text);
}
