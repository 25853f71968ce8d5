//! `/chat/message`, `/chat/sessions` and `/chat/sessions/{session_id}`

use super::error::ApiError;
use super::extract::{Body, ChatPath, PageParams, PreferredLanguage, Query};
use super::responses::{BodyErrors, ReadErrors};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_service::app::App;
use papertape_service::assistant::{self, NewMessage};
use papertape_service::view::{
    self, ChatMessageResponse, ChatQuery, ChatSessionResponse, ChatSessionSummary, ChatSessionsResponse,
    Deployment,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A user's message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "message": "Backtest the contrarian on IBM and AAPL for the autumn of 2012, compare it with buy and hold, and tell me why it lost in November"
}))]
pub(super) struct MessageBody {
    /// The text; not blank.
    #[schema(min_length = 1, max_length = 20_000, pattern = r"\S")]
    message: String,
    /// The conversation; absent: start a new one.
    session_id: Option<String>,
    /// What the user's page displays, passed to the model as data. `confirm` in it lists the IDs of the `pending`
    /// actions that the user confirms.
    #[schema(value_type = Option<Object>)]
    context: Option<Map<String, Value>>,
    /// The plan that the conversation is about from now on.
    plan_id: Option<i64>,
}

/// A stored message and the placeholder for its answer.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(super) struct TurnResponse {
    /// The conversation.
    session: ChatSessionSummary,
    /// The user's message.
    user: ChatMessageResponse,
    /// The placeholder that is filled once the job has run: `metadata.type` is `job_log`, and `metadata.job_id` is
    /// the job to follow.
    assistant: ChatMessageResponse,
    /// The job that writes the answer.
    job_id: String,
    #[serde(flatten)]
    deployment: Deployment,
}

/// Send a message to the assistant
///
/// Returns at once; a job writes the answer. Follow the job at `/jobs/{job_id}/stream`, or read the conversation
/// again once the job has ended. The answer is in the language of the message. If the message does not show its
/// language, the conversation's applies: Chinese, or English if `Accept-Language` prefers it when the
/// conversation starts.
#[utoipa::path(
    post,
    path = "/chat/message",
    tag = "chat",
    request_body = MessageBody,
    responses((status = 202, body = TurnResponse, description = "The message is stored, and a job writes the answer"), BodyErrors)
)]
pub(super) async fn message(
    State(app): State<App>,
    PreferredLanguage(language): PreferredLanguage,
    Body(body): Body<MessageBody>,
) -> Result<(StatusCode, Json<TurnResponse>), ApiError> {
    let new = NewMessage {
        message: body.message,
        session: body.session_id,
        plan: body.plan_id,
        context: body.context.unwrap_or_default(),
        language: Some(language),
    };
    let turn = assistant::post_message(&app, new).await?;
    let assistant = view::chat_message(turn.assistant);
    let response = TurnResponse {
        session: turn.session.into(),
        user: view::chat_message(turn.user),
        job_id: assistant.job_id.clone().unwrap_or_default(),
        assistant,
        deployment: Deployment::of(&app),
    };
    Ok((StatusCode::ACCEPTED, Json(response)))
}

/// List conversations, newest first
#[utoipa::path(
    get,
    path = "/chat/sessions",
    tag = "chat",
    params(PageParams),
    responses((status = 200, body = ChatSessionsResponse, description = "A page of conversations"), ReadErrors)
)]
pub(super) async fn sessions(
    State(app): State<App>,
    Query(params): Query<PageParams>,
) -> Result<Json<ChatSessionsResponse>, ApiError> {
    let query = ChatQuery { limit: params.limit, cursor: params.cursor };
    Ok(Json(view::chat_sessions(&app, query).await?))
}

/// Get a conversation with its messages, newest first
#[utoipa::path(
    get,
    path = "/chat/sessions/{session_id}",
    tag = "chat",
    params(("session_id" = String, Path, description = "The conversation"), PageParams),
    responses((status = 200, body = ChatSessionResponse, description = "The conversation"), ReadErrors)
)]
pub(super) async fn session(
    State(app): State<App>,
    ChatPath(session): ChatPath,
    Query(params): Query<PageParams>,
) -> Result<Json<ChatSessionResponse>, ApiError> {
    let query = ChatQuery { limit: params.limit, cursor: params.cursor };
    Ok(Json(view::chat_session(&app, &session, query).await?))
}
