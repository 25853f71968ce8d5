//! An in-memory action log, plans and conversations, behind the same ports as the database's.

use crate::record::{MemoryRecord, ready};
use crate::stored_chats::{append, page};
use papertape_core::action::{
    ActionEntry, ActionRow, CleanupReport, IdKind, LogPage, LogPosition, MAX_ROWS, Origin, PlanJob,
    USUAL_ROWS, is_started,
};
use papertape_core::chat::{ChatId, ChatMessage, ChatSession, ChatTurn, NewTurn};
use papertape_core::id::JobId;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::{Plan, PlanId, PlanWrite, Task, WriteResult};
use papertape_core::ports::{ActionLog, BoxFuture, Chats, Plans, Queue as _, RecordError};
use papertape_core::record::Lease;
use papertape_core::time::Timestamp;
use papertape_redact::Sanitized;

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

    fn start_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<Option<i64>, RecordError>> {
        ready(self.fenced(lease, |state, place| {
            let job = &mut state.jobs[place];
            if is_started(job.actions.iter().cloned()) {
                return None;
            }
            Some(append((&mut job.actions, &mut job.plan), &lease.job, &entry, at))
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
