//! An in-memory record and queue, for one process and a handful of jobs.

use crate::clock::FakeClock;
use crate::kept::StoredSnapshot;
use crate::stored_chats::{StoredChats as Assistant, append};
use futures::FutureExt as _;
use papertape_core::action::{ActionRow, PlanJob};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::Usage;
use papertape_core::plan::PlanId;
use papertape_core::ports::{BoxFuture, Clock as _, Queue, RecordError, RecordStore};
use papertape_core::record::{
    AgentState, Commit, DayStatus, DerivedRow, JobKind, JobRow, JobStatus, Lease, NewJob, NewSession,
    OpenCall, OpenedSession, SessionId, SessionWithoutSummary, TapeRow, UsageTotal, Write,
};
use papertape_core::tape::{StepPath, StepState};
use papertape_core::time::{Date, Timestamp};
use rust_decimal::Decimal;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Jobs and sessions with their contents.
pub struct MemoryRecord {
    clock: FakeClock,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) jobs: Vec<Job>,
    sessions: Vec<StoredSession>,
    pub(crate) assistant: Assistant,
}

pub(crate) struct Job {
    row: JobRow,
    epoch: i64,
    lease_until: Option<Timestamp>,
    cancel: bool,
    texts: BTreeMap<ContentHash, String>,
    pub(crate) actions: Vec<ActionRow>,
    /// The plan that its log belongs to.
    pub(crate) plan: Option<PlanId>,
}

/// A session with its two tapes.
#[derive(Clone)]
pub struct StoredSession {
    /// The job.
    pub job: JobId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// The session's own tape and writes.
    pub kept: StoredSnapshot,
    /// The tape and writes of its summaries.
    pub detached: StoredSnapshot,
}

impl MemoryRecord {
    /// An empty record whose leases use this clock.
    #[must_use]
    pub fn new(clock: &FakeClock) -> Self {
        Self { clock: clock.clone(), state: Mutex::default() }
    }

    /// The rows of a job's action log.
    #[must_use]
    pub fn actions(&self, job: &JobId) -> Vec<ActionRow> {
        let state = self.lock();
        let found = state.jobs.iter().find(|found| found.row.id == *job);
        found.map(|found| found.actions.clone()).unwrap_or_default()
    }

    /// The session of an agent's day.
    ///
    /// # Panics
    /// Panics if there is none.
    #[must_use]
    pub fn session(&self, job: &JobId, agent: &str, date: Date) -> StoredSession {
        let state = self.lock();
        let of = |s: &&StoredSession| s.job == *job && s.agent.as_str() == agent && s.date == date;
        state.sessions.iter().find(of).cloned().expect("the session is there")
    }

    /// All sessions of a job, by agent and date.
    #[must_use]
    pub fn sessions(&self, job: &JobId) -> Vec<StoredSession> {
        let mut found: Vec<StoredSession> =
            self.lock().sessions.iter().filter(|s| s.job == *job).cloned().collect();
        found.sort_by(|a, b| (&a.agent, a.date).cmp(&(&b.agent, b.date)));
        found
    }

    /// Takes the lease away, as if another worker had claimed the job.
    pub fn steal(&self, job: &JobId) {
        if let Some(job) = self.lock().jobs.iter_mut().find(|found| found.row.id == *job) {
            job.epoch += 1;
        }
    }

    /// The index rows of matching jobs, oldest first.
    pub(crate) fn plan_jobs_of(&self, of: impl Fn(&JobRow) -> bool) -> Vec<PlanJob> {
        let state = self.lock();
        let found = state.jobs.iter().filter(|job| of(&job.row)).map(|job| {
            let rows = i64::try_from(job.actions.len()).unwrap_or(i64::MAX);
            PlanJob {
                job: job.row.id.clone(),
                plan: job.plan,
                job_type: job.row.kind.clone(),
                status: job.row.status,
                next_sequence: rows.saturating_add(1),
                rows_kept: rows,
                created_at: job.row.created_at,
                updated_at: job.actions.last().map_or(job.row.created_at, |row| row.created_at),
            }
        });
        found.collect()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn fenced<T>(
        &self,
        lease: &Lease,
        then: impl FnOnce(&mut State, usize) -> T,
    ) -> Result<T, RecordError> {
        let mut state = self.lock();
        let place = state.jobs.iter().position(|job| job.row.id == lease.job && job.epoch == lease.epoch);
        place.map(|place| then(&mut state, place)).ok_or(RecordError::LostLease)
    }
}

impl State {
    fn apply(&mut self, place: usize, commit: Commit) {
        let job = &mut self.jobs[place];
        for write in &commit.writes {
            if let Write::Action(entry) = write {
                append((&mut job.actions, &mut job.plan), &commit.lease.job, entry, commit.at);
            }
        }
        if commit.writes.iter().any(is_progress) {
            job.row.crashes = 0;
        }
        let index = usize::try_from(commit.session.0 - 1).unwrap_or(usize::MAX);
        let session = &mut self.sessions[index];
        let kept = if commit.detached { &mut session.detached } else { &mut session.kept };
        kept.apply(commit.writes);
    }

    fn session(&self, id: SessionId) -> Result<&StoredSession, RecordError> {
        let index = usize::try_from(id.0 - 1).unwrap_or(usize::MAX);
        self.sessions.get(index).ok_or_else(|| RecordError::Inconsistent(format!("no session {id}")))
    }

    fn find(&self, job: &JobId, agent: &AgentName, date: Date) -> Option<OpenedSession> {
        let of = |s: &StoredSession| s.job == *job && s.agent == *agent && s.date == date;
        let index = self.sessions.iter().position(of)?;
        let id = SessionId(i64::try_from(index).unwrap_or(i64::MAX) + 1);
        Some(OpenedSession {
            id,
            ended: self.sessions[index].kept.closing.as_ref().map(|closing| closing.status),
            is_new: false,
        })
    }

    fn text(&self, hash: ContentHash) -> Option<&String> {
        let of_jobs = self.jobs.iter().map(|job| &job.texts);
        let of_sessions = self.sessions.iter().flat_map(|s| [&s.kept.texts, &s.detached.texts]);
        of_jobs.chain(of_sessions).find_map(|texts| texts.get(&hash))
    }
}

pub(crate) fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    futures::future::ready(value).boxed()
}

impl RecordStore for MemoryRecord {
    fn open_session<'a>(
        &'a self,
        lease: &'a Lease,
        new: NewSession,
    ) -> BoxFuture<'a, Result<OpenedSession, RecordError>> {
        ready(self.fenced(lease, |state, _| {
            if let Some(found) = state.find(&lease.job, &new.agent, new.date) {
                return found;
            }
            state.sessions.push(StoredSession {
                job: lease.job.clone(),
                agent: new.agent,
                date: new.date,
                kept: StoredSnapshot::default(),
                detached: StoredSnapshot::default(),
            });
            let id = SessionId(i64::try_from(state.sessions.len()).unwrap_or(i64::MAX));
            OpenedSession { id, ended: None, is_new: true }
        }))
    }

    fn load_tape<'a>(
        &'a self,
        session: SessionId,
        detached: bool,
    ) -> BoxFuture<'a, Result<Vec<TapeRow>, RecordError>> {
        let state = self.lock();
        let found = state.session(session);
        ready(found.map(|s| if detached { s.detached.stored_rows() } else { s.kept.stored_rows() }))
    }

    fn load_derived_rows<'a>(
        &'a self,
        session: SessionId,
    ) -> BoxFuture<'a, Result<BTreeMap<StepPath, Vec<DerivedRow>>, RecordError>> {
        let state = self.lock();
        let rows = state.session(session).map(|session| session.kept.stored_rows());
        ready(rows.map(|rows| rows.into_iter().map(|row| (row.path, row.implied)).collect()))
    }

    fn append<'a>(&'a self, commits: Vec<Commit>) -> BoxFuture<'a, Result<(), RecordError>> {
        async move {
            let Some(lease) = commits.first().map(|commit| commit.lease.clone()) else { return Ok(()) };
            self.fenced(&lease, |state, place| {
                let mut assistant = state.assistant.clone();
                for commit in &commits {
                    state.session(commit.session)?;
                    for write in &commit.writes {
                        assistant.apply(write, commit.at)?;
                    }
                }
                state.assistant = assistant;
                for commit in commits {
                    state.apply(place, commit);
                }
                Ok(())
            })?
        }
        .boxed()
    }

    fn texts<'a>(
        &'a self,
        hashes: Vec<ContentHash>,
    ) -> BoxFuture<'a, Result<BTreeMap<ContentHash, String>, RecordError>> {
        let state = self.lock();
        let found = hashes.into_iter().filter_map(|hash| Some((hash, state.text(hash)?.clone())));
        ready(Ok(found.collect()))
    }

    fn agent_state<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        until: Option<Date>,
    ) -> BoxFuture<'a, Result<Option<AgentState>, RecordError>> {
        let state = self.lock();
        let of = |s: &&StoredSession| {
            s.job == *job && s.agent == *agent && until.is_none_or(|until| s.date <= until)
        };
        let ended = state.sessions.iter().filter(of).filter_map(|s| Some((s.date, s.kept.closing.as_ref()?)));
        let newest = ended.max_by_key(|(date, _)| *date).map(|(date, closing)| AgentState {
            after: Some(date),
            hash: closing.state.hash,
            state: serde_json::from_str(&closing.state.body).expect("a state is JSON"),
        });
        ready(Ok(newest))
    }

    fn find_session<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
        date: Date,
    ) -> BoxFuture<'a, Result<Option<OpenedSession>, RecordError>> {
        ready(Ok(self.lock().find(job, agent, date)))
    }

    fn ended_days<'a>(
        &'a self,
        job: &'a JobId,
        agent: &'a AgentName,
    ) -> BoxFuture<'a, Result<BTreeMap<Date, DayStatus>, RecordError>> {
        let state = self.lock();
        let days = state.sessions.iter().filter(|s| s.job == *job && s.agent == *agent);
        let ended = days.filter_map(|s| Some((s.date, s.kept.closing.as_ref()?.status)));
        ready(Ok(ended.collect()))
    }

    fn unsummarized<'a>(
        &'a self,
        job: &'a JobId,
    ) -> BoxFuture<'a, Result<Vec<SessionWithoutSummary>, RecordError>> {
        let state = self.lock();
        let missing = |s: &&StoredSession| {
            s.job == *job && s.kept.closing.is_some() && !s.detached.summaries.contains_key(&None)
        };
        let id = |s: &StoredSession| {
            let session = state.find(job, &s.agent, s.date)?.id;
            Some(SessionWithoutSummary { session, agent: s.agent.clone(), date: s.date })
        };
        ready(Ok(state.sessions.iter().filter(missing).filter_map(id).collect()))
    }

    fn open_calls<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<OpenCall>, RecordError>> {
        let state = self.lock();
        let mut calls = Vec::new();
        for session in state.sessions.iter().filter(|s| s.job == *job && s.kept.closing.is_none()) {
            for step in session.kept.steps.iter().filter(|step| step.state == StepState::Intent) {
                if step.path.kind() == "model" && !step.attempts.values().all(Option::is_some) {
                    calls.push(OpenCall {
                        agent: session.agent.clone(),
                        date: session.date,
                        path: step.path.clone(),
                        request_ref: step.request_ref,
                    });
                }
            }
        }
        ready(Ok(calls))
    }

    fn load_usage<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<UsageTotal>, RecordError>> {
        let state = self.lock();
        let mut rows = Vec::new();
        for session in state.sessions.iter().filter(|s| s.job == *job) {
            for (kept, detached) in [(&session.kept, false), (&session.detached, true)] {
                let mut usage = Usage::default();
                let mut cost_usd = Decimal::ZERO;
                let (mut estimated_calls, mut unpriced_calls) = (0, 0);
                for attempt in kept.steps.iter().flat_map(|step| step.attempts.values()).flatten() {
                    let estimate = attempt.estimate.unwrap_or_default();
                    usage += attempt.usage.unwrap_or(estimate.usage);
                    estimated_calls += u64::from(attempt.usage.is_none() && attempt.estimate.is_some());
                    cost_usd += attempt.cost_usd.or(estimate.cost_usd).unwrap_or_default();
                    unpriced_calls += u64::from(attempt.is_unpriced());
                }
                let (agent, date) = (session.agent.clone(), session.date);
                rows.push(UsageTotal {
                    agent,
                    date,
                    detached,
                    usage,
                    cost_usd,
                    estimated_calls,
                    unpriced_calls,
                });
            }
        }
        ready(Ok(rows))
    }
}

impl MemoryRecord {
    /// Leases the first available job that matches.
    fn take_job(&self, lease_for: Duration, is_meant: impl Fn(&JobRow) -> bool) -> Option<(Lease, JobRow)> {
        let now = self.clock.now();
        let mut state = self.lock();
        let free = |job: &&mut Job| {
            let run_out = job.lease_until.is_none_or(|until| until <= now);
            let status = job.row.status;
            is_meant(&job.row) && (status == JobStatus::Queued || (status == JobStatus::Running && run_out))
        };
        state.jobs.iter_mut().find(free).map(|job| {
            job.epoch += 1;
            job.row.crashes += u32::from(job.row.status == JobStatus::Running);
            job.row.status = JobStatus::Running;
            job.lease_until = now.checked_add(lease_for).ok();
            (Lease { job: job.row.id.clone(), part: 0, epoch: job.epoch }, job.row.clone())
        })
    }
}

impl Queue for MemoryRecord {
    fn enqueue<'a>(&'a self, job: NewJob) -> BoxFuture<'a, Result<(), RecordError>> {
        let row = JobRow {
            id: job.id,
            kind: job.kind,
            config: job.config,
            fingerprint: job.fingerprint,
            rules_version: papertape_core::RULES_VERSION,
            status: JobStatus::Queued,
            error: None,
            warnings: job.warnings,
            parent: job.parent,
            superseded_by: None,
            created_at: job.created_at,
            started_at: None,
            completed_at: None,
            crashes: 0,
            parts: 1,
        };
        let texts = job.texts.into_iter().map(|text| (text.hash, text.body)).collect();
        self.lock().jobs.push(Job {
            row,
            epoch: 0,
            lease_until: None,
            cancel: false,
            texts,
            actions: Vec::new(),
            plan: job.plan,
        });
        ready(Ok(()))
    }

    fn claim<'a>(
        &'a self,
        _: &'a str,
        lease_for: Duration,
        only: Option<&'a JobId>,
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        ready(Ok(self.take_job(lease_for, |row| only.is_none_or(|only| row.id == *only))))
    }

    fn claim_of<'a>(
        &'a self,
        _: &'a str,
        lease_for: Duration,
        kinds: &'a [JobKind],
    ) -> BoxFuture<'a, Result<Option<(Lease, JobRow)>, RecordError>> {
        ready(Ok(self.take_job(lease_for, |row| kinds.contains(&row.kind))))
    }

    fn renew<'a>(
        &'a self,
        lease: &'a Lease,
        lease_for: Duration,
    ) -> BoxFuture<'a, Result<bool, RecordError>> {
        let until = self.clock.now().checked_add(lease_for).ok();
        ready(self.fenced(lease, |state, place| {
            state.jobs[place].lease_until = until;
            state.jobs[place].cancel
        }))
    }

    fn survived<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), RecordError>> {
        let mut state = self.lock();
        let of = |job: &&mut Job| job.row.id == lease.job && job.epoch > lease.epoch;
        if let Some(job) = state.jobs.iter_mut().find(of) {
            job.row.crashes = job.row.crashes.saturating_sub(1);
        }
        ready(Ok(()))
    }

    fn finish<'a>(
        &'a self,
        lease: &'a Lease,
        status: JobStatus,
        error: Option<String>,
    ) -> BoxFuture<'a, Result<(), RecordError>> {
        ready(self.fenced(lease, |state, place| {
            let job = &mut state.jobs[place];
            job.row.status = status;
            job.row.error = error;
            job.lease_until = None;
            job.cancel = false;
        }))
    }

    fn requeue<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<bool, RecordError>> {
        let mut state = self.lock();
        let stopped =
            state.jobs.iter_mut().find(|found| found.row.id == *job && found.row.status.is_stopped());
        let again = |job: &mut Job| {
            job.row.status = JobStatus::Queued;
            job.row.crashes = 0;
        };
        ready(Ok(stopped.map(again).is_some()))
    }

    fn cancel<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
        let mut state = self.lock();
        let found = state.jobs.iter_mut().find(|found| found.row.id == *job).map(|job| {
            match job.row.status {
                JobStatus::Queued => job.row.status = JobStatus::Cancelled,
                JobStatus::Running => job.cancel = true,
                _ => {}
            }
            job.row.status
        });
        ready(Ok(found))
    }

    fn get_job<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<JobRow>, RecordError>> {
        ready(Ok(self.lock().jobs.iter().find(|found| found.row.id == *job).map(|found| found.row.clone())))
    }
}

fn is_progress(write: &Write) -> bool {
    matches!(
        write,
        Write::End(_) | Write::Abandoned { .. } | Write::CloseScope { .. } | Write::CloseSession(_)
    )
}
