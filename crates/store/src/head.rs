//! A job's hash chains: its anchor, its agents' chains of days, and the head that can be published. Everything is
//! recomputed from the current rows; [`crate::verify`] compares it with the values stored along the way.
//!
//! The *anchor* says what the job was to do: its rules, its config (without the budget, which a resume may
//! change), its fingerprint, each expected day with its agent's hash, and the job it was branched from with that
//! job's head. The config names datasets, start states, the cut of a branch and the sources of an import by their
//! hashes. An *agent's chain* begins at the anchor; its links are first the days completed in other jobs, then
//! its closed sessions, by date.

use crate::chain::{self, DayLink};
use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::texts;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::json;
use papertape_core::record::{AgentHead, DayStatus, JobHead, JobStatus, NewJob, OpenSessionHead, StoredText};
use papertape_core::time::Date;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The rows from which a job's chains are computed.
#[derive(Debug)]
pub(crate) struct JobRows {
    pub(crate) job: JobId,
    kind: String,
    pub(crate) status: JobStatus,
    pub(crate) rules_version: u32,
    fingerprint: ContentHash,
    pub(crate) parent: Option<JobId>,
    pub(crate) config: Value,
    /// The anchor stored when the job was queued; `None` under rules version 1.
    pub(crate) anchor: Option<ContentHash>,
    pub(crate) parent_head: Option<ContentHash>,
    /// By agent and date.
    pub(crate) days: Vec<ExpectedDay>,
    /// The account that an agent continues: the job, and the last day taken over from it.
    continues: Vec<(AgentName, JobId, Date)>,
    pub(crate) sessions: BTreeMap<AgentName, BTreeMap<Date, SessionRow>>,
    /// Length and head of each chain, as stored with each close.
    pub(crate) chains: BTreeMap<AgentName, (u64, ContentHash)>,
}

/// A row of `job_details`.
#[derive(Debug)]
pub(crate) struct ExpectedDay {
    pub(crate) agent: AgentName,
    pub(crate) date: Date,
    pub(crate) agent_hash: ContentHash,
    pub(crate) status: DayStatus,
    pub(crate) error: Option<String>,
    /// Where a skipped day was completed.
    pub(crate) skipped: Option<Value>,
}

/// A row of `trading_sessions`.
#[derive(Debug)]
pub(crate) struct SessionRow {
    pub(crate) is_closed: bool,
    pub(crate) status: String,
    pub(crate) error: Option<String>,
    pub(crate) state: Option<ContentHash>,
    length: i64,
    head: ContentHash,
}

impl Store {
    /// A job's head computed from its current rows; `None` if there is no such job.
    ///
    /// # Errors
    /// Returns an error if the database fails, or if the job's stored chains differ from those computed from its
    /// rows.
    pub async fn job_head(&self, job: &JobId) -> Result<Option<JobHead>> {
        self.read_with(job.clone(), |db, job| head_of(db, job).boxed()).await
    }

    /// Like [`Self::job_head`], and stores the document among the texts, so that it can be found by its hash.
    ///
    /// # Errors
    /// As for [`Self::job_head`].
    pub async fn publish_job_head(&self, job: &JobId) -> Result<Option<JobHead>> {
        self.write_with(job.clone(), |db, job| {
            async move {
                let Some(head) = head_of(db, job).await? else { return Ok(None) };
                store(db, &head).await?;
                Ok(Some(head))
            }
            .boxed()
        })
        .await
    }

    /// The head document stored under this hash; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the database fails, or if the text under that hash is not a head document.
    pub async fn stored_job_head(&self, hash: ContentHash) -> Result<Option<JobHead>> {
        self.read(move |db| {
            async move {
                let Some(text) = texts::fetch(db, &BTreeSet::from([hash])).await?.remove(&hash) else {
                    return Ok(None);
                };
                let is_whole = ContentHash::of(text.as_bytes()) == hash;
                let head = serde_json::from_str(&text).ok().filter(|_| is_whole);
                head.map(Some)
                    .ok_or_else(|| StoreError::inconsistent(format!("the text {hash} is not a job's head")))
            }
            .boxed()
        })
        .await
    }
}

async fn store(db: &mut dyn Db, head: &JobHead) -> Result<()> {
    let text = StoredText { hash: head.hash(), body: head.to_text() };
    texts::insert_one(db, text).await
}

/// Commits to what a job is to do: its anchor, and the links of the days completed in other jobs.
pub(crate) async fn anchor_job(db: &mut dyn Db, job: &NewJob) -> Result<()> {
    let mut parent_head = None;
    if let Some(parent) = &job.parent
        && let Some(rows) = JobRows::load(db, parent).await?
    {
        // Also for a parent with broken chains: its head is recorded, and `verify` reports the break.
        let head = rows.head();
        store(db, &head).await?;
        parent_head = Some(head.hash());
    }
    let sql = "INSERT INTO job_configs (job_id, config, parent_head) VALUES ($1, $2, $3)";
    db.execute(sql, params![&job.id, &job.config, parent_head]).await?;
    let rows = JobRows::load(db, &job.id).await?;
    let rows = rows.ok_or_else(|| StoreError::inconsistent(format!("the job {} is not there", job.id)))?;
    let sql = "UPDATE job_configs SET anchor = $1 WHERE job_id = $2";
    db.execute(sql, params![rows.computed_anchor(), &job.id]).await?;
    for (agent, chain) in rows.computed_chains() {
        if let ([_, .., head], days) = (&chain[..], chain.len() - 1) {
            let sql = "INSERT INTO agent_chains (job_id, agent, days, head) VALUES ($1, $2, $3, $4)";
            db.execute(sql, params![&job.id, &agent, days, *head]).await?;
        }
    }
    Ok(())
}

async fn head_of(db: &mut dyn Db, job: &JobId) -> Result<Option<JobHead>> {
    let Some(rows) = JobRows::load(db, job).await? else { return Ok(None) };
    match rows.difference_from_stored() {
        None => Ok(Some(rows.head())),
        Some((_, why)) => Err(StoreError::inconsistent(format!("job {job}: {why}; `verify` says where"))),
    }
}

impl JobRows {
    /// Reads the rows in one transaction; `None` if there is no such job.
    pub(crate) async fn load(db: &mut dyn Db, job: &JobId) -> Result<Option<Self>> {
        let sql = "SELECT j.kind, j.status, j.rules_version, j.fingerprint, j.parent, c.config, c.anchor,
            c.parent_head FROM jobs j JOIN job_configs c ON c.job_id = j.job_id WHERE j.job_id = $1";
        let Some(mut row) = db.row(sql, params![job]).await? else { return Ok(None) };
        let mut rows = from_row!(row => Self {
            job: job.clone(), kind, status, rules_version, fingerprint, parent, config, anchor, parent_head,
            days: Vec::new(), continues: Vec::new(), sessions: BTreeMap::new(), chains: BTreeMap::new(),
        });
        let sql = "SELECT model, date, agent_hash, status, error, skipped_job, skipped_head FROM job_details
            WHERE job_id = $1 ORDER BY model, date";
        for mut row in db.query(sql, params![job]).await? {
            let (agent, date, agent_hash) = (row.get()?, row.get()?, row.get()?);
            let (status, error): (DayStatus, Option<String>) = (row.get()?, row.get()?);
            let (by, head): (Option<JobId>, Option<ContentHash>) = (row.get()?, row.get()?);
            let skipped = (status == DayStatus::Skipped).then(|| match rows.rules_version {
                1 => json!(error),
                _ => json!({ "job": by, "head": head, "reason": error }),
            });
            rows.days.push(ExpectedDay { agent, date, agent_hash, status, error, skipped });
        }
        let sql = "SELECT model, date, close_seq, status, error, state_hash, chain_length, chain_head
            FROM trading_sessions WHERE job_id = $1";
        for mut row in db.query(sql, params![job]).await? {
            let (agent, date) = (row.get()?, row.get()?);
            let session = from_row!(row => SessionRow {
                is_closed: row.get::<Option<i64>>()?.is_some(), status, error, state, length, head,
            });
            rows.sessions.entry(agent).or_default().insert(date, session);
        }
        if rows.rules_version > 1 {
            // Under rules version 1 the config is the only source, and these rows were derived from it.
            rows.continues = db
                .all("SELECT agent, continued_job, date FROM job_continuations WHERE job_id = $1 ORDER BY agent", params![job])
                .await?;
        }
        let sql = "SELECT agent, days, head FROM agent_chains WHERE job_id = $1";
        rows.chains = db.all::<(_, (_, _))>(sql, params![job]).await?.into_iter().collect();
        Ok(Some(rows))
    }

    /// The anchor at which all of the job's chains begin.
    pub(crate) fn computed_anchor(&self) -> ContentHash {
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
    pub(crate) fn computed_chains(&self) -> BTreeMap<AgentName, Vec<ContentHash>> {
        let anchor = self.computed_anchor();
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
    pub(crate) fn head(&self) -> JobHead {
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
            anchor: self.computed_anchor(),
            status: self.status,
            agents: self.computed_chains().into_iter().filter_map(agent).collect(),
        }
    }

    /// If stored values differ from those computed from the rows: the affected tables, and a message. Rules
    /// version 1 stored none.
    pub(crate) fn difference_from_stored(&self) -> Option<(Vec<&'static str>, String)> {
        if self.rules_version < 2 {
            return None;
        }
        if self.anchor != Some(self.computed_anchor()) {
            let tables = vec!["jobs", "job_configs", "job_details", "job_continuations"];
            return Some((tables, "the job's config was modified".to_owned()));
        }
        for (agent, chain) in self.computed_chains() {
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
}
