//! The session's hash chain, in commit order. Each finished step, each intent abandoned by its guard, and the
//! session's close is a link:
//!
//! `hash = blake3(previous hash || canonical JSON of the link)`
//!
//! The first link's previous hash is the anchor, which identifies the session. Outcomes that arrive after their
//! guard has closed are not links: they only add to the cost of attempts.
//!
//! Since rules version 2, instructions are links too, a step's link covers more fields, and the summaries' steps
//! and texts have a chain of their own. Above the sessions are each agent's chain of days, which begins at the
//! job's anchor, and the job's head: see [`JobRecord`](super::JobRecord).

use super::{HoldingRow, ReusedFrom, StartingPosition};
use crate::id::{AgentName, ContentHash, JobId};
use crate::json;
use crate::money::Money;
use crate::step::{OutcomeKind, StepClass, StepPath};
use crate::time::Date;
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// The start hash of a session's chain.
#[must_use]
pub fn anchor(job: &JobId, agent: &AgentName, date: Date) -> ContentHash {
    json::hash(&json!({ "job": job, "agent": agent, "date": date }))
}

/// The start hash of the chain of a session's summaries.
#[must_use]
pub fn detached_anchor(job: &JobId, agent: &AgentName, date: Date) -> ContentHash {
    json::hash(&json!({ "job": job, "agent": agent, "date": date, "detached": true }))
}

/// The start hash of an agent's chain of days.
#[must_use]
pub fn agent_anchor(job_anchor: ContentHash, agent: &AgentName) -> ContentHash {
    json::hash(&json!({ "anchor": job_anchor, "agent": agent }))
}

/// A closed day, as a link of its agent's chain.
#[derive(Debug)]
pub struct DayLink<'a> {
    /// The day.
    pub date: Date,
    /// Hash of the session's newest link, which is its close.
    pub session: ContentHash,
    /// The number of the session's links.
    pub links: i64,
    /// How the day ended.
    pub status: &'a str,
    /// Hash of the state that the next day starts with.
    pub state: ContentHash,
}

impl DayLink<'_> {
    /// The link.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "date": self.date,
            "session": self.session,
            "links": self.links,
            "status": self.status,
            "state": self.state,
        })
    }
}

/// A day completed in another job, as a link of its agent's chain.
#[must_use]
pub fn skipped_link(date: Date, skipped: &Value) -> Value {
    json!({ "date": date, "skipped": skipped })
}

/// A node's system prompt, as a link.
#[must_use]
pub fn instructions_link(node: &str, hash: ContentHash) -> Value {
    json!({ "instructions": node, "text": hash })
}

/// The summary of a message or (without `path`) of a session, or the reason why it has none, as a link.
#[must_use]
pub fn summary_link(path: Option<&StepPath>, text: Option<&str>, error: Option<&str>) -> Value {
    json!({ "summary": path, "text": text, "error": error })
}

/// The hash of the link that follows `previous`.
#[must_use]
pub fn follow(previous: ContentHash, link: &Value) -> ContentHash {
    follow_text(previous, &json::canonical(link))
}

/// Like [`follow`], with the link's canonical JSON.
#[must_use]
pub fn follow_text(previous: ContentHash, link: &str) -> ContentHash {
    let mut bytes = Vec::with_capacity(32 + link.len());
    bytes.extend_from_slice(previous.as_bytes());
    bytes.extend_from_slice(link.as_bytes());
    ContentHash::of(&bytes)
}

/// A step, as a link.
#[derive(Debug)]
pub struct StepLink<'a> {
    /// Its path.
    pub path: &'a StepPath,
    /// Its class.
    pub class: StepClass,
    /// Its digest.
    pub digest: ContentHash,
    /// Hash of the request document.
    pub request_ref: Option<ContentHash>,
    /// `None`: abandoned.
    pub outcome: Option<(OutcomeKind, ContentHash)>,
    /// Hash of its derived rows.
    pub implied_hash: ContentHash,
    /// Rules version 1: whether the step is in the session's chain although it belongs to the summaries.
    pub detached: bool,
    /// The attempts that the link covers, each with its error. Excludes the last attempt of an abandoned step,
    /// whose outcome may be recorded later. Since rules version 2.
    pub attempts: &'a [(u32, Option<String>)],
    /// The step from which it was copied. Since rules version 2.
    pub reused_from: Option<&'a ReusedFrom>,
}

impl StepLink<'_> {
    /// The link.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut link = json!({
            "path": self.path,
            "kind": self.path.kind(),
            "class": self.class,
            "digest": self.digest,
            "request_ref": self.request_ref,
            "outcome_kind": self.outcome.map(|(kind, _)| kind),
            "outcome_ref": self.outcome.map(|(_, hash)| hash),
            "implied_hash": self.implied_hash,
        });
        if self.detached {
            link["detached"] = json!(true);
        }
        if !self.attempts.is_empty() {
            link["attempts"] = json!(self.attempts);
        }
        if let Some(origin) = self.reused_from {
            link["reused_from"] = json!(origin);
        }
        link
    }
}

/// Profit and return of the day, from the session's last row of `positions`.
#[derive(Debug, Default, PartialEq)]
pub struct DailyFigures {
    /// The profit.
    pub profit: Option<Money>,
    /// The return, in percent.
    pub return_pct: Option<Decimal>,
}

/// A session's close, as a link.
#[derive(Debug)]
pub struct CloseLink<'a> {
    /// How the day ended.
    pub status: &'a str,
    /// Why it failed.
    pub error: Option<&'a str>,
    /// Metadata and provenance.
    pub metadata: &'a Value,
    /// The position before the day.
    pub starting: &'a StartingPosition,
    /// Hash of the state that the next day starts with.
    pub state: ContentHash,
    /// By symbol.
    pub holdings: &'a [HoldingRow],
    /// Cash at the close.
    pub cash: Money,
    /// Value at the close.
    pub portfolio_value: Money,
    /// As on the session's last row of `positions`; empty if there is no such row.
    pub daily: &'a DailyFigures,
}

impl CloseLink<'_> {
    /// The link.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "close": self.status,
            "error": self.error,
            "metadata": self.metadata,
            "starting": self.starting,
            "state": self.state,
            "holdings": self.holdings,
            "cash": self.cash,
            "portfolio_value": self.portfolio_value,
            "daily_profit": self.daily.profit,
            "daily_return_pct": self.daily.return_pct,
        })
    }
}
