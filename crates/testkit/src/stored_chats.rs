//! The state of the in-memory action log, plans and conversations.

use papertape_core::action::{ActionEntry, ActionRow, IdKind, Origin};
use papertape_core::chat::{ChatMessage, ChatRole, ChatSession, ChatTurn, ChatWrite, NewTurn};
use papertape_core::id::JobId;
use papertape_core::page::{Page, PageRequest};
use papertape_core::plan::{Plan, PlanError, PlanId, PlanWrite, TaskId, Tree, WriteResult};
use papertape_core::ports::RecordError;
use papertape_core::record::{JobStatus, Write};
use papertape_core::time::Timestamp;
use std::collections::BTreeMap;

/// Plans and conversations, and the IDs assigned so far.
#[derive(Clone, Default)]
pub(crate) struct StoredChats {
    pub(crate) plans: BTreeMap<PlanId, (Plan, Tree)>,
    pub(crate) sessions: Vec<ChatSession>,
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) reserved: BTreeMap<(Origin, IdKind), i64>,
    pub(crate) last_id: i64,
}

impl StoredChats {
    pub(crate) fn next_id(&mut self) -> i64 {
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

    pub(crate) fn plan(&mut self, write: &PlanWrite, at: Timestamp) -> Result<WriteResult, PlanError> {
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

    pub(crate) fn chat(&mut self, write: &ChatWrite) -> Result<(), RecordError> {
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

    pub(crate) fn ask(&mut self, turn: &NewTurn) -> Option<ChatTurn> {
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

    pub(crate) fn turn(&self, job: &JobId) -> Option<ChatTurn> {
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
pub(crate) fn page<T>(items: Vec<T>, request: &PageRequest) -> Result<Page<T>, RecordError> {
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
