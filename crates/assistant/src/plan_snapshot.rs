//! A plan as an assistant job reads it, and status updates for it.

use crate::calls::{CallResult, PLAN, SET_PLAN, SET_TASK, call, request};
use papertape_core::action::{ActionDraft, ActionKind, ActionStatus};
use papertape_core::plan::{PlanId, TaskId, TaskStatus};
use papertape_core::record::JobStatus;
use papertape_core::tape::{ActionOptions, ActionReply, ActionRequest, Ctx, ScopeKey, SessionStop};
use serde::Deserialize;
use serde_json::{Value, json};

/// A plan as read.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PlanSnapshot {
    pub(crate) plan: ReadPlan,
    /// Each task before its children, siblings by position.
    pub(crate) tasks: Vec<ReadTask>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ReadPlan {
    pub(crate) id: PlanId,
    pub(crate) name: String,
    pub(crate) goal: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ReadTask {
    pub(crate) id: TaskId,
    pub(crate) parent_id: Option<TaskId>,
    pub(crate) name: String,
    pub(crate) status: TaskStatus,
    pub(crate) instruction: String,
    pub(crate) dependencies: Vec<TaskId>,
    pub(crate) execution_result: Option<Value>,
}

impl PlanSnapshot {
    /// Reads a plan. The result is recorded, so that a resumed job reads the same.
    pub(crate) async fn read(
        ctx: &mut Ctx,
        plan: PlanId,
        options: ActionOptions,
    ) -> Result<Result<Self, String>, SessionStop> {
        let mut scope = ctx.child(ScopeKey::node("start"))?;
        Self::read_in(&mut scope, plan, options).await
    }

    pub(crate) async fn read_in(
        scope: &mut Ctx,
        plan: PlanId,
        options: ActionOptions,
    ) -> Result<Result<Self, String>, SessionStop> {
        Ok(match scope.action(request(PLAN, json!({ "plan_id": plan }), options)).await? {
            Ok(reply) => serde_json::from_value(reply.data).map_err(|error| format!("plan {plan}: {error}")),
            Err(failure) => Err(failure.message),
        })
    }

    /// Number of descendants of a task.
    pub(crate) fn below(&self, id: TaskId) -> usize {
        let mut under = vec![id];
        // Each task comes before its children.
        for task in &self.tasks {
            if task.parent_id.is_some_and(|parent| under.contains(&parent)) {
                under.push(task.id);
            }
        }
        under.len() - 1
    }

    pub(crate) fn task(&self, id: TaskId) -> Option<&ReadTask> {
        self.tasks.iter().find(|task| task.id == id)
    }
}

/// Sets a task's status, as an action that the user can follow.
pub(crate) async fn set_task(
    ctx: &mut Ctx,
    (plan, task): (PlanId, TaskId),
    status: TaskStatus,
    result: Option<Value>,
    options: ActionOptions,
) -> Result<CallResult<ActionReply>, SessionStop> {
    let arguments = json!({ "plan_id": plan, "task_id": task, "status": status, "execution_result": result });
    let row = ActionDraft {
        plan: Some(plan),
        details: Some(json!({ "parameters": { "task_id": task, "status": status } })),
        ..ActionDraft::of(ActionKind::TaskOperation, "update_task", ActionStatus::Running, "")
    };
    ctx.action(ActionRequest { call: call(SET_TASK, arguments), row: Some(row), hold: None, options }).await
}

/// Sets a plan's status.
pub(crate) async fn set_plan(
    ctx: &mut Ctx,
    plan: PlanId,
    status: JobStatus,
    options: ActionOptions,
) -> Result<CallResult<ActionReply>, SessionStop> {
    let row = ActionDraft {
        plan: Some(plan),
        details: Some(json!({ "parameters": { "plan_id": plan, "status": status } })),
        ..ActionDraft::of(ActionKind::PlanOperation, "update_plan", ActionStatus::Running, "")
    };
    let arguments = json!({ "plan_id": plan, "status": status });
    ctx.action(ActionRequest { call: call(SET_PLAN, arguments), row: Some(row), hold: None, options }).await
}
