//! Queues jobs on plans for a user.

use super::config;
use crate::app::App;
use crate::trigger::TriggerError;
use papertape_assistant::settings::{DECOMPOSE, Decompose, EXECUTE, Execute};
use papertape_core::id::JobId;
use papertape_core::json::{self, to_value};
use papertape_core::language::Language;
use papertape_core::plan::{Plan, PlanId, TaskId};
use papertape_core::ports::{Plans as _, Queue as _, RecordError};
use papertape_core::record::NewJob;
use papertape_runtime::assistant_job::AssistantConfig;

/// Queues a decomposition.
///
/// # Errors
/// No such plan or task; a whole plan that already has tasks; limits out of range; a model that cannot be
/// called; another job that is running on the plan; a database error.
pub async fn decompose(app: &App, what: Decompose, language: Language) -> Result<JobId, TriggerError> {
    if let Err((field, why)) = what.limits.check() {
        return Err(TriggerError::Bad { field, message: why.text(Language::En).to_owned() });
    }
    if there_is(app, what.plan_id, what.task_id).await?.tasks > 0 && what.task_id.is_none() {
        let why =
            format!("plan {} has tasks already: decompose one of them, or delete them first", what.plan_id);
        return Err(TriggerError::Conflict(why));
    }
    let plan = what.plan_id;
    let config = configured(app, language)?;
    queue(app, DECOMPOSE, plan, AssistantConfig { decompose: Some(what), ..config }).await
}

/// Queues an execution.
///
/// # Errors
/// As [`decompose`].
pub async fn execute(app: &App, what: Execute, language: Language) -> Result<JobId, TriggerError> {
    if there_is(app, what.plan_id, what.task_id).await?.tasks == 0 {
        let why = format!("plan {} has no tasks: decompose it first", what.plan_id);
        return Err(TriggerError::Conflict(why));
    }
    let plan = what.plan_id;
    let config = configured(app, language)?;
    queue(app, EXECUTE, plan, AssistantConfig { execute: Some(what), ..config }).await
}

fn configured(app: &App, language: Language) -> Result<AssistantConfig, TriggerError> {
    config(app, language).map_err(TriggerError::Conflict)
}

async fn there_is(app: &App, plan: PlanId, task: Option<TaskId>) -> Result<Plan, TriggerError> {
    let missing = |what: String| Err(TriggerError::Missing(what));
    let Some(found) = app.store.plan(plan).await.map_err(anyhow::Error::from)? else {
        return missing(format!("there is no plan {plan}"));
    };
    let Some(task) = task else { return Ok(found) };
    let tasks = app.store.tasks(plan).await.map_err(anyhow::Error::from)?;
    if tasks.iter().any(|one| one.id == task) {
        Ok(found)
    } else {
        missing(format!("plan {plan} has no task {task}"))
    }
}

async fn queue(app: &App, kind: &str, plan: PlanId, config: AssistantConfig) -> Result<JobId, TriggerError> {
    let id = JobId::new(uuid::Uuid::now_v7().to_string());
    let config = to_value(&config);
    let job = new_job(app, id.clone(), kind, config, Some(plan));
    app.store.enqueue(job).await.map_err(|error| match error {
        RecordError::Busy(busy) => {
            TriggerError::Conflict(format!("plan {plan} is being worked on already, by job {busy}"))
        }
        other => anyhow::Error::from(other).into(),
    })?;
    app.notify_workers();
    Ok(id)
}

/// One of the assistant's jobs.
pub(super) fn new_job(
    app: &App,
    id: JobId,
    kind: &str,
    config: serde_json::Value,
    plan: Option<PlanId>,
) -> NewJob {
    let fingerprint = json::hash(&config);
    NewJob {
        id,
        kind: kind.to_owned(),
        config,
        fingerprint,
        warnings: Vec::new(),
        days: Vec::new(),
        parent: None,
        plan,
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: app.services.clock.now(),
    }
}
