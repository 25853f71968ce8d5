//! What the assistant's work is kept by, and what it sees of jobs.

use super::{BoxFuture, RecordError};
use crate::action::{ActionEntry, ActionRow, IdKind, Language, LogFrom, LogPage, Origin, PlanJob, Removed};
use crate::budget::Limit;
use crate::chat::{ChatId, ChatMessage, ChatSession, ChatTurn, NewTurn};
use crate::id::JobId;
use crate::message::CallFailure;
use crate::page::{Page, PageRequest};
use crate::plan::{Plan, PlanId, PlanWrite, Task, Written};
use crate::record::{Lease, words};
use crate::time::Timestamp;
use papertape_redact::Clean;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The action log.
pub trait ActionLog: Send + Sync {
    /// Adds a row in a transaction of its own, fenced by the lease, and gives its number in the job's
    /// log, from 1 and without gaps. An action whose row cannot be written must not run. To commit a row
    /// together with something else, use [`crate::record::Write::Action`].
    fn append_action_log<'a>(
        &'a self,
        lease: &'a Lease,
        entry: ActionEntry,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<i64, RecordError>>;

    /// A part of a job's log: at most `limit` rows (0: the usual number, and never over the most). No
    /// row is dropped or repeated by following `cursor` or `before`, whatever is written meanwhile.
    fn list_action_logs<'a>(
        &'a self,
        job: &'a JobId,
        from: LogFrom,
        limit: u32,
    ) -> BoxFuture<'a, Result<LogPage, RecordError>>;

    /// All rows of a job that are kept, for its summary: at most 10,000, the newest.
    fn action_log<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Vec<ActionRow>, RecordError>>;

    /// What the index says of a job; `None`: it is not in it.
    fn plan_job<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<PlanJob>, RecordError>>;

    /// The jobs of a plan, newest first.
    fn plan_jobs<'a>(
        &'a self,
        plan: PlanId,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<PlanJob>, RecordError>>;

    /// Removes rows that were written before `older_than`, and of each job those beyond its newest
    /// `most_rows`. Jobs that are queued or running keep theirs. Numbers are never given twice.
    fn cleanup_action_logs<'a>(
        &'a self,
        older_than: Timestamp,
        most_rows: u32,
        dry_run: bool,
    ) -> BoxFuture<'a, Result<Removed, RecordError>>;
}

/// Plans and their tasks.
pub trait Plans: Send + Sync {
    /// The id that the thing made at `origin` has or will have: always the same one. One that is never
    /// used is harmless.
    fn reserve<'a>(
        &'a self,
        lease: &'a Lease,
        origin: &'a Origin,
        kind: IdKind,
    ) -> BoxFuture<'a, Result<i64, RecordError>>;

    /// Changes by a person, all or none of them, in a transaction of their own; what each was made to. A
    /// job's changes are [`crate::record::Write::Plan`].
    fn write_plans<'a>(
        &'a self,
        writes: Clean<Vec<PlanWrite>>,
        at: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<Written>, RecordError>>;

    /// A plan; `None` where there is none.
    fn plan<'a>(&'a self, plan: PlanId) -> BoxFuture<'a, Result<Option<Plan>, RecordError>>;

    /// All plans, newest first.
    fn plans<'a>(&'a self, page: &'a PageRequest) -> BoxFuture<'a, Result<Page<Plan>, RecordError>>;

    /// How many plans there are.
    fn count_plans(&self) -> BoxFuture<'_, Result<u64, RecordError>>;

    /// All tasks of a plan, each before its children, siblings by position. A plan has at most
    /// [`crate::plan::MOST_TASKS`]; one that is not there has none.
    fn tasks<'a>(&'a self, plan: PlanId) -> BoxFuture<'a, Result<Vec<Task>, RecordError>>;
}

/// Conversations.
pub trait Chats: Send + Sync {
    /// Adds what a person says, the place of the answer, and the job that will fill it, in one
    /// transaction. `None`: there is no such conversation; [`RecordError::Busy`]: its last message is still
    /// being answered.
    fn ask<'a>(&'a self, turn: Clean<NewTurn>) -> BoxFuture<'a, Result<Option<ChatTurn>, RecordError>>;

    /// The turn that a job answers; `None` where it answers none.
    fn turn<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<ChatTurn>, RecordError>>;

    /// A conversation; `None` where there is none.
    fn session<'a>(&'a self, session: &'a ChatId) -> BoxFuture<'a, Result<Option<ChatSession>, RecordError>>;

    /// All conversations, the one last opened first.
    fn sessions<'a>(&'a self, page: &'a PageRequest)
    -> BoxFuture<'a, Result<Page<ChatSession>, RecordError>>;

    /// A conversation's messages, newest first.
    fn messages<'a>(
        &'a self,
        session: &'a ChatId,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<ChatMessage>, RecordError>>;

    /// The last `limit` messages before number `before`, oldest first: what a model is told of the past.
    fn history<'a>(
        &'a self,
        session: &'a ChatId,
        before: i64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatMessage>, RecordError>>;
}

/// What the assistant can do with jobs and data. Names are those of its tool operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobTool {
    /// Queue a simulation, by the request of `POST /simulate/trigger`.
    RunSimulation,
    /// Where a job is, as `GET /simulate/status/{job_id}` says.
    JobStatus,
    /// What was decided and why, as `GET /reasoning` says.
    QueryReasoning,
    /// What came of it, as `GET /results` says.
    QueryResults,
    /// The figures of several jobs beside each other; descriptive.
    CompareRuns,
    /// What traders remember.
    SearchMemory,
    /// What a dataset holds.
    MarketData,
    /// Does a job replay, and what was it shown?
    AuditRun,
    /// Ask a job to stop.
    CancelJob,
    /// The newest simulations.
    ListRuns,
    /// The datasets.
    ListData,
}

words!(JobTool {
    RunSimulation = "run_simulation",
    JobStatus = "job_status",
    QueryReasoning = "query_reasoning",
    QueryResults = "query_results",
    CompareRuns = "compare_runs",
    SearchMemory = "search_memory",
    MarketData = "market_data",
    AuditRun = "audit_run",
    CancelJob = "cancel_job",
    ListRuns = "list_runs",
    ListData = "list_data",
});

/// For whom a tool is used.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// Where it is used. What is started gets its id from here ([`Origin::job_id`]), so that using the tool
    /// again finds the same job.
    pub origin: &'a Origin,
    /// The language of an answer's `message`, and of what is said of a miss.
    pub language: Language,
    /// The most that a job that is started may use.
    pub bound: Limit,
}

/// What the assistant sees of jobs.
pub trait JobControl: Send + Sync {
    /// The JSON schema of a tool's arguments, an object.
    fn parameters(&self, tool: JobTool) -> Value;

    /// Uses a tool. Arguments that make no sense are a failure of the kind `BadRequest` that names the
    /// field, a miss one of the kind `ToolError`.
    fn call<'a>(
        &'a self,
        tool: JobTool,
        by: &'a Caller<'a>,
        arguments: &'a Value,
    ) -> BoxFuture<'a, Result<Value, CallFailure>>;
}
