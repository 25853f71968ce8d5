//! The process that is killed: this test binary, started again for this single test.

use crate::crash_assistant::{Others, run_any};
use crate::crash_support::{Place, Points};
use futures::FutureExt as _;
use papertape_core::id::JobId;
use papertape_core::ports::{BoxFuture, Queue, RecordError};
use papertape_core::record::{JobKind, JobRow, JobStatus, Lease, NewJob};
use papertape_testkit::clock::FakeClock;
use papertape_testkit::fault::FaultPoints;
use serde::{Deserialize, Serialize};
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The variable that tells a child what to run.
pub(crate) const CHILD: &str = "PAPERTAPE_TEST_CHILD";

/// What a child runs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Child {
    pub(crate) place: Place,
    pub(crate) server: String,
    pub(crate) notes: PathBuf,
    pub(crate) job: JobId,
    pub(crate) points: Points,
    pub(crate) kill_at: Option<usize>,
    /// Time advances only by this much at each byte on stdin; absent: time passes normally.
    pub(crate) deadline: Option<Duration>,
}

/// In a child: runs the job and is killed. In a normal test run: nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_a_job_until_it_is_killed() {
    let Ok(child) = std::env::var(CHILD) else { return };
    let child: Child = serde_json::from_str(&child).expect("a child is told what to run");
    let points = child.kill_at.map_or_else(FaultPoints::counting, FaultPoints::killing_at);
    let at = (child.server.as_str(), child.notes.as_path());
    let (app, mut services) = child.points.open(&child.place, at, &points).await;
    if let Some(deadline) = child.deadline {
        let clock = FakeClock::new();
        services.clock = Arc::new(clock.clone());
        // A call that hangs would keep the only permit from those that let its time pass.
        services.exclusive_slot = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        std::thread::spawn(move || {
            for _ in std::io::stdin().lock().bytes().map_while(Result::ok) {
                clock.advance(deadline);
            }
        });
    }
    if let Place::Postgres(..) = child.place {
        services.queue = Arc::new(BriefLeases(services.queue));
    }
    if !app.config.external_agents.is_empty() {
        app.open_doors().await.expect("they open");
    }
    // Jobs that the assistant's job starts run next to it.
    let row = app.store.get_job(&child.job).await.expect("reads").expect("is there");
    let others = row.kind.is_assistant().then(|| Others::beside(&app, &child.job));
    // On PostgreSQL, the last transaction of a killed process may hold the job for a moment longer.
    while run_any(&app, &services, &child.job).await.is_none() {
        let job = app.store.get_job(&child.job).await.expect("reads").expect("is there");
        if job.status == JobStatus::Completed {
            break;
        }
        assert!(matches!(child.place, Place::Postgres(..)), "it cannot be claimed");
    }
    if let Some(others) = others {
        others.end().await;
    }
}

/// A queue whose leases have already expired when they are granted: a test need not wait until a killed
/// worker's job is free. Nobody else claims the job while its worker lives.
pub(crate) struct BriefLeases(pub(crate) Arc<dyn Queue>);

impl Queue for BriefLeases {
    fn enqueue<'a>(&'a self, job: NewJob) -> BoxFuture<'a, Result<(), RecordError>> {
        self.0.enqueue(job)
    }

    fn claim<'a>(
        &'a self,
        owner: &'a str,
        _: Duration,
        only: Option<&'a JobId>,
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        self.0.claim(owner, Duration::ZERO, only)
    }

    fn claim_of<'a>(
        &'a self,
        owner: &'a str,
        _: Duration,
        kinds: &'a [JobKind],
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        self.0.claim_of(owner, Duration::ZERO, kinds)
    }

    fn renew<'a>(&'a self, lease: &'a Lease, _: Duration) -> BoxFuture<'a, Result<bool, RecordError>> {
        async move { self.0.renew(lease, Duration::ZERO).await }.boxed()
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
