//! A job is killed at every point at which a crash can matter, resumed by another process, and ends as if
//! nothing had happened.

use crate::crash_support::{
    AGENTS, Desk, Mind, NOT_WOKEN, Place, Points, SCRIPTED, all_steps, completed, day, digest, export,
    faulty, noting, open_intents, queue, request, run, same, steps, worker,
};
use futures::{StreamExt as _, TryStreamExt as _};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::part::EventPosition;
use papertape_core::ports::{Queue as _, RecordError};
use papertape_core::record::JobStatus;
use papertape_core::tape::{StepPath, StepState};
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::simulate::NoopObserver;
use papertape_service::trigger::Request;
use papertape_service::view::read_stream;
use papertape_store::{StepView, Store};
use papertape_testkit::fault::FaultPoints;
use papertape_testkit::model_server::Recorded;
use papertape_testkit::postgres;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// The length of the jobs in days.
const DAYS: i8 = 3;
/// The number of desks in use at a time.
const SIDE_BY_SIDE: usize = 4;

/// The result of an undisturbed run.
pub(crate) struct Undisturbed {
    pub(crate) export: String,
    pub(crate) points: Vec<&'static str>,
    kind: Points,
    tapes: Tapes,
    /// The sessions' transactions, if they are fault points.
    transactions: usize,
    requests: usize,
    notes: usize,
    /// The maximum number of concurrent external steps.
    at_once: usize,
}

/// The completed steps of each agent's day, in the order of their chain.
type Tapes = BTreeMap<(&'static str, i8), Vec<(StepPath, ContentHash, Option<ContentHash>)>>;

pub(crate) async fn tapes(store: &Store, job: &JobId, days: i8) -> Tapes {
    let mut tapes = Tapes::new();
    for agent in AGENTS {
        for n in 0..days {
            let mut steps = steps(store, job, agent, day(n)).await;
            steps.retain(|step| !step.detached && step.seq.is_some());
            steps.sort_by_key(|step| step.seq);
            let steps = steps.into_iter().map(|step| (step.path, step.digest, step.outcome_ref));
            tapes.insert((agent, n), steps.collect());
        }
    }
    tapes
}

/// Asserts that each day's tape is a beginning of the undisturbed one, and that no day has begun before the previous
/// one is complete.
pub(crate) fn is_prefix(tapes: &Tapes, whole: &Tapes, what: &str) {
    for ((agent, n), tape) in tapes {
        assert!(whole[&(*agent, *n)].starts_with(tape), "{what}: {agent} on day {n}: {tape:#?}");
        let before = (*agent, n - 1);
        assert!(
            tape.is_empty() || tapes.get(&before) == whole.get(&before),
            "{what}: {agent} before day {n}"
        );
    }
}

/// Asserts that each model call of the job arrived once, and once more for each interrupted attempt at most.
pub(crate) fn counts_are_right(desk: &Desk, steps: &[StepView], what: &str) {
    let requests = arrived(desk);
    for step in steps.iter().filter(|step| is_call(step)) {
        assert_eq!(step.attempts, 1 + step.interrupted, "{what}: {}", step.path);
        let arrived = requests.iter().filter(|request| digest(request) == step.digest).count();
        assert!(
            (1..=step.attempts as usize).contains(&arrived),
            "{what}: {} arrived {arrived} times",
            step.path
        );
    }
}

/// Whether a step is a request of the conversation. Of others, for summaries and memories, the wire does not show
/// everything that their digests contain.
fn is_call(step: &StepView) -> bool {
    step.path.kind() == "model" && !step.detached && !step.path.as_str().starts_with("post#")
}

impl Undisturbed {
    pub(crate) async fn run(desk: &Desk, job: &JobId, at_once: usize) -> Self {
        Self::run_at(desk, job, (Points::Ports, at_once)).await
    }

    pub(crate) async fn run_at(desk: &Desk, job: &JobId, (kind, at_once): (Points, usize)) -> Self {
        let points = FaultPoints::counting();
        let (app, services) = kind.open(&desk.place, (&desk.server.url(), &desk.notes), &points).await;
        let end = desk.run_with(&services, job).await.expect("claims");
        completed(&end);
        let found = app.store.verify_chain(job).await.expect("verifies");
        assert_eq!(found.broken, None);
        assert_eq!(desk.server.repeats(), 0, "every request of the script is another");
        let steps = all_steps(&app.store, job, DAYS).await;
        let calls = steps.iter().filter(|step| is_call(step));
        let asked: BTreeSet<ContentHash> = arrived(desk).iter().map(digest).collect();
        assert!(calls.clone().count() > 0 && calls.clone().all(|step| asked.contains(&step.digest)));
        Self {
            export: export(&app.store, job).await,
            points: points.passed(),
            kind,
            transactions: points.transactions(),
            tapes: tapes(&app.store, job, DAYS).await,
            requests: arrived(desk).len(),
            notes: desk.noted().len(),
            at_once,
        }
    }

    /// Kills the job at a point, resumes it, and compares it with this result.
    pub(crate) async fn hold(&self, desk: &Desk, job: &JobId, at: usize) -> Result<(), String> {
        desk.run_and_kill_at(job, self.kind, at).await;
        let what = format!("killed at point {at}, {}", self.points[at]);

        let app = desk.app().await;
        let killed = all_steps(&app.store, job, DAYS).await;
        // The steps of concurrent nodes have no fixed order.
        let is_sequential = self.at_once <= AGENTS.len();
        if is_sequential {
            is_prefix(&tapes(&app.store, job, DAYS).await, &self.tapes, &what);
        }
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
            assert!(matches!(self.points[at], "after finish" | NOT_WOKEN), "{what}: it is completed");
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
        if is_sequential {
            counts_are_right(desk, &steps, &what);
        }
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
    at_every(Points::Ports, (template, request), at_once, first).await
}

async fn at_every(kind: Points, (template, request): (Desk, Request), at_once: usize, first: usize) -> usize {
    let job = &template.queue(request).await;
    let undisturbed = &Undisturbed::run_at(&template.copy().await, job, (kind, at_once)).await;
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

/// Goal: a process that dies with a group of writes in the database and not committed, or committed and its followers
/// not woken, leaves a beginning of the tape, and the job ends as if nothing had happened.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_survives_a_kill_around_every_commit() {
    let request = Request { agents: vec![noting("alpha"), noting("beta")], ..request(2) };
    let points = at_every(Points::Transactions, (Desk::new().await, request), 2, 0).await;
    assert!(points > 60, "{points} points");
}

/// Goal: the same on PostgreSQL, at every third point.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_survives_a_kill_around_a_commit() {
    let request = || Request { agents: vec![noting("alpha"), noting("beta")], ..request(2) };
    on_postgres_at((Points::Transactions, 3), SCRIPTED, request, 2).await;
}

/// Goal: wherever in a transaction the process dies, a tool that may not be repeated is called once. Only if it dies
/// with such a call in progress, the canonical bytes are others: the agent is told that its effect is unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_not_be_repeated_survives_a_kill_around_every_commit() {
    let careful = |desk: &Desk| std::fs::write(desk.notes.with_file_name("careful"), "").expect("writes");
    let template = Desk::new().await;
    let job = &template.queue(Request { agents: vec![noting("alpha")], ..request(1) }).await;
    let calm = template.copy().await;
    careful(&calm);
    let undisturbed = &Undisturbed::run_at(&calm, job, (Points::Transactions, 1)).await;
    let (mut equal, mut unknown) = (0, 0);
    for at in 0..undisturbed.points.len() {
        let what = format!("killed at point {at}, {}", undisturbed.points[at]);
        let desk = template.copy().await;
        careful(&desk);
        desk.run_and_kill_at(job, Points::Transactions, at).await;
        let app = desk.app().await;
        is_prefix(&tapes(&app.store, job, DAYS).await, &undisturbed.tapes, &what);
        let killed = all_steps(&app.store, job, DAYS).await;
        // Listing the tools is repeatable.
        let is_lost =
            |step: &StepView| step.path.as_str() == "solo#1/tool#2" && step.state == StepState::Intent;
        let is_lost = killed.iter().any(is_lost);
        if app.store.get_job(job).await.expect("reads").expect("is there").status != JobStatus::Completed {
            completed(&run(&app.services, job).await.expect("claims"));
        }
        let noted = desk.noted();
        assert!(noted.len() <= 1, "{what}: called again: {noted:?}");
        if is_lost {
            unknown += 1;
            continue;
        }
        equal += 1;
        assert_eq!(noted, calm.noted(), "{what}");
        same(&undisturbed.export, &export(&app.store, job).await, &what);
        counts_are_right(&desk, &all_steps(&app.store, job, DAYS).await, &what);
    }
    assert!(equal > 10 && unknown >= 2, "{equal} and {unknown} kills");
}

/// Goal: a lease that is lost after writes were handed over and before they are committed: none of them is stored, the
/// tape is a beginning, the next worker makes at most the calls again whose outcomes were lost, and the job ends as if
/// nothing had happened.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_lost_before_a_commit_leaves_no_trace() {
    let template = Desk::new().await;
    let request = Request { agents: vec![noting("alpha"), noting("beta")], ..request(2) };
    let job = &template.queue(request).await;
    let calm = template.copy().await;
    let undisturbed = Undisturbed::run(&calm, job, 2).await;
    let count = undisturbed.transactions;
    let mut lost_outcomes = 0;
    for nth in 0..count {
        let what = format!("lost before transaction {nth}");
        let desk = template.copy().await;
        let (behind, id) = (Mutex::new(desk.behind()), job.clone());
        let points = FaultPoints::before_append(nth, move || {
            // Another worker claims it, and dies.
            let sql =
                "UPDATE jobs SET lease_epoch = lease_epoch + 1, lease_owner = 'another', lease_until = 0
                WHERE job_id = ?1";
            let stolen = behind.lock().expect("a lock").execute(sql, [id.as_str()]).expect("writes");
            assert_eq!(stolen, 1);
        });
        let app = desk.app().await;
        let signal = CancelSource::default();
        let services = faulty(app.services.clone(), &points);
        let lost = worker(&services).run_job(job, &signal.signal(), &NoopObserver).await;
        assert!(matches!(lost, Err(RecordError::LostLease)), "{what}: {lost:?}");

        is_prefix(&tapes(&app.store, job, DAYS).await, &undisturbed.tapes, &what);
        let steps = all_steps(&app.store, job, DAYS).await;
        let open = open_intents(&steps).len();
        assert!(open <= 2, "{what}: {open} intents are open");
        completed(&run(&app.services, job).await.expect("claims"));
        same(&undisturbed.export, &export(&app.store, job).await, &what);
        let interrupted = app.store.interrupted_attempts(job).await.expect("counts");
        assert_eq!(interrupted, open as u64, "{what}");
        let repeats = desk.server.repeats();
        let noted = desk.noted().len() - undisturbed.notes;
        assert!(repeats + noted <= open, "{what}: {repeats} requests and {noted} notes for {open} intents");
        counts_are_right(&desk, &all_steps(&app.store, job, DAYS).await, &what);
        lost_outcomes += repeats;
    }
    assert!(count > 20 && lost_outcomes > 5, "{count} transactions, {lost_outcomes} lost outcomes");
}

/// Goal: a follower in another process misses nothing that a process committed before it died and told nobody about.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_a_follower_that_was_not_woken_misses_nothing() {
    let place = postgres::place().expect("PostgreSQL");
    let place = Place::Postgres(place.url, place.schema);
    let desk = Desk::thinking_on(&place, SCRIPTED).await;
    let one_day = || Request { agents: vec![noting("alpha")], ..request(1) };
    let calm = desk.queue(one_day()).await;
    let undisturbed = Undisturbed::run_at(&desk, &calm, (Points::Transactions, 1)).await;
    let at = undisturbed.points.iter().rposition(|point| *point == NOT_WOKEN).expect("is passed");
    let middle =
        undisturbed.points[..at / 2].iter().rposition(|point| *point == NOT_WOKEN).expect("is passed");
    for at in [middle, at] {
        let desk = Desk::thinking_on(&place, SCRIPTED).await;
        let app = desk.app().await;
        let job = queue(&app, one_day()).await;
        let mut stream = read_stream(&app, job.as_str(), Some(EventPosition::default()))
            .await
            .expect("reads")
            .expect("is there");
        let following = tokio::spawn(async move {
            let mut text = String::new();
            while let Some(bytes) = stream.next().await {
                text.push_str(std::str::from_utf8(&bytes).expect("a text"));
            }
            ids(&text)
        });
        desk.run_and_kill_at(&job, Points::Transactions, at).await;
        while app.store.get_job(&job).await.expect("reads").expect("is there").status != JobStatus::Completed
        {
            run(&app.services, &job).await;
        }
        let mut whole = String::new();
        let mut again = read_stream(&app, job.as_str(), Some(EventPosition::default()))
            .await
            .expect("reads")
            .expect("is there");
        while let Some(bytes) = again.next().await {
            whole.push_str(std::str::from_utf8(&bytes).expect("a text"));
        }
        let whole = ids(&whole);
        assert!(whole.len() > 10, "{whole:?}");
        assert_eq!(following.await.expect("it ends"), whole, "each once, and in order");
    }
}

fn ids(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned).collect()
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
    on_postgres_at((Points::Ports, 5), mind, request, at_once).await;
}

/// Kills jobs on PostgreSQL at every so many of these points.
async fn on_postgres_at(
    (kind, step): (Points, usize),
    mind: Mind,
    request: impl Fn() -> Request,
    at_once: usize,
) {
    let place = postgres::place().expect("starts PostgreSQL");
    let place = &Place::Postgres(place.url, place.schema);
    let first = Desk::thinking_on(place, mind).await;
    let job = first.queue(request()).await;
    let undisturbed = &Undisturbed::run_at(&first, &job, (kind, at_once)).await;
    let request = &request;
    futures::stream::iter((0..undisturbed.points.len()).step_by(step))
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
