//! A job of an external agent, a program of its own that calls its model through the endpoint, is killed at every point,
//! and ends as if nothing had happened.

use crate::crash_support::{
    Desk, Place, Points, SCRIPTED, completed, day, export, request, run, same, steps,
};
use crate::external_support::python;
use futures::{StreamExt as _, TryStreamExt as _};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_core::tape::StepState;
use papertape_service::app::App;
use papertape_service::trigger::{Request, request_of_json};
use papertape_store::StepView;
use papertape_testkit::fault::FaultPoints;
use papertape_testkit::postgres;
use serde_json::json;

const DAYS: i8 = 2;
/// The number of desks in use at a time.
const CONCURRENT: usize = 4;
/// Model calls of a day.
const CALLS: usize = 3;

fn two_days() -> Request {
    let agents = json!([{ "name": "alpha", "kind": "external", "external": "mine" }]);
    let body = json!({ "start_date": day(0), "end_date": day(DAYS - 1), "agents": agents });
    Request { agents: request_of_json(&body).expect("a request").agents, ..request(DAYS) }
}

async fn model_steps(app: &App, job: &JobId) -> Vec<StepView> {
    let mut all = Vec::new();
    for n in 0..DAYS {
        all.extend(steps(&app.store, job, "alpha", day(n)).await);
    }
    all.retain(|step| step.path.kind() == "model");
    all
}

/// Runs the job undisturbed. Returns its canonical form, and the number of points.
async fn undisturbed(desk: &Desk, job: &JobId, kind: Points) -> (String, usize) {
    let points = FaultPoints::counting();
    let (app, services) = kind.open(&desk.place, (&desk.server.url(), &desk.notes), &points).await;
    app.open_doors().await.expect("they open");
    completed(&run(&services, job).await.expect("claims"));
    assert_eq!(desk.server.count(), DAYS as usize * CALLS);
    let lines = export(&app.store, job).await;
    assert!(!lines.contains("external_nondeterministic"), "{lines}");
    (lines, points.passed().len())
}

async fn is_completed(app: &App, job: &JobId) -> bool {
    let row = app.store.get_job(job).await.expect("reads").expect("is there");
    row.status == JobStatus::Completed
}

/// Kills the job at a point, resumes it, and compares it with the undisturbed one. Returns whether it was killed before
/// its end.
async fn hold(desk: &Desk, job: &JobId, (kind, at): (Points, usize), expected: &str) -> Result<bool, String> {
    let is_killed = desk.run_in_child(job, kind, at).await;
    let what = format!("killed at point {at}");
    // Of the last request, the server may have received only a part.
    let arrived = || desk.server.requests().iter().filter(|request| !request.body.is_null()).count();
    let (before, killed) = (arrived(), model_steps(&desk.app().await, job).await);
    // A killed worker's last transaction may hold the job for a moment longer.
    while !is_completed(&desk.app().await, job).await {
        assert!(!desk.run_in_child(job, kind, usize::MAX).await, "{what}");
    }
    let app = desk.app().await;
    same(expected, &export(&app.store, job).await, &what);
    assert_eq!(app.store.verify_chain(job).await.expect("verifies").broken, None, "{what}");

    let calls = DAYS as usize * CALLS;
    let done = killed.iter().filter(|step| matches!(step.state, StepState::Done(_))).count();
    let open = killed.iter().filter(|step| step.state == StepState::Intent).count();
    assert_eq!(arrived() - before, calls - done, "{what}: a call with a stored answer is not made again");
    assert!(before <= done + open, "{what}: {before} requests for {done} answers and {open} intents");
    let steps = model_steps(&app, job).await;
    assert_eq!(steps.len(), calls, "{what}");
    assert!(steps.iter().all(|step| step.attempts == 1 + step.interrupted), "{what}: {steps:#?}");
    let interrupted: u32 = steps.iter().map(|step| step.interrupted).sum();
    assert_eq!(interrupted as usize, open, "{what}: each open call is marked, and nothing else");
    Ok(is_killed)
}

async fn at_every_point(kind: Points) -> usize {
    let python = &python();
    let template = &Desk::new().await.with_agent(python);
    let job = &template.queue(two_days()).await;
    let calm = template.copy().await.with_agent(python);
    let (expected, points) = &undisturbed(&calm, job, kind).await;
    let killed: Vec<bool> = futures::stream::iter(0..*points)
        .map(|at| async move {
            let desk = template.copy().await.with_agent(python);
            hold(&desk, job, (kind, at), expected).await
        })
        .buffer_unordered(CONCURRENT)
        .try_collect()
        .await
        .expect("holds");
    killed.into_iter().filter(|killed| *killed).count()
}

/// Goal: wherever the process of a job dies, its agent begins the day again, gets what was stored, and the job ends as if
/// nothing had happened; no call whose answer was stored is made again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_survives_a_kill_at_every_point() {
    let kills = at_every_point(Points::Ports).await;
    assert!(kills > 60, "{kills} kills");
}

/// Goal: the same around every commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_survives_a_kill_around_every_commit() {
    let kills = at_every_point(Points::Transactions).await;
    assert!(kills > 20, "{kills} kills");
}

/// Goal: the same on PostgreSQL, at every third point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_agent_survives_a_kill_around_a_commit() {
    let python = &python();
    let place = postgres::place().expect("starts PostgreSQL");
    let place = &Place::Postgres(place.url, place.schema);
    let desk = || async { Desk::thinking_on(place, SCRIPTED).await.with_agent(python) };
    let calm = desk().await;
    let job = calm.queue(two_days()).await;
    let kind = Points::Transactions;
    let (expected, points) = &undisturbed(&calm, &job, kind).await;
    let killed: Vec<bool> = futures::stream::iter((0..*points).step_by(3))
        .map(|at| async move {
            let desk = desk().await;
            let job = desk.queue(two_days()).await;
            hold(&desk, &job, (kind, at), expected).await
        })
        .buffer_unordered(CONCURRENT)
        .try_collect()
        .await
        .expect("holds");
    let kills = killed.into_iter().filter(|killed| *killed).count();
    assert!(kills > 5, "{kills} kills");
}
