//! Is the record as it was written? Recomputes each session's chain from the rows as they stand now:
//! the steps, the rows that they imply, the texts that they refer to, and the session's close.
//!
//! This shows that something was edited, added or taken away afterwards. It cannot show that a whole
//! session was made up with a chain of its own, unless its head was published before.

use crate::db::Db;
use crate::error::StoreError;
use crate::read::{read_holding, read_starting};
use crate::record::chain::{CloseLink, StepLink, anchor, follow};
use crate::record::implied;
use crate::store::Store;
use crate::texts;
use crate::value::{Row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::record::{Implied, SessionId};
use papertape_core::tape::{Class, OutcomeKind, StepPath, expand, references};
use papertape_core::time::Date;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReport {
    /// The newest hash of each session that was looked at and is whole, by day and agent.
    pub heads: Vec<SessionHead>,
    /// How many links these have.
    pub links: u64,
    /// The first place, by day, agent and commit, where the record is not what was written.
    pub broken: Option<Broken>,
}

/// The newest link of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHead {
    /// The session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// Its hash: who publishes it can show later that nothing was rewritten.
    pub head: ContentHash,
}

/// A place where the record is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The session.
    pub session: SessionId,
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// The step; `None`: the session's own row.
    pub path: Option<StepPath>,
    /// The tables of the rows in question.
    pub tables: Vec<&'static str>,
    /// What is wrong.
    pub why: String,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {} (session {})", self.agent, self.date, self.session)?;
        if let Some(path) = &self.path {
            write!(f, ", step {path}")?;
        }
        write!(f, ": {} ({})", self.why, self.tables.join(", "))
    }
}

impl Store {
    /// Recomputes the chains of all sessions of a job, up to the first break.
    ///
    /// # Errors
    /// A database that fails. A row that cannot be read at all is a break.
    pub async fn verify_chain(&self, job: &JobId) -> Result<ChainReport, StoreError> {
        let wanted = job.clone();
        let sessions: Vec<SessionId> = self
            .read(move |db| {
                let job = wanted.clone();
                async move {
                    let sql = "SELECT id FROM trading_sessions WHERE job_id = $1 ORDER BY date, model";
                    let rows = db.query(sql, params![&job]).await?;
                    rows.into_iter().map(|mut row| row.get()).collect()
                }
                .boxed()
            })
            .await?;
        let mut report = ChainReport { heads: Vec::new(), links: 0, broken: None };
        for session in sessions {
            let checked = self.read(move |db| verify_session(db, session).boxed()).await?;
            match checked {
                // It was deleted meanwhile.
                None => {}
                Some(Ok((head, links))) => {
                    report.heads.push(head);
                    report.links += links;
                }
                Some(Err(broken)) => {
                    report.broken = Some(broken);
                    break;
                }
            }
        }
        Ok(report)
    }
}

type Checked = Result<(SessionHead, u64), Broken>;

/// A link that does not hold: which step, which tables, why.
struct Break(Option<StepPath>, Vec<&'static str>, String);

async fn verify_session(db: &mut dyn Db, session: SessionId) -> Result<Option<Checked>, StoreError> {
    let sql = "SELECT job_id, model, date, chain_head, chain_length, close_seq FROM trading_sessions
        WHERE id = $1";
    let Some(mut row) = db.row(sql, params![session]).await? else {
        return Ok(None);
    };
    let (job, agent, date) = (row.get()?, row.get()?, row.get()?);
    let chain = Chain {
        session,
        start: anchor(&job, &agent, date),
        head: row.get()?,
        length: row.get()?,
        close: row.get()?,
    };
    let broken = match walk(db, &chain).await {
        Ok(None) => None,
        Ok(Some(broken)) => Some(broken),
        Err(StoreError::Inconsistent(why)) => Some(Break(None, vec!["steps"], why)),
        Err(error) => return Err(error),
    };
    Ok(Some(match broken {
        None => {
            let links = u64::try_from(chain.length).unwrap_or_default();
            Ok((SessionHead { session, agent, date, head: chain.head }, links))
        }
        Some(Break(path, tables, why)) => Err(Broken { session, agent, date, path, tables, why }),
    }))
}

struct Chain {
    session: SessionId,
    start: ContentHash,
    head: ContentHash,
    length: i64,
    close: Option<i64>,
}

/// A row of `steps`.
struct Step {
    id: i64,
    seq: i64,
    path: StepPath,
    class: Class,
    digest: ContentHash,
    request_ref: Option<ContentHash>,
    kind: Option<OutcomeKind>,
    outcome_ref: Option<ContentHash>,
    implied_hash: Option<ContentHash>,
    detached: bool,
    previous: Option<ContentHash>,
    hash: Option<ContentHash>,
}

async fn walk(db: &mut dyn Db, chain: &Chain) -> Result<Option<Break>, StoreError> {
    let sql = "SELECT id, seq, path, class, digest, request_ref, outcome_kind, outcome_ref, implied_hash,
        detached, prev_hash, hash FROM steps WHERE session_id = $1 AND seq IS NOT NULL ORDER BY seq";
    let rows = db.query(sql, params![chain.session]).await?;
    let mut implied = implied::of_session(db, chain.session).await?;
    let mut messages = message_indexes(db, chain.session).await?;
    let mut texts = Texts::default();
    let mut at = (0, chain.start);
    for row in rows {
        let step = step(row)?;
        if chain.close == Some(at.0 + 1) {
            at = (at.0 + 1, follow(at.1, &close_link(db, chain.session).await?));
        }
        let broken = |tables: &[&'static str], why: &str| {
            Some(Break(Some(step.path.clone()), tables.to_vec(), why.to_owned()))
        };
        if step.seq != at.0 + 1 {
            return Ok(broken(&["steps"], "the links before it are not there"));
        }
        let rows: Vec<Implied> = implied.remove(&step.id).unwrap_or_default().into_values().collect();
        if Some(json::hash(&json::to_value(&rows))) != step.implied_hash {
            return Ok(broken(&tables(&rows), "the rows of this step are not those that were written"));
        }
        let spoken = rows.iter().filter(|row| matches!(row, Implied::Message(_))).count();
        if !messages.take(step.id, spoken) {
            return Ok(broken(&["reasoning_log_rows"], "its messages are not where they were"));
        }
        let link = StepLink {
            path: &step.path,
            class: step.class,
            digest: step.digest,
            request_ref: step.request_ref,
            outcome: step.kind.zip(step.outcome_ref),
            implied_hash: json::hash(&json::to_value(&rows)),
            detached: step.detached,
        };
        let hash = follow(at.1, &link.to_json());
        if step.previous != Some(at.1) || step.hash != Some(hash) {
            // The close is a link without a row of its own in `steps`.
            let after_close = chain.close == Some(at.0);
            let tables: &[&str] = if after_close {
                &["trading_sessions", "holdings", "positions", "steps"]
            } else {
                &["steps"]
            };
            return Ok(broken(tables, "the step is not what was written"));
        }
        let contents = rows.iter().filter_map(|row| match row {
            Implied::Message(message) => Some(message.content),
            _ => None,
        });
        for hash in step.request_ref.into_iter().chain(step.outcome_ref).chain(contents) {
            if let Some(why) = texts.check(db, hash).await? {
                return Ok(broken(&["texts"], &why));
            }
        }
        at = (step.seq, hash);
    }
    if chain.close == Some(at.0 + 1) {
        at = (at.0 + 1, follow(at.1, &close_link(db, chain.session).await?));
    }
    if !implied.is_empty() {
        let rows: Vec<Implied> = implied.into_values().flat_map(BTreeMap::into_values).collect();
        return Ok(Some(Break(None, tables(&rows), "there are rows of no step".to_owned())));
    }
    if at != (chain.length, chain.head) {
        let tables = vec!["trading_sessions", "holdings", "positions", "steps"];
        return Ok(Some(Break(None, tables, "the session's end is not what was written".to_owned())));
    }
    Ok(None)
}

fn step(mut row: Row) -> Result<Step, StoreError> {
    Ok(Step {
        id: row.get()?,
        seq: row.get()?,
        path: row.get()?,
        class: row.get()?,
        digest: row.get()?,
        request_ref: row.get()?,
        kind: row.get()?,
        outcome_ref: row.get()?,
        implied_hash: row.get()?,
        detached: row.get()?,
        previous: row.get()?,
        hash: row.get()?,
    })
}

fn tables(rows: &[Implied]) -> Vec<&'static str> {
    let tables: BTreeSet<&str> = rows
        .iter()
        .map(|row| match row {
            Implied::Message(_) => "reasoning_log_rows",
            Implied::Exposure(_) => "exposures",
            Implied::Position(_) => "positions",
            Implied::Order(_) => "orders",
            Implied::Snapshot(_) => "position_snapshots",
            Implied::Round(_) => "trader_round_memory",
            Implied::Context(_) => "open_position_contexts",
            Implied::Reflection(_) => "trade_reflections",
            Implied::Given(_) => "session_memory",
        })
        .chain(std::iter::once("steps"))
        .collect();
    tables.into_iter().collect()
}

/// The messages' indexes: those of commit order, which the chain has too.
struct Messages {
    steps: std::vec::IntoIter<i64>,
    sound: bool,
}

impl Messages {
    fn take(&mut self, step: i64, count: usize) -> bool {
        self.sound && (0..count).all(|_| self.steps.next() == Some(step))
    }
}

async fn message_indexes(db: &mut dyn Db, session: SessionId) -> Result<Messages, StoreError> {
    let sql = "SELECT message_index, step_id FROM reasoning_log_rows WHERE session_id = $1
        ORDER BY message_index";
    let mut steps = Vec::new();
    let mut sound = true;
    for (at, mut row) in db.query(sql, params![session]).await?.into_iter().enumerate() {
        sound &= row.get::<usize>()? == at;
        steps.push(row.get()?);
    }
    Ok(Messages { steps: steps.into_iter(), sound })
}

async fn close_link(db: &mut dyn Db, session: SessionId) -> Result<Value, StoreError> {
    let sql = "SELECT symbol, quantity, price FROM holdings WHERE session_id = $1 ORDER BY symbol";
    let rows = db.query(sql, params![session]).await?;
    let holdings = rows.into_iter().map(|mut row| read_holding(&mut row)).collect::<Result<Vec<_>, _>>()?;
    let sql = "SELECT status, error, metadata, starting_position, state_hash, cash, portfolio_value
        FROM trading_sessions WHERE id = $1";
    let mut row = db
        .row(sql, params![session])
        .await?
        .ok_or_else(|| StoreError::inconsistent(format!("there is no session {session}")))?;
    let (status, error): (String, Option<String>) = (row.get()?, row.get()?);
    let metadata = row.get()?;
    let starting = read_starting(row.get()?)?;
    let daily = implied::daily_figures(db, session).await?;
    Ok(CloseLink {
        status: &status,
        error: error.as_deref(),
        metadata: &metadata,
        starting: &starting,
        state: row.get()?,
        holdings: &holdings,
        cash: row.get()?,
        portfolio_value: row.get()?,
        daily: &daily,
    }
    .to_json())
}

/// Texts that have been held against their hashes.
#[derive(Default)]
struct Texts {
    sound: BTreeSet<ContentHash>,
}

impl Texts {
    /// Is the text of this hash what it was, and all that it refers to? Says what is not.
    async fn check(&mut self, db: &mut dyn Db, hash: ContentHash) -> Result<Option<String>, StoreError> {
        let mut waiting = vec![hash];
        while let Some(hash) = waiting.pop() {
            if !self.sound.insert(hash) {
                continue;
            }
            let Some(body) = texts::fetch(db, &BTreeSet::from([hash])).await?.remove(&hash) else {
                return Ok(Some(format!("the text {hash} is not there")));
            };
            if ContentHash::of(body.as_bytes()) == hash {
                continue;
            }
            let edited = || Ok(Some(format!("the text {hash} is not what was written")));
            let Ok(stored) = serde_json::from_str::<Value>(&body) else {
                return edited();
            };
            let lifted = texts::fetch(db, &references(&stored).into_iter().collect()).await?;
            if let Some(other) = lifted.iter().find(|(hash, body)| ContentHash::of(body.as_bytes()) != **hash)
            {
                return Ok(Some(format!("the text {} is not what was written", other.0)));
            }
            let whole = expand(&stored, &|hash| lifted.get(&hash).cloned());
            let same = whole.is_ok_and(|whole| {
                ContentHash::of(format!("json\n{}", json::canonical(&whole)).as_bytes()) == hash
            });
            if !same {
                return edited();
            }
            waiting.extend(linked(&stored));
        }
        Ok(None)
    }
}

/// The documents that a link of a conversation's chain of requests names.
fn linked(document: &Value) -> Vec<ContentHash> {
    let is_link = document.as_object().is_some_and(|map| {
        map.len() == 3 && ["previous", "head", "added"].iter().all(|key| map.contains_key(*key))
    });
    if !is_link {
        return Vec::new();
    }
    let added = document["added"].as_array().into_iter().flatten();
    [&document["previous"], &document["head"]]
        .into_iter()
        .chain(added)
        .filter_map(|value| value.as_str().and_then(ContentHash::from_hex))
        .collect()
}
