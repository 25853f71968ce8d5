//! The session's chain of hashes, in the order of commits. Every step that is done, every intent that
//! its guard has abandoned, and the session's close are a link:
//!
//! `hash = blake3(previous hash || canonical JSON of the link)`
//!
//! and the first one's previous hash is the anchor, which says whose session it is. Outcomes that came
//! after their guard had closed are no links: they are costs of attempts and nothing else.

use super::implied::DailyFigures;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::record::{HoldingRow, StartingPosition};
use papertape_core::tape::{Class, OutcomeKind, StepPath};
use papertape_core::time::Date;
use serde_json::{Value, json};

/// What stands before a session's first link.
pub(crate) fn anchor(job: &JobId, agent: &AgentName, date: Date) -> ContentHash {
    json::hash(&json!({ "job": job, "agent": agent, "date": date }))
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
    pub(crate) detached: bool,
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
