//! Internal reads and writes of the assistant's jobs, in addition to the model's actions. No model can request
//! them.

use super::{ActionExecutor, Arguments, bad, failed, reply, reply_about};
use crate::calls::CallResult;
use papertape_core::chat::ChatMessage;
use papertape_core::language::Language;
use papertape_core::plan::{PlanChanges, PlanWrite, Task, TaskChanges, TaskWrite};
use papertape_core::record::JobStatus;
use papertape_core::tape::ActionOutcome;
use serde_json::{Value, json};

/// Number of past messages in a prompt.
const HISTORY: u32 = 20;

impl ActionExecutor<'_> {
    pub(super) async fn turn(&self) -> CallResult<ActionOutcome> {
        let job = &self.lease.job;
        let turn = self.chats.turn(job).await.map_err(|error| self.unavailable(error))?;
        let turn = turn.ok_or_else(|| failed(format!("the job {job} answers no message")))?;
        let history = self
            .chats
            .history(&turn.session.id, turn.user.n, HISTORY)
            .await
            .map_err(|error| self.unavailable(error))?;
        // Timestamps must not influence a reply.
        let to_json = |message: &ChatMessage| {
            json!({ "id": message.id, "role": message.role, "content": message.content,
                "metadata": message.metadata })
        };
        let session = json!({ "id": turn.session.id, "language": turn.session.language,
            "plan_id": turn.session.plan_id });
        let data = json!({
            "turn": { "session": session, "user": to_json(&turn.user), "assistant": to_json(&turn.assistant) },
            "history": history.iter().map(to_json).collect::<Vec<_>>(),
        });
        Ok(reply("", data))
    }

    pub(super) async fn whole_plan(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let (plan, tasks) = self.plan_with_tasks(args).await?;
        let task = |task: &Task| {
            json!({ "id": task.id, "parent_id": task.parent_id, "name": task.name, "status": task.status,
                "instruction": task.instruction, "dependencies": task.dependencies,
                "execution_result": task.execution_result })
        };
        let tasks: Vec<Value> = tasks.iter().map(task).collect();
        let plan = json!({ "id": plan.id, "name": plan.name, "goal": plan.goal });
        Ok(reply("", json!({ "plan": plan, "tasks": tasks })))
    }

    pub(super) async fn set_task(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let (plan, task) = (args.plan()?, args.task()?);
        let status = args.text("status").unwrap_or_default();
        let status = status.parse().map_err(|why: String| bad(format!("`status`: {why}")))?;
        let result = args.0.get("execution_result").cloned();
        let found = self.task_of(plan, task).await?;
        let changes = TaskChanges {
            status: Some(status),
            execution_result: Some(result.filter(|result| !result.is_null())),
            ..TaskChanges::default()
        };
        let message = self.localized(
            format!("task {task} “{}” is {status}", found.name),
            format!(
                "任务 {task}“{}”：{}",
                found.name,
                Language::Zh.status(args.text("status").unwrap_or_default())
            ),
        );
        let write = self.change(PlanWrite::Task { plan, write: TaskWrite::Update { task, changes } });
        Ok(reply_about(Some(plan), message, Value::Null, Some(write)))
    }

    pub(super) async fn set_plan(&self, args: &Arguments<'_>) -> CallResult<ActionOutcome> {
        let plan = self.plan(args.plan()?).await?;
        let status = args.text("status").unwrap_or_default();
        let status: JobStatus = status.parse().map_err(|why: String| bad(format!("`status`: {why}")))?;
        let message = self.localized(
            format!("plan {} “{}” is {status}", plan.id, plan.name),
            format!("计划 {}“{}”：{}", plan.id, plan.name, Language::Zh.status(status.as_str())),
        );
        let changes = PlanChanges { status: Some(status), ..PlanChanges::default() };
        let write = self.change(PlanWrite::Update { plan: plan.id, changes });
        Ok(reply_about(Some(plan.id), message, json!({ "status": status }), Some(write)))
    }
}
