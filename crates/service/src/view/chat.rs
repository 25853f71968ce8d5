//! Conversations with the assistant.

use super::page;
use crate::app::App;
use crate::error::ServiceError;
use crate::view::deployment;
use papertape_core::chat::ChatId;
use papertape_core::ports::Chats as _;
use papertape_protocol::chat::{
    ChatMessageResponse, ChatSessionResponse, ChatSessionSummary, ChatSessionsResponse,
};
use papertape_protocol::query::PageQuery;

/// All conversations.
///
/// # Errors
/// A bad limit or cursor; a database error.
pub async fn chat_sessions(app: &App, query: PageQuery) -> Result<ChatSessionsResponse, ServiceError> {
    let request = page(query.limit, query.cursor)?;
    let found = papertape_core::ports::Chats::sessions(&app.store, &request).await?;
    let sessions: Vec<ChatSessionSummary> = found.items.into_iter().map(ChatSessionSummary::from).collect();
    Ok(ChatSessionsResponse {
        count: sessions.len(),
        sessions,
        next_cursor: found.next,
        deployment: deployment(app),
    })
}

/// One conversation.
///
/// # Errors
/// No such conversation; a bad limit or cursor; a database error.
pub async fn chat_session(
    app: &App,
    id: &str,
    query: PageQuery,
) -> Result<ChatSessionResponse, ServiceError> {
    let missing = || ServiceError::no_conversation(id);
    if id.contains('\0') {
        return Err(missing());
    }
    let session = ChatId::new(id);
    let request = page(query.limit, query.cursor)?;
    let found = papertape_core::ports::Chats::session(&app.store, &session).await?.ok_or_else(missing)?;
    let messages = app.store.messages(&session, &request).await?;
    let (items, next_cursor) = (messages.items, messages.next);
    let messages: Vec<ChatMessageResponse> = items.into_iter().map(ChatMessageResponse::from).collect();
    Ok(ChatSessionResponse {
        session: found.into(),
        count: messages.len(),
        messages,
        next_cursor,
        show_action_summary: app.config.settings.chat.show_action_summary,
        deployment: deployment(app),
    })
}
