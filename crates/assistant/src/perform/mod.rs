//! Executes actions through the ports.
//!
//! Nothing here writes to the record directly: changes are returned as writes, which are committed in one
//! transaction with the action's outcome. IDs of created objects and started jobs are derived from the action's
//! path, so that repeating an action is idempotent.

mod inner;
mod plans;
mod tasks;
mod tools;

use crate::calls;
use crate::calls::CallResult;
use crate::child_budget::ChildBudget;
use crate::fault::LocalizedMessage;
use crate::web::WebSearch;
use papertape_core::action::Origin;
use papertape_core::budget::Limit;
use papertape_core::id::JobId;
use papertape_core::json;
use papertape_core::language::Language;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::plan::{Plan, PlanError, PlanId, PlanWrite, Task, TaskId};
use papertape_core::ports::{Chats, Clock, ExternalCall, JobControl, Plans, Queue, RecordError, ToolCaller};
use papertape_core::record::{JobKind, JobRow, JobStatus, Lease, NewJob, Write};
use papertape_core::tape::{ActionOutcome, ActionReply, StepPath};
use papertape_core::time::Timestamp;
use papertape_redact::{Redactor, Sanitized};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Poll interval while waiting for a job: the first and the maximum.
const FIRST_POLL: Duration = Duration::from_millis(50);
const MAX_POLL: Duration = Duration::from_secs(2);

/// Executes actions.
#[derive(Clone, Copy)]
pub struct ActionExecutor<'a> {
    /// Plans.
    pub plans: &'a dyn Plans,
    /// Conversations.
    pub chats: &'a dyn Chats,
    /// Simulations and queries about them.
    pub jobs: &'a dyn JobControl,
    /// The queue, for the assistant's own jobs.
    pub queue: &'a dyn Queue,
    /// Allocates the budgets of the jobs that it starts.
    pub child_budget: &'a dyn ChildBudget,
    /// Web search.
    pub web: &'a dyn WebSearch,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// Redacts everything that is written.
    pub redactor: &'a Redactor,
    /// The lease of the job that executes the action.
    pub lease: &'a Lease,
    /// The job's config, which the jobs that it starts share in part.
    pub config: &'a Value,
    /// The language of its messages.
    pub language: Language,
    /// Max time to wait for a job that it has started.
    pub wait: Duration,
}

/// An action's arguments, already validated by the table.
struct Arguments<'a>(&'a Map<String, Value>, Language);

impl Arguments<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    fn whole(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(Value::as_i64)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    fn number(&self, name: &str, usual: u32) -> u32 {
        self.whole(name).map_or(usual, |number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn tasks(&self, name: &str) -> Option<Vec<TaskId>> {
        let list = self.0.get(name)?.as_array()?;
        Some(list.iter().filter_map(Value::as_i64).map(TaskId).collect())
    }

    fn plan(&self) -> CallResult<PlanId> {
        self.whole("plan_id").map(PlanId).ok_or_else(|| {
            let zh = "缺少 `plan_id`，且该对话还没有计划";
            let fault =
                LocalizedMessage::new("`plan_id` is missing, and the conversation has no plan yet", zh);
            bad(fault.text(self.1).to_owned())
        })
    }

    fn task(&self) -> CallResult<TaskId> {
        self.whole("task_id").map(TaskId).ok_or_else(|| {
            bad(LocalizedMessage::new("`task_id` is missing", "缺少 `task_id`").text(self.1).to_owned())
        })
    }
}

/// Where an action is, for deriving the IDs of what it creates and starts.
struct ActionPlace<'a> {
    job: &'a JobId,
    path: &'a StepPath,
    /// Whether it has failed here before: a job that it started and that failed is then started again.
    again: bool,
}

impl ActionPlace<'_> {
    /// The origin of the object created here, or of the nth job started.
    fn origin(&self, nth: usize) -> Origin {
        Origin::new(self.job, self.path.as_str(), nth)
    }
}

fn bad(message: String) -> CallFailure {
    CallFailure { kind: FailureKind::BadRequest, message }
}

fn failed(message: impl Into<String>) -> CallFailure {
    CallFailure { kind: FailureKind::ToolError, message: message.into() }
}

fn reply(message: impl Into<String>, data: Value) -> ActionOutcome {
    reply_about(None, message, data, None)
}

/// The reply of an action on a plan, which becomes the conversation's plan, and the write that it causes.
fn reply_about(
    plan: Option<PlanId>,
    message: impl Into<String>,
    data: Value,
    write: Option<Write>,
) -> ActionOutcome {
    let reply = ActionReply { message: message.into(), data, plan };
    ActionOutcome { reply, effects: write.into_iter().collect() }
}

impl ActionExecutor<'_> {
    /// Executes an action once. `again`: it has just failed and is retried; if the job that it started has
    /// failed, another one is started. Otherwise, whatever it has started is reused.
    ///
    /// # Errors
    /// Returns why it failed. Retrying a failure of the kind [`FailureKind::BadRequest`] is pointless.
    pub async fn perform(
        &self,
        path: &StepPath,
        call: &ExternalCall,
        again: bool,
    ) -> CallResult<ActionOutcome> {
        let empty = Map::new();
        let args = Arguments(call.arguments.as_object().unwrap_or(&empty), self.language);
        let place = ActionPlace { job: &self.lease.job, path, again };
        let origin = place.origin(0);
        match call.tool.as_str() {
            "create_plan" => self.create_plan(&args, &origin).await,
            "list_plans" => self.list_plans(&args).await,
            "delete_plan" => self.delete_plan(&args).await,
            "execute_plan" => self.execute(&args, &place, None).await,
            "create_task" => self.create_task(&args, &origin).await,
            "update_task" => self.update_task(&args).await,
            "update_task_instruction" => self.update_instruction(&args).await,
            "move_task" => self.move_task(&args).await,
            "delete_task" => self.delete_task(&args).await,
            "decompose_task" => self.decompose(&args, &place).await,
            "show_tasks" => self.show_tasks(&args).await,
            "query_status" => self.query_status(&args).await,
            "rerun_task" => self.execute(&args, &place, Some(args.task()?)).await,
            "request_subgraph" => self.subgraph(&args).await,
            "web_search" => self.web_search(&args).await,
            "run_simulation" => self.run_simulation(&args, &place).await,
            "help" => Ok(self.help()),
            calls::TURN => self.turn().await,
            calls::PLAN => self.whole_plan(&args).await,
            calls::SET_TASK => self.set_task(&args).await,
            calls::SET_PLAN => self.set_plan(&args).await,
            tool => self.query_jobs(tool, call, &origin).await,
        }
    }

    fn localized(&self, english: impl Into<String>, chinese: impl Into<String>) -> String {
        match self.language {
            Language::En => english.into(),
            Language::Zh => chinese.into(),
        }
    }

    fn rejected(&self, error: &PlanError) -> CallFailure {
        failed(self.localized(error.to_string(), error.in_chinese()))
    }

    fn unavailable(&self, error: RecordError) -> CallFailure {
        match error {
            RecordError::Refused(error) => self.rejected(&error),
            other => CallFailure { kind: FailureKind::Unavailable, message: other.to_string() },
        }
    }

    fn change(&self, write: PlanWrite) -> Write {
        Write::Plan(Box::new(Sanitized::of(self.redactor, write)))
    }

    async fn plan(&self, id: PlanId) -> CallResult<Plan> {
        let found = self.plans.plan(id).await.map_err(|error| self.unavailable(error))?;
        found.ok_or_else(|| self.rejected(&PlanError::NoPlan(id)))
    }

    async fn tasks(&self, plan: PlanId) -> CallResult<Vec<Task>> {
        self.plans.tasks(plan).await.map_err(|error| self.unavailable(error))
    }

    async fn plan_with_tasks(&self, args: &Arguments<'_>) -> CallResult<(Plan, Vec<Task>)> {
        let plan = self.plan(args.plan()?).await?;
        let tasks = self.tasks(plan.id).await?;
        Ok((plan, tasks))
    }

    /// The last job started here, if any, and the ID of the next one to start.
    async fn job_of(&self, place: &ActionPlace<'_>) -> CallResult<(Option<JobRow>, Origin)> {
        let (mut last, mut nth) = (None, 0);
        loop {
            let origin = place.origin(nth);
            match self.queue.get_job(&origin.job_id()).await.map_err(|error| self.unavailable(error))? {
                Some(row) => last = Some(row),
                None => return Ok((last, origin)),
            }
            nth += 1;
        }
    }

    /// The job to wait for: the one already started here. `None`: start one, because there is none, or it has
    /// failed and this is a retry. A cancellation requested while waiting is respected.
    async fn job_to_wait_for(
        &self,
        place: &ActionPlace<'_>,
        last: Option<JobRow>,
    ) -> CallResult<Option<JobId>> {
        let Some(last) = last else { return Ok(None) };
        if last.status == JobStatus::Cancelled && !place.again {
            // It was canceled together with this job, which has been resumed.
            self.queue.requeue(&last.id).await.map_err(|error| self.unavailable(error))?;
            return Ok(Some(last.id));
        }
        if last.status == JobStatus::Cancelled && place.again {
            let why = self.localized(
                format!("job {} was cancelled and is not retried", last.id),
                format!("任务 {} 已被取消，不再重试", last.id),
            );
            return Err(bad(why));
        }
        Ok((!place.again || !has_failed(&last)).then_some(last.id))
    }

    /// Queues an assistant job, or finds it.
    async fn start(
        &self,
        place: &ActionPlace<'_>,
        kind: JobKind,
        (part, what): (&'static str, Value),
        plan: PlanId,
    ) -> CallResult<JobId> {
        let (last, origin) = self.job_of(place).await?;
        if let Some(begun) = self.job_to_wait_for(place, last).await? {
            return Ok(begun);
        }
        let id = origin.job_id();
        let share = self.child_budget.for_plan(&id, kind == JobKind::PlanExecute).await?;
        let mut config = json!({ "settings": self.config["settings"], "budget": { "job": share.model_calls },
            "simulations": share.simulations });
        config["language"] = self.language.as_str().into();
        config[part] = what;
        config["started_by"] = self.lease.job.as_str().into();
        let fingerprint = json::hash(&config);
        let job = NewJob {
            id: id.clone(),
            kind,
            config,
            fingerprint,
            warnings: Vec::new(),
            days: Vec::new(),
            parent: None,
            plan: Some(plan),
            supersedes: Vec::new(),
            continues: Vec::new(),
            texts: Vec::new(),
            created_at: self.clock.now(),
        };
        if let Err(error) = self.queue.enqueue(job).await {
            self.child_budget.settle(&id).await?;
            return Err(match error {
                RecordError::Busy(busy) => failed(self.localized(
                    format!("job {busy} is already running on plan {plan}"),
                    format!("任务 {busy} 正在执行计划 {plan}"),
                )),
                other => self.unavailable(other),
            });
        }
        Ok(id)
    }

    /// Deadline of an action that starts waiting now.
    fn deadline(&self) -> Option<Timestamp> {
        self.clock.now().checked_add(self.wait).ok()
    }

    /// Waits until the job has stopped, or until the deadline. Returns its row at that time.
    async fn wait(&self, job: &JobId, until: Option<Timestamp>) -> CallResult<JobRow> {
        let mut pause = FIRST_POLL;
        loop {
            let found = self.queue.get_job(job).await.map_err(|error| self.unavailable(error))?;
            let found = found.ok_or_else(|| {
                failed(self.localized(format!("there is no job {job}"), format!("没有任务 {job}")))
            })?;
            if found.status.is_stopped() {
                self.child_budget.settle(job).await?;
                return Ok(found);
            }
            if until.is_some_and(|until| self.clock.now() >= until) {
                return Ok(found);
            }
            self.clock.sleep(pause).await;
            pause = (pause * 2).min(MAX_POLL);
        }
    }

    fn caller<'b>(&self, origin: &'b Origin, bound: Limit) -> ToolCaller<'b> {
        ToolCaller { origin, language: self.language, bound }
    }

    /// The response for a job that has not ended at the deadline: no result, and how to ask about it later.
    fn still_running(&self, job: &JobRow, mut data: Value, plan: Option<PlanId>) -> ActionOutcome {
        let (id, waited) = (&job.id, self.wait.as_secs());
        let ask = match plan {
            Some(plan) => self.localized(format!("status of plan {plan}"), format!("查询计划 {plan} 的状态")),
            None => self.localized(format!("status of {id}"), format!("查询 {id} 的状态")),
        };
        let message = self.localized(
            format!(
                "job {id} is still {}: the wait of {waited} s is over, the job continues on its own, and its result \
                 is not known yet. Ask “{ask}” later",
                if job.status == JobStatus::Queued { "queued" } else { "running" }
            ),
            format!(
                "任务 {id} 仍在{}：已等待 {waited} 秒，它会继续运行，结果尚不可知。稍后可问“{ask}”",
                if job.status == JobStatus::Queued { "排队" } else { "运行" }
            ),
        );
        if let Some(data) = data.as_object_mut() {
            data.insert(STILL_RUNNING.to_owned(), true.into());
        }
        reply_about(plan, message, data, None)
    }

    /// A job's end as the action's result: failed if the whole job failed, or if a plan was not completed
    /// entirely.
    fn ended(
        &self,
        job: &JobRow,
        data: Value,
        plan: Option<PlanId>,
        more: &str,
    ) -> CallResult<ActionOutcome> {
        if !job.status.is_stopped() {
            return Ok(self.still_running(job, data, plan));
        }
        let why = job.error.as_deref().map(|error| match self.language {
            Language::En => format!(": {error}"),
            Language::Zh => format!("，系统提示：“{error}”"),
        });
        let why = why.unwrap_or_default();
        let message = self.localized(
            format!("job {}: {}{why}{more}", job.id, job.status),
            format!("任务 {}：{}{why}{more}", job.id, Language::Zh.status(job.status.as_str())),
        );
        if has_failed(job) || job.status == JobStatus::Cancelled {
            return Err(failed(message));
        }
        Ok(reply_about(plan, message, data, None))
    }
}

/// Key in a result: the started job is still running.
const STILL_RUNNING: &str = "still_running";

/// Whether the whole job failed, or is a plan that was not completed entirely.
fn has_failed(job: &JobRow) -> bool {
    let is_half_a_plan = job.kind == JobKind::PlanExecute && job.status == JobStatus::Partial;
    is_half_a_plan || job.status == JobStatus::Failed
}
