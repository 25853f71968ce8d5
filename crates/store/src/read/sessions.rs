//! Sessions with their transcripts and actions.

use super::by_key;
use crate::db::{Db, Statement};
use crate::error::Result;
use crate::page::{List, Page, PageRequest};
use crate::rows::derived::POSITION;
use crate::search::SearchQuery;
use crate::store::Store;
use crate::texts::{BODY, Body};
use crate::value::{FromRow, Row, Value, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, JobId, Symbol};
use papertape_core::message::Role;
use papertape_core::record::{DayStatus, PositionRow, SessionId};
use papertape_core::tape::{ScopeKey, StepPath};
use papertape_core::time::{Date, Timestamp, to_micros};
use std::collections::BTreeMap;

const SESSIONS: List = List::ascending("sessions", (50, 200), "s.started_at, s.id");
/// Sessions with their transcripts.
const WHOLE: List = List::ascending("sessions", (10, 50), "s.started_at, s.id");
const MESSAGES: List = List::ascending("messages", (200, 1000), "m.message_index");
/// SQL: the system prompts of a session's nodes.
const INSTRUCTIONS: &str =
    "SELECT i.session_id, i.node, t.body, t.encoding, t.packed FROM session_instructions i
    JOIN texts t ON t.hash = i.hash WHERE i.session_id IN (?) ORDER BY i.n";

/// Filter for sessions; conditions are ANDed.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Of this job.
    pub job: Option<JobId>,
    /// Of this trading day.
    pub date: Option<Date>,
    /// Of this agent.
    pub agent: Option<AgentName>,
    /// That involve this instrument: in positions, orders or steps.
    pub symbol: Option<Symbol>,
    /// In which this node speaks, with its round (`Bull Researcher#1`) or in any round (`Bull Researcher`). The
    /// conversation is then limited to this node.
    pub node: Option<String>,
    /// In which one message contains all these words.
    pub q: Option<String>,
}

/// A session, as `GET /reasoning` returns it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionView {
    /// Its ID.
    pub id: SessionId,
    /// Its job.
    pub job: JobId,
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
    /// `running` until it is closed.
    pub status: DayStatus,
    /// Why it failed.
    pub error: Option<String>,
    /// Metadata and provenance; `None` until it is closed.
    pub metadata: Option<serde_json::Value>,
    /// Its summary.
    pub session_summary: Option<String>,
    /// Why there is no summary.
    pub summary_error: Option<String>,
    /// When it was opened.
    pub started_at: Timestamp,
    /// When it was closed.
    pub completed_at: Option<Timestamp>,
    /// Number of messages at its close.
    pub total_messages: Option<u32>,
    /// Its actions.
    pub positions: Vec<PositionRow>,
    /// System prompts by node; only with the conversation.
    pub instructions: Vec<Instructions>,
    /// The transcript, if requested.
    pub conversation: Option<Vec<MessageView>>,
}

/// A node's system prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instructions {
    /// The node's scope.
    pub node: String,
    /// The text.
    pub text: String,
}

/// A row of `reasoning_logs`.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageView {
    /// From 0 in a session, in the order of commits.
    pub message_index: u32,
    /// Author of the message.
    pub role: Role,
    /// Text of the message.
    pub content: String,
    /// Its summary.
    pub summary: Option<String>,
    /// Why there is no summary.
    pub summary_error: Option<String>,
    /// The tool whose result this is.
    pub tool_name: Option<String>,
    /// The tool's arguments.
    pub tool_input: Option<serde_json::Value>,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// Its step.
    pub path: StepPath,
    /// Its node with the round.
    pub node: String,
    /// Number of its event.
    pub n: i64,
}

/// A page of a session's transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationPage {
    /// Total number of messages.
    pub total: u32,
    /// System prompts by node; only with the first page.
    pub instructions: Option<Vec<Instructions>>,
    /// The messages.
    pub messages: Page<MessageView>,
}

impl Store {
    /// A session's transcript from this message number on, for all nodes or for one (as in [`SessionFilter`]), by
    /// number; `None` if there is no such session.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn conversation(
        &self,
        session: SessionId,
        node: Option<&str>,
        from: u32,
        page: &PageRequest,
    ) -> Result<Option<ConversationPage>> {
        self.read_with((node.map(str::to_owned), page.clone()), move |db, (node, page)| {
            conversation(db, session, node.as_deref(), from, page).boxed()
        })
        .await
    }

    /// The agent's messages of a node, newest first, before this message number. `node` is as in
    /// [`SessionFilter`].
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn last_words(
        &self,
        session: SessionId,
        node: &str,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<MessageView>> {
        self.read_with(node.to_owned(), move |db, node| {
            async move {
                let mut statement = select_messages(session);
                statement.add(" AND m.role = ?", [Role::Assistant.as_str().into()]);
                filter_by_node(&mut statement, node);
                if let Some(before) = before {
                    statement.add(" AND m.message_index < ?", [i64::from(before).into()]);
                }
                statement.add(" ORDER BY m.message_index DESC LIMIT ?", [i64::from(limit).into()]);
                statement.all(db).await
            }
            .boxed()
        })
        .await
    }

    /// Sessions by the time they were opened, with their actions and, if `conversation`, their transcripts. A
    /// page with transcripts has at most 50 sessions.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or the database fails.
    pub async fn sessions(
        &self,
        filter: &SessionFilter,
        conversation: bool,
        page: &PageRequest,
    ) -> Result<Page<SessionView>> {
        self.read_with((filter.clone(), page.clone()), move |db, (filter, page)| {
            sessions(db, filter, conversation, page).boxed()
        })
        .await
    }
}

async fn sessions(
    db: &mut dyn Db,
    filter: &SessionFilter,
    conversation: bool,
    page: &PageRequest,
) -> Result<Page<SessionView>> {
    let list = if conversation { WHOLE } else { SESSIONS };
    let mut statement = Statement::new(
        "SELECT s.id, s.job_id, s.date, s.model, s.status, s.error, s.metadata, s.session_summary, s.summary_error,
         s.started_at, s.completed_at, s.total_messages FROM trading_sessions s WHERE 1 = 1",
    );
    let question = match &filter.q {
        Some(q) => match SearchQuery::parse(db, q).await? {
            Some(question) => Some(question),
            None => return Ok(Page { items: Vec::new(), next: None }),
        },
        None => None,
    };
    conditions(filter, question.as_ref(), &mut statement);
    if let Some((started_at, id)) = list.key::<(i64, i64)>(page)? {
        statement.add(" AND (s.started_at, s.id) > (?, ?)", [started_at.into(), id.into()]);
    }
    // A rare word yields few sessions: sort those instead of walking the index of starts.
    let is_rare = question.as_ref().is_some_and(SearchQuery::is_rare);
    let order = if is_rare { " ORDER BY +s.started_at, s.id" } else { " ORDER BY s.started_at, s.id" };
    statement.add(&format!("{order} LIMIT ?"), [Value::from(list.limit(page) + 1)]);
    let found = statement.all::<SessionView>(db).await?;
    let mut page = list.page(page, found, |item| (to_micros(item.started_at), item.id.0));

    let ids: Vec<SessionId> = page.items.iter().map(|item| item.id).collect();
    let sql =
        format!("SELECT session_id, {POSITION} FROM positions WHERE session_id IN (?) ORDER BY action_id");
    let mut positions: BTreeMap<_, Vec<PositionRow>> = by_key(db, &sql, &ids).await?;
    for item in &mut page.items {
        item.positions = positions.remove(&item.id).unwrap_or_default();
    }
    if conversation {
        let mut instructions: BTreeMap<_, Vec<Instructions>> = by_key(db, INSTRUCTIONS, &ids).await?;
        for item in &mut page.items {
            item.instructions = instructions.remove(&item.id).unwrap_or_default();
            item.conversation = Some(messages(db, item.id, filter.node.as_deref(), None).await?);
        }
    }
    Ok(page)
}

/// Adds the filter's conditions.
fn conditions(filter: &SessionFilter, question: Option<&SearchQuery>, statement: &mut Statement) {
    statement.add_some(" AND s.job_id = ?", filter.job.as_ref());
    statement.add_some(" AND s.date = ?", filter.date);
    statement.add_some(" AND s.model = ?", filter.agent.as_ref());
    if let Some(symbol) = &filter.symbol {
        // A path begins with the instrument's scope, spelled as on the tape.
        let scope = format!("{}/", ScopeKey::Symbol(symbol.as_str().to_owned()));
        statement.add(
            " AND (EXISTS (SELECT 1 FROM positions p WHERE p.session_id = s.id AND p.symbol = ?)
              OR EXISTS (SELECT 1 FROM orders o WHERE o.session_id = s.id AND o.symbol = ?)
              OR EXISTS (SELECT 1 FROM steps t WHERE t.session_id = s.id
                  AND substr(t.path, 1, ?) = ?))",
            [symbol.into(), symbol.into(), scope.chars().count().into(), scope.into()],
        );
    }
    if filter.node.is_none() && question.is_none() {
        return;
    }
    let among = if question.is_some_and(SearchQuery::is_rare) {
        " AND s.id IN (SELECT m.session_id FROM reasoning_log_rows m WHERE 1 = 1"
    } else {
        " AND EXISTS (SELECT 1 FROM reasoning_log_rows m WHERE m.session_id = s.id"
    };
    statement.add(among, []);
    if let Some(node) = &filter.node {
        filter_by_node(statement, node);
    }
    if let Some(question) = question {
        let (condition, words) = question.condition("m.content_id");
        statement.add(&format!(" AND {condition}"), [words]);
    }
    statement.add(")", []);
}

fn filter_by_node(statement: &mut Statement, node: &str) {
    let any_round = format!("{node}#");
    statement.add(
        " AND EXISTS (SELECT 1 FROM reasoning_logs l WHERE l.id = m.id AND (l.node = ? OR substr(l.node, 1, ?) = ?))",
        [node.into(), any_round.chars().count().into(), any_round.into()],
    );
}

from_row! { impl row => SessionView {
    id, job, date, agent, status, error, metadata, session_summary, summary_error, started_at, completed_at,
    total_messages, positions: Vec::new(), instructions: Vec::new(), conversation: None,
} }

from_row! { impl row => Instructions { node, text: row.get::<Body>()?.0 } }

impl FromRow for MessageView {
    fn from_row(row: &mut Row) -> Result<Self> {
        let mut message = from_row!(row => Self {
            message_index, role, content: row.get::<Body>()?.0, summary, summary_error, tool_name, tool_input,
            timestamp, path, node: String::new(), n,
        });
        message.path.node().clone_into(&mut message.node);
        Ok(message)
    }
}

async fn conversation(
    db: &mut dyn Db,
    session: SessionId,
    node: Option<&str>,
    from: u32,
    page: &PageRequest,
) -> Result<Option<ConversationPage>> {
    if db.row("SELECT 1 FROM trading_sessions WHERE id = $1", params![session]).await?.is_none() {
        return Ok(None);
    }
    let from = MESSAGES.key::<(i64,)>(page)?.map_or(from.into(), |(last,)| last.saturating_add(1));
    let mut statement = Statement::default();
    statement.add("SELECT count(*) FROM reasoning_log_rows m WHERE m.session_id = ?", [session.into()]);
    if let Some(node) = node {
        filter_by_node(&mut statement, node);
    }
    let total = statement.first(db).await?.unwrap_or_default();
    let instructions = match page.cursor {
        Some(_) => None,
        None => Some(by_key(db, INSTRUCTIONS, &[session]).await?.remove(&session).unwrap_or_default()),
    };
    let found = messages(db, session, node, Some((from, MESSAGES.limit(page) + 1))).await?;
    let messages = MESSAGES.page(page, found, |message| (message.message_index,));
    Ok(Some(ConversationPage { total, instructions, messages }))
}

fn select_messages(session: SessionId) -> Statement {
    let mut statement = Statement::default();
    statement.add(
        &format!(
            "SELECT m.message_index, m.role, {BODY}, m.summary, m.summary_error, m.tool_name,
         m.tool_input, m.timestamp, s.path, m.n
         FROM reasoning_log_rows m JOIN texts t ON t.id = m.content_id JOIN steps s ON s.id = m.step_id
         WHERE m.session_id = ?"
        ),
        [session.into()],
    );
    statement
}

/// All messages of a session, or a page of them starting at a message number.
async fn messages(
    db: &mut dyn Db,
    session: SessionId,
    node: Option<&str>,
    part: Option<(i64, usize)>,
) -> Result<Vec<MessageView>> {
    let mut statement = select_messages(session);
    if let Some(node) = node {
        filter_by_node(&mut statement, node);
    }
    if let Some((from, _)) = part {
        statement.add(" AND m.message_index >= ?", [from.into()]);
    }
    statement.add(" ORDER BY m.message_index", []);
    if let Some((_, limit)) = part {
        statement.add(" LIMIT ?", [limit.into()]);
    }
    statement.all(db).await
}
