//! Verifies one session: its chain and, since rules version 2, that of its summaries.

use super::texts::Texts;
use super::{Break, ChainBreak, SessionHead, duplicates};
use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::rows::derived::{self, BySteps};
use crate::value::{from_row, params};
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::record::chain::{
    CloseLink, StepLink, anchor, detached_anchor, follow, instructions_link, summary_link,
};
use papertape_core::record::{DerivedRow, HoldingRow, JobHead, ReusedFrom, SessionId};
use papertape_core::tape::{OutcomeKind, StepClass, StepPath};
use papertape_core::time::Date;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The session's head and the number of links in its chains, or where they break.
pub(super) type Checked = Result<(SessionHead, u64), Box<ChainBreak>>;

/// Verifies a session by the rules it was recorded with; `None` if it no longer exists.
pub(super) async fn verify(
    db: &mut dyn Db,
    id: SessionId,
    rules: u32,
    published: Option<&JobHead>,
) -> Result<Option<Checked>> {
    let sql = "SELECT job_id, model, date FROM trading_sessions WHERE id = $1";
    let found = db.first::<(JobId, AgentName, Date)>(sql, params![id]).await?;
    let Some((job, agent, date)) = found else { return Ok(None) };
    let checked = match check(db, (id, &job, &agent, date), rules, published).await {
        Err(StoreError::Inconsistent(why)) => Err(Break(None, vec!["steps"], why)),
        other => other?,
    };
    Ok(Some(match checked {
        Ok((head, links)) => Ok((SessionHead { session: id, agent, date, head }, links)),
        Err(Break(path, tables, why)) => {
            let broken = ChainBreak::in_day(&agent, date, tables, why);
            Err(Box::new(ChainBreak { session: Some(id), path, ..broken }))
        }
    }))
}

type Place<'a> = (SessionId, &'a JobId, &'a AgentName, Date);

async fn check(
    db: &mut dyn Db,
    place: Place<'_>,
    rules: u32,
    published: Option<&JobHead>,
) -> Result<Result<(ContentHash, u64), Break>> {
    let (id, job, agent, date) = place;
    let sql = "SELECT chain_head, chain_length, close_seq, detached_head, detached_length
        FROM trading_sessions WHERE id = $1";
    let gone = || StoreError::inconsistent(format!("there is no session {id}"));
    let found =
        db.first::<(ContentHash, u64, Option<i64>, (Option<ContentHash>, u64))>(sql, params![id]).await?;
    let (head, length, close, (summaries, summaries_length)) = found.ok_or_else(gone)?;
    let mut walk = Walk::load(db, id, rules).await?;
    let links = links(db, id, rules, close).await?;
    let (own, detached): (Vec<_>, Vec<_>) = links.into_iter().partition(|(is_detached, _, _)| !is_detached);
    if let Some(found) = walk.follow(db, anchor(job, agent, date), own, (head, length)).await? {
        return Ok(Err(found));
    }
    if let Some(open) = published.and_then(|head| head.agents.get(agent)?.open.as_ref())
        && open.date == date
        && usize::try_from(open.length).ok().and_then(|at| walk.hashes.get(at)) != Some(&open.head)
    {
        let why = "the chain does not continue the published head";
        return Ok(Err(Break(None, vec!["steps", "trading_sessions"], why.to_owned())));
    }
    let start = detached_anchor(job, agent, date);
    let end = (summaries.unwrap_or(start), summaries_length);
    if let Some(found) = walk.follow(db, start, detached, end).await? {
        return Ok(Err(found));
    }
    if !walk.implied.is_empty() {
        let rows: Vec<DerivedRow> = walk.implied.into_values().flat_map(BTreeMap::into_values).collect();
        return Ok(Err(Break(None, tables(&rows), "rows belong to no step".to_owned())));
    }
    if let Some(found) = duplicates::check_session(db, id, rules).await? {
        return Ok(Err(found));
    }
    Ok(Ok((head, length + summaries_length)))
}

/// The data of a link.
pub(super) enum Link {
    Step(Box<ChainedStep>),
    Instructions { node: String, text: ContentHash },
    Close,
    Summary { path: Option<StepPath>, text: Option<String>, error: Option<String> },
}

/// A row of `steps`.
pub(super) struct ChainedStep {
    pub(super) id: i64,
    path: StepPath,
    class: StepClass,
    digest: ContentHash,
    pub(super) request_ref: Option<ContentHash>,
    kind: Option<OutcomeKind>,
    pub(super) outcome_ref: Option<ContentHash>,
    detached: bool,
    hash: Option<ContentHash>,
    reused_from: Option<String>,
}

/// All links of a session in order: whether it is in the summaries' chain, its number, and its data.
pub(super) async fn links(
    db: &mut dyn Db,
    id: SessionId,
    rules: u32,
    close: Option<i64>,
) -> Result<Vec<(bool, i64, Link)>> {
    // Rules version 1 has one chain for both, without instructions and summary texts.
    let apart = rules >= 2;
    let mut links: Vec<(bool, i64, Link)> = Vec::new();
    let sql = "SELECT seq, id, path, class, digest, request_ref, outcome_kind, outcome_ref,
        detached, hash, reused_from FROM steps WHERE session_id = $1 AND seq IS NOT NULL";
    for (seq, step) in db.all::<(i64, ChainedStep)>(sql, params![id]).await? {
        links.push((step.detached && apart, seq, Link::Step(Box::new(step))));
    }
    links.extend(close.map(|seq| (false, seq, Link::Close)));
    if apart {
        let sql = "SELECT seq, node, hash FROM session_instructions WHERE session_id = $1";
        for (seq, node, text) in db.all::<(Option<i64>, _, _)>(sql, params![id]).await? {
            links.push((false, seq.unwrap_or_default(), Link::Instructions { node, text }));
        }
        let sql = "SELECT summary_seq, summary, summary_error,
                (SELECT p.path FROM steps p WHERE p.id = reasoning_log_rows.step_id) FROM reasoning_log_rows
            WHERE session_id = $1 AND (summary_seq IS NOT NULL OR summary IS NOT NULL OR summary_error IS NOT NULL)
            UNION ALL
            SELECT summary_seq, session_summary, summary_error, NULL FROM trading_sessions
            WHERE id = $1 AND (summary_seq IS NOT NULL OR session_summary IS NOT NULL OR summary_error IS NOT NULL)";
        for (seq, text, error, path) in db.all::<(Option<i64>, _, _, _)>(sql, params![id]).await? {
            links.push((true, seq.unwrap_or_default(), Link::Summary { path, text, error }));
        }
    }
    links.sort_by_key(|(detached, seq, _)| (*detached, *seq));
    Ok(links)
}

/// Walks a session's chains, with the data that belongs to its steps.
pub(super) struct Walk {
    session: SessionId,
    rules: u32,
    pub(super) implied: BySteps,
    messages: Messages,
    attempts: BTreeMap<i64, Vec<(u32, Option<String>)>>,
    texts: Texts,
    /// The session's chain so far: the start hash, then each link.
    hashes: Vec<ContentHash>,
}

impl Walk {
    pub(super) async fn load(db: &mut dyn Db, id: SessionId, rules: u32) -> Result<Self> {
        Ok(Self {
            session: id,
            rules,
            implied: derived::load_session(db, id).await?,
            messages: message_indexes(db, id).await?,
            attempts: attempts(db, id).await?,
            texts: Texts::default(),
            hashes: Vec::new(),
        })
    }

    async fn follow(
        &mut self,
        db: &mut dyn Db,
        start: ContentHash,
        links: Vec<(bool, i64, Link)>,
        end: (ContentHash, u64),
    ) -> Result<Option<Break>> {
        let mut hashes = vec![start];
        let mut at = start;
        let mut after_close = false;
        for (_, seq, link) in links {
            if usize::try_from(seq).ok() != Some(hashes.len()) {
                let (path, table) = match &link {
                    Link::Step(step) => (Some(step.path.clone()), "steps"),
                    Link::Summary { path, .. } => (path.clone(), "reasoning_log_rows"),
                    Link::Instructions { .. } => (None, "session_instructions"),
                    Link::Close => (None, "trading_sessions"),
                };
                return Ok(Some(Break(path, vec![table], "the previous links are missing".to_owned())));
            }
            let value = match &link {
                Link::Close => close_link(db, self.session).await?,
                Link::Instructions { node, text } => {
                    if let Some(why) = self.texts.check(db, *text).await? {
                        return Ok(Some(Break(None, vec!["texts"], why)));
                    }
                    instructions_link(node, *text)
                }
                Link::Summary { path, text, error } => {
                    summary_link(path.as_ref(), text.as_deref(), error.as_deref())
                }
                Link::Step(step) => match self.step(db, step).await? {
                    Ok(value) => value,
                    Err(found) => return Ok(Some(found)),
                },
            };
            at = follow(at, &value);
            hashes.push(at);
            if let Link::Step(step) = &link {
                if step.hash != Some(at) {
                    // The close is a link without its own row in `steps`.
                    let before: &[&str] = if after_close {
                        &["trading_sessions", "holdings", "positions"]
                    } else {
                        &["step_attempts", "session_instructions"]
                    };
                    let rows = self.implied.get(&step.id);
                    let mut tables = tables(rows.into_iter().flat_map(BTreeMap::values));
                    tables.extend(
                        before.iter().filter(|table| !tables.contains(table)).copied().collect::<Vec<_>>(),
                    );
                    let why = "the step or its rows were modified".to_owned();
                    return Ok(Some(Break(Some(step.path.clone()), tables, why)));
                }
                if let Some(found) = self.texts_of(db, step).await? {
                    return Ok(Some(found));
                }
            }
            after_close = matches!(link, Link::Close);
        }
        let is_end = (at, hashes.len() as u64 - 1) == end;
        let is_own = self.hashes.is_empty();
        if is_own {
            self.hashes = hashes;
        }
        if is_end {
            return Ok(None);
        }
        Ok(Some(if is_own {
            let tables = vec!["trading_sessions", "holdings", "positions", "steps"];
            Break(None, tables, "the session's end was modified".to_owned())
        } else {
            let tables = vec!["reasoning_log_rows", "trading_sessions", "steps"];
            Break(None, tables, "the summaries were modified".to_owned())
        }))
    }

    /// The link of a step, from its current rows.
    pub(super) async fn step(&mut self, db: &mut dyn Db, step: &ChainedStep) -> Result<Result<Value, Break>> {
        let broken = |tables: Vec<&'static str>, why: &str| {
            Ok(Err(Break(Some(step.path.clone()), tables, why.to_owned())))
        };
        let rows = self.implied.get(&step.id);
        if !rows.into_iter().flat_map(BTreeMap::keys).copied().eq(0..rows.map_or(0, |rows| rows.len() as i64))
        {
            let tables = tables(rows.into_iter().flat_map(BTreeMap::values));
            return broken(tables, "the rows of this step were renumbered");
        }
        let rows: Vec<&DerivedRow> = rows.into_iter().flat_map(BTreeMap::values).collect();
        let implied_hash = json::hash(&json::to_value(&rows));
        let spoken = rows.iter().filter(|row| matches!(row, DerivedRow::Message(_))).count();
        if !self.messages.take(step.id, spoken) {
            return broken(vec!["reasoning_log_rows"], "its messages were moved");
        }
        if let Some(why) = duplicates::check_rows(db, step.id, &rows).await? {
            return broken(vec!["trade_reflections", "texts"], &why);
        }
        let is_sent = step.class == StepClass::External && step.reused_from.is_none();
        let only = || if is_sent { vec![(1, None)] } else { Vec::new() };
        let mut attempts = self.attempts.remove(&step.id).unwrap_or_else(only);
        if step.kind.is_none() {
            attempts.pop();
        }
        let by_version_2 = self.rules >= 2;
        let origin = match &step.reused_from {
            Some(stored) if by_version_2 => match serde_json::from_str::<ReusedFrom>(stored) {
                Ok(origin) => Some(origin),
                Err(_) => return broken(vec!["steps"], "cannot read where it was copied from"),
            },
            _ => None,
        };
        let link = StepLink {
            path: &step.path,
            class: step.class,
            digest: step.digest,
            request_ref: step.request_ref,
            outcome: step.kind.zip(step.outcome_ref),
            implied_hash,
            detached: step.detached && !by_version_2,
            attempts: if by_version_2 { &attempts } else { &[] },
            reused_from: origin.as_ref(),
        };
        Ok(Ok(link.to_json()))
    }

    /// Checks the texts that a step references.
    async fn texts_of(&mut self, db: &mut dyn Db, step: &ChainedStep) -> Result<Option<Break>> {
        let rows = self.implied.remove(&step.id).unwrap_or_default();
        let contents = rows.values().filter_map(|row| match row {
            DerivedRow::Message(message) => Some(message.content),
            _ => None,
        });
        for hash in step.request_ref.into_iter().chain(step.outcome_ref).chain(contents) {
            if let Some(why) = self.texts.check(db, hash).await? {
                return Ok(Some(Break(Some(step.path.clone()), vec!["texts"], why)));
            }
        }
        Ok(None)
    }
}

from_row! { impl row => ChainedStep {
    id, path, class, digest, request_ref, kind, outcome_ref, detached, hash, reused_from,
} }

/// A session's attempts by step, oldest first. A step without rows has at most one attempt, without an error.
async fn attempts(
    db: &mut dyn Db,
    session: SessionId,
) -> Result<BTreeMap<i64, Vec<(u32, Option<String>)>>, StoreError> {
    let sql = "SELECT a.step_id, a.attempt, a.error FROM step_attempts a JOIN steps s ON s.id = a.step_id
        WHERE s.session_id = $1 ORDER BY a.step_id, a.attempt";
    let mut attempts: BTreeMap<i64, Vec<_>> = BTreeMap::new();
    for (step, attempt) in db.all::<(i64, _)>(sql, params![session]).await? {
        attempts.entry(step).or_default().push(attempt);
    }
    Ok(attempts)
}

fn tables<'a>(rows: impl IntoIterator<Item = &'a DerivedRow>) -> Vec<&'static str> {
    let tables: BTreeSet<&str> = rows
        .into_iter()
        .map(|row| match row {
            DerivedRow::Message(_) => "reasoning_log_rows",
            DerivedRow::Exposure(_) => "exposures",
            DerivedRow::Position(_) => "positions",
            DerivedRow::Order(_) => "orders",
            DerivedRow::Snapshot(_) => "position_snapshots",
            DerivedRow::Round(_) => "trader_round_memory",
            DerivedRow::Context(_) => "open_position_contexts",
            DerivedRow::Reflection(_) => "trade_reflections",
            DerivedRow::Given(_) => "session_memory",
        })
        .chain(std::iter::once("steps"))
        .collect();
    tables.into_iter().collect()
}

/// Checks message indexes: they follow commit order, as the chain does.
struct Messages {
    steps: std::vec::IntoIter<i64>,
    sound: bool,
}

impl Messages {
    fn take(&mut self, step: i64, count: usize) -> bool {
        self.sound && (0..count).all(|_| self.steps.next() == Some(step))
    }
}

async fn message_indexes(db: &mut dyn Db, session: SessionId) -> Result<Messages> {
    let sql = "SELECT message_index, step_id FROM reasoning_log_rows WHERE session_id = $1
        ORDER BY message_index";
    let mut steps = Vec::new();
    let mut sound = true;
    for (at, (index, step)) in db.all::<(i64, i64)>(sql, params![session]).await?.into_iter().enumerate() {
        sound &= index == i64::try_from(at).unwrap_or(i64::MAX);
        steps.push(step);
    }
    Ok(Messages { steps: steps.into_iter(), sound })
}

pub(super) async fn close_link(db: &mut dyn Db, session: SessionId) -> Result<Value> {
    let sql = "SELECT symbol, quantity, price FROM holdings WHERE session_id = $1 ORDER BY symbol";
    let holdings = db.all::<HoldingRow>(sql, params![session]).await?;
    let sql = "SELECT status, error, metadata, starting_position, state_hash, cash, portfolio_value
        FROM trading_sessions WHERE id = $1";
    let mut row = db
        .row(sql, params![session])
        .await?
        .ok_or_else(|| StoreError::inconsistent(format!("there is no session {session}")))?;
    let (status, error): (String, Option<String>) = row.get()?;
    let (metadata, starting) = (row.get()?, row.document()?);
    let daily = derived::daily_figures(db, session).await?;
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
