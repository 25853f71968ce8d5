//! What a job's hash chains are computed from: its anchor, its agents' chains of days, and its head.
//!
//! Pure: the store reads it from the database, and an evidence bundle contains it.

use super::chain::{self, DayLink};
use super::{AgentHead, DayStatus, JobHead, JobStatus, OpenSessionHead};
use crate::id::{AgentName, ContentHash, JobId};
use crate::json;
use crate::time::Date;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The rows from which a job's chains are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// The job.
    pub job: JobId,
    /// Its kind.
    pub kind: String,
    /// Its status.
    pub status: JobStatus,
    /// The rules version that it was recorded under.
    pub rules_version: u32,
    /// The fingerprint of its config.
    pub fingerprint: ContentHash,
    /// The job that it was branched from.
    pub parent: Option<JobId>,
    /// Its config.
    #[serde(default, skip_serializing)]
    pub config: Value,
    /// The anchor stored when the job was queued; `None` under rules version 1.
    pub anchor: Option<ContentHash>,
    /// The head of `parent` when it was branched.
    pub parent_head: Option<ContentHash>,
    /// The expected days, by agent and date.
    pub days: Vec<ExpectedDay>,
    /// The account that an agent continues: the job, and the last day imported from it.
    pub continues: Vec<(AgentName, JobId, Date)>,
    /// Its sessions, by agent and day.
    pub sessions: BTreeMap<AgentName, BTreeMap<Date, SessionEnd>>,
    /// Length and head of each chain, as stored with each close.
    pub chains: BTreeMap<AgentName, (u64, ContentHash)>,
}

/// A row of `job_details`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedDay {
    /// The agent.
    pub agent: AgentName,
    /// The trading day.
    pub date: Date,
    /// Hash of what determines the day's outcome.
    pub agent_hash: ContentHash,
    /// How far it is.
    pub status: DayStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where a skipped day was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Value>,
}

/// A row of `trading_sessions`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionEnd {
    /// Whether it has ended.
    pub is_closed: bool,
    /// How it ended.
    pub status: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Hash of the state that the next day starts with.
    pub state: Option<ContentHash>,
    /// Number of links in its chain.
    pub length: i64,
    /// The newest link.
    pub head: ContentHash,
}

/// Why a record does not extend a published head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotExtended {
    /// The head belongs to another job.
    OtherJob(JobId),
    /// The job's inputs are not those of the head.
    OtherInputs,
    /// The agent's chain does not contain the published link.
    OtherDays(AgentName),
    /// The session that was open is missing.
    MissingSession(AgentName, Date),
}

impl std::fmt::Display for NotExtended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OtherJob(job) => write!(f, "the published head belongs to job {job}"),
            Self::OtherInputs => f.write_str("the job's config has changed since its head was published"),
            Self::OtherDays(agent) => {
                write!(f, "the days of {agent} do not continue the published head")
            }
            Self::MissingSession(..) => f.write_str("the session that was open is missing"),
        }
    }
}

impl JobRecord {
    /// The anchor at which all of the job's chains begin.
    #[must_use]
    pub fn computed_anchor(&self) -> ContentHash {
        let mut config = self.config.clone();
        if let Some(map) = config.as_object_mut() {
            map.remove("budget");
        }
        let day = |day: &ExpectedDay| json!([day.agent, day.date, day.agent_hash, day.skipped]);
        let days: Vec<Value> = self.days.iter().map(day).collect();
        json::hash(&json!({
            "format": "papertape-job-1",
            "rules_version": self.rules_version,
            "job": self.job,
            "kind": self.kind,
            "config": config,
            "fingerprint": self.fingerprint,
            "days": days,
            "continues": self.continues,
            "parent_head": self.parent_head,
        }))
    }

    /// Each agent's chain of days: the start hash, then its links.
    #[must_use]
    pub fn computed_chains(&self) -> BTreeMap<AgentName, Vec<ContentHash>> {
        self.chains_from(self.computed_anchor())
    }

    /// The same, from an anchor that is stated because the whole config is not available.
    #[must_use]
    pub fn chains_from(&self, anchor: ContentHash) -> BTreeMap<AgentName, Vec<ContentHash>> {
        let mut chains: BTreeMap<AgentName, Vec<ContentHash>> = BTreeMap::new();
        let agents = self.days.iter().map(|day| &day.agent).chain(self.sessions.keys());
        for agent in agents.chain(self.chains.keys()) {
            chains.entry(agent.clone()).or_insert_with(|| vec![chain::agent_anchor(anchor, agent)]);
        }
        let mut follow = |agent: &AgentName, link: &Value| {
            if let Some(links) = chains.get_mut(agent)
                && let Some(last) = links.last().copied()
            {
                links.push(chain::follow(last, link));
            }
        };
        for day in &self.days {
            if let Some(skipped) = &day.skipped {
                follow(&day.agent, &chain::skipped_link(day.date, skipped));
            }
        }
        for (agent, sessions) in &self.sessions {
            for (date, session) in sessions {
                if let (true, Some(state)) = (session.is_closed, session.state) {
                    let link = DayLink {
                        date: *date,
                        session: session.head,
                        links: session.length,
                        status: &session.status,
                        state,
                    };
                    follow(agent, &link.to_json());
                }
            }
        }
        chains
    }

    /// The head computed from the rows.
    #[must_use]
    pub fn head(&self) -> JobHead {
        self.head_from(self.computed_anchor())
    }

    /// The same, from a stated anchor.
    #[must_use]
    pub fn head_from(&self, anchor: ContentHash) -> JobHead {
        let agent = |(agent, chain): (AgentName, Vec<ContentHash>)| {
            let open = self.sessions.get(&agent).into_iter().flatten().find(|(_, row)| !row.is_closed);
            let open = open.map(|(date, row)| OpenSessionHead {
                date: *date,
                length: u64::try_from(row.length).unwrap_or_default(),
                head: row.head,
            });
            let days = chain.len() as u64 - 1;
            chain.last().copied().map(|head| (agent, AgentHead { days, head, open }))
        };
        JobHead {
            job: self.job.clone(),
            rules_version: self.rules_version,
            anchor,
            status: self.status,
            agents: self.chains_from(anchor).into_iter().filter_map(agent).collect(),
        }
    }

    /// If stored values differ from those computed from the rows: the affected tables, and a message. Rules
    /// version 1 stored none.
    #[must_use]
    pub fn difference_from_stored(&self) -> Option<(Vec<&'static str>, String)> {
        if self.rules_version < 2 {
            return None;
        }
        if self.anchor != Some(self.computed_anchor()) {
            let tables = vec!["jobs", "job_configs", "job_details", "job_continuations"];
            return Some((tables, "the job's config was modified".to_owned()));
        }
        self.chain_difference(self.computed_anchor())
    }

    /// As [`Self::difference_from_stored`], for the agents' chains from this anchor.
    #[must_use]
    pub fn chain_difference(&self, anchor: ContentHash) -> Option<(Vec<&'static str>, String)> {
        if self.rules_version < 2 {
            return None;
        }
        for (agent, chain) in self.chains_from(anchor) {
            let days = chain.len() as u64 - 1;
            let stored = self.chains.get(&agent);
            let is_same = match (stored, chain.last()) {
                (None, _) => days == 0,
                (Some(stored), Some(head)) => *stored == (days, *head),
                (Some(_), None) => false,
            };
            if !is_same {
                let there = stored.map_or(0, |(days, _)| *days);
                let why = if there == days {
                    format!("the days of {agent} were modified")
                } else {
                    format!("{agent} has {days} days, but {there} were recorded")
                };
                return Some((vec!["agent_chains", "trading_sessions", "job_details"], why));
            }
        }
        None
    }

    /// Why this record does not extend a published head; `None` if it does. The sessions themselves are verified
    /// separately.
    #[must_use]
    pub fn contradiction(&self, published: &JobHead) -> Option<NotExtended> {
        self.contradiction_from(self.computed_anchor(), published)
    }

    /// The same, with a stated anchor.
    #[must_use]
    pub fn contradiction_from(&self, anchor: ContentHash, published: &JobHead) -> Option<NotExtended> {
        if published.job != self.job {
            return Some(NotExtended::OtherJob(published.job.clone()));
        }
        if published.rules_version != self.rules_version || published.anchor != anchor {
            return Some(NotExtended::OtherInputs);
        }
        let chains = self.chains_from(anchor);
        for (agent, head) in &published.agents {
            let at = usize::try_from(head.days).ok();
            let link = at.and_then(|at| chains.get(agent)?.get(at));
            if link != Some(&head.head) {
                return Some(NotExtended::OtherDays(agent.clone()));
            }
            if let Some(open) = &head.open
                && !self.sessions.get(agent).is_some_and(|sessions| sessions.contains_key(&open.date))
            {
                return Some(NotExtended::MissingSession(agent.clone(), open.date));
            }
        }
        None
    }
}
