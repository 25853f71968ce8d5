//! A session's conversation, tape and exposure record, in pages.

use super::reasoning::{instruction, message};
use super::{
    Deployment, InstructionsResponse, MAX_SESSION_ROWS, MessageResponse, Number, ViewError, number,
    page_up_to, plain,
};
use crate::app::App;
use papertape_core::record::SessionId;
use papertape_core::time::{Date, Timestamp};
use papertape_store::{ExposureView, StepView};
use serde::Serialize;
use utoipa::ToSchema;

/// Which part of a session's list.
#[derive(Clone, Debug)]
pub struct SessionQuery {
    /// The session.
    pub session_id: i64,
    /// How many at most, 1 to 1,000.
    pub limit: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// Which part of a session's conversation.
#[derive(Clone, Debug, Default)]
pub struct MessagesQuery {
    /// The session.
    pub session_id: i64,
    /// Of this node alone, with its round or of any.
    pub node: Option<String>,
    /// From the message of this number on; not together with a cursor.
    pub from: Option<u32>,
    /// How many at most, 1 to 1,000.
    pub limit: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// A page of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct MessagesResponse {
    /// The session.
    pub session_id: i64,
    /// How many messages there are in all, of the node where one is asked for.
    pub total: u32,
    /// What the nodes were told before their conversations; absent on a page reached by a cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Vec<InstructionsResponse>>,
    /// The messages, by number.
    pub messages: Vec<MessageResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// A page of steps.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct StepsResponse {
    /// The session.
    pub session_id: i64,
    /// Its steps in the order in which they were begun, those of summaries among them.
    pub steps: Vec<StepResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// One effect of a session on the outside.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct StepResponse {
    /// Where it stands: `[symbol/]node#round/kind#n`.
    pub path: String,
    /// `model`, `tool`, `order`, ….
    pub kind: String,
    /// `external`, `local`, `order` or `guard`.
    pub class: &'static str,
    /// `intent`, `done` or `abandoned`.
    pub state: &'static str,
    /// Of `done`: `ok`, `failed`, `timed_out`, `refused` or `unknown`.
    pub outcome: Option<&'static str>,
    /// Is it of the summaries' own tape?
    pub detached: bool,
    /// Which link of the session's chain it is; `null` while it is open.
    pub seq: Option<i64>,
    /// Hash of what was asked, in the form that is compared on a re-run.
    pub digest: String,
    /// Hash of the document that says what was asked.
    pub request_ref: Option<String>,
    /// Hash of the outcome's document.
    pub outcome_ref: Option<String>,
    /// `job/session/path` that it was copied from.
    pub reused_from: Option<String>,
    /// How many attempts were sent.
    pub attempts: u32,
    /// How many of these a crash or a stop has cut off.
    pub interrupted: u32,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; `null` where no price is known.
    pub cost_usd: Option<Number>,
    /// Attempts whose usage is not known; tokens and cost hold an estimate of it.
    pub estimated_calls: u64,
    /// When it was begun.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Its link's hash.
    pub hash: Option<String>,
}

/// A page of the exposure record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExposuresResponse {
    /// The session.
    pub session_id: i64,
    /// What it was shown, in the order of commits.
    pub exposures: Vec<ExposureResponse>,
    /// How many there are on this page.
    pub count: usize,
    /// Where the next page begins; `null` at the end.
    pub next_cursor: Option<String>,
    /// Whose data it is.
    #[serde(flatten)]
    pub deployment: Deployment,
}

/// What one read of the market showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExposureResponse {
    /// The step that read.
    pub path: String,
    /// The dataset's content hash.
    pub dataset: String,
    /// The series, such as `AAPL/bars`.
    pub series: String,
    /// Day of the earliest row; `null` where there is none.
    pub first_date: Option<Date>,
    /// Day of the latest row; `null` where there is none.
    pub last_date: Option<Date>,
    /// How many rows.
    pub rows: u64,
    /// When the newest of them became known.
    pub latest_known_at: Option<Timestamp>,
}

/// What was said in a session.
///
/// # Errors
/// No such session, a limit out of range, a bad cursor, both a cursor and a number; the record's.
pub async fn messages(app: &App, query: MessagesQuery) -> Result<MessagesResponse, ViewError> {
    if query.from.is_some() && query.cursor.is_some() {
        return Err(ViewError::bad("from", "give a number or a cursor, not both"));
    }
    let node = plain("node", query.node.as_ref())?;
    let page = page_up_to(MAX_SESSION_ROWS, query.limit, query.cursor)?;
    let session = SessionId(query.session_id);
    let found = app.store.conversation(session, node, query.from.unwrap_or_default(), &page).await?;
    let talk = found.ok_or_else(|| missing(session))?;
    let messages: Vec<MessageResponse> = talk.messages.items.into_iter().map(message).collect();
    Ok(MessagesResponse {
        session_id: session.0,
        total: talk.total,
        instructions: talk.instructions.map(|told| told.into_iter().map(instruction).collect()),
        count: messages.len(),
        messages,
        next_cursor: talk.messages.next,
        deployment: Deployment::of(app),
    })
}

/// A session's steps.
///
/// # Errors
/// No such session, a limit out of range, a bad cursor; the record's.
pub async fn steps(app: &App, query: SessionQuery) -> Result<StepsResponse, ViewError> {
    let session = found(app, query.session_id).await?;
    let page = app.store.steps(session, &page_up_to(MAX_SESSION_ROWS, query.limit, query.cursor)?).await?;
    let steps: Vec<StepResponse> = page.items.into_iter().map(step).collect();
    Ok(StepsResponse {
        session_id: session.0,
        count: steps.len(),
        steps,
        next_cursor: page.next,
        deployment: Deployment::of(app),
    })
}

/// What a session was shown of the market.
///
/// # Errors
/// As [`steps`].
pub async fn exposures(app: &App, query: SessionQuery) -> Result<ExposuresResponse, ViewError> {
    let session = found(app, query.session_id).await?;
    let page =
        app.store.exposures(session, &page_up_to(MAX_SESSION_ROWS, query.limit, query.cursor)?).await?;
    let exposures: Vec<ExposureResponse> = page.items.into_iter().map(exposure).collect();
    Ok(ExposuresResponse {
        session_id: session.0,
        count: exposures.len(),
        exposures,
        next_cursor: page.next,
        deployment: Deployment::of(app),
    })
}

async fn found(app: &App, session: i64) -> Result<SessionId, ViewError> {
    let id = SessionId(session);
    if app.store.has_session(id).await? {
        return Ok(id);
    }
    Err(missing(id))
}

fn missing(session: SessionId) -> ViewError {
    ViewError::NotFound(format!("there is no session {}", session.0))
}

fn step(view: StepView) -> StepResponse {
    use papertape_core::tape::StepState;
    let (state, outcome) = match view.state {
        StepState::Intent => ("intent", None),
        StepState::Done(kind) => ("done", Some(kind.as_str())),
        StepState::Abandoned => ("abandoned", None),
    };
    StepResponse {
        kind: view.path.kind().to_owned(),
        path: view.path.to_string(),
        class: view.class.as_str(),
        state,
        outcome,
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
