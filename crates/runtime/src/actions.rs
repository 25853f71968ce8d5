//! Jobs in the action log: each job is an action, with a row when it starts and one when it ends. A job whose row
//! cannot be written does not run.

use crate::job_runner::{JobAction, JobOutcome};
use crate::services::Services;
use papertape_core::action::{
    ActionDraft, ActionEntry, ActionRow, ActionStatus, WHOLE_JOB, is_whole_job, still_open, stopped_words,
};
use papertape_core::chat::ChatId;
use papertape_core::ports::RecordError;
use papertape_core::record::{JobRow, JobStatus, Lease};
use serde_json::Value;

/// Adds a row to a job's log, redacted. The only way to do so. Returns its number.
///
/// # Errors
/// Returns an error if the record fails; the caller must then not do what the row announces.
pub async fn append_action_log(
    services: &Services,
    lease: &Lease,
    draft: ActionDraft,
) -> Result<i64, RecordError> {
    let entry = ActionEntry::redacted(&services.redactor, draft);
    services.actions.append_action_log(lease, entry, services.clock.now()).await
}

/// Logs that a job is about to run.
pub(crate) async fn started(
    services: &Services,
    lease: &Lease,
    (job, action): (&JobRow, JobAction<'_>),
) -> Result<(), RecordError> {
    let row = row(job, action, ActionStatus::Running);
    if lease.part == 0 {
        return append_action_log(services, lease, row).await.map(drop);
    }
    // The parts of a job are one action, which the first of them starts and the last of them ends.
    let entry = ActionEntry::redacted(&services.redactor, row);
    services.actions.start_action_log(lease, entry, services.clock.now()).await.map(drop)
}

/// Logs how a job ended. A job stopped by a shutdown is logged as waiting.
pub(crate) async fn ended(
    services: &Services,
    lease: &Lease,
    (job, action): (&JobRow, JobAction<'_>),
    end: &JobOutcome,
) -> Result<(), RecordError> {
    let status = match end.status {
        JobStatus::Completed => ActionStatus::Completed,
        JobStatus::Queued | JobStatus::Running => ActionStatus::Queued,
        JobStatus::Partial | JobStatus::Failed | JobStatus::Cancelled => ActionStatus::Failed,
    };
    let message = match end.error.as_ref().or(end.note.as_ref()) {
        Some(more) => format!("{}: {more}", end.status),
        None => end.status.to_string(),
    };
    let mut draft = ActionDraft { message: Some(message), ..row(job, action, status) };
    if let Some(Value::Object(details)) = &mut draft.details {
        details.extend(end.details.clone());
    }
    append_action_log(services, lease, draft).await.map(drop)
}

/// Closes the actions that an assistant job has started and not ended when it stops, with a row each. An action
/// repeated after a resume gets rows of its own.
pub(crate) async fn close_open(services: &Services, lease: &Lease, job: &JobRow) -> Result<(), RecordError> {
    if !job.kind.is_assistant() {
        return Ok(());
    }
    let open = still_open(services.actions.action_log(&job.id).await?);
    for ActionRow { row, .. } in open {
        if row.status != ActionStatus::Running || is_whole_job(&row) {
            continue;
        }
        let message = Some(stopped_words(&job.config).to_owned());
        let draft = ActionDraft { status: ActionStatus::Failed, message, ..row };
        append_action_log(services, lease, draft).await?;
    }
    Ok(())
}

/// A row about the whole job.
fn row(job: &JobRow, (kind, name): JobAction<'_>, status: ActionStatus) -> ActionDraft {
    let chat_session = job.config["session_id"].as_str().map(ChatId::new);
    ActionDraft { chat_session, ..ActionDraft::of(kind, name, status, WHOLE_JOB) }
}
