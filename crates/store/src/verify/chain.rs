//! A session's chains as they are recomputed from the rows: every link with the rows and texts that it covers.

use super::Break;
use super::session::{Link, Walk, close_link, links};
use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::record::chain::{instructions_link, summary_link};
use papertape_core::record::{DerivedRow, SessionId};
use papertape_core::time::Date;
use serde_json::Value;

/// A session's chains.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionChain {
    /// The session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// The newest link of its own chain, and their number.
    pub head: (ContentHash, u64),
    /// The same of its summaries' chain; the hash is `None` without any.
    pub summaries: (Option<ContentHash>, u64),
    /// All links, those of the summaries last.
    pub links: Vec<ChainLink>,
}

/// A link of a session's chains.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainLink {
    /// Whether it belongs to the summaries' chain.
    pub is_summary: bool,
    /// What it covers.
    pub kind: LinkKind,
    /// The link: its canonical JSON is what is hashed.
    pub link: Value,
    /// A step's derived rows, in order.
    pub rows: Vec<DerivedRow>,
    /// The texts that it references.
    pub texts: Vec<ContentHash>,
}

/// What a link covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// A step.
    Step,
    /// A node's instructions.
    Instructions,
    /// The session's close.
    Close,
    /// A summary.
    Summary,
}

impl Store {
    /// A job's sessions, by day and agent.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn job_sessions(&self, job: &JobId) -> Result<Vec<SessionId>> {
        let sql = "SELECT id FROM trading_sessions WHERE job_id = $1 ORDER BY date, model";
        self.read_with(job.clone(), move |db, job| async move { db.all(sql, params![job]).await }.boxed())
            .await
    }

    /// A session's chains, recomputed from its rows; `None` if there is no such session.
    ///
    /// # Errors
    /// Returns an error if the database fails, or if the rows do not form chains: [`Self::verify_chain`] says where.
    pub async fn session_chain(&self, session: SessionId) -> Result<Option<SessionChain>> {
        self.read(move |db| chain(db, session).boxed()).await
    }
}

async fn chain(db: &mut dyn Db, session: SessionId) -> Result<Option<SessionChain>> {
    let sql =
        "SELECT j.rules_version, s.model, s.date, s.chain_head, s.chain_length, s.close_seq, s.detached_head,
        s.detached_length FROM trading_sessions s JOIN jobs j ON j.job_id = s.job_id WHERE s.id = $1";
    let Some(mut row) = db.row(sql, params![session]).await? else { return Ok(None) };
    let (rules, agent, date): (u32, AgentName, Date) = (row.get()?, row.get()?, row.get()?);
    let head: (ContentHash, u64) = (row.get()?, row.get()?);
    let close: Option<i64> = row.get()?;
    let summaries: (Option<ContentHash>, u64) = (row.get()?, row.get()?);
    let mut walk = Walk::load(db, session, rules).await?;
    let mut found = Vec::new();
    for (is_summary, _, link) in links(db, session, rules, close).await? {
        found.push(one(db, &mut walk, session, (is_summary, link)).await?);
    }
    Ok(Some(SessionChain { session, agent, date, head, summaries, links: found }))
}

async fn one(
    db: &mut dyn Db,
    walk: &mut Walk,
    session: SessionId,
    (is_summary, link): (bool, Link),
) -> Result<ChainLink> {
    let plain = |kind, link, texts| ChainLink { is_summary, kind, link, rows: Vec::new(), texts };
    Ok(match link {
        Link::Close => plain(LinkKind::Close, close_link(db, session).await?, Vec::new()),
        Link::Instructions { node, text } => {
            plain(LinkKind::Instructions, instructions_link(&node, text), vec![text])
        }
        Link::Summary { path, text, error } => {
            let link = summary_link(path.as_ref(), text.as_deref(), error.as_deref());
            plain(LinkKind::Summary, link, Vec::new())
        }
        Link::Step(step) => {
            let link = walk.step(db, &step).await?;
            let link = link.map_err(|Break(_, _, why)| StoreError::inconsistent(why))?;
            let rows: Vec<DerivedRow> =
                walk.implied.remove(&step.id).unwrap_or_default().into_values().collect();
            let contents = rows.iter().filter_map(|row| match row {
                DerivedRow::Message(message) => Some(message.content),
                _ => None,
            });
            let texts = step.request_ref.into_iter().chain(step.outcome_ref).chain(contents).collect();
            ChainLink { is_summary, kind: LinkKind::Step, link, rows, texts }
        }
    })
}
