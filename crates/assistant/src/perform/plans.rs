//! Actions on plans.

use super::{ActionExecutor, ActionPlace, Arguments, bad, reply, reply_about};
use crate::calls::CallResult;
use crate::settings::{Decompose, Execute, Limits};
use crate::tree::{self, HELD_BACK};
use papertape_core::action::{IdKind, Origin};
use papertape_core::json;
use papertape_core::page::PageRequest;
use papertape_core::plan::{NewPlan, PlanId, PlanWrite, Task, TaskId, TaskStatus};
use papertape_core::record::JobKind;
use papertape_core::tape::ActionOutcome;
use serde_json::{Value, json};

/// Number of plans listed by default, and at most.
const LISTED: u32 = 20;
const MAX_LISTED: u32 = 100;

impl ActionExecutor<'_> {
    pub(super) async fn create_plan(
        &self,
        args: &Arguments<'_>,
        origin: &Origin,
    ) -> CallResult<ActionOutcome> {
        let id = self
            .plans
            .reserve(self.lease, origin, IdKind::Plan)
            .await
            .map_err(|error| self.unavailable(error))?;
        let id = PlanId(id);
        let new = NewPlan {
            id: Some(id),
            name: args.text("name").unwrap_or_default().to_owned(),
            goal: args.text("goal").unwrap_or_default().to_owned(),
            chat_session: self.chat(),
            origin: Some(origin.clone()),
        };
        new.check().map_err(|why| self.rejected(&why))?;
        let message = self.localized(
            format!("plan {id} “{}” was created", new.name),
            format!("已新建计划 {id}“{}”", new.name),
        );
        let data = json!({ "plan_id": id, "name": new.name, "goal": new.goal });
        let write = self.change(PlanWrite::Create(new));
        Ok(reply_about(Some(id), message, data, Some(write)))
    }

    /// The conversation in which the job replies.
    fn chat(&self) -> Option<papertape_core::chat::ChatId> {
        self.config["session_id"].as_str().map(papertape_core::chat::ChatId::new)
    }

    pub(super) async fn list_plans(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let limit = args.number("limit", LISTED).clamp(1, MAX_LISTED);
        let page =
            self.plans.plans(&PageRequest::first(limit)).await.map_err(|error| self.unavailable(error))?;
        let plans: Vec<Value> = page.items.iter().map(tree::plan).collect();
        // The count is a separate query, and others may create plans meanwhile: it is at least the number listed.
        let (shown, all) =
            (plans.len(), self.plans.count_plans().await.map_err(|error| self.unavailable(error))?);
        let all = all.max(shown as u64);
        let message = match all > shown as u64 {
            true => self.localized(
                format!("{all} plan(s); these are the newest {shown}"),
                format!("{all} 个计划，以下为最新的 {shown} 个"),
            ),
            false => self.localized(format!("{all} plan(s)"), format!("{all} 个计划")),
        };
        Ok(reply(message, json!({ "plans": plans, "plans_in_all": all })))
    }

    pub(super) async fn delete_plan(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let plan = self.plan(args.plan()?).await?;
        let (id, name) = (plan.id, &plan.name);
        let message =
            self.localized(format!("plan {id} “{name}” was deleted"), format!("已删除计划 {id}“{name}”"));
        let data = json!({ "plan_id": id, "tasks_deleted": plan.tasks });
        Ok(reply_about(None, message, data, Some(self.change(PlanWrite::Delete { plan: id }))))
    }

    /// Executes a plan, or one of its tasks again.
    pub(super) async fn execute(
        &self,
        args: &Arguments<'_>,
        place: &ActionPlace<'_>,
        task: Option<TaskId>,
    ) -> CallResult<ActionOutcome> {
        let plan = self.plan(args.plan()?).await?;
        match task {
            Some(task) => drop(self.task_of(plan.id, task).await?),
            None if plan.tasks == 0 => {
                return Err(bad(self.localized(
                    format!("plan {} has no tasks: decompose it first", plan.id),
                    format!("计划 {} 没有任务：请先分解", plan.id),
                )));
            }
            None => {}
        }
        // The user was asked to confirm this before.
        let trusted = args.flag("trusted").unwrap_or_default();
        let what = Execute { plan_id: plan.id, task_id: task, trusted };
        let job =
            self.start(place, JobKind::PlanExecute, ("execute", json::to_value(&what)), plan.id).await?;
        self.started(&job, plan.id, args).await
    }

    pub(super) async fn decompose(
        &self,
        args: &Arguments<'_>,
        place: &ActionPlace<'_>,
    ) -> CallResult<ActionOutcome> {
        let plan = self.plan(args.plan()?).await?;
        let task_id = args.whole("task_id").map(TaskId);
        if let Some(task) = task_id {
            self.task_of(plan.id, task).await?;
        } else if plan.tasks > 0 && self.job_of(place).await?.0.is_none() {
            return Err(bad(self.localized(
                format!("plan {} already has tasks: decompose one of them, or delete them first", plan.id),
                format!("计划 {} 已有任务：请分解其中一个，或先删除它们", plan.id),
            )));
        }
        let usual = Limits::default();
        let limits = Limits {
            max_depth: args.number("max_depth", usual.max_depth),
            max_children: args.number("max_children", usual.max_children),
            total_node_budget: args.number("total_node_budget", usual.total_node_budget),
        };
        limits
            .check()
            .map_err(|(field, why)| super::bad(format!("`{field}`: {}", why.text(self.language))))?;
        let what = Decompose { plan_id: plan.id, task_id, limits };
        let job =
            self.start(place, JobKind::PlanDecompose, ("decompose", json::to_value(&what)), plan.id).await?;
        self.started(&job, plan.id, args).await
    }

    /// The response for a job on a plan: how it ended, with the current plan.
    async fn started(
        &self,
        job: &papertape_core::id::JobId,
        plan: PlanId,
        args: &Arguments<'_>,
    ) -> CallResult<ActionOutcome> {
        if args.flag("wait") == Some(false) {
            let message = self.localized(format!("job {job} is queued"), format!("任务 {job} 已排队"));
            return Ok(reply_about(Some(plan), message, json!({ "job_id": job, "status": "queued" }), None));
        }
        let row = self.wait(job, self.deadline()).await?;
        let now = self.plan(plan).await?;
        let tasks = self.tasks(plan).await?;
        let data = json!({
            "job_id": job, "status": row.status, "error": row.error, "plan": tree::plan(&now),
            "tasks": tree::nested(&tasks, None, None, tree::Depth::Brief),
        });
        let more = if row.kind == JobKind::PlanExecute { self.held_back(&tasks) } else { String::new() };
        self.ended(&row, data, Some(plan), &more)
    }

    /// A message on which tasks were not allowed to incur cost, and how to allow it.
    fn held_back(&self, tasks: &[Task]) -> String {
        let is_held = |task: &&Task| {
            let result = task.execution_result.as_ref();
            task.status == TaskStatus::Failed && result.is_some_and(|result| result[HELD_BACK] == true)
        };
        let ids: Vec<String> = tasks.iter().filter(is_held).map(|task| task.id.to_string()).collect();
        if ids.is_empty() {
            return String::new();
        }
        let ids = ids.join(", ");
        self.localized(
            format!(
                "; not allowed to incur costs after reading text written by others: task {ids}. execute_plan with \
                 \"trusted\": true asks the user to allow it"
            ),
            format!(
                "；读入他人文字后未获准执行产生费用的操作：任务 {ids}。带 \"trusted\": true 的 execute_plan \
                 会请用户批准"
            ),
        )
    }
}
