//! Who may write for a job, and who may stop it.

use crate::crash_child::BriefLeases;
use crate::crash_support::{
    Desk, LONG, agent, all_steps, completed, export, forgetful, queue, run, same, worker,
};
use futures::FutureExt as _;
use papertape_core::action::still_open;
use papertape_core::id::JobId;
use papertape_core::ports::{ActionLog as _, BoxFuture, Queue, RecordError};
use papertape_core::record::{JobRow, JobStatus, Lease, NewJob};
use papertape_core::tape::{OutcomeKind, StepState};
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::services::Services;
use papertape_runtime::simulate::NoopObserver;
use papertape_service::app::App;
use papertape_service::trigger::{Request, resume};
use papertape_testkit::clock::FakeClock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;

async fn undisturbed(days: i8, agents: Request) -> String {
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, Request { end_date: forgetful(days).end_date, ..agents }).await;
    completed(&run(&app.services, &job).await.expect("claims"));
    export(&app.store, &job).await
}

/// The services of a worker whose lease expires at once. Its clock never advances, so it does not notice by itself.
fn overtaken(app: &App) -> Services {
    Services {
        queue: Arc::new(BriefLeases(Arc::clone(&app.services.queue))),
        clock: Arc::new(FakeClock::new()),
        ..app.services.clone()
    }
}

/// A worker whose job was claimed by another receives its responses after that, and can write none of them.
#[tokio::test]
async fn a_worker_that_lost_its_lease_writes_nothing_more() {
    let expected = undisturbed(3, forgetful(3)).await;
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, forgetful(3)).await;
    desk.hold(2);
    let first = overtaken(&app);
    let lost = tokio::spawn({
        let job = job.clone();
        async move { worker(&first).run_job(&job, &CancelSource::default().signal(), &NoopObserver).await }
    });
    desk.server.request(2).await;
    completed(&run(&app.services, &job).await.expect("the lease has run out"));
    let steps = all_steps(&app.store, &job, 3).await;
    let chain = app.store.verify_chain(&job).await.expect("verifies");

    desk.server.release();
    let lost = lost.await.expect("does not panic");
    assert!(matches!(lost, Err(RecordError::LostLease)), "{lost:?}");
    assert_eq!(all_steps(&app.store, &job, 3).await, steps);
    assert_eq!(app.store.verify_chain(&job).await.expect("verifies"), chain);
    same(&expected, &export(&app.store, &job).await, "after the first worker's answers");
    assert_eq!(app.store.interrupted_attempts(&job).await.expect("counts"), 2);
    assert_eq!(desk.server.repeats(), 2, "the two calls that were under way");
}

/// Captures a test thread's log.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a lock").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Goal: a worker whose job another has taken says so, without a warning or an error, and stops cleanly.
#[tokio::test]
async fn a_lost_lease_is_not_an_error() {
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, forgetful(3)).await;
    desk.hold(2);
    let first = overtaken(&app);
    let logged = Logged::default();
    let writer = logged.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    // All tasks of this test run on its one thread.
    let guard = tracing::subscriber::set_default(subscriber);
    let stopper = CancelSource::default();
    let (working, signal) = (worker(&first), stopper.signal());
    let serving = tokio::spawn(async move { working.serve(signal).await });
    desk.server.request(2).await;
    completed(&run(&app.services, &job).await.expect("the lease has run out"));
    desk.server.release();
    stopper.stop(StopReason::Shutdown);
    serving.await.expect("it ends");
    drop(guard);
    let logged = String::from_utf8(logged.0.lock().expect("a lock").clone()).expect("a text");
    assert!(logged.contains("lease lost: another worker owns the job"), "{logged}");
    assert!(!logged.contains("ERROR") && !logged.contains("WARN"), "{logged}");
    assert_eq!(app.store.get_job(&job).await.expect("reads").expect("is there").crashes, 0);
}

/// On a file with one owner, a new owner takes a job over at once: nobody else can hold it.
#[tokio::test]
async fn a_new_owner_of_the_file_takes_jobs_over() {
    let desk = Desk::new().await;
    let job = desk.queue(forgetful(1)).await;
    let app = desk.app().await;
    app.store.claim("gone", LONG, Some(&job)).await.expect("asks").expect("claims");
    assert!(run(&app.services, &job).await.is_none(), "it is leased");
    drop(app);
    completed(&desk.run(&job).await);
}

/// Notifies when a worker has learned that its job is cancelled.
struct Heard(Arc<dyn Queue>, Arc<Notify>);

impl Queue for Heard {
    fn enqueue<'a>(&'a self, job: NewJob) -> BoxFuture<'a, Result<(), RecordError>> {
        self.0.enqueue(job)
    }

    fn claim<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        only: Option<&'a JobId>,
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        self.0.claim(owner, lease_for, only)
    }

    fn claim_of<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        kinds: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        self.0.claim_of(owner, lease_for, kinds)
    }

    fn renew<'a>(&'a self, lease: &'a Lease, by: Duration) -> BoxFuture<'a, Result<bool, RecordError>> {
        async move {
            self.0.renew(lease, by).await.inspect(|cancelled| {
                if *cancelled {
                    self.1.notify_one()
                }
            })
        }
        .boxed()
    }

    fn finish<'a>(
        &'a self,
        lease: &'a Lease,
        status: JobStatus,
        error: Option<String>,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        self.0.finish(lease, status, error)
    }

    fn requeue<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<bool, RecordError>> {
        self.0.requeue(job)
    }

    fn cancel<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
        self.0.cancel(job)
    }

    fn get_job<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobRow>, RecordError>> {
        self.0.get_job(job)
    }
}

/// A cancelled job stops after the current step, whose response is stored; a process that shuts down releases
/// its job in the same way. Resumed, both continue as if nothing had happened.
#[tokio::test]
async fn a_stopped_job_keeps_its_step_and_goes_on() {
    let one = || Request { agents: vec![agent("alpha")], ..forgetful(3) };
    let expected = undisturbed(3, one()).await;
    for reason in [StopReason::Cancelled, StopReason::Shutdown] {
        let desk = Desk::new().await;
        let app = desk.app().await;
        let job = queue(&app, one()).await;
        desk.hold(1);
        let (heard, clock, stopper) = (Arc::new(Notify::new()), FakeClock::new(), CancelSource::default());
        let services = Services {
            queue: Arc::new(Heard(Arc::clone(&app.services.queue), Arc::clone(&heard))),
            clock: Arc::new(clock.clone()),
            ..app.services.clone()
        };
        let work = tokio::spawn({
            let (job, signal) = (job.clone(), stopper.signal());
            async move { worker(&services).run_job(&job, &signal, &NoopObserver).await }
        });
        desk.server.request(1).await;
        if reason == StopReason::Cancelled {
            assert_eq!(app.store.cancel(&job).await.expect("asks"), Some(JobStatus::Running));
            clock.advance(Duration::from_secs(1));
            heard.notified().await;
        } else {
            stopper.stop(reason);
            // The worker sees it at its next poll, which comes before any response.
            tokio::task::yield_now().await;
        }
        desk.server.release();
        let end = work.await.expect("does not panic").expect("the record works").expect("claims");
        let status = if reason == StopReason::Cancelled { JobStatus::Cancelled } else { JobStatus::Queued };
        assert_eq!(end.status, status, "{end:?}");
        assert_eq!(desk.server.count(), 1, "nothing more is asked");
        let steps = all_steps(&app.store, &job, 3).await;
        let model = steps.iter().find(|step| step.path.as_str() == "solo#1/model#1").expect("is there");
        assert_eq!(model.state, StepState::Done(OutcomeKind::Ok), "the step under way is kept");

        assert_eq!(resume(&app, &job, None).await.expect("resumes"), JobStatus::Queued);
        completed(&run(&app.services, &job).await.expect("claims"));
        assert_eq!((desk.server.count(), desk.server.repeats()), (6, 0));
        same(&expected, &export(&app.store, &job).await, "after the stop");
    }
}

/// If a worker was told to cancel its job and died before it did, the next worker only ends the job and does
/// no more of its work.
#[tokio::test]
async fn what_was_cancelled_before_its_worker_died_is_not_run() {
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, Request { agents: vec![agent("alpha")], ..forgetful(1) }).await;
    let (lease, row) = app.store.claim("gone", LONG, Some(&job)).await.expect("asks").expect("claims");
    assert_eq!((&lease.job, row.status), (&job, JobStatus::Running));
    assert_eq!(app.store.cancel(&job).await.expect("asks"), Some(JobStatus::Running));
    app.store.end_leases().await.expect("ends");
    let end = run(&app.services, &job).await.expect("claims");
    assert_eq!((end.status, desk.server.count()), (JobStatus::Cancelled, 0), "{end:?}");
    let row = app.store.get_job(&job).await.expect("reads").expect("is there");
    assert_eq!(row.status, JobStatus::Cancelled);
    let rows = app.store.action_log(&job).await.expect("reads");
    assert!(still_open(rows).is_empty());

    assert_eq!(resume(&app, &job, None).await.expect("resumes"), JobStatus::Queued);
    completed(&run(&app.services, &job).await.expect("claims"));
}
