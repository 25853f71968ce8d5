//! The assistant's jobs: replying to a message, decomposing a plan, executing a plan. Each has one session, in
//! which every model response and every action is a step.

use crate::budget::{Budget, Budgets, Limit};
use crate::cancellation::{CancelToken, StopReason};
use crate::child_budgets::{self, ChildBudgets, FIRST_LOOK, LAST_LOOK};
use crate::host::{JobRun, LiveHost};
use crate::services::Services;
use crate::simulate::JobOutcome;
use crate::tape_reader::{self, stop_of};
use futures::FutureExt as _;
use futures::future::{Either, select};
use papertape_assistant::prompt::Prompts;
use papertape_assistant::settings::{CHAT, DECOMPOSE, Decompose, EXECUTE, Execute, Settings};
use papertape_assistant::web::WebSearch;
use papertape_assistant::{chat, decompose, execute};
use papertape_core::action::summarise;
use papertape_core::chat::{ChatId, ChatWrite, unanswered};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json::to_value;
use papertape_core::language::Language;
use papertape_core::money::Money;
use papertape_core::ports::{BoxFuture, Chats, JobControl, Plans, RecordError};
use papertape_core::record::{
    ASSISTANT_JOB_KINDS, CloseSession, DayStatus, JobRow, JobStatus, Lease, NewSession, StartingPosition,
    Write,
};
use papertape_core::tape::{ContentDoc, Ctx, Host as _, SessionRun, SessionStop, Tape};
use papertape_redact::Sanitized;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Agent name of an assistant job's session.
pub const AGENT: &str = "assistant";

/// What the assistant's jobs need in addition to [`Services`]. Cheap to clone.
#[derive(Clone)]
pub struct Assistant {
    /// Plans.
    pub plans: Arc<dyn Plans>,
    /// Conversations.
    pub chats: Arc<dyn Chats>,
    /// Simulations.
    pub jobs: Arc<dyn JobControl>,
    /// Web search.
    pub web: Arc<dyn WebSearch>,
    /// Its prompts.
    pub prompts: Arc<Prompts>,
    /// Receives the text of replies while they are written.
    pub words: Arc<dyn Listener>,
}

/// Receives the text of replies while they are written. Delivery is best effort; the message stored at the end is
/// authoritative.
pub trait Listener: Send + Sync {
    /// Receives more text of a job's reply, redacted.
    fn on_delta(&self, job: &JobId, words: &str);
}

const fn user_language() -> Language {
    Language::DEFAULT_FOR_USERS
}

/// The config of an assistant job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssistantConfig {
    /// The assistant's model and limits.
    pub settings: Settings,
    /// Budget of the job's own model calls.
    #[serde(default)]
    pub budget: Budget,
    /// Combined budget of the simulations that it starts, directly or through a plan.
    #[serde(default)]
    pub simulations: Limit,
    /// The language of its log messages.
    #[serde(default = "user_language")]
    pub language: Language,
    /// The conversation of a `chat_action`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<ChatId>,
    /// Parameters of a `plan_decompose`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decompose: Option<Decompose>,
    /// Parameters of a `plan_execute`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute: Option<Execute>,
    /// The job that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_by: Option<JobId>,
}

/// A running assistant job, as its host sees it.
pub(crate) struct AssistantRun {
    pub(crate) assistant: Assistant,
    pub(crate) config: Value,
    pub(crate) language: Language,
    pub(crate) wait: Duration,
    /// Whether its text is streamed to users.
    pub(crate) is_heard: bool,
    /// Budgets allocated to the jobs that it has started.
    pub(crate) purses: ChildBudgets,
}

/// Whether a job of this kind is an assistant job.
#[must_use]
pub fn is_assistants(kind: &str) -> bool {
    ASSISTANT_JOB_KINDS.contains(&kind)
}

/// Requests cancellation of a job of any kind, like [`papertape_core::ports::Queue::cancel`]. The jobs that it
/// has started are canceled too, and it is canceled once they have stopped.
///
/// # Errors
/// Returns an error if the record fails.
pub fn cancel<'a>(
    services: &'a Services,
    job: &'a JobId,
) -> BoxFuture<'a, Result<Option<JobStatus>, RecordError>> {
    async move {
        let queue = &services.queue;
        let Some(row) = queue.get_job(job).await? else { return Ok(None) };
        if !is_assistants(&row.kind) || row.status.is_stopped() || open_of(services, &row).await?.is_empty() {
            return queue.cancel(job).await;
        }
        // If a worker has the job, it cancels them after stopping: earlier, it would treat them as failed.
        let status = queue.request_cancel(job).await?;
        if status != Some(JobStatus::Queued) {
            return Ok(status);
        }
        // If they cannot be canceled immediately, the worker that claims the job waits for them.
        if cancel_started(services, &row).await? { queue.cancel(job).await } else { Ok(status) }
    }
    .boxed()
}

/// The unfinished jobs that an assistant job has started.
async fn open_of(services: &Services, job: &JobRow) -> Result<Vec<JobId>, RecordError> {
    let started = child_budgets::started(services, job).await?;
    Ok(started.into_iter().filter(|row| !row.status.is_stopped()).map(|row| row.id).collect())
}

/// Requests cancellation of the unfinished jobs that an assistant job has started. Returns whether all have
/// stopped.
pub(crate) async fn cancel_started(services: &Services, job: &JobRow) -> Result<bool, RecordError> {
    if !is_assistants(&job.kind) {
        return Ok(true);
    }
    let mut have_all = true;
    for started in open_of(services, job).await? {
        let status = cancel(services, &started).await?;
        have_all &= status.is_none_or(JobStatus::is_stopped);
    }
    Ok(have_all)
}

/// Cancels the jobs that a canceled job has started, and waits until each has stopped. Returns `false` if a
/// shutdown came first; the next worker of the job then continues.
///
/// # Errors
/// Returns an error if the record fails.
pub(crate) async fn stop_started(
    services: &Services,
    job: &JobRow,
    shutdown: &CancelToken,
) -> Result<bool, RecordError> {
    let mut pause = FIRST_LOOK;
    let mut shutdown = shutdown.clone();
    while !cancel_started(services, job).await? {
        let waited = services.clock.sleep(pause);
        if let Either::Left(_) = select(Box::pin(shutdown.stopped()), waited).await {
            return Ok(false);
        }
        pause = (pause * 2).min(LAST_LOOK);
    }
    Ok(true)
}

/// Result of a job's program.
struct ProgramResult {
    status: JobStatus,
    error: Option<String>,
    result: Value,
    /// A sentence for the job's last log row.
    note: Option<String>,
    /// Structured details for that row.
    details: Map<String, Value>,
    writes: Vec<Write>,
}

impl ProgramResult {
    fn failed(error: String) -> Self {
        Self {
            status: JobStatus::Failed,
            error: Some(error),
            result: Value::Null,
            note: None,
            details: Map::new(),
            writes: Vec::new(),
        }
    }
}

/// Runs a claimed assistant job until it ends or stops. Writes everything except the job's own status.
///
/// # Errors
/// [`SessionStop::LostLease`].
pub(crate) async fn run(
    services: &Services,
    (lease, job): (&Lease, &JobRow),
    signal: CancelToken,
) -> Result<JobOutcome, SessionStop> {
    let failed = |error: String| Ok(JobOutcome::failed(error));
    let Some(assistant) = services.assistant.clone() else {
        return failed("this process runs no jobs of the assistant's".to_owned());
    };
    let config: AssistantConfig = match serde_json::from_value(job.config.clone()) {
        Ok(config) => config,
        Err(error) => return failed(format!("the job's config cannot be read: {error}")),
    };
    let spent = services.record.load_usage(&job.id).await.map_err(stop_of)?;
    let budgets = Budgets::rebuild(config.budget, spent);
    let purses = ChildBudgets::rebuild(services, job, config.simulations, &budgets).await.map_err(stop_of)?;
    let run = Arc::new(JobRun {
        services: services.clone(),
        lease: lease.clone(),
        budgets,
        signal,
        assisting: Some(AssistantRun {
            assistant,
            config: job.config.clone(),
            language: config.language,
            wait: Duration::from_secs(config.settings.wait_secs),
            is_heard: job.kind == CHAT,
            purses,
        }),
    });
    let stop = match Box::pin(session(&run, job, &config)).await {
        Ok(end) => return Ok(end),
        Err(SessionStop::LostLease) => return Err(SessionStop::LostLease),
        Err(stop) => stop,
    };
    let status = match run.signal.reason() {
        Some(StopReason::LostLease) => return Err(SessionStop::LostLease),
        Some(StopReason::Shutdown) => JobStatus::Queued,
        Some(StopReason::Cancelled) => JobStatus::Cancelled,
        None => JobStatus::Failed,
    };
    Ok(JobOutcome::of(status, Some(stop.to_string())))
}

/// The job's session: replayed from its tape as far as that goes, then live.
async fn session(
    run: &Arc<JobRun>,
    job: &JobRow,
    config: &AssistantConfig,
) -> Result<JobOutcome, SessionStop> {
    let services = &run.services;
    let date = job.created_at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let agent = AgentName::from(AGENT.to_owned());
    let new = NewSession { agent: agent.clone(), date, at: services.clock.now() };
    let opened = services.record.open_session(&run.lease, new).await.map_err(stop_of)?;
    let tape = Tape::new(tape_reader::rows(&*services.record, opened.id, false).await.map_err(stop_of)?);
    // A session that has ended is replayed from its tape to find out how its job ended.
    let tape = if opened.ended.is_some() { tape.replay_only() } else { tape };
    let host = Arc::new(LiveHost::new(Arc::clone(run), opened.id, (agent, date), false, None));
    let seed = ContentHash::of(job.id.as_str().as_bytes());
    let session = SessionRun::new(Arc::clone(&host) as _, tape, Arc::clone(&services.redactor), seed);
    let mut root = session.root();
    let came = match program(run, job, config, &mut root).await {
        Ok(came) => came,
        Err(stop) => {
            if opened.ended.is_none() {
                give_up(run, &host, &job.id, &stop).await?;
            }
            return Err(stop);
        }
    };
    let closing = closing(&came);
    let mut writes = came.writes;
    writes.push(Write::Text(closing.state.clone()));
    writes.push(Write::CloseSession(Box::new(closing)));
    session.finish(writes).await?;
    Ok(JobOutcome { note: came.note, details: came.details, ..JobOutcome::of(came.status, came.error) })
}

async fn program(
    run: &JobRun,
    job: &JobRow,
    config: &AssistantConfig,
    root: &mut Ctx,
) -> Result<ProgramResult, SessionStop> {
    let Some(assisting) = &run.assisting else {
        return Ok(ProgramResult::failed("the job is none of the assistant's".to_owned()));
    };
    let (settings, prompts) = (&config.settings, &*assisting.assistant.prompts);
    let nothing =
        || ProgramResult::failed(format!("the job's config does not say what to do as `{}`", job.kind));
    match job.kind.as_str() {
        CHAT => Ok(match chat::answer(root, &job.id, settings, prompts).await? {
            Ok(answer) => answered(run, answer),
            Err(why) => ProgramResult::failed(why),
        }),
        DECOMPOSE => {
            let Some(what) = &config.decompose else { return Ok(nothing()) };
            Ok(match decompose::decompose(root, what, settings, prompts).await? {
                Ok(done) => {
                    let failed = done.failed.len();
                    let status = match done.stopped_reason {
                        decompose::StoppedReason::Failed => JobStatus::Failed,
                        _ if failed > 0 => JobStatus::Partial,
                        _ => JobStatus::Completed,
                    };
                    let first = done
                        .failed
                        .first()
                        .map(|one| format!("{failed} node(s) failed, the first: {}", one.error));
                    let note = Some(done.sentence(config.language));
                    let mut details = Map::new();
                    if !done.left_out.is_empty() {
                        details.insert("left_out".to_owned(), to_value(&done.left_out));
                    }
                    ProgramResult {
                        status,
                        error: first,
                        result: to_value(&done),
                        note,
                        details,
                        writes: Vec::new(),
                    }
                }
                Err(why) => ProgramResult::failed(why),
            })
        }
        EXECUTE => {
            let Some(what) = &config.execute else { return Ok(nothing()) };
            Ok(match execute::execute(root, what, settings, prompts).await? {
                Ok(done) => {
                    let failed = done.failed.len();
                    let first = done.failed.first();
                    let error = first.map(|one| {
                        format!("{failed} task(s) failed, the first {}: {}", one.task_id, one.error)
                    });
                    ProgramResult {
                        status: done.status,
                        error,
                        result: to_value(&done),
                        note: None,
                        details: Map::new(),
                        writes: Vec::new(),
                    }
                }
                Err(why) => ProgramResult::failed(why),
            })
        }
        other => Ok(ProgramResult::failed(format!("`{other}` is no kind of the assistant's"))),
    }
}

/// A reply, with the writes that store it.
fn answered(run: &JobRun, answer: chat::Answer) -> ProgramResult {
    let redactor = &run.services.redactor;
    let result = json!({ "actions_summary": answer.metadata["actions_summary"], "plan_id": answer.plan });
    let words =
        ChatWrite::Answer { message: answer.message, content: answer.content, metadata: answer.metadata };
    let bind = ChatWrite::Bind { session: answer.session, plan: answer.plan };
    let mut writes = vec![Write::Chat(Box::new(Sanitized::of(redactor, words)))];
    if answer.plan.is_some() {
        writes.push(Write::Chat(Box::new(Sanitized::of(redactor, bind))));
    }
    let status = if answer.error.is_some() { JobStatus::Failed } else { JobStatus::Completed };
    ProgramResult { status, error: answer.error, result, note: None, details: Map::new(), writes }
}

/// Stores a notice in place of the reply with the reason and what was done so far; a resumed turn replaces it.
async fn give_up(run: &JobRun, host: &LiveHost, job: &JobId, stop: &SessionStop) -> Result<(), SessionStop> {
    let Some(assisting) = run.assisting.as_ref() else { return Ok(()) };
    // After a shutdown or a lost lease, another worker continues.
    let goes_on = matches!(run.signal.reason(), Some(StopReason::Shutdown | StopReason::LostLease));
    if goes_on || matches!(stop, SessionStop::LostLease | SessionStop::Shutdown) {
        return Ok(());
    }
    if !assisting.is_heard {
        return Ok(());
    }
    let Some(turn) = assisting.assistant.chats.turn(job).await.map_err(stop_of)? else { return Ok(()) };
    let why = stop.to_string();
    let mut metadata = chat::waiting(job);
    metadata["error"] = why.as_str().into();
    let rows = run.services.actions.action_log(job).await.map_err(stop_of)?;
    metadata["actions_summary"] = to_value(&summarise(rows.iter().map(|row| &row.row), assisting.language));
    let status = match run.signal.reason() {
        Some(StopReason::Cancelled) => JobStatus::Cancelled,
        _ => JobStatus::Failed,
    };
    let content = unanswered(status, Some(&why), assisting.language);
    let words = ChatWrite::Answer { message: turn.assistant.id, content, metadata };
    host.commit(vec![Write::Chat(Box::new(Sanitized::of(&run.services.redactor, words)))]).await
}

/// The close of a session that trades nothing.
fn closing(came: &ProgramResult) -> CloseSession {
    let (text, _) = ContentDoc::of(&json!({})).into_parts();
    let nothing = Money(Decimal::ZERO);
    let status = if came.status == JobStatus::Failed { DayStatus::Failed } else { DayStatus::Completed };
    CloseSession {
        status,
        error: came.error.clone(),
        metadata: json!({ "assistant": came.result }),
        state: text,
        holdings: Vec::new(),
        starting: StartingPosition { holdings: Vec::new(), cash: nothing, portfolio_value: nothing },
        cash: nothing,
        portfolio_value: nothing,
        daily_profit: nothing,
        daily_return_pct: None,
    }
}
