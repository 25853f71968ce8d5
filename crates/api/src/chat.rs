//! `/chat/message`, `/chat/sessions` and `/chat/sessions/{session_id}`

use super::error::{ApiError, ApiResult};
use super::extract::{Body, ChatPath, PreferredLanguage, Query};
use super::responses::{BodyErrors, ReadErrors};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use papertape_protocol::chat::{
    ChatMessageResponse, ChatSessionResponse, ChatSessionsResponse, MessageBody, TurnResponse,
};
use papertape_protocol::query::PageQuery;
use papertape_service::app::App;
use papertape_service::assistant::{self, NewMessage};
use papertape_service::view;

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
    let assistant = ChatMessageResponse::from(turn.assistant);
    let response = TurnResponse {
        session: turn.session.into(),
        user: ChatMessageResponse::from(turn.user),
        job_id: assistant.job_id.clone().unwrap_or_default(),
        assistant,
        deployment: view::deployment(&app),
    };
    Ok((StatusCode::ACCEPTED, Json(response)))
}

/// List conversations, newest first
#[utoipa::path(
    get,
    path = "/chat/sessions",
    tag = "chat",
    params(PageQuery),
    responses((status = 200, body = ChatSessionsResponse, description = "A page of conversations"), ReadErrors)
)]
pub(super) async fn sessions(
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> ApiResult<ChatSessionsResponse> {
    Ok(Json(view::chat_sessions(&app, query).await?))
}

/// Get a conversation with its messages, newest first
#[utoipa::path(
    get,
    path = "/chat/sessions/{session_id}",
    tag = "chat",
    params(("session_id" = String, Path, description = "The conversation"), PageQuery),
    responses((status = 200, body = ChatSessionResponse, description = "The conversation"), ReadErrors)
)]
pub(super) async fn session(
    State(app): State<App>,
    ChatPath(session): ChatPath,
    Query(query): Query<PageQuery>,
) -> ApiResult<ChatSessionResponse> {
    Ok(Json(view::chat_session(&app, &session, query).await?))
}
