//! Preview of a deletion, by name, or of a job to be stopped: read before the user is asked to confirm.

use crate::perform::PLAN;
use crate::plan_snapshot::{PlanSnapshot, call};
use crate::protocol::ActionCall;
use papertape_core::action::Language;
use papertape_core::plan::{PlanId, TaskId};
use papertape_core::ports::JobTool;
use papertape_core::record::JobStatus;
use papertape_core::tape::{ActionOptions, ActionReply, ActionRequest, Ctx, ScopeKey, SessionStop};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is to be deleted or stopped, as text; or why nothing can be.
pub(crate) type Doomed = Result<String, String>;

/// Reads what a round's deletions and cancellations would affect, by index of the action. The result is recorded
/// on the tape, so that the question stays the same.
///
/// # Errors
/// Returns a stop if the session must stop.
pub(crate) async fn read(
    ctx: &mut Ctx,
    actions: &[ActionCall],
    options: ActionOptions,
    language: Language,
) -> Result<BTreeMap<usize, Doomed>, SessionStop> {
    let deletes = |asked: &ActionCall| {
        asked.fault.is_none() && asked.spec.is_some_and(|spec| spec.deletes || spec.stops)
    };
    let mut found = BTreeMap::new();
    if !actions.iter().any(deletes) {
        return Ok(found);
    }
    let mut scope = ctx.child(ScopeKey::node("asked"))?;
    for (at, asked) in actions.iter().enumerate().filter(|(_, asked)| deletes(asked)) {
        let id = |name: &str| asked.parameters.get(name).and_then(Value::as_i64);
        if asked.spec.is_some_and(|spec| spec.stops) {
            let job = asked.parameters.get("job_id").cloned().unwrap_or_default();
            let call = call(JobTool::JobStatus.as_str(), json!({ "job_id": job }));
            let told = scope.action(ActionRequest { call, row: None, hold: None, options }).await?;
            found.insert(
                at,
                told.map_err(|failure| failure.message).and_then(|told| stopped(&told, language)),
            );
            continue;
        }
        let Some(plan) = id("plan_id").map(PlanId) else { continue };
        let ask =
            ActionRequest { call: call(PLAN, json!({ "plan_id": plan })), row: None, hold: None, options };
        let told = match scope.action(ask).await? {
            Ok(reply) => match serde_json::from_value::<PlanSnapshot>(reply.data) {
                Ok(read) => named(&read, id("task_id").map(TaskId), language),
                Err(error) => Err(format!("plan {plan}: {error}")),
            },
            Err(failure) => Err(failure.message),
        };
        found.insert(at, told);
    }
    Ok(found)
}

/// The job that would be stopped; an error if it has already ended.
fn stopped(told: &ActionReply, language: Language) -> Doomed {
    let status = told.data["status"].as_str().and_then(|status| status.parse::<JobStatus>().ok());
    match status {
        Some(status) if status.is_stopped() => Err(match language {
            Language::En => format!("nothing to stop: {}", told.message),
            Language::Zh => format!("无需停止：{}", told.message),
        }),
        _ => Ok(told.message.clone()),
    }
}

fn named(read: &PlanSnapshot, task: Option<TaskId>, language: Language) -> Doomed {
    let (plan, name) = (read.plan.id, &read.plan.name);
    let Some(id) = task else {
        let count = read.tasks.len();
        return Ok(match language {
            Language::En => format!("plan {plan} “{name}” with its {count} task(s)"),
            Language::Zh => format!("计划 {plan}“{name}”及其 {count} 个任务"),
        });
    };
    let Some(task) = read.task(id) else {
        return Err(match language {
            Language::En => format!("plan {plan} has no task {id}"),
            Language::Zh => format!("计划 {plan} 没有任务 {id}"),
        });
    };
    let (below, task) = (read.below(id), &task.name);
    Ok(match language {
        Language::En => {
            format!("task {id} “{task}” of plan {plan} “{name}” with the {below} task(s) below it")
        }
        Language::Zh => format!("计划 {plan}“{name}”的任务 {id}“{task}”及其下 {below} 个任务"),
    })
}
