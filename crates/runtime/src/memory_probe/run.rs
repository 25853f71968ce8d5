//! Runs a probe: one session, one scope per item, one call per wording.

use super::config::{MemoryProbeConfig, MemoryProbeReport};
use crate::budget::Budgets;
use crate::cancellation::StopReason;
use crate::config::decode;
use crate::host::LiveHost;
use crate::job_run::JobRun;
use crate::job_runner::{ClaimedJob, JobOutcome};
use crate::tape_reader::{self, stop_of};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash};
use papertape_core::json::to_value;
use papertape_core::message::{Message, ModelRequest, ToolChoice};
use papertape_core::money::Money;
use papertape_core::ports::ModelClient;
use papertape_core::prompt::lines::QUIZ_TASK;
use papertape_core::record::{CloseSession, DayStatus, JobStatus, NewSession, StartingPosition, Write};
use papertape_core::tape::{Branch, ContentDoc, Ctx, ScopeKey, SessionRun, SessionStop};
use papertape_core::time::Date;
use papertape_evidence::{ItemOutcome, PARAPHRASES, Quiz, QuizItem, QuizPrompt, QuizResponse, kind_reports};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The agent of a probe's only session.
pub const PROBE_AGENT: &str = "memory_probe";

/// The request of one wording of an item.
#[must_use]
pub fn request_of(config: &MemoryProbeConfig, models: &dyn ModelClient, prompt: &QuizPrompt) -> ModelRequest {
    let instructions = format!(
        "{QUIZ_TASK}. Reply with the letter of one choice and nothing else. Use what you remember. If you are not sure, \
         reply with your best guess."
    );
    ModelRequest {
        model: config.model.clone(),
        house_version: models.house_version(&config.model),
        instructions: Some(instructions),
        messages: vec![Message::user(&prompt.text)],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: config.sampling.clone(),
    }
}

pub(crate) async fn run(job: ClaimedJob<'_>) -> Result<JobOutcome, SessionStop> {
    let (services, row) = (job.services, job.row);
    let config: MemoryProbeConfig = match decode(row) {
        Ok(config) => config,
        Err(error) => return Ok(JobOutcome::failed(error)),
    };
    let quiz = services.datasets.open(config.dataset.hash).and_then(|dataset| config.quiz(&dataset));
    let quiz = match quiz {
        Ok(quiz) => quiz,
        Err(error) => return Ok(JobOutcome::failed(error)),
    };
    let usage = services.record.load_usage(&row.id).await.map_err(stop_of)?;
    let run = Arc::new(JobRun::new(job, Budgets::rebuild(config.budget, usage)));
    let date = row.created_at.to_zoned(jiff::tz::TimeZone::UTC).date();
    let stop = match in_session(&run, row.id.as_str(), date, &config, &quiz).await {
        Ok(outcome) => return Ok(outcome),
        Err(stop) => stop,
    };
    let status = match (&stop, run.cancel.reason()) {
        (SessionStop::LostLease, _) | (_, Some(StopReason::LostLease)) => return Err(SessionStop::LostLease),
        (_, Some(StopReason::Shutdown)) => JobStatus::Queued,
        (_, Some(StopReason::Cancelled)) => JobStatus::Cancelled,
        // What was paid for is recorded, and the probe can be resumed.
        (SessionStop::Budget(_), None) => JobStatus::Partial,
        (_, None) => JobStatus::Failed,
    };
    Ok(JobOutcome::of(status, Some(stop.to_string())))
}

async fn in_session(
    run: &Arc<JobRun>,
    job: &str,
    date: Date,
    config: &MemoryProbeConfig,
    quiz: &Quiz,
) -> Result<JobOutcome, SessionStop> {
    let services = &run.services;
    let agent = AgentName::new(PROBE_AGENT);
    let new = NewSession { agent: agent.clone(), date, at: services.clock.now() };
    let opened = services.record.open_session(&run.lease, new).await.map_err(stop_of)?;
    let has_ended = opened.ended.is_some();
    let tape = tape_reader::opened(&*services.record, &opened).await?;
    let tape = if has_ended { tape.replay_only() } else { tape };
    let host = Arc::new(LiveHost::new(Arc::clone(run), opened.id, (agent, date)));
    let seed = ContentHash::of(job.as_bytes());
    let session = SessionRun::new(Arc::clone(&host) as _, tape, Arc::clone(&services.redactor), seed);
    let ended = async {
        let outcomes = match outcomes(&mut session.root(), config, &*services.models, quiz).await? {
            Ok(outcomes) => outcomes,
            Err(error) => return Ok(JobOutcome::failed(error)),
        };
        let kinds = kind_reports(&config.kinds, &quiz.items, &outcomes, &config.dataset.hash.to_hex());
        let (items, calls) = (quiz.items.len(), quiz.items.len() * PARAPHRASES);
        let report = MemoryProbeReport { controls: quiz.controls, items, calls, kinds };
        let closing = closing(&to_value(&report));
        session
            .finish(vec![Write::Text(closing.state.clone()), Write::CloseSession(Box::new(closing))])
            .await?;
        Ok(JobOutcome::of(JobStatus::Completed, None))
    };
    host.ended(ended.await).await
}

/// The outcomes of all items, in their order; or why the model cannot be probed.
async fn outcomes(
    root: &mut Ctx,
    config: &MemoryProbeConfig,
    models: &dyn ModelClient,
    quiz: &Quiz,
) -> Result<Result<Vec<ItemOutcome>, String>, SessionStop> {
    let Some((first, rest)) = quiz.items.split_first() else { return Ok(Ok(Vec::new())) };
    let mut scope = root.child(ScopeKey::node(&first.key))?;
    let (outcome, failure) = outcome(&mut scope, config, models, first).await?;
    // The same request form would fail for every other item.
    if let Some(failure) = failure.filter(|_| outcome.failed_calls == PARAPHRASES) {
        return Ok(Err(format!(
            "every call of the first item failed: {failure}. Nothing was scored; fix the cause and start a new probe"
        )));
    }
    // A stop starts no more items. It does not drop the calls in flight: they are paid for, so they are recorded.
    let stopped = AtomicBool::new(false);
    let stopped = &stopped;
    let branches = rest.iter().map(|item| {
        let branch: Branch<'_, Option<Result<ItemOutcome, SessionStop>>> = Box::new(move |mut scope: Ctx| {
            async move {
                if stopped.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let ended = self::outcome(&mut scope, config, models, item).await;
                stopped.fetch_or(ended.is_err(), Ordering::Relaxed);
                Ok(Some(ended.map(|(outcome, _)| outcome)))
            }
            .boxed()
        });
        (ScopeKey::node(&item.key), branch)
    });
    let ended = root.all_bounded(config.parallel_items, branches.collect()).await?;
    let outcomes = ended.into_iter().flatten().collect::<Result<Vec<_>, SessionStop>>()?;
    let mut all = vec![outcome];
    all.extend(outcomes);
    Ok(Ok(all))
}

/// One item: a call per wording. Also returns why its last failed call failed.
async fn outcome(
    scope: &mut Ctx,
    config: &MemoryProbeConfig,
    models: &dyn ModelClient,
    item: &QuizItem,
) -> Result<(ItemOutcome, Option<String>), SessionStop> {
    let mut outcome = ItemOutcome { responses: Vec::with_capacity(PARAPHRASES), failed_calls: 0 };
    let mut failure = None;
    for paraphrase in 0..PARAPHRASES {
        let prompt = item.prompt(paraphrase);
        let request = request_of(config, models, &prompt);
        match scope.model_off_transcript(&request, config.limits.call_options()).await? {
            Ok(reply) => outcome.responses.push(prompt.read(&reply.text)),
            Err(failed) => {
                outcome.responses.push(QuizResponse::Declined);
                outcome.failed_calls += 1;
                failure = Some(failed.to_string());
            }
        }
    }
    Ok((outcome, failure))
}

/// The close of the session, which trades nothing.
fn closing(result: &Value) -> CloseSession {
    let (state, _) = ContentDoc::of(&json!({})).into_parts();
    let nothing = Money(Decimal::ZERO);
    CloseSession {
        status: DayStatus::Completed,
        error: None,
        metadata: json!({ PROBE_AGENT: result }),
        state,
        holdings: Vec::new(),
        starting: StartingPosition { holdings: Vec::new(), cash: nothing, portfolio_value: nothing },
        cash: nothing,
        portfolio_value: nothing,
        daily_profit: nothing,
        daily_return_pct: None,
    }
}
