//! Conversations with the assistant.

use crate::action;
use crate::db::{Db, Statement};
use crate::enqueue::enqueue;
use crate::error::StoreError;
use crate::exclusivity;
use crate::page::{List, number, word};
use crate::store::{Store, port};
use crate::value::{Row, Value, from_row, params};
use futures::FutureExt as _;
use papertape_core::action::summarize;
use papertape_core::chat::{
    ChatId, ChatMessage, ChatRole, ChatSession, ChatTurn, ChatWrite, NewTurn, unanswered,
};
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::page::{Page, PageRequest};
use papertape_core::ports::{BoxFuture, Chats, RecordError};
use papertape_core::record::{JobStatus, NewJob};
use papertape_core::time::{Timestamp, to_micros};
use papertape_redact::Sanitized;

const SESSIONS: List = List { name: "chat_sessions", default: 50, max_limit: 200 };
const MESSAGES: List = List { name: "chat_messages", default: 50, max_limit: 200 };
/// Max messages of history in a model's prompt.
const MAX_HISTORY: u32 = 1_000;

impl Chats for Store {
    fn ask<'a>(&'a self, turn: Sanitized<NewTurn>) -> BoxFuture<'a, Result<Option<ChatTurn>, RecordError>> {
        let job = turn.get().job.id.clone();
        port(self.write_for_with(&job, turn, |db, turn| ask(db, turn.get()).boxed()))
    }

    fn turn<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<Option<ChatTurn>, RecordError>> {
        port(self.read_with(job.clone(), |db, job| turn(db, job).boxed()))
    }

    fn session<'a>(&'a self, session: &'a ChatId) -> BoxFuture<'a, Result<Option<ChatSession>, RecordError>> {
        port(self.read_with(session.clone(), |db, session| find(db, session).boxed()))
    }

    fn sessions<'a>(
        &'a self,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<ChatSession>, RecordError>> {
        port(self.read_with(page.clone(), |db, page| sessions(db, page).boxed()))
    }

    fn messages<'a>(
        &'a self,
        session: &'a ChatId,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<ChatMessage>, RecordError>> {
        port(self.read_with((session.clone(), page.clone()), |db, (session, page)| {
            messages(db, session, page).boxed()
        }))
    }

    fn history<'a>(
        &'a self,
        session: &'a ChatId,
        before: i64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatMessage>, RecordError>> {
        port(self.read_with(session.clone(), move |db, session| {
            async move {
                let sql = format!(
                    "SELECT {MESSAGE} FROM chat_messages WHERE session_id = $1 AND n < $2
                     ORDER BY n DESC LIMIT $3"
                );
                let rows = db.query(&sql, params![session, before, limit.min(MAX_HISTORY)]).await?;
                rows.into_iter().rev().map(read_message).collect()
            }
            .boxed()
        }))
    }
}

async fn ask(db: &mut dyn Db, turn: &NewTurn) -> Result<Option<ChatTurn>, StoreError> {
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
    let Some(row) = db.row(&sql, params![turn.at, turn.plan, &turn.session]).await? else {
        return Ok(None);
    };
    let session = read_session(row)?;
    exclusivity::ensure_chat_free(db, &turn.job.id, &session.id).await?;
    let job = NewJob { plan: turn.job.plan.or(session.plan_id), ..turn.job.clone() };
    enqueue(db, &job).await?;
    let sql = "SELECT coalesce(max(n), 0) FROM chat_messages WHERE session_id = $1";
    let last: i64 = match db.row(sql, params![&session.id]).await? {
        Some(mut row) => row.get()?,
        None => 0,
    };
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

async fn add(db: &mut dyn Db, message: ChatMessage) -> Result<ChatMessage, StoreError> {
    let sql = "INSERT INTO chat_messages (session_id, n, role, content, metadata, job_id, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id";
    let values = params![
        &message.session_id,
        message.n,
        message.role,
        &message.content,
        &message.metadata,
        message.job_id.as_ref(),
        message.created_at
    ];
    let mut row =
        db.row(sql, values).await?.ok_or_else(|| StoreError::inconsistent("a new message has no id"))?;
    Ok(ChatMessage { id: row.get()?, ..message })
}

/// Applies a job's change to a conversation.
pub(crate) async fn apply(db: &mut dyn Db, write: &ChatWrite, at: Timestamp) -> Result<(), StoreError> {
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
) -> Result<(), StoreError> {
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

async fn turn(db: &mut dyn Db, job: &JobId) -> Result<Option<ChatTurn>, StoreError> {
    let sql = format!("SELECT {MESSAGE} FROM chat_messages WHERE job_id = $1 ORDER BY n LIMIT 2");
    let mut found = db.query(&sql, params![job]).await?.into_iter().map(read_message);
    let (Some(user), Some(assistant)) = (found.next(), found.next()) else { return Ok(None) };
    let (user, assistant) = (user?, assistant?);
    let session = find(db, &user.session_id)
        .await?
        .ok_or_else(|| StoreError::inconsistent("a message has no conversation"))?;
    Ok(Some(ChatTurn { session, user, assistant }))
}

const SESSION: &str = "id, title, language, plan_id, created_at, updated_at";

fn read_session(mut row: Row) -> Result<ChatSession, StoreError> {
    Ok(from_row!(row => ChatSession {
        id, title, language, plan_id, created_at, updated_at,
    }))
}

async fn find(db: &mut dyn Db, session: &ChatId) -> Result<Option<ChatSession>, StoreError> {
    let sql = format!("SELECT {SESSION} FROM chat_sessions WHERE id = $1");
    db.row(&sql, params![session]).await?.map(read_session).transpose()
}

async fn sessions(db: &mut dyn Db, page: &PageRequest) -> Result<Page<ChatSession>, StoreError> {
    let mut statement = Statement::new(format!("SELECT {SESSION} FROM chat_sessions WHERE 1 = 1"));
    if let Some([created_at, id]) = SESSIONS.key(page)? {
        let key = [number(&created_at)?.into(), word(&id)?.into()];
        statement.add(" AND (created_at, id) < (?, ?)", key);
    }
    let limit = Value::from(SESSIONS.limit(page) + 1);
    statement.add(" ORDER BY created_at DESC, id DESC LIMIT ?", [limit]);
    let found = statement.query(db).await?.into_iter().map(read_session).collect::<Result<_, _>>()?;
    Ok(SESSIONS
        .page(page, found, |session| vec![to_micros(session.created_at).into(), session.id.as_str().into()]))
}

const MESSAGE: &str = "id, session_id, n, role, content, metadata, job_id, created_at";

fn read_message(mut row: Row) -> Result<ChatMessage, StoreError> {
    Ok(from_row!(row => ChatMessage {
        id, session_id, n, role, content, metadata, job_id, created_at,
    }))
}

async fn messages(
    db: &mut dyn Db,
    session: &ChatId,
    page: &PageRequest,
) -> Result<Page<ChatMessage>, StoreError> {
    let mut statement = Statement::new(format!("SELECT {MESSAGE} FROM chat_messages WHERE 1 = 1"));
    statement.add(" AND session_id = ?", [session.into()]);
    if let Some([n]) = MESSAGES.key(page)? {
        statement.add(" AND n < ?", [number(&n)?.into()]);
    }
    let limit = Value::from(MESSAGES.limit(page) + 1);
    statement.add(" ORDER BY n DESC LIMIT ?", [limit]);
    let found = statement.query(db).await?.into_iter().map(read_message).collect::<Result<_, _>>()?;
    Ok(MESSAGES.page(page, found, |message| vec![message.n.into()]))
}
