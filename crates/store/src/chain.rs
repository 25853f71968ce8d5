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
//! job's anchor, and the job's head: see `crate::head`.

use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::money::Money;
use papertape_core::record::{HoldingRow, ReusedFrom, StartingPosition};
use papertape_core::tape::{OutcomeKind, StepClass, StepPath};
use papertape_core::time::Date;
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// The start hash of a session's chain.
pub(crate) fn anchor(job: &JobId, agent: &AgentName, date: Date) -> ContentHash {
    json::hash(&json!({ "job": job, "agent": agent, "date": date }))
}

/// The start hash of the chain of a session's summaries.
pub(crate) fn detached_anchor(job: &JobId, agent: &AgentName, date: Date) -> ContentHash {
    json::hash(&json!({ "job": job, "agent": agent, "date": date, "detached": true }))
}

/// The start hash of an agent's chain of days.
pub(crate) fn agent_anchor(job_anchor: ContentHash, agent: &AgentName) -> ContentHash {
    json::hash(&json!({ "anchor": job_anchor, "agent": agent }))
}

/// A closed day, as a link of its agent's chain.
#[derive(Debug)]
pub(crate) struct DayLink<'a> {
    pub(crate) date: Date,
    /// Hash of the session's newest link, which is its close; `links` is how many it has.
    pub(crate) session: ContentHash,
    pub(crate) links: i64,
    pub(crate) status: &'a str,
    pub(crate) state: ContentHash,
}

impl DayLink<'_> {
    pub(crate) fn to_json(&self) -> Value {
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
pub(crate) fn skipped_link(date: Date, skipped: &Value) -> Value {
    json!({ "date": date, "skipped": skipped })
}

/// A node's system prompt, as a link.
pub(crate) fn instructions_link(node: &str, hash: ContentHash) -> Value {
    json!({ "instructions": node, "text": hash })
}

/// The summary of a message or (without `path`) of a session, or the reason why it has none, as a link.
pub(crate) fn summary_link(path: Option<&StepPath>, text: Option<&str>, error: Option<&str>) -> Value {
    json!({ "summary": path, "text": text, "error": error })
}

/// The hash of the link that follows `previous`.
pub(crate) fn follow(previous: ContentHash, link: &Value) -> ContentHash {
    follow_text(previous, &json::canonical(link))
}

/// Like [`follow`], with the link's canonical JSON.
pub(crate) fn follow_text(previous: ContentHash, link: &str) -> ContentHash {
    let mut bytes = Vec::with_capacity(32 + link.len());
    bytes.extend_from_slice(previous.as_bytes());
    bytes.extend_from_slice(link.as_bytes());
    ContentHash::of(&bytes)
}

/// A step, as a link.
#[derive(Debug)]
pub(crate) struct StepLink<'a> {
    pub(crate) path: &'a StepPath,
    pub(crate) class: StepClass,
    pub(crate) digest: ContentHash,
    pub(crate) request_ref: Option<ContentHash>,
    /// `None`: abandoned.
    pub(crate) outcome: Option<(OutcomeKind, ContentHash)>,
    pub(crate) implied_hash: ContentHash,
    /// Rules version 1: whether the step is in the session's chain although it belongs to the summaries.
    pub(crate) detached: bool,
    /// The attempts that the link covers, each with its error. Excludes the last attempt of an abandoned step,
    /// whose outcome may be recorded later. Since rules version 2.
    pub(crate) attempts: &'a [(u32, Option<String>)],
    /// The step from which it was copied. Since rules version 2.
    pub(crate) reused_from: Option<&'a ReusedFrom>,
}

impl StepLink<'_> {
    pub(crate) fn to_json(&self) -> Value {
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
pub(crate) struct DailyFigures {
    pub(crate) profit: Option<Money>,
    pub(crate) return_pct: Option<Decimal>,
}

/// A session's close, as a link.
#[derive(Debug)]
pub(crate) struct CloseLink<'a> {
    pub(crate) status: &'a str,
    pub(crate) error: Option<&'a str>,
    pub(crate) metadata: &'a Value,
    pub(crate) starting: &'a StartingPosition,
    pub(crate) state: ContentHash,
    /// By symbol.
    pub(crate) holdings: &'a [HoldingRow],
    pub(crate) cash: Money,
    pub(crate) portfolio_value: Money,
    /// As on the session's last row of `positions`; empty if there is no such row.
    pub(crate) daily: &'a DailyFigures,
}

impl CloseLink<'_> {
    pub(crate) fn to_json(&self) -> Value {
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
