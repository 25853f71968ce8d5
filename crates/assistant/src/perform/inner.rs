//! Internal reads and writes of the assistant's jobs, in addition to the model's actions. No model can request
//! them.

use super::{ActionExecutor, Arguments, failed, reply};
use papertape_core::action::Language;
use papertape_core::chat::ChatMessage;
use papertape_core::message::CallFailure;
use papertape_core::plan::{PlanChanges, PlanWrite, Task, TaskChanges, TaskWrite};
use papertape_core::record::JobStatus;
use papertape_core::tape::ActionOutcome;
use serde_json::{Value, json};

/// Reads the job's turn and the history before it.
pub(crate) const TURN: &str = "$turn";
/// Reads a plan with all its tasks.
pub(crate) const PLAN: &str = "$plan";
/// Sets a task's status and result.
pub(crate) const SET_TASK: &str = "$set_task";
/// Sets a plan's status.
pub(crate) const SET_PLAN: &str = "$set_plan";

/// Number of past messages in a prompt.
const HISTORY: u32 = 20;

impl ActionExecutor<'_> {
    pub(super) async fn turn(&self) -> Result<ActionOutcome, CallFailure> {
        let job = &self.lease.job;
        let turn = self.chats.turn(job).await.map_err(|error| self.unavailable(error))?;
        let turn = turn.ok_or_else(|| failed(format!("the job {job} answers no message")))?;
        let history = self
            .chats
            .history(&turn.session.id, turn.user.n, HISTORY)
            .await
            .map_err(|error| self.unavailable(error))?;
        // Timestamps must not influence a reply.
        let said = |message: &ChatMessage| {
            json!({ "id": message.id, "role": message.role, "content": message.content,
                "metadata": message.metadata })
        };
        let session = json!({ "id": turn.session.id, "language": turn.session.language,
            "plan_id": turn.session.plan_id });
        let data = json!({
            "turn": { "session": session, "user": said(&turn.user), "assistant": said(&turn.assistant) },
            "history": history.iter().map(said).collect::<Vec<_>>(),
        });
        Ok(reply("", data))
    }

    pub(super) async fn whole_plan(&self, given: &Arguments<'_>) -> Result<ActionOutcome, CallFailure> {
        let plan = self.plan(given.plan()?).await?;
        let tasks = self.plans.tasks(plan.id).await.map_err(|error| self.unavailable(error))?;
        let task = |task: &Task| {
            json!({ "id": task.id, "parent_id": task.parent_id, "name": task.name, "status": task.status,
                "instruction": task.instruction, "dependencies": task.dependencies,
                "execution_result": task.execution_result })
        };
        let tasks: Vec<Value> = tasks.iter().map(task).collect();
        let plan = json!({ "id": plan.id, "name": plan.name, "goal": plan.goal });
        Ok(reply("", json!({ "plan": plan, "tasks": tasks })))
    }

    pub(super) async fn set_task(&self, given: &Arguments<'_>) -> Result<ActionOutcome, CallFailure> {
        let (plan, task) = (given.plan()?, given.task()?);
        let status = given.text("status").unwrap_or_default();
        let status = status.parse().map_err(|why: String| super::bad(format!("`status`: {why}")))?;
        let result = given.0.get("execution_result").cloned();
        let found = self.task_of(plan, task).await?;
        let changes = TaskChanges {
            status: Some(status),
            execution_result: Some(result.filter(|result| !result.is_null())),
            ..TaskChanges::default()
        };
        let message = self.say(
            format!("task {task} “{}” is {status}", found.name),
            format!(
                "任务 {task}“{}”：{}",
                found.name,
                Language::Zh.status(given.text("status").unwrap_or_default())
            ),
        );
        let mut acted = reply(message, Value::Null);
        acted.reply.plan = Some(plan);
        let write = TaskWrite::Update { task, changes };
        acted.effects = vec![self.change(PlanWrite::Task { plan, write })];
        Ok(acted)
    }

    pub(super) async fn set_plan(&self, given: &Arguments<'_>) -> Result<ActionOutcome, CallFailure> {
        let plan = self.plan(given.plan()?).await?;
        let status = given.text("status").unwrap_or_default();
        let status: JobStatus =
            status.parse().map_err(|why: String| super::bad(format!("`status`: {why}")))?;
        let message = self.say(
            format!("plan {} “{}” is {status}", plan.id, plan.name),
            format!("计划 {}“{}”：{}", plan.id, plan.name, Language::Zh.status(status.as_str())),
        );
        let mut acted = reply(message, json!({ "status": status }));
        acted.reply.plan = Some(plan.id);
        let changes = PlanChanges { status: Some(status), ..PlanChanges::default() };
        acted.effects = vec![self.change(PlanWrite::Update { plan: plan.id, changes })];
        Ok(acted)
    }
}
