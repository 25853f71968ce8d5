//! An in-memory action log, plans and conversations, behind the same ports as the database's.

use crate::record::{MemoryRecord, ready};
use papertape_core::action::{
    ActionEntry, ActionRow, CleanupReport, IdKind, LogPage, LogPosition, MAX_ROWS, Origin, PlanJob,
    USUAL_ROWS,
};
use papertape_core::chat::{ChatId, ChatMessage, ChatRole, ChatSession, ChatTurn, ChatWrite, NewTurn};
use papertape_core::id::JobId;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::{Plan, PlanError, PlanId, PlanWrite, Task, TaskId, Tree, WriteResult};
use papertape_core::ports::{ActionLog, BoxFuture, Chats, Plans, Queue as _, RecordError};
use papertape_core::record::{JobStatus, Lease, Write};
use papertape_core::time::Timestamp;
use papertape_redact::Sanitized;
use std::collections::BTreeMap;

/// Plans and conversations, and the IDs assigned so far.
#[derive(Clone, Default)]
pub(crate) struct StoredChats {
    plans: BTreeMap<PlanId, (Plan, Tree)>,
    sessions: Vec<ChatSession>,
    messages: Vec<ChatMessage>,
    reserved: BTreeMap<(Origin, IdKind), i64>,
    last_id: i64,
}

impl StoredChats {
    fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    /// Applies the writes of plans and conversations.
    pub(crate) fn apply(&mut self, write: &Write, at: Timestamp) -> Result<(), RecordError> {
        match write {
            Write::Plan(write) => self.plan(write.get(), at).map(drop).map_err(RecordError::Refused),
            Write::Chat(write) => self.chat(write.get()),
            _ => Ok(()),
        }
    }

    fn plan(&mut self, write: &PlanWrite, at: Timestamp) -> Result<WriteResult, PlanError> {
        let fresh = self.next_id();
        match write {
            PlanWrite::Create(new) => {
                new.check()?;
                let there =
                    self.plans.values().find(|(plan, _)| new.origin.is_some() && plan.origin == new.origin);
                if let Some((plan, _)) = there {
                    return Ok(WriteResult { plan: plan.id, task: None });
                }
                let id = new.id.unwrap_or(PlanId(fresh));
                let plan = Plan {
                    id,
                    name: new.name.clone(),
                    goal: new.goal.clone(),
                    status: JobStatus::Queued,
                    chat_session_id: new.chat_session.clone(),
                    tasks: 0,
                    origin: new.origin.clone(),
                    created_at: at,
                    updated_at: at,
                };
                self.plans.entry(id).or_insert_with(|| (plan, Tree::new(id, [])));
                Ok(WriteResult { plan: id, task: None })
            }
            PlanWrite::Update { plan: id, changes } => {
                changes.check()?;
                let (plan, _) = self.plans.get_mut(id).ok_or(PlanError::NoPlan(*id))?;
                plan.name = changes.name.clone().unwrap_or_else(|| plan.name.clone());
                plan.goal = changes.goal.clone().unwrap_or_else(|| plan.goal.clone());
                plan.status = changes.status.unwrap_or(plan.status);
                plan.updated_at = at;
                Ok(WriteResult { plan: *id, task: None })
            }
            PlanWrite::Delete { plan } => {
                self.plans.remove(plan).ok_or(PlanError::NoPlan(*plan))?;
                Ok(WriteResult { plan: *plan, task: None })
            }
            PlanWrite::Task { plan: id, write } => {
                let (plan, tree) = self.plans.get_mut(id).ok_or(PlanError::NoPlan(*id))?;
                let changed = tree.apply(write, TaskId(fresh), at)?;
                plan.updated_at = at;
                plan.tasks = u64::try_from(tree.len()).unwrap_or(u64::MAX);
                Ok(WriteResult { plan: *id, task: changed.task })
            }
        }
    }

    fn chat(&mut self, write: &ChatWrite) -> Result<(), RecordError> {
        let missing = || RecordError::Inconsistent("a conversation is not there".to_owned());
        match write {
            ChatWrite::Answer { message, content, metadata } => {
                let found =
                    self.messages.iter_mut().find(|found| found.id == *message).ok_or_else(missing)?;
                found.content.clone_from(content);
                found.metadata.clone_from(metadata);
            }
            ChatWrite::Bind { session, plan } => {
                let found =
                    self.sessions.iter_mut().find(|found| found.id == *session).ok_or_else(missing)?;
                found.plan_id = *plan;
            }
        }
        Ok(())
    }

    fn ask(&mut self, turn: &NewTurn) -> Option<ChatTurn> {
        let at = turn.at;
        if !self.sessions.iter().any(|found| found.id == turn.session) {
            let new = turn.opens.as_ref()?;
            self.sessions.push(ChatSession {
                id: turn.session.clone(),
                title: new.title.clone(),
                language: new.language,
                plan_id: None,
                created_at: at,
                updated_at: at,
            });
        }
        let session = self.sessions.iter_mut().find(|found| found.id == turn.session)?;
        session.plan_id = turn.plan.or(session.plan_id);
        session.updated_at = at;
        let session = session.clone();
        let last =
            self.messages.iter().filter(|found| found.session_id == session.id).map(|found| found.n).max();
        let user = ChatMessage {
            id: self.next_id(),
            session_id: session.id.clone(),
            n: last.unwrap_or(0) + 1,
            role: ChatRole::User,
            content: turn.message.clone(),
            metadata: turn.metadata.clone(),
            job_id: Some(turn.job.id.clone()),
            created_at: at,
        };
        let assistant = ChatMessage {
            id: self.next_id(),
            n: user.n + 1,
            role: ChatRole::Assistant,
            content: String::new(),
            metadata: turn.answer_metadata.clone(),
            ..user.clone()
        };
        self.messages.extend([user.clone(), assistant.clone()]);
        Some(ChatTurn { session, user, assistant })
    }

    fn turn(&self, job: &JobId) -> Option<ChatTurn> {
        let of = |role| {
            let is = |found: &&ChatMessage| found.job_id.as_ref() == Some(job) && found.role == role;
            self.messages.iter().find(is).cloned()
        };
        let (user, assistant) = (of(ChatRole::User)?, of(ChatRole::Assistant)?);
        let session = self.sessions.iter().find(|found| found.id == user.session_id)?.clone();
        Some(ChatTurn { session, user, assistant })
    }
}

/// A page of the items; its cursor is the number of items returned so far.
fn page<T>(items: Vec<T>, request: &PageRequest) -> Result<Page<T>, RecordError> {
    let from: usize = match &request.cursor {
        Some(cursor) => cursor.parse().map_err(|_| RecordError::BadCursor)?,
        None => 0,
    };
    let limit = if request.limit == 0 { 50 } else { request.limit as usize };
    let more = items.len() > from.saturating_add(limit);
    let items = items.into_iter().skip(from).take(limit).collect();
    Ok(Page { items, next: more.then(|| (from + limit).to_string()) })
}

/// Appends a row to a job's log and returns its number.
pub(crate) fn append(
    (log, plan): (&mut Vec<ActionRow>, &mut Option<PlanId>),
    job: &JobId,
    entry: &ActionEntry,
    at: Timestamp,
) -> i64 {
    let sequence = i64::try_from(log.len()).unwrap_or(i64::MAX) + 1;
    let mut row = entry.row().clone();
    *plan = plan.or(row.plan);
    row.plan = *plan;
    for earlier in log.iter_mut() {
        earlier.row.plan = *plan;
    }
    log.push(ActionRow {
        id: sequence,
        job: job.clone(),
        sequence,
        row,
        redactions: entry.redactions(),
        created_at: at,
        updated_at: at,
    });
    sequence
}

impl ActionLog for MemoryRecord {
    fn append_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<i64, RecordError>> {
        ready(self.fenced(lease, |state, place| {
            let job = &mut state.jobs[place];
            append((&mut job.actions, &mut job.plan), &lease.job, &entry, at)
        }))
    }

    fn list_action_logs<'a>(
        &'a self,
        job: &'a JobId,
        from: LogPosition,
        limit: u32,
    ) -> BoxFuture<'a, Result<LogPage, RecordError>> {
        let limit = if limit == 0 { USUAL_ROWS } else { limit.min(MAX_ROWS) } as usize;
        let number = |text: &str| text.parse::<i64>().map_err(|_| RecordError::BadCursor);
        let list = || {
            let all = self.actions(job);
            let rows: Vec<ActionRow> = match &from {
                LogPosition::Newest => all.iter().skip(all.len().saturating_sub(limit)).cloned().collect(),
                LogPosition::After(cursor) => {
                    let after = number(cursor)?;
                    all.iter().filter(|row| row.sequence > after).take(limit).cloned().collect()
                }
                LogPosition::Before(cursor) => {
                    let before = number(cursor)?;
                    let older: Vec<&ActionRow> = all.iter().filter(|row| row.sequence < before).collect();
                    older[older.len().saturating_sub(limit)..].iter().map(|row| (*row).clone()).collect()
                }
            };
            let first = rows.first().map_or(1, |row| row.sequence);
            let last = rows.last().map_or(0, |row| row.sequence);
            let before = (first > 1).then(|| first.to_string());
            Ok(LogPage { cursor: last.to_string(), before, rows })
        };
        ready(list())
    }

    fn action_log<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<ActionRow>, RecordError>> {
        ready(Ok(self.actions(job)))
    }

    fn plan_job<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<PlanJob>, RecordError>> {
        ready(Ok(self.plan_jobs_of(|found| found.id == *job).pop()))
    }

    fn plan_jobs<'a>(
        &'a self,
        plan: PlanId,
        request: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<PlanJob>, RecordError>> {
        let mut found = self.plan_jobs_of(|_| true);
        found.retain(|job| job.plan == Some(plan));
        found.reverse();
        ready(page(found, request))
    }

    fn cleanup_action_logs<'a>(
        &'a self,
        _: Timestamp,
        _: u32,
        _: bool,
    ) -> BoxFuture<'a, Result<CleanupReport, RecordError>> {
        ready(Err(RecordError::Database("a record in memory is never cleaned up".to_owned())))
    }
}

impl Plans for MemoryRecord {
    fn reserve<'a>(
        &'a self,
        lease: &'a Lease,
        origin: &'a Origin,
        kind: IdKind,
    ) -> BoxFuture<'a, Result<i64, RecordError>> {
        ready(self.fenced(lease, |state, _| {
            let key = (origin.clone(), kind);
            if let Some(id) = state.assistant.reserved.get(&key) {
                return *id;
            }
            let id = state.assistant.next_id();
            state.assistant.reserved.insert(key, id);
            id
        }))
    }

    fn write_plans<'a>(
        &'a self,
        writes: Sanitized<Vec<PlanWrite>>,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<WriteResult>, RecordError>> {
        let mut state = self.lock();
        let mut changed = state.assistant.clone();
        let written = writes.get().iter().map(|write| changed.plan(write, at)).collect::<Result<_, _>>();
        if written.is_ok() {
            state.assistant = changed;
        }
        ready(written.map_err(RecordError::Refused))
    }

    fn plan<'a>(&'a self, plan: PlanId) -> BoxFuture<'a, Result<Option<Plan>, RecordError>> {
        ready(Ok(self.lock().assistant.plans.get(&plan).map(|(plan, _)| plan.clone())))
    }

    fn plans<'a>(&'a self, request: &'a PageRequest) -> BoxFuture<'a, Result<Page<Plan>, RecordError>> {
        let all = self.lock().assistant.plans.values().rev().map(|(plan, _)| plan.clone()).collect();
        ready(page(all, request))
    }

    fn count_plans(&self) -> BoxFuture<'_, Result<u64, RecordError>> {
        ready(Ok(self.lock().assistant.plans.len() as u64))
    }

    fn tasks<'a>(&'a self, plan: PlanId) -> BoxFuture<'a, Result<Vec<Task>, RecordError>> {
        let state = self.lock();
        let tree = state.assistant.plans.get(&plan).map(|(_, tree)| tree);
        ready(Ok(tree.map(|tree| tree.in_order().into_iter().cloned().collect()).unwrap_or_default()))
    }
}

impl Chats for MemoryRecord {
    fn ask<'a>(&'a self, turn: Sanitized<NewTurn>) -> BoxFuture<'a, Result<Option<ChatTurn>, RecordError>> {
        Box::pin(async move {
            let turn = turn.into_inner();
            let asked = self.lock().assistant.ask(&turn);
            if asked.is_some() {
                self.enqueue(turn.job).await?;
            }
            Ok(asked)
        })
    }

    fn turn<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<ChatTurn>, RecordError>> {
        ready(Ok(self.lock().assistant.turn(job)))
    }

    fn session<'a>(&'a self, session: &'a ChatId) -> BoxFuture<'a, Result<Option<ChatSession>, RecordError>> {
        let state = self.lock();
        ready(Ok(state.assistant.sessions.iter().find(|found| found.id == *session).cloned()))
    }

    fn sessions<'a>(
        &'a self,
        request: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<ChatSession>, RecordError>> {
        let all = self.lock().assistant.sessions.iter().rev().cloned().collect();
        ready(page(all, request))
    }

    fn messages<'a>(
        &'a self,
        session: &'a ChatId,
        request: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<ChatMessage>, RecordError>> {
        let state = self.lock();
        let of = |found: &&ChatMessage| found.session_id == *session;
        ready(page(state.assistant.messages.iter().filter(of).rev().cloned().collect(), request))
    }

    fn history<'a>(
        &'a self,
        session: &'a ChatId,
        before: i64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatMessage>, RecordError>> {
        let state = self.lock();
        let of = |found: &&ChatMessage| found.session_id == *session && found.n < before;
        let all: Vec<ChatMessage> = state.assistant.messages.iter().filter(of).cloned().collect();
        ready(Ok(all[all.len().saturating_sub(limit as usize)..].to_vec()))
    }
}
