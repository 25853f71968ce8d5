//! A session's transcript, tape and data reads, in pages.

use super::reasoning::{instruction, message};
use super::{ModelCalls, page_up_to, plain};
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_core::record::SessionId;
use papertape_protocol::number::number;
use papertape_protocol::query::{MAX_SESSION_ROWS, SessionPageQuery};
use papertape_protocol::reasoning::MessageResponse;
use papertape_protocol::sessions::{
    ExposureResponse, ExposuresResponse, MessagesQuery, MessagesResponse, StepResponse, StepsResponse,
};
use papertape_store::{ExposureView, StepView};

/// The transcript of a session.
///
/// # Errors
/// No such session, a limit out of range, a bad cursor, both a cursor and a number; a database error.
pub async fn messages(
    app: &App,
    session_id: i64,
    query: MessagesQuery,
) -> Result<MessagesResponse, ServiceError> {
    if query.from.is_some() && query.cursor.is_some() {
        return Err(ServiceError::invalid("from", "give a number or a cursor, not both"));
    }
    let node = plain("node", query.node.as_ref())?;
    let page = page_up_to(MAX_SESSION_ROWS, query.limit, query.cursor)?;
    let session = SessionId(session_id);
    let found = app.store.conversation(session, node, query.from.unwrap_or_default(), &page).await?;
    let conversation = found.ok_or_else(|| ServiceError::no_session(session))?;
    let messages: Vec<MessageResponse> = conversation.messages.items.into_iter().map(message).collect();
    Ok(MessagesResponse {
        session_id: session.0,
        total: conversation.total,
        instructions: conversation.instructions.map(|told| told.into_iter().map(instruction).collect()),
        count: messages.len(),
        messages,
        next_cursor: conversation.messages.next,
        deployment: deployment(app),
    })
}

/// A session's steps.
///
/// # Errors
/// No such session, a limit out of range, a bad cursor; a database error.
pub async fn steps(
    app: &App,
    session_id: i64,
    query: SessionPageQuery,
) -> Result<StepsResponse, ServiceError> {
    let session = find_session(app, session_id).await?;
    let page = app.store.steps(session, &page_up_to(MAX_SESSION_ROWS, query.limit, query.cursor)?).await?;
    let calls = ModelCalls::read(app, &page.items).await?;
    let steps: Vec<StepResponse> = page.items.into_iter().map(|view| step(view, &calls)).collect();
    Ok(StepsResponse {
        session_id: session.0,
        count: steps.len(),
        steps,
        next_cursor: page.next,
        deployment: deployment(app),
    })
}

/// The data reads of a session.
///
/// # Errors
/// As [`steps`].
pub async fn exposures(
    app: &App,
    session_id: i64,
    query: SessionPageQuery,
) -> Result<ExposuresResponse, ServiceError> {
    let session = find_session(app, session_id).await?;
    let page =
        app.store.exposures(session, &page_up_to(MAX_SESSION_ROWS, query.limit, query.cursor)?).await?;
    let exposures: Vec<ExposureResponse> = page.items.into_iter().map(exposure).collect();
    Ok(ExposuresResponse {
        session_id: session.0,
        count: exposures.len(),
        exposures,
        next_cursor: page.next,
        deployment: deployment(app),
    })
}

pub(super) async fn find_session(app: &App, session: i64) -> Result<SessionId, ServiceError> {
    let id = SessionId(session);
    if app.store.has_session(id).await? {
        return Ok(id);
    }
    Err(ServiceError::no_session(id))
}

fn step(view: StepView, calls: &ModelCalls) -> StepResponse {
    use papertape_core::tape::StepState;
    let (state, outcome) = match view.state {
        StepState::Intent => ("intent", None),
        StepState::Done(kind) => ("done", Some(kind.as_str())),
        StepState::Abandoned => ("abandoned", None),
    };
    StepResponse {
        kind: view.path.kind().to_owned(),
        path: view.path.to_string(),
        class: view.class.as_str().to_owned(),
        state: state.to_owned(),
        outcome: outcome.map(str::to_owned),
        model: calls.model(&view).map(ToString::to_string),
        finish_reason: calls.finish_reason(&view).map(|reason| reason.as_str().to_owned()),
        detached: view.detached,
        seq: view.seq,
        digest: view.digest.to_hex(),
        request_ref: view.request_ref.map(|hash| hash.to_hex()),
        outcome_ref: view.outcome_ref.map(|hash| hash.to_hex()),
        reused_from: view.reused_from,
        attempts: view.attempts,
        interrupted: view.interrupted,
        input_tokens: view.usage.input_tokens,
        output_tokens: view.usage.output_tokens,
        cost_usd: view.cost_usd.map(number),
        estimated_calls: view.estimated_calls,
        started_at: view.started_at,
        ended_at: view.ended_at,
        hash: view.hash.map(|hash| hash.to_hex()),
    }
}

fn exposure(view: ExposureView) -> ExposureResponse {
    ExposureResponse {
        path: view.path.to_string(),
        dataset: view.shown.dataset.to_hex(),
        series: view.shown.series,
        first_date: view.shown.first,
        last_date: view.shown.last,
        rows: view.shown.rows,
        latest_known_at: view.shown.latest_known_at,
    }
}
