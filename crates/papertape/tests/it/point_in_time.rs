//! The mark `unverified` and its reason, over every way in which one session continues another.

use crate::crash_support::{AGENTS, Desk, agent, completed, day, noting, queue, run, session};
use crate::memory::{get, items};
use axum::Router;
use papertape_agents::config::AgentConfig;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::ports::RecordStore as _;
use papertape_core::time::Date;
use papertape_service::app::App;
use papertape_service::trigger::{Request, trigger};
use serde_json::{Value, json};

const ALPHA: &str = AGENTS[0];

fn request(agent: AgentConfig, first: Option<i8>, last: i8) -> Request {
    Request {
        start_date: first.map(day),
        end_date: Some(day(last)),
        agents: vec![agent],
        symbols: vec!["AAPL".to_owned(), "IBM".to_owned()],
        summaries: Some(false),
        ..Request::default()
    }
}

async fn done(app: &App, request: Request) -> JobId {
    let job = queue(app, request).await;
    completed(&run(&app.services, &job).await.expect("claims"));
    job
}

/// A day's mark, and its reason.
async fn mark(router: &Router, job: &JobId, date: Date) -> (Value, Value) {
    let day = get(router, &format!("/results?job_id={job}&date={date}")).await;
    let provenance = &day["results"][0]["provenance"];
    (provenance["point_in_time"].clone(), provenance["point_in_time_reason"].clone())
}

/// The reason of a day's mark: its kind, and the session of `of` on day `n`.
async fn reason(app: &App, kind: &str, of: &JobId, n: i8) -> (Value, Value) {
    let session = session(&app.store, of, ALPHA, day(n)).await.expect("a session");
    let reason = json!({ "kind": kind, "job": of.as_str(), "session": session.0, "date": day(n) });
    (json!("unverified"), reason)
}

/// Goal: a session that continues an unverified account or reads what an unverified session wrote is
/// unverified, over any chain of jobs, and names the session that had unbounded data; one that does neither is not.
#[tokio::test]
async fn the_mark_is_inherited_over_any_chain_of_jobs() {
    let desk = Desk::new().await;
    let app = desk.app().await;
    let router = papertape_api::router(app.clone());
    let verified = (json!("verified"), Value::Null);

    let tools = done(&app, request(noting(ALPHA), Some(0), 1)).await;
    for n in 0..2 {
        assert_eq!(mark(&router, &tools, day(n)).await, reason(&app, "external_tools", &tools, n).await);
    }
    // The same name, but without tools: the account is what the tools led to.
    let queued = trigger(&app, request(agent(ALPHA), None, 2)).await.expect("queues");
    assert!(queued.warnings.iter().any(|warning| warning.contains("point_in_time = unverified")));
    completed(&run(&app.services, &queued.job).await.expect("claims"));
    let inherited = reason(&app, "continuation", &tools, 1).await;
    assert_eq!(mark(&router, &queued.job, day(2)).await, inherited);
    let third = done(&app, request(agent(ALPHA), None, 3)).await;
    assert_eq!(mark(&router, &third, day(3)).await, inherited, "over two jobs");
    let range = get(&router, &format!("/results?job_id={third}")).await;
    assert_eq!(range["results"][0]["provenance"]["point_in_time_reason"], inherited.1, "{range}");
    let head = inherited_head(&router, &app, &third, 3).await;
    assert_eq!(head["provenance"]["point_in_time_reason"], inherited.1);

    // A memory that is read; the account that it led to; one that is not read.
    let from = |job: &JobId, first: i8, last: i8| Request {
        memory_from: Some(job.clone()),
        ..request(agent(ALPHA), Some(first), last)
    };
    let reader = done(&app, from(&tools, 2, 3)).await;
    let read = reason(&app, "memory", &tools, 1).await;
    assert_eq!(mark(&router, &reader, day(2)).await, read);
    assert_eq!(mark(&router, &reader, day(3)).await, read);
    let again = done(&app, from(&reader, 4, 4)).await;
    assert_eq!(mark(&router, &again, day(4)).await, read, "the memory of a memory");
    let blind = Request { read_window: Some(0), read_window_after_loss: Some(0), ..from(&tools, 2, 2) };
    let blind = done(&app, blind).await;
    let given = session(&app.store, &blind, ALPHA, day(2)).await.expect("a session");
    let given = get(&router, &format!("/sessions/{}/memory", given.0)).await;
    assert_eq!(items(&given, "recalled").len(), 0, "nothing was read: {given}");
    assert_eq!(mark(&router, &blind, day(2)).await, verified);
    let on =
        Request { read_window: Some(0), read_window_after_loss: Some(0), ..request(agent(ALPHA), None, 3) };
    let on = done(&app, on).await;
    assert_eq!(
        mark(&router, &on, day(3)).await,
        verified,
        "nor does its account go back to what nobody read"
    );

    // Days done elsewhere are skipped, and the rest continues from there.
    let rest = done(&app, from(&tools, 2, 4)).await;
    assert!(session(&app.store, &rest, ALPHA, day(3)).await.is_none(), "it was done");
    assert_eq!(mark(&router, &rest, day(4)).await, reason(&app, "continuation", &tools, 1).await);

    // Neither of them.
    let fresh = done(&app, request(agent("gamma"), Some(0), 1)).await;
    let other = done(&app, Request { memory_from: Some(fresh), ..request(agent("gamma"), Some(2), 2) }).await;
    assert_eq!(mark(&router, &other, day(2)).await, verified);
}

async fn inherited_head(router: &Router, app: &App, job: &JobId, n: i8) -> Value {
    let session = session(&app.store, job, ALPHA, day(n)).await.expect("a session");
    get(router, &format!("/sessions/{}", session.0)).await
}

/// Goal: states stored before the mark existed still pass it on, based on their sessions: to an account and
/// to a memory.
#[tokio::test]
async fn a_state_without_a_mark_is_judged_by_its_sessions() {
    let desk = Desk::new().await;
    let (tools, states) = {
        let app = desk.app().await;
        let tools = done(&app, request(noting(ALPHA), Some(0), 1)).await;
        let hashes: Vec<ContentHash> = {
            let behind = desk.behind();
            let mut states = behind.prepare("SELECT DISTINCT hash FROM agent_states").expect("reads");
            let hashes = states.query_map([], |row| row.get::<_, [u8; 32]>(0)).expect("reads");
            hashes.map(|hash| ContentHash::from_bytes(hash.expect("reads"))).collect()
        };
        (tools, app.store.texts(hashes).await.expect("reads"))
    };
    let behind = desk.behind();
    let mut edited = 0;
    for (hash, body) in states {
        let mut state: Value = serde_json::from_str(&body).expect("is JSON");
        if state.pointer("/unverified/kind").is_none_or(Value::is_null) {
            continue;
        }
        let fields = state.as_object_mut().expect("is an object");
        fields.remove("unverified");
        fields.remove("is_marked");
        let sql = "UPDATE texts SET body = ?1, encoding = 0, packed = NULL WHERE hash = ?2";
        edited += behind.execute(sql, (state.to_string(), hash.as_bytes())).expect("edits");
    }
    assert_eq!(edited, 2);
    let sessions = behind.execute(
        "UPDATE trading_sessions SET metadata = json_remove(metadata, '$.point_in_time_reason')",
        [],
    );
    assert_eq!(sessions.expect("edits"), 2);
    drop(behind);

    let app = desk.app().await;
    let router = papertape_api::router(app.clone());
    assert_eq!(mark(&router, &tools, day(1)).await, reason(&app, "external_tools", &tools, 1).await);
    let next = done(&app, request(agent(ALPHA), None, 2)).await;
    assert_eq!(mark(&router, &next, day(2)).await, reason(&app, "continuation", &tools, 1).await);
}
