//! A job is killed at every point at which a crash can matter, resumed by another process, and ends as if
//! nothing had happened.

use crate::crash_support::{
    Desk, Mind, Place, SCRIPTED, all_steps, completed, digest, export, faulty, noting, open_intents, queue,
    request, same,
};
use futures::{StreamExt as _, TryStreamExt as _};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_core::tape::StepState;
use papertape_service::trigger::Request;
use papertape_store::StepView;
use papertape_testkit::fault::FaultPoints;
use papertape_testkit::model_server::Recorded;
use papertape_testkit::postgres;
use std::collections::BTreeSet;

/// The length of the jobs in days.
const DAYS: i8 = 3;
/// The number of desks in use at a time.
const SIDE_BY_SIDE: usize = 4;

/// The result of an undisturbed run.
pub(crate) struct Undisturbed {
    pub(crate) export: String,
    pub(crate) points: Vec<&'static str>,
    requests: usize,
    notes: usize,
    /// The maximum number of concurrent external steps.
    at_once: usize,
}

impl Undisturbed {
    pub(crate) async fn run(desk: &Desk, job: &JobId, at_once: usize) -> Self {
        let app = desk.app().await;
        let points = FaultPoints::counting();
        let end = desk.run_with(&faulty(app.services.clone(), &points), job).await.expect("claims");
        completed(&end);
        let found = app.store.verify_chain(job).await.expect("verifies");
        assert_eq!(found.broken, None);
        assert_eq!(desk.server.repeats(), 0, "every request of the script is another");
        let steps = all_steps(&app.store, job, DAYS).await;
        // For requests outside the conversation, for summaries and memories, the wire does not show
        // everything that their digests contain.
        let is_aside = |step: &StepView| step.detached || step.path.as_str().starts_with("post#");
        let calls = steps.iter().filter(|step| step.path.kind() == "model" && !is_aside(step));
        let asked: BTreeSet<ContentHash> = arrived(desk).iter().map(digest).collect();
        assert!(calls.clone().count() > 0 && calls.clone().all(|step| asked.contains(&step.digest)));
        Self {
            export: export(&app.store, job).await,
            points: points.passed(),
            requests: arrived(desk).len(),
            notes: desk.noted().len(),
            at_once,
        }
    }

    /// Kills the job at a point, resumes it, and compares it with this result.
    pub(crate) async fn hold(&self, desk: &Desk, job: &JobId, at: usize) -> Result<(), String> {
        desk.run_and_kill(job, at).await;
        let what = format!("killed at point {at}, {}", self.points[at]);

        let app = desk.app().await;
        let killed = all_steps(&app.store, job, DAYS).await;
        let open = open_intents(&killed).len();
        assert!(open <= self.at_once, "{what}: {open} intents are open");
        let answered: BTreeSet<ContentHash> = killed
            .iter()
            .filter(|step| matches!(step.state, StepState::Done(_)))
            .map(|step| step.digest)
            .collect();
        let asked = arrived(desk).len();
        let row = app.store.get_job(job).await.expect("reads").expect("is there");
        if row.status == JobStatus::Completed {
            assert_eq!(self.points[at], "after finish");
        } else {
            // A killed worker's last transaction may hold the job for a moment longer.
            let end = loop {
                if let Some(end) = desk.run_with(&app.services, job).await {
                    break end;
                }
            };
            completed(&end);
        }
        same(&self.export, &export(&app.store, job).await, &what);
        let interrupted = app.store.interrupted_attempts(job).await.expect("counts");
        assert_eq!(interrupted, open as u64, "{what}: each open intent is marked, and nothing else");
        let requests = arrived(desk);
        let repeats = requests.iter().filter(|request| request.occurrence > 1).count();
        let noted = desk.noted().len() - self.notes;
        assert!(repeats + noted <= open, "{what}: {repeats} requests and {noted} notes for {open} intents");
        assert_eq!(requests.len(), self.requests + repeats, "{what}: requests");
        for again in &requests[asked..] {
            assert!(!answered.contains(&digest(again)), "{what}: a committed answer was asked again");
        }
        let steps = all_steps(&app.store, job, DAYS).await;
        assert!(open_intents(&steps).is_empty(), "{what}: nothing is left open");
        let found = app.store.verify_chain(job).await.expect("verifies");
        assert_eq!(found.broken, None, "{what}");
        Ok(())
    }
}

/// The requests that arrived in full: of the last one, the server may have received only a part.
fn arrived(desk: &Desk) -> Vec<Recorded> {
    let mut requests = desk.server.requests();
    requests.retain(|request| !request.body.is_null());
    requests
}

/// Kills at every point from number `first` on. Returns the number of points.
pub(crate) async fn at_every_point(template: Desk, request: Request, at_once: usize, first: usize) -> usize {
    let job = &template.queue(request).await;
    let undisturbed = &Undisturbed::run(&template.copy().await, job, at_once).await;
    let template = &template;
    futures::stream::iter(first..undisturbed.points.len())
        .map(|at| async move { undisturbed.hold(&template.copy().await, job, at).await })
        .buffer_unordered(SIDE_BY_SIDE)
        .try_collect::<()>()
        .await
        .expect("holds");
    undisturbed.points.len()
}

/// Two agents with a repeatable tool, no summaries: a kill interrupts at most one call of each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_survives_a_kill_at_every_point() {
    let request = Request { agents: vec![noting("alpha"), noting("beta")], ..request(DAYS) };
    let points = at_every_point(Desk::new().await, request, 2, 0).await;
    assert!(points > 150, "{points} points");
}

/// Summaries are requested concurrently once the days are over, a session's own one after the other. (The
/// points before that are those of a job without summaries.)
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn summaries_survive_a_kill_at_every_point() {
    let desk = Desk::new().await;
    let job = desk.queue(request(DAYS)).await;
    let without = Undisturbed::run(&desk, &job, 2).await.points.len();
    let request = Request { summaries: Some(true), ..request(DAYS) };
    // The last two points belong to the job's end.
    let points = at_every_point(Desk::new().await, request, 2 * DAYS as usize, without - 2).await;
    assert!(points - without > 100, "{points} points, {without} without summaries");
}

/// The same on PostgreSQL, at every fifth point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_survives_a_kill() {
    let request = || Request { agents: vec![noting("alpha"), noting("beta")], ..request(DAYS) };
    on_postgres(SCRIPTED, request, 2).await;
}

/// Kills jobs on PostgreSQL at every fifth point.
pub(crate) async fn on_postgres(mind: Mind, request: impl Fn() -> Request, at_once: usize) {
    let place = postgres::place().expect("starts PostgreSQL");
    let place = &Place::Postgres(place.url, place.schema);
    let first = Desk::thinking_on(place, mind).await;
    let job = first.queue(request()).await;
    let undisturbed = &Undisturbed::run(&first, &job, at_once).await;
    let request = &request;
    futures::stream::iter((0..undisturbed.points.len()).step_by(5))
        .map(|at| async move {
            let desk = Desk::thinking_on(place, mind).await;
            let job = queue(&desk.app().await, request()).await;
            undisturbed.hold(&desk, &job, at).await
        })
        .buffer_unordered(SIDE_BY_SIDE)
        .try_collect::<()>()
        .await
        .expect("holds");
}
