//! Preview of a deletion, by name, or of a job to be stopped: read before the user is asked to confirm.

use crate::calls::request;
use crate::plan_snapshot::PlanSnapshot;
use crate::protocol::ActionCall;
use papertape_core::language::Language;
use papertape_core::plan::{PlanId, TaskId};
use papertape_core::ports::JobTool;
use papertape_core::record::JobStatus;
use papertape_core::tape::{ActionOptions, ActionReply, Ctx, ScopeKey, SessionStop};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is to be deleted or stopped, as text; or why nothing can be.
pub(crate) type DeletionPreview = Result<String, String>;

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
) -> Result<BTreeMap<usize, DeletionPreview>, SessionStop> {
    let needs_preview =
        |call: &ActionCall| call.fault.is_none() && call.spec.is_some_and(|spec| spec.deletes || spec.stops);
    let mut previews = BTreeMap::new();
    if !actions.iter().any(needs_preview) {
        return Ok(previews);
    }
    let mut scope = ctx.child(ScopeKey::node("asked"))?;
    for (at, call) in actions.iter().enumerate().filter(|(_, call)| needs_preview(call)) {
        let id = |name: &str| call.parameters.get(name).and_then(Value::as_i64);
        let preview = if call.spec.is_some_and(|spec| spec.stops) {
            let job = call.parameters.get("job_id").cloned().unwrap_or_default();
            let status = request(JobTool::JobStatus.as_str(), json!({ "job_id": job }), options);
            let status = scope.action(status).await?;
            status.map_err(|failure| failure.message).and_then(|reply| stopped_job(&reply, language))
        } else {
            let Some(plan) = id("plan_id").map(PlanId) else { continue };
            let plan = PlanSnapshot::read_in(&mut scope, plan, options).await?;
            plan.and_then(|plan| deleted(&plan, id("task_id").map(TaskId), language))
        };
        previews.insert(at, preview);
    }
    Ok(previews)
}

/// The job that would be stopped; an error if it has already ended.
fn stopped_job(reply: &ActionReply, language: Language) -> DeletionPreview {
    let status = reply.data["status"].as_str().and_then(|status| status.parse::<JobStatus>().ok());
    match status {
        Some(status) if status.is_stopped() => Err(match language {
            Language::En => format!("nothing to stop: {}", reply.message),
            Language::Zh => format!("无需停止：{}", reply.message),
        }),
        _ => Ok(reply.message.clone()),
    }
}

fn deleted(snapshot: &PlanSnapshot, task: Option<TaskId>, language: Language) -> DeletionPreview {
    let (plan, name) = (snapshot.plan.id, &snapshot.plan.name);
    let Some(id) = task else {
        let count = snapshot.tasks.len();
        return Ok(match language {
            Language::En => format!("plan {plan} “{name}” with its {count} task(s)"),
            Language::Zh => format!("计划 {plan}“{name}”及其 {count} 个任务"),
        });
    };
    let Some(task) = snapshot.task(id) else {
        return Err(match language {
            Language::En => format!("plan {plan} has no task {id}"),
            Language::Zh => format!("计划 {plan} 没有任务 {id}"),
        });
    };
    let (below, task) = (snapshot.below(id), &task.name);
    Ok(match language {
        Language::En => {
            format!("task {id} “{task}” of plan {plan} “{name}” with the {below} task(s) below it")
        }
        Language::Zh => format!("计划 {plan}“{name}”的任务 {id}“{task}”及其下 {below} 个任务"),
    })
}
