//! The session's chain of hashes, in the order of commits. Every step that is done, every intent that
//! its guard has abandoned, and the session's close are a link:
//!
//! `hash = blake3(previous hash || canonical JSON of the link)`
//!
//! and the first one's previous hash is the anchor, which says whose session it is. Outcomes that came
//! after their guard had closed are no links: they are costs of attempts and nothing else.
//!
//! From rules version 2 on, instructions are links too, a step's link says more of it, and the summaries' steps
//! and texts have a chain of their own. Above the sessions stand each agent's chain of days, which begins at
//! what the job was to do, and the job's head: see `crate::head`.

use super::implied::DailyFigures;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::record::{HoldingRow, ReusedFrom, StartingPosition};
use papertape_core::tape::{Class, OutcomeKind, StepPath};
use papertape_core::time::Date;
use serde_json::{Value, json};

/// What stands before a session's first link.
pub(crate) fn anchor(job: &JobId, agent: &AgentName, date: Date) -> ContentHash {
    json::hash(&json!({ "job": job, "agent": agent, "date": date }))
}

/// What stands before the first link of a session's summaries.
pub(crate) fn detached_anchor(job: &JobId, agent: &AgentName, date: Date) -> ContentHash {
    json::hash(&json!({ "job": job, "agent": agent, "date": date, "detached": true }))
}

/// What stands before an agent's first day.
pub(crate) fn agent_anchor(job_anchor: ContentHash, agent: &AgentName) -> ContentHash {
    json::hash(&json!({ "anchor": job_anchor, "agent": agent }))
}

/// A closed day as a link of its agent's chain.
#[derive(Debug)]
pub(crate) struct DayLink<'a> {
    pub(crate) date: Date,
    /// The newest link of the session, which is its close, and how many it has.
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

/// A day that another job did as a link of its agent's chain.
pub(crate) fn skipped_link(date: Date, skipped: &Value) -> Value {
    json!({ "date": date, "skipped": skipped })
}

/// Instructions as a link.
pub(crate) fn instructions_link(node: &str, hash: ContentHash) -> Value {
    json!({ "instructions": node, "text": hash })
}

/// A message's or (`path` absent) a session's summary as a link, or why there is none.
pub(crate) fn summary_link(path: Option<&StepPath>, text: Option<&str>, error: Option<&str>) -> Value {
    json!({ "summary": path, "text": text, "error": error })
}

/// The hash of the link that follows `previous`.
pub(crate) fn follow(previous: ContentHash, link: &Value) -> ContentHash {
    let mut bytes = previous.as_bytes().to_vec();
    bytes.extend_from_slice(json::canonical(link).as_bytes());
    ContentHash::of(&bytes)
}

/// A step as a link.
#[derive(Debug)]
pub(crate) struct StepLink<'a> {
    pub(crate) path: &'a StepPath,
    pub(crate) class: Class,
    pub(crate) digest: ContentHash,
    pub(crate) request_ref: Option<ContentHash>,
    /// `None`: abandoned.
    pub(crate) outcome: Option<(OutcomeKind, ContentHash)>,
    pub(crate) implied_hash: ContentHash,
    /// Of rules version 1: is it in the session's chain though it belongs to the summaries?
    pub(crate) detached: bool,
    /// The attempts that the link covers, each with why it failed. Not the last one of an abandoned step: how
    /// that ended may be told later. Since rules version 2.
    pub(crate) attempts: &'a [(u32, Option<String>)],
    /// Where it was copied from. Since rules version 2.
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

/// A session's close as a link.
#[derive(Debug)]
pub(crate) struct CloseLink<'a> {
    pub(crate) status: &'a str,
    pub(crate) error: Option<&'a str>,
    pub(crate) metadata: &'a Value,
    pub(crate) starting: &'a StartingPosition,
    pub(crate) state: ContentHash,
    /// In the order of their symbols.
    pub(crate) holdings: &'a [HoldingRow],
    pub(crate) cash: papertape_core::money::Money,
    pub(crate) portfolio_value: papertape_core::money::Money,
    /// As the session's last row of `positions` has them; absent where it has no such row.
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
