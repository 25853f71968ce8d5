//! Summaries, separate from the sessions: they never delay or fail one, have their own budget, and can be
//! resumed.

use crate::config::SimulationConfig;
use crate::host::LiveHost;
use crate::job_run::JobRun;
use crate::services::Services;
use crate::tape_reader::{self, stop_of};
use futures::StreamExt as _;
use papertape_agents::config::{AgentConfig, AgentKind};
use papertape_agents::graph::POST;
use papertape_agents::recorded::{SAID, assistants};
use papertape_agents::summary::{is_read_for_session, message_request, session_request, summary_request};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::message::{ModelReply, ModelRequest};
use papertape_core::ports::RecordStore;
use papertape_core::record::{SessionId, Write};
use papertape_core::tape::{Ctx, OutcomeKind, ScopeKey, SessionRun, SessionStop, StepPath, StepState};
use papertape_core::time::Date;
use std::sync::Arc;

/// Number of sessions summarized concurrently.
const MAX_CONCURRENT: usize = 8;

/// What to do if the provider denies a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDenied {
    /// Leave the session without a summary: a resume requests it again.
    Leave,
    /// Record the reason: it is not requested again.
    Record,
}

/// Writes the missing summaries.
pub(crate) async fn run(
    run: &Arc<JobRun>,
    config: &SimulationConfig,
    job: &JobId,
    denied: OnDenied,
) -> Result<(), SessionStop> {
    let missing = run.services.record.unsummarized(job).await.map_err(stop_of)?;
    let mut work = futures::stream::iter(missing)
        .map(|missing| async move {
            match config.agents.iter().find(|agent| agent.name == missing.agent) {
                Some(agent) => {
                    let session = (missing.session, missing.date);
                    summarize(run, &writer(config, agent), session, denied).await
                }
                None => Ok(()),
            }
        })
        .buffer_unordered(MAX_CONCURRENT);
    let mut result = Ok(());
    while let Some(one) = work.next().await {
        result = result.and(one);
    }
    result
}

/// The model that summarizes an agent's output: the agent's own, except for an imported agent, which has no
/// callable model.
fn writer(config: &SimulationConfig, agent: &AgentConfig) -> AgentConfig {
    let mut writer = agent.clone();
    if let Some(imported) = config.imported.as_ref().filter(|_| agent.model.is_recorded()) {
        writer.model = imported.writer.clone();
    }
    writer
}

/// Summarizes each assistant message of a session, then the session.
async fn summarize(
    run: &Arc<JobRun>,
    agent: &AgentConfig,
    (id, date): (SessionId, Date),
    denied: OnDenied,
) -> Result<(), SessionStop> {
    let services = &run.services;
    let record = &*services.record;
    let mut messages = load_messages(record, id).await?;
    if agent.kind == AgentKind::External {
        // Not its model calls.
        messages.retain(|(path, _)| is_read_for_session(agent, path));
    }
    let tape = tape_reader::tape(record, id, true).await?;
    let host = Arc::new(LiveHost::detached(Arc::clone(run), id, (agent.name.clone(), date)));
    let seed = ContentHash::of(b"summary");
    let session = SessionRun::new(Arc::clone(&host) as _, tape, Arc::clone(&services.redactor), seed);
    host.ended(write(services, agent, (&session, messages), denied).await).await
}

async fn write(
    services: &Services,
    agent: &AgentConfig,
    (session, messages): (&Arc<SessionRun>, Vec<(StepPath, String)>),
    denied: OnDenied,
) -> Result<(), SessionStop> {
    let root = session.root();
    let version = services.models.house_version(&agent.model);
    let prompts = &services.prompts;

    let without = agent.model.is_external().then(|| "the agent has no model of ours to write it".to_owned());
    let mut writer = SummaryWriter { agent, denied, reason: without };
    let mut writes = Vec::new();
    for (number, (path, content)) in (1_u32..).zip(&messages) {
        let mut ctx = root.child(ScopeKey::Node("summary".to_owned(), number))?;
        let request = message_request(prompts, agent, version, content);
        let summary = writer.request_summary(&mut ctx, request.map_err(|error| error.to_string())).await?;
        writes.push(Write::Summary { path: Some(path.clone()), summary });
    }
    let mut ctx = root.child(ScopeKey::node("session_summary"))?;
    let read = messages.into_iter().filter(|(path, _)| is_read_for_session(agent, path));
    let contents: Vec<String> = read.map(|(_, content)| content).collect();
    let summary = if contents.is_empty() {
        Err("the agent said nothing".to_owned())
    } else {
        let request = session_request(prompts, agent, version, &contents);
        writer.request_summary(&mut ctx, request.map_err(|error| error.to_string())).await?
    };
    writes.push(Write::Summary { path: None, summary });
    session.finish(writes).await
}

/// The assistant messages, with their steps.
async fn load_messages(
    record: &dyn RecordStore,
    session: SessionId,
) -> Result<Vec<(StepPath, String)>, SessionStop> {
    let rows = tape_reader::rows(record, session, false).await.map_err(stop_of)?;
    // The outcomes of local steps are recomputed on a tape, so reading the tape does not load them.
    let outcomes = rows.iter().filter(|row| row.path.kind() == SAID).filter_map(|row| row.outcome_ref);
    let outcomes = tape_reader::documents(record, outcomes.collect()).await.map_err(stop_of)?;
    let mut messages = Vec::new();
    for row in rows.into_iter().filter(|row| row.state == StepState::Done(OutcomeKind::Ok)) {
        let text = match row.path.kind() {
            SAID => row.outcome_ref.and_then(|at| outcomes.get(&at)).and_then(assistants),
            // Model calls outside the conversation are not messages.
            "model" if !row.path.is_within(POST) => row
                .outcome
                .and_then(|reply| serde_json::from_value::<ModelReply>(reply).ok())
                .map(|reply| reply.text),
            _ => None,
        };
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            messages.push((row.path.clone(), summary_request(&row.path, text)));
        }
    }
    Ok(messages)
}

/// Requests a session's summaries, and stops once the provider denies one.
struct SummaryWriter<'a> {
    agent: &'a AgentConfig,
    denied: OnDenied,
    reason: Option<String>,
}

impl SummaryWriter<'_> {
    async fn request_summary(
        &mut self,
        ctx: &mut Ctx,
        request: Result<ModelRequest, String>,
    ) -> Result<Result<String, String>, SessionStop> {
        if let Some(reason) = &self.reason {
            return Ok(Err(reason.clone()));
        }
        let request = match request {
            Ok(request) => request,
            Err(reason) => return Ok(Err(reason)),
        };
        Ok(match ctx.model_off_transcript(&request, self.agent.limits.call_options()).await {
            Err(stop @ SessionStop::Denied { .. }) if self.denied == OnDenied::Record => {
                Err(self.reason.insert(stop.to_string()).clone())
            }
            Err(stop) => return Err(stop),
            Ok(Ok(reply)) if reply.text.trim().is_empty() => Err("the model gave no summary".to_owned()),
            Ok(Ok(reply)) => Ok(reply.text.trim().to_owned()),
            Ok(Err(failure)) => Err(failure.to_string()),
        })
    }
}
