//! Fault points: wrappers of a running job's ports that kill the process at a chosen point.
//!
//! The wrapped ports cover what matters outside a transaction: each commit of the record, each call of a model or a
//! tool, each change of the queue. There is a fault point before and after each. The points inside a transaction are
//! those of the database's `CommitObserver`, which tests connect to [`FaultPoints::pass`].

use futures::FutureExt as _;
use papertape_core::external::{DoorProtocol, ModelDoorRequest, ModelDoorResponse};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::{CallFailure, ModelName, ModelRequest, Usage};
use papertape_core::ports::{
    AttemptFailure, BoxFuture, DeltaSink, ExternalCall, ExternalReply, ExternalTool, ModelClient,
    ModelResponse, Queue, RecordError, RecordStore, ToolClient,
};
use papertape_core::record::{
    AgentState, Commit, DayStatus, DerivedRow, JobKind, JobRow, JobStatus, Lease, LeaseState, NewJob,
    NewSession, OpenCall, OpenedSession, PartEnd, SessionId, SessionWithoutSummary, TapeRow, UsageTotal,
};
use papertape_core::tape::StepPath;
use papertape_core::time::Date;
use rust_decimal::Decimal;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The number of a transaction, and what happens just before it.
struct BeforeAppend(usize, Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for BeforeAppend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BeforeAppend({})", self.0)
    }
}

/// Counts the fault points that a process passes, in order.
#[derive(Debug, Default)]
pub struct FaultPoints {
    kill_at: Option<usize>,
    /// The transaction, from 0, for which the disk is full.
    full_at: Option<usize>,
    /// What happens just before a transaction, from 0, and after its writes were handed over.
    before_append: Option<BeforeAppend>,
    appends: AtomicUsize,
    passed: Mutex<Vec<&'static str>>,
}

impl FaultPoints {
    /// Fault points that only count.
    #[must_use]
    pub fn counting() -> Arc<Self> {
        Arc::default()
    }

    /// Fault points of which number `nth`, from 0, kills the process with SIGKILL.
    #[must_use]
    pub fn killing_at(nth: usize) -> Arc<Self> {
        Arc::new(Self { kill_at: Some(nth), ..Self::default() })
    }

    /// Fault points at which transaction number `nth`, from 0, finds the disk full.
    #[must_use]
    pub fn full_at(nth: usize) -> Arc<Self> {
        Arc::new(Self { full_at: Some(nth), ..Self::default() })
    }

    /// Fault points at which `happens` is called just before transaction number `nth`, from 0.
    #[must_use]
    pub fn before_append(nth: usize, happens: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { before_append: Some(BeforeAppend(nth, Box::new(happens))), ..Self::default() })
    }

    /// The number of transactions so far.
    #[must_use]
    pub fn transactions(&self) -> usize {
        self.appends.load(Ordering::SeqCst)
    }

    /// The names of the points passed.
    #[must_use]
    pub fn passed(&self) -> Vec<&'static str> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Passes a point. If the process is to be killed here, this does not return.
    pub fn pass(&self, name: &'static str) {
        let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        if self.kill_at == Some(passed.len()) {
            // Keep the lock: nothing passes another point while the signal is delivered.
            kill_this_process();
        }
        passed.push(name);
    }
}

/// SIGKILL: no destructor runs, nothing is flushed.
fn kill_this_process() -> ! {
    // A process may always signal itself.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}

/// A port with a fault point before and after each of its effects.
pub struct FaultyStore<P: ?Sized> {
    inner: Arc<P>,
    points: Arc<FaultPoints>,
}

impl<P: ?Sized> FaultyStore<P> {
    /// Wraps a port.
    #[must_use]
    pub fn new(inner: Arc<P>, points: &Arc<FaultPoints>) -> Arc<Self> {
        Arc::new(Self { inner, points: Arc::clone(points) })
    }

    async fn around<T>(
        &self,
        (before, after): (&'static str, &'static str),
        effect: impl Future<Output = T> + Send,
    ) -> T {
        self.points.pass(before);
        let result = effect.await;
        self.points.pass(after);
        result
    }
}

impl RecordStore for FaultyStore<dyn RecordStore> {
    fn open_session<'a>(
        &'a self,
        lease: &'a Lease,
        new: NewSession,
    ) -> BoxFuture<'a, Result<OpenedSession, RecordError>> {
        // The store starts writing when it is called, not when its future is awaited.
        let open = async move { self.inner.open_session(lease, new).await };
        self.around(("before open", "after open"), open).boxed()
    }

    fn load_tape<'a>(
        &'a self,
        session: SessionId,
        detached: bool,
    ) -> BoxFuture<'a, Result<Vec<TapeRow>, RecordError>> {
        self.inner.load_tape(session, detached)
    }

    fn load_derived_rows<'a>(
        &'a self,
        session: SessionId,
    ) -> BoxFuture<'a, Result<BTreeMap<StepPath, Vec<DerivedRow>>, RecordError>> {
        self.inner.load_derived_rows(session)
    }

    /// A point before and after each commit, whichever transaction they share: that depends on time.
    fn append<'a>(&'a self, commits: Vec<Commit>) -> BoxFuture<'a, Result<(), RecordError>> {
        async move {
            let count = commits.len();
            (0..count).for_each(|_| self.points.pass("before commit"));
            let nth = self.points.appends.fetch_add(1, Ordering::SeqCst);
            if self.points.full_at == Some(nth) {
                return Err(RecordError::Full("the disk is full".to_owned()));
            }
            if let Some(BeforeAppend(_, happens)) =
                self.points.before_append.as_ref().filter(|before| before.0 == nth)
            {
                happens();
            }
            let appended = self.inner.append(commits).await;
            (0..count).for_each(|_| self.points.pass("after commit"));
            appended
        }
        .boxed()
    }

    fn texts<'a>(
        &'a self,
        hashes: Vec<ContentHash>,
    ) -> BoxFuture<'a, Result<BTreeMap<ContentHash, String>, RecordError>> {
        self.inner.texts(hashes)
    }

    fn agent_state<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        until: Option<Date>,
    ) -> BoxFuture<'a, Result<Option<AgentState>, RecordError>> {
        self.inner.agent_state(job, agent, until)
    }

    fn find_session<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        date: Date,
    ) -> BoxFuture<'a, Result<Option<OpenedSession>, RecordError>> {
        self.inner.find_session(job, agent, date)
    }

    fn ended_days<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
    ) -> BoxFuture<'a, Result<BTreeMap<Date, DayStatus>, RecordError>> {
        self.inner.ended_days(job, agent)
    }

    fn unsummarized<'a>(
        &'a self,
        job: &'a JobId,
    ) -> BoxFuture<'a, Result<Vec<SessionWithoutSummary>, RecordError>> {
        self.inner.unsummarized(job)
    }

    fn load_usage<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<UsageTotal>, RecordError>> {
        self.inner.load_usage(job)
    }

    fn open_calls<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<OpenCall>, RecordError>> {
        self.inner.open_calls(job)
    }
}

impl ModelClient for FaultyStore<dyn ModelClient> {
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>> {
        self.around(("before call", "after answer"), self.inner.call(request, delta)).boxed()
    }

    fn forward<'a>(
        &'a self,
        request: &'a ModelDoorRequest,
        delta: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelDoorResponse, AttemptFailure>> {
        self.around(("before call", "after answer"), self.inner.forward(request, delta)).boxed()
    }

    fn protocols(&self, model: &ModelName) -> Vec<DoorProtocol> {
        self.inner.protocols(model)
    }

    fn check(&self, model: &ModelName) -> Result<(), String> {
        self.inner.check(model)
    }

    fn house_version(&self, model: &ModelName) -> Option<u32> {
        self.inner.house_version(model)
    }

    fn cost(&self, model: &ModelName, usage: &Usage) -> Option<Decimal> {
        self.inner.cost(model, usage)
    }
}

impl ToolClient for FaultyStore<dyn ToolClient> {
    fn list<'a>(&'a self) -> BoxFuture<'a, Result<Vec<ExternalTool>, CallFailure>> {
        self.inner.list()
    }

    fn call<'a>(&'a self, call: &'a ExternalCall) -> BoxFuture<'a, Result<ExternalReply, CallFailure>> {
        self.around(("before tool", "after tool"), self.inner.call(call)).boxed()
    }
}

impl Queue for FaultyStore<dyn Queue> {
    fn enqueue<'a>(&'a self, job: NewJob) -> BoxFuture<'a, Result<(), RecordError>> {
        self.inner.enqueue(job)
    }

    fn claim<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        only: Option<&'a JobId>,
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        let claim = async move { self.inner.claim(owner, lease_for, only).await };
        self.around(("before claim", "after claim"), claim).boxed()
    }

    fn claim_of<'a>(
        &'a self,
        owner: &'a str,
        lease_for: Duration,
        kinds: &'a [JobKind],
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        let claim = async move { self.inner.claim_of(owner, lease_for, kinds).await };
        self.around(("before claim", "after claim"), claim).boxed()
    }

    fn renew<'a>(
        &'a self,
        lease: &'a Lease,
        lease_for: Duration,
    ) -> BoxFuture<'a, Result<bool, RecordError>> {
        // Renewals depend on time, so they are not fault points: the number of points must be the same in each
        // run.
        self.inner.renew(lease, lease_for)
    }

    fn heartbeat<'a>(
        &'a self,
        owner: &'a str,
        leases: &'a [Lease],
        lease_for: Duration,
    ) -> BoxFuture<'a, Result<Vec<LeaseState>, RecordError>> {
        self.inner.heartbeat(owner, leases, lease_for)
    }

    fn finish<'a>(
        &'a self,
        lease: &'a Lease,
        status: JobStatus,
        error: Option<String>,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        let finish = async move { self.inner.finish(lease, status, error).await };
        self.around(("before finish", "after finish"), finish).boxed()
    }

    fn finish_part<'a>(&'a self, lease: &'a Lease, end: PartEnd) -> BoxFuture<'a, Result<(), RecordError>> {
        let finish = async move { self.inner.finish_part(lease, end).await };
        self.around(("before finish", "after finish"), finish).boxed()
    }

    fn requeue<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<bool, RecordError>> {
        self.inner.requeue(job)
    }

    fn cancel<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
        self.inner.cancel(job)
    }

    fn request_cancel<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
        self.inner.request_cancel(job)
    }

    fn get_job<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobRow>, RecordError>> {
        self.inner.get_job(job)
    }
}
