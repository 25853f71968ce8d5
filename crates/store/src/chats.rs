//! Conversations with the assistant.

use crate::action;
use crate::db::{Db, Statement};
use crate::enqueue::{Split, enqueue};
use crate::error::{Result, StoreError};
use crate::exclusivity;
use crate::page::List;
use crate::store::{Store, port};
use crate::value::{columns, from_row, params};
use futures::{FutureExt as _, TryFutureExt as _};
use papertape_core::action::summarize;
use papertape_core::chat::{
    ChatId, ChatMessage, ChatRole, ChatSession, ChatTurn, ChatWrite, NewTurn, unanswered,
};
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::page::{Page, PageRequest};
use papertape_core::ports::{Chats, RecordFuture};
use papertape_core::record::{JobStatus, NewJob};
use papertape_core::time::{Timestamp, to_micros};
use papertape_redact::Sanitized;

const SESSIONS: List = List::descending("chat_sessions", (50, 200), "created_at, id");
const MESSAGES: List = List::descending("chat_messages", (50, 200), "n");
/// Max messages of history in a model's prompt.
const MAX_HISTORY: u32 = 1_000;

impl Chats for Store {
    fn ask<'a>(&'a self, turn: Sanitized<NewTurn>) -> RecordFuture<'a, Option<ChatTurn>> {
        let job = turn.get().job.id.clone();
        port(self.write_for_with(&job, turn, |db, turn| ask(db, turn.get()).boxed()))
    }

    fn turn<'a>(&'a self, job: &'a JobId) -> RecordFuture<'a, Option<ChatTurn>> {
        port(self.read_with(job.clone(), |db, job| turn(db, job).boxed()))
    }

    fn session<'a>(&'a self, session: &'a ChatId) -> RecordFuture<'a, Option<ChatSession>> {
        port(self.read_with(session.clone(), |db, session| find(db, session).boxed()))
    }

    fn sessions<'a>(&'a self, page: &'a PageRequest) -> RecordFuture<'a, Page<ChatSession>> {
        port(self.read_with(page.clone(), |db, page| sessions(db, page).boxed()))
    }

    fn messages<'a>(
        &'a self,
        session: &'a ChatId,
        page: &'a PageRequest,
    ) -> RecordFuture<'a, Page<ChatMessage>> {
        port(self.read_with((session.clone(), page.clone()), |db, (session, page)| {
            messages(db, session, page).boxed()
        }))
    }

    fn history<'a>(
        &'a self,
        session: &'a ChatId,
        before: i64,
        limit: u32,
    ) -> RecordFuture<'a, Vec<ChatMessage>> {
        let sql = format!(
            "SELECT {MESSAGE} FROM chat_messages WHERE session_id = $1 AND n < $2 ORDER BY n DESC LIMIT $3"
        );
        let newest_first = self.all::<ChatMessage>(sql, params![session, before, limit.min(MAX_HISTORY)]);
        port(newest_first.map_ok(|messages| messages.into_iter().rev().collect()).boxed())
    }
}

async fn ask(db: &mut dyn Db, turn: &NewTurn) -> Result<Option<ChatTurn>> {
    if let Some(new) = &turn.opens {
        let sql = "INSERT INTO chat_sessions (id, title, language, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $4) ON CONFLICT (id) DO NOTHING";
        db.execute(sql, params![&turn.session, &new.title, new.language, turn.at]).await?;
    }
    // Locks the conversation's row, so that its messages are numbered one turn after the other.
    let sql = format!(
        "UPDATE chat_sessions SET updated_at = $1,
             plan_id = coalesce((SELECT id FROM plans WHERE id = $2), plan_id)
         WHERE id = $3 RETURNING {SESSION}"
    );
    let found = db.first::<ChatSession>(&sql, params![turn.at, turn.plan, &turn.session]).await?;
    let Some(session) = found else { return Ok(None) };
    exclusivity::ensure_chat_free(db, &turn.job.id, &session.id).await?;
    let job = NewJob { plan: turn.job.plan.or(session.plan_id), ..turn.job.clone() };
    enqueue(db, &job, &Split::default()).await?;
    let sql = "SELECT coalesce(max(n), 0) FROM chat_messages WHERE session_id = $1";
    let last: i64 = db.first(sql, params![&session.id]).await?.unwrap_or_default();
    let user = ChatMessage {
        id: 0,
        session_id: session.id.clone(),
        n: last + 1,
        role: ChatRole::User,
        content: turn.message.clone(),
        metadata: turn.metadata.clone(),
        job_id: Some(job.id),
        created_at: turn.at,
    };
    let answer = ChatMessage {
        n: last + 2,
        role: ChatRole::Assistant,
        content: String::new(),
        metadata: turn.answer_metadata.clone(),
        ..user.clone()
    };
    let (user, assistant) = (add(db, user).await?, add(db, answer).await?);
    Ok(Some(ChatTurn { session, user, assistant }))
}

async fn add(db: &mut dyn Db, message: ChatMessage) -> Result<ChatMessage> {
    let row = columns! {
        session_id: &message.session_id, n: message.n, role: message.role, content: &message.content,
        metadata: &message.metadata, job_id: message.job_id.as_ref(), created_at: message.created_at,
    };
    let id = Statement::insert("chat_messages", row).add(" RETURNING id", []).first(db).await?;
    let id = id.ok_or_else(|| StoreError::inconsistent("a new message has no id"))?;
    Ok(ChatMessage { id, ..message })
}

/// Applies a job's change to a conversation.
pub(crate) async fn apply(db: &mut dyn Db, write: &ChatWrite, at: Timestamp) -> Result<()> {
    let changed = match write {
        ChatWrite::Answer { message, content, metadata } => {
            let sql = "UPDATE chat_sessions SET updated_at = $1
                WHERE id = (SELECT session_id FROM chat_messages WHERE id = $2)";
            db.execute(sql, params![at, *message]).await?;
            let sql = "UPDATE chat_messages SET content = $1, metadata = $2
                WHERE id = $3 AND role = 'assistant'";
            db.execute(sql, params![content, metadata, *message]).await?
        }
        ChatWrite::Bind { session, plan } => {
            let sql = "UPDATE chat_sessions SET plan_id = (SELECT id FROM plans WHERE id = $1),
                updated_at = $2 WHERE id = $3";
            db.execute(sql, params![*plan, at, session]).await?
        }
    };
    if changed == 0 {
        return Err(StoreError::inconsistent("a conversation that is written to is not there"));
    }
    Ok(())
}

/// If a job ends without a reply, stores a notice in place of the reply, unless it already has text.
pub(crate) async fn answer_ended_job(
    db: &mut dyn Db,
    job: &JobId,
    status: JobStatus,
    error: Option<&str>,
    at: Timestamp,
) -> Result<()> {
    let Some(ChatTurn { session, assistant, .. }) = turn(db, job).await? else { return Ok(()) };
    if !assistant.content.is_empty() {
        return Ok(());
    }
    let mut metadata = assistant.metadata;
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("error".to_owned(), error.unwrap_or(status.as_str()).into());
        let rows = action::all(db, job).await?;
        let summary = summarize(rows.iter().map(|row| &row.row), session.language);
        metadata.insert("actions_summary".to_owned(), to_value(&summary));
    }
    let content = unanswered(status, error, session.language);
    apply(db, &ChatWrite::Answer { message: assistant.id, content, metadata }, at).await
}

async fn turn(db: &mut dyn Db, job: &JobId) -> Result<Option<ChatTurn>> {
    let sql = format!("SELECT {MESSAGE} FROM chat_messages WHERE job_id = $1 ORDER BY n LIMIT 2");
    let mut found = db.all(&sql, params![job]).await?.into_iter();
    let (Some(user), Some(assistant)): (Option<ChatMessage>, _) = (found.next(), found.next()) else {
        return Ok(None);
    };
    let session = find(db, &user.session_id)
        .await?
        .ok_or_else(|| StoreError::inconsistent("a message has no conversation"))?;
    Ok(Some(ChatTurn { session, user, assistant }))
}

const SESSION: &str = "id, title, language, plan_id, created_at, updated_at";

from_row! { impl row => ChatSession { id, title, language, plan_id, created_at, updated_at } }

async fn find(db: &mut dyn Db, session: &ChatId) -> Result<Option<ChatSession>> {
    let sql = format!("SELECT {SESSION} FROM chat_sessions WHERE id = $1");
    db.first(&sql, params![session]).await
}

async fn sessions(db: &mut dyn Db, page: &PageRequest) -> Result<Page<ChatSession>> {
    let statement = Statement::new(format!("SELECT {SESSION} FROM chat_sessions WHERE 1 = 1"));
    let key = |session: &ChatSession| (to_micros(session.created_at), session.id.clone());
    SESSIONS.fetch(db, statement, page, key).await
}

const MESSAGE: &str = "id, session_id, n, role, content, metadata, job_id, created_at";

from_row! { impl row => ChatMessage { id, session_id, n, role, content, metadata, job_id, created_at } }

async fn messages(db: &mut dyn Db, session: &ChatId, page: &PageRequest) -> Result<Page<ChatMessage>> {
    let mut statement = Statement::new(format!("SELECT {MESSAGE} FROM chat_messages WHERE 1 = 1"));
    statement.add(" AND session_id = ?", [session.into()]);
    MESSAGES.fetch(db, statement, page, |message: &ChatMessage| (message.n,)).await
}
