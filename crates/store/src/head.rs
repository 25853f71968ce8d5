//! A job's hash chains: its anchor, its agents' chains of days, and the head that can be published. Everything is
//! recomputed from the current rows; [`crate::verify`] compares it with the values stored along the way.
//!
//! The *anchor* says what the job was to do: its rules, its config (without the budget, which a resume may
//! change), its fingerprint, each expected day with its agent's hash, and the job it was branched from with that
//! job's head. The config names datasets, start states, the cut of a branch and the sources of an import by their
//! hashes. An *agent's chain* begins at the anchor; its links are first the days completed in other jobs, then
//! its closed sessions, by date.

use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::texts;
use crate::value::{from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::record::{DayStatus, ExpectedDay, JobHead, JobRecord, NewJob, SessionEnd, StoredText};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

impl Store {
    /// A job's head computed from its current rows; `None` if there is no such job.
    ///
    /// # Errors
    /// Returns an error if the database fails, or if the job's stored chains differ from those computed from its
    /// rows.
    pub async fn job_head(&self, job: &JobId) -> Result<Option<JobHead>> {
        self.read_with(job.clone(), |db, job| head_of(db, job).boxed()).await
    }

    /// The rows from which a job's chains are computed; `None` if there is no such job.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn job_record(&self, job: &JobId) -> Result<Option<JobRecord>> {
        self.read_with(job.clone(), |db, job| load_record(db, job).boxed()).await
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
        && let Some(rows) = load_record(db, parent).await?
    {
        // Also for a parent with broken chains: its head is recorded, and `verify` reports the break.
        let head = rows.head();
        store(db, &head).await?;
        parent_head = Some(head.hash());
    }
    let sql = "INSERT INTO job_configs (job_id, config, parent_head) VALUES ($1, $2, $3)";
    db.execute(sql, params![&job.id, &job.config, parent_head]).await?;
    let rows = load_record(db, &job.id).await?;
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
    let Some(rows) = load_record(db, job).await? else { return Ok(None) };
    match rows.difference_from_stored() {
        None => Ok(Some(rows.head())),
        Some((_, why)) => Err(StoreError::inconsistent(format!("job {job}: {why}; `verify` says where"))),
    }
}

/// Reads a job's rows in one transaction; `None` if there is no such job.
pub(crate) async fn load_record(db: &mut dyn Db, job: &JobId) -> Result<Option<JobRecord>> {
    let sql = "SELECT j.kind, j.status, j.rules_version, j.fingerprint, j.parent, c.config, c.anchor,
        c.parent_head FROM jobs j JOIN job_configs c ON c.job_id = j.job_id WHERE j.job_id = $1";
    let Some(mut row) = db.row(sql, params![job]).await? else { return Ok(None) };
    let mut rows = from_row!(row => JobRecord {
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
        let session = from_row!(row => SessionEnd {
            is_closed: row.get::<Option<i64>>()?.is_some(), status, error, state, length, head,
        });
        rows.sessions.entry(agent).or_default().insert(date, session);
    }
    if rows.rules_version > 1 {
        // Under rules version 1 the config is the only source, and these rows were derived from it.
        rows.continues = db
            .all(
                "SELECT agent, continued_job, date FROM job_continuations WHERE job_id = $1 ORDER BY agent",
                params![job],
            )
            .await?;
    }
    let sql = "SELECT agent, days, head FROM agent_chains WHERE job_id = $1";
    rows.chains = db.all::<(_, (_, _))>(sql, params![job]).await?.into_iter().collect();
    Ok(Some(rows))
}
