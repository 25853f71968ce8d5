//! Queues jobs on plans for a user.

use super::config;
use crate::app::App;
use crate::error::ServiceError;
use papertape_assistant::settings::{Decompose, Execute};
use papertape_core::id::JobId;
use papertape_core::json::{self, to_value};
use papertape_core::language::Language;
use papertape_core::plan::{Plan, PlanId, TaskId};
use papertape_core::ports::{Plans as _, Queue as _, RecordError};
use papertape_core::record::{JobKind, NewJob};
use papertape_runtime::assistant_job::AssistantConfig;

/// Queues a decomposition.
///
/// # Errors
/// No such plan or task; a whole plan that already has tasks; limits out of range; a model that cannot be
/// called; another job that is running on the plan; a database error.
pub async fn decompose(app: &App, settings: Decompose, language: Language) -> Result<JobId, ServiceError> {
    if let Err((field, why)) = settings.limits.check() {
        return Err(ServiceError::invalid(field, why.text(Language::En)));
    }
    if find_plan(app, settings.plan_id, settings.task_id).await?.tasks > 0 && settings.task_id.is_none() {
        let why = format!(
            "plan {} already has tasks: decompose one of them, or delete them first",
            settings.plan_id
        );
        return Err(ServiceError::Conflict(why));
    }
    let plan = settings.plan_id;
    let config = configured(app, language)?;
    queue(app, JobKind::PlanDecompose, plan, AssistantConfig { decompose: Some(settings), ..config }).await
}

/// Queues an execution.
///
/// # Errors
/// As [`decompose`].
pub async fn execute(app: &App, settings: Execute, language: Language) -> Result<JobId, ServiceError> {
    if find_plan(app, settings.plan_id, settings.task_id).await?.tasks == 0 {
        let why = format!("plan {} has no tasks: decompose it first", settings.plan_id);
        return Err(ServiceError::Conflict(why));
    }
    let plan = settings.plan_id;
    let config = configured(app, language)?;
    queue(app, JobKind::PlanExecute, plan, AssistantConfig { execute: Some(settings), ..config }).await
}

fn configured(app: &App, language: Language) -> Result<AssistantConfig, ServiceError> {
    config(app, language).map_err(ServiceError::Conflict)
}

async fn find_plan(app: &App, plan: PlanId, task: Option<TaskId>) -> Result<Plan, ServiceError> {
    let found = app.store.plan(plan).await?.ok_or_else(|| ServiceError::no_plan(plan))?;
    let Some(task) = task else { return Ok(found) };
    let tasks = app.store.tasks(plan).await?;
    if tasks.iter().any(|one| one.id == task) {
        Ok(found)
    } else {
        Err(ServiceError::NotFound(format!("plan {plan} has no task {task}")))
    }
}

async fn queue(
    app: &App,
    kind: JobKind,
    plan: PlanId,
    config: AssistantConfig,
) -> Result<JobId, ServiceError> {
    let id = JobId::new(uuid::Uuid::now_v7().to_string());
    let config = to_value(&config);
    let job = new_job(app, id.clone(), kind, config, Some(plan));
    app.store.enqueue(job).await.map_err(|error| match error {
        RecordError::Busy(busy) => {
            ServiceError::Conflict(format!("job {busy} is already running on plan {plan}"))
        }
        other => other.into(),
    })?;
    app.notify_workers();
    Ok(id)
}

/// One of the assistant's jobs.
pub(super) fn new_job(
    app: &App,
    id: JobId,
    kind: JobKind,
    config: serde_json::Value,
    plan: Option<PlanId>,
) -> NewJob {
    let fingerprint = json::hash(&config);
    NewJob {
        id,
        kind,
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
