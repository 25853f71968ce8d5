//! Reads from the database what spans are built from.

use super::mapping::{StepFacts, spans};
use super::span::{Span, request};
use anyhow::{Context as _, Result};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::ports::RecordStore as _;
use papertape_core::record::SessionId;
use papertape_core::tape::{OutcomeKind, StepState};
use papertape_service::app::App;
use papertape_service::view::{conventions_of, requested_models, stored_documents};
use papertape_store::{PageRequest, SessionFilter, StepView};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;

/// Steps per page.
const PAGE: u32 = 1_000;
/// Sessions per page.
const SESSIONS: u32 = 200;

/// A session's spans; empty if the session does not exist.
///
/// # Errors
/// A database error, or a stored document that cannot be read.
pub async fn spans_of(app: &App, session: SessionId) -> Result<Vec<Span>> {
    let Some(brief) = app.store.session_brief(session).await? else { return Ok(Vec::new()) };
    let steps = steps(app, session).await?;
    let models = requested_models(app, &steps).await?;
    let outcomes = outcomes(app, &steps).await?;
    let mut derived = app.store.load_derived_rows(session).await?;
    let facts: Vec<StepFacts> = steps
        .into_iter()
        .map(|step| StepFacts {
            model: step.request_ref.and_then(|hash| models.get(&hash).cloned()),
            outcome: step.outcome_ref.and_then(|hash| outcomes.get(&hash).cloned()),
            derived: derived.remove(&step.path).unwrap_or_default(),
            step,
        })
        .collect();
    let conventions = conventions_of(app, &brief.job, brief.date).await?;
    Ok(spans(&brief, conventions.as_ref(), &facts))
}

/// Writes the spans of a job's sessions, one request per line, in the order in which the sessions were
/// opened. Returns the number of sessions.
///
/// # Errors
/// A database error; a write error.
pub async fn write_job(app: &App, job: &JobId, out: &mut (dyn Write + Send)) -> Result<usize> {
    let filter = SessionFilter { job: Some(job.clone()), ..SessionFilter::default() };
    let mut page = PageRequest::first(SESSIONS);
    let mut written = 0;
    loop {
        let sessions = app.store.sessions(&filter, false, &page).await?;
        for session in &sessions.items {
            let spans = spans_of(app, session.id).await?;
            serde_json::to_writer(&mut *out, &request(spans, app.config.mode.as_str()))?;
            out.write_all(b"\n").context("cannot write the spans")?;
            written += 1;
        }
        match sessions.next {
            Some(next) => page = PageRequest::after(SESSIONS, &next),
            None => return Ok(written),
        }
    }
}

/// All steps of the session's own tape.
async fn steps(app: &App, session: SessionId) -> Result<Vec<StepView>> {
    let mut steps: Vec<StepView> = Vec::new();
    let mut page = PageRequest::first(PAGE);
    loop {
        let found = app.store.steps(session, &page).await?;
        steps.extend(found.items.into_iter().filter(|step| !step.detached));
        match found.next {
            Some(next) => page = PageRequest::after(PAGE, &next),
            None => return Ok(steps),
        }
    }
}

/// The outcomes of steps that did not succeed, by the outcome's hash.
async fn outcomes(app: &App, steps: &[StepView]) -> Result<BTreeMap<ContentHash, Value>> {
    let failed = steps.iter().filter(|step| step.state != StepState::Done(OutcomeKind::Ok));
    stored_documents(app, failed.filter_map(|step| step.outcome_ref).collect()).await
}
