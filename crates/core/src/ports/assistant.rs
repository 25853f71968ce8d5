//! What the assistant's work is stored with, and its access to jobs.

use super::{BoxFuture, RecordFuture};
use crate::action::{ActionEntry, ActionRow, CleanupReport, IdKind, LogPage, LogPosition, Origin, PlanJob};
use crate::budget::Limit;
use crate::chat::{ChatId, ChatMessage, ChatSession, ChatTurn, NewTurn};
use crate::id::JobId;
use crate::job::Lease;
use crate::language::Language;
use crate::message::CallFailure;
use crate::page::{Page, PageRequest};
use crate::plan::{Plan, PlanId, PlanWrite, Task, WriteResult};
use crate::time::Timestamp;
use papertape_redact::Sanitized;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The action log.
pub trait ActionLog: Send + Sync {
    /// Appends a row in its own transaction, fenced by the lease, and returns its number in the job's log,
    /// from 1 and without gaps. An action whose row cannot be written must not run. To commit a row together
    /// with other writes, use [`crate::record::Write::Action`].
    fn append_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> RecordFuture<'a, i64>;

    /// As [`Self::append_action_log`], for the row that starts a job, unless the log already says that the job is running.
    /// The parts of a job that start at the same time write one row together. Returns `None` if nothing is written.
    fn start_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> RecordFuture<'a, Option<i64>>;

    /// A page of a job's log: at most `limit` rows (0: the default; capped at the maximum). Following
    /// `cursor` or `before` never drops or repeats a row, even while rows are written.
    fn list_action_logs<'a>(
        &'a self,
        job: &'a JobId,
        from: LogPosition,
        limit: u32,
    ) -> RecordFuture<'a, LogPage>;

    /// A job's stored rows, for its summary: the newest 10,000 at most.
    fn action_log<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Vec<ActionRow>>;

    /// A job's entry in the index; `None` when it has none.
    fn plan_job<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<PlanJob>>;

    /// The jobs of a plan, newest first.
    fn plan_jobs<'a>(&'a self, plan: PlanId, page: &'a PageRequest) -> RecordFuture<'a, Page<PlanJob>>;

    /// Removes rows written before `older_than`, and each job's rows beyond its newest `max_rows`. Queued
    /// and running jobs keep all of theirs. Row numbers are never reused.
    fn cleanup_action_logs<'a>(
        &'a self,
        older_than: Timestamp,
        max_rows: u32,
        dry_run: bool,
    ) -> RecordFuture<'a, CleanupReport>;
}

/// Plans and their tasks.
pub trait Plans: Send + Sync {
    /// The ID of the plan or task created at `origin`, now or later: always the same. Reserving an ID without
    /// using it is harmless.
    fn reserve<'a>(&'a self, lease: &'a Lease, origin: &'a Origin, kind: IdKind) -> RecordFuture<'a, i64>;

    /// Applies changes made by a user, all or none of them, in one transaction; returns what each was applied
    /// to. A job writes its changes with [`crate::record::Write::Plan`].
    fn write_plans<'a>(
        &'a self,
        writes: Sanitized<Vec<PlanWrite>>,
        at: Timestamp,
    ) -> RecordFuture<'a, Vec<WriteResult>>;

    /// A plan; `None` when it does not exist.
    fn plan<'a>(&'a self, plan: PlanId) -> RecordFuture<'a, Option<Plan>>;

    /// All plans, newest first.
    fn plans<'a>(&'a self, page: &'a PageRequest) -> RecordFuture<'a, Page<Plan>>;

    /// How many plans there are.
    fn count_plans(&self) -> RecordFuture<'_, u64>;

    /// All tasks of a plan, each before its children, siblings by position. A plan has at most
    /// [`crate::plan::MAX_TASKS`]; the list is empty when the plan does not exist.
    fn tasks<'a>(&'a self, plan: PlanId) -> RecordFuture<'a, Vec<Task>>;
}

/// Chat sessions.
pub trait Chats: Send + Sync {
    /// Adds a user's message, the placeholder of its answer and the job that will fill it, in one
    /// transaction. `None`: the chat session does not exist; [`RecordError::Busy`](super::RecordError::Busy): its previous message is
    /// still being answered.
    fn ask<'a>(&'a self, turn: Sanitized<NewTurn>) -> RecordFuture<'a, Option<ChatTurn>>;

    /// The turn that a job answers; `None` when it answers none.
    fn turn<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<ChatTurn>>;

    /// A chat session; `None` when it does not exist.
    fn session<'a>(&'a self, session: &'a ChatId) -> RecordFuture<'a, Option<ChatSession>>;

    /// All chat sessions, most recently created first.
    fn sessions<'a>(&'a self, page: &'a PageRequest) -> RecordFuture<'a, Page<ChatSession>>;

    /// A chat session's messages, newest first.
    fn messages<'a>(
        &'a self,
        session: &'a ChatId,
        page: &'a PageRequest,
    ) -> RecordFuture<'a, Page<ChatMessage>>;

    /// The last `limit` messages before number `before`, oldest first: the history for the model's prompt.
    fn history<'a>(
        &'a self,
        session: &'a ChatId,
        before: i64,
        limit: u32,
    ) -> RecordFuture<'a, Vec<ChatMessage>>;
}

/// The assistant's tools for jobs and data. The names are those of its tool operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobTool {
    /// Queue a simulation, with the request of `POST /simulate/trigger`.
    RunSimulation,
    /// A job's status, as in `GET /simulate/status/{job_id}`.
    JobStatus,
    /// Decisions and reasons, as in `GET /reasoning`.
    QueryReasoning,
    /// Results, as in `GET /results`.
    QueryResults,
    /// Compare the metrics of several jobs; descriptive.
    CompareRuns,
    /// Search the traders' memories.
    SearchMemory,
    /// Describe a dataset.
    MarketData,
    /// Check whether a job replays, and which data it read.
    AuditRun,
    /// Request a job's cancellation.
    CancelJob,
    /// List the newest simulations.
    ListRuns,
    /// List the datasets.
    ListData,
}

crate::words!(JobTool {
    RunSimulation = "run_simulation", JobStatus = "job_status", QueryReasoning = "query_reasoning",
    QueryResults = "query_results", CompareRuns = "compare_runs", SearchMemory = "search_memory",
    MarketData = "market_data", AuditRun = "audit_run", CancelJob = "cancel_job",
    ListRuns = "list_runs", ListData = "list_data",
});

/// The caller of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolCaller<'a> {
    /// Where the tool is called. A job started by the call gets its ID from it ([`Origin::job_id`]), so a
    /// repeated call finds the same job.
    pub origin: &'a Origin,
    /// The language of a result's `message` and of the message when something is not found.
    pub language: Language,
    /// The budget limit of a job that is started.
    pub bound: Limit,
}

/// The assistant's access to jobs.
pub trait JobControl: Send + Sync {
    /// The JSON Schema of a tool's arguments, an object.
    fn parameters(&self, tool: JobTool) -> Value;

    /// Calls a tool. Invalid arguments fail with `BadRequest` and name the field; something not found fails
    /// with `ToolError`.
    fn call<'a>(
        &'a self,
        tool: JobTool,
        by: &'a ToolCaller<'a>,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Value, CallFailure>>;
}
