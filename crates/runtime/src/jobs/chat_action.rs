//! `chat_action`: replies to a user's message.

use crate::assistant_job::{Assistant, AssistantSession, SessionResult};
use crate::cancellation::StopReason;
use crate::job_runner::{ClaimedJob, JobOutcome, JobRunner, JobSpec};
use crate::tape_reader::stop_of;
use futures::FutureExt as _;
use papertape_assistant::chat;
use papertape_core::action::{ActionKind, CHAT_TURN, summarize};
use papertape_core::chat::{ChatWrite, unanswered};
use papertape_core::json::to_value;
use papertape_core::ports::BoxFuture;
use papertape_core::record::{JobKind, JobStatus, Write};
use papertape_core::tape::SessionStop;
use papertape_redact::Sanitized;
use serde_json::json;
use std::sync::Arc;

pub(super) struct ChatAction(pub(super) Arc<Assistant>);

impl JobRunner for ChatAction {
    fn spec(&self) -> JobSpec {
        let action = (ActionKind::SystemOperation, CHAT_TURN);
        JobSpec { kind: JobKind::ChatAction, action, needs_slot: false }
    }

    fn run<'a>(&'a self, job: ClaimedJob<'a>) -> BoxFuture<'a, Result<JobOutcome, SessionStop>> {
        AssistantSession::run(job, &self.0, true, |session| run(session).boxed()).boxed()
    }
}

async fn run(session: &mut AssistantSession) -> Result<SessionResult, SessionStop> {
    match reply(session).await {
        Err(stop) => {
            // The notice says what was done, so all of it must be stored.
            let stop = session.host.ended(Err::<(), _>(stop.clone())).await.err().unwrap_or(stop);
            give_up(session, &stop).await.and(Err(stop))
        }
        result => result,
    }
}

async fn reply(session: &mut AssistantSession) -> Result<SessionResult, SessionStop> {
    let job = session.job().clone();
    let AssistantSession { root, config, assistant, .. } = session;
    let answer = match chat::answer(root, &job, &config.settings, &assistant.prompts).await? {
        Ok(answer) => answer,
        Err(why) => return Ok(SessionResult::failed(why)),
    };
    let result = json!({ "actions_summary": answer.metadata["actions_summary"], "plan_id": answer.plan });
    let reply =
        ChatWrite::Answer { message: answer.message, content: answer.content, metadata: answer.metadata };
    let mut writes = vec![chat_write(session, reply)];
    if answer.plan.is_some() {
        writes.push(chat_write(session, ChatWrite::Bind { session: answer.session, plan: answer.plan }));
    }
    let status = if answer.error.is_some() { JobStatus::Failed } else { JobStatus::Completed };
    Ok(SessionResult { result, writes, ..SessionResult::of(status, answer.error) })
}

fn chat_write(session: &AssistantSession, write: ChatWrite) -> Write {
    Write::Chat(Box::new(Sanitized::of(&session.services().redactor, write)))
}

/// Stores a notice in place of the reply with the reason and what was done so far; a resumed turn replaces it.
async fn give_up(session: &AssistantSession, stop: &SessionStop) -> Result<(), SessionStop> {
    let reason = session.stop_reason();
    // After a shutdown or a lost lease, another worker continues.
    let is_continued = matches!(reason, Some(StopReason::Shutdown | StopReason::LostLease))
        || matches!(stop, SessionStop::LostLease | SessionStop::Shutdown);
    if is_continued || session.has_ended {
        return Ok(());
    }
    let (job, language) = (session.job(), session.config.language);
    let Some(turn) = session.assistant.chats.turn(job).await.map_err(stop_of)? else { return Ok(()) };
    let why = stop.to_string();
    let mut metadata = chat::waiting(job);
    metadata["error"] = why.as_str().into();
    let rows = session.services().actions.action_log(job).await.map_err(stop_of)?;
    metadata["actions_summary"] = to_value(&summarize(rows.iter().map(|row| &row.row), language));
    let status = match reason {
        Some(StopReason::Cancelled) => JobStatus::Cancelled,
        _ => JobStatus::Failed,
    };
    let content = unanswered(status, Some(&why), language);
    let notice = ChatWrite::Answer { message: turn.assistant.id, content, metadata };
    session.host.write(vec![chat_write(session, notice)]).await
}
