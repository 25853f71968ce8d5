//! Verifies that the record is unaltered. Recomputes a job's chains from the current rows: each session's steps,
//! their derived rows, the texts they reference, its instructions, its close and its summaries; each agent's
//! days, and the job's anchor. Beyond the chains, it compares data that is stored twice and requires every
//! expected day.
//!
//! This detects later edits, insertions and deletions. It cannot detect a whole job fabricated with its own
//! chains, unless the job's head was published earlier: see [`crate::head`].

mod chain;
mod duplicates;
mod job;
mod session;
mod texts;

use crate::error::{Result, StoreError};
use crate::head::load_record;
use crate::store::Store;
use crate::value::params;
pub use chain::{ChainLink, LinkKind, SessionChain};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::record::{JobHead, SessionId};
use papertape_core::tape::StepPath;
use papertape_core::time::Date;
use session::Checked;

/// Result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReport {
    /// The rules version that the job was recorded with and is verified by.
    pub rules_version: u32,
    /// The newest hash of each session verified as intact, by day and agent.
    pub heads: Vec<SessionHead>,
    /// Number of links in these sessions.
    pub links: u64,
    /// The job's head, if the record is intact.
    pub head: Option<JobHead>,
    /// The first place, by day, agent and commit, where the record was altered.
    pub broken: Option<ChainBreak>,
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
    /// Its hash: publishing it proves later that nothing before it was rewritten.
    pub head: ContentHash,
}

/// A place where the record was altered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainBreak {
    /// The session; `None` for the job itself or a day without a session.
    pub session: Option<SessionId>,
    /// The agent; `None` for all agents.
    pub agent: Option<AgentName>,
    /// The trading day; `None` for all days.
    pub date: Option<Date>,
    /// The step; `None` for the row of the session or the job.
    pub path: Option<StepPath>,
    /// The affected tables.
    pub tables: Vec<&'static str>,
    /// What is wrong.
    pub why: String,
}

impl std::fmt::Display for ChainBreak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.agent, self.date) {
            (Some(agent), Some(date)) => write!(f, "{agent} on {date}")?,
            (Some(agent), None) => write!(f, "{agent}")?,
            (None, Some(date)) => write!(f, "{date}")?,
            (None, None) => f.write_str("the job")?,
        }
        if let Some(session) = self.session {
            write!(f, " (session {session})")?;
        }
        if let Some(path) = &self.path {
            write!(f, ", step {path}")?;
        }
        write!(f, ": {} ({})", self.why, self.tables.join(", "))
    }
}

impl ChainBreak {
    /// A break that affects the job as a whole.
    fn in_job(tables: Vec<&'static str>, why: impl Into<String>) -> Self {
        Self { session: None, agent: None, date: None, path: None, tables, why: why.into() }
    }

    /// A break in a day that has no session, or in its row.
    fn in_day(agent: &AgentName, date: Date, tables: Vec<&'static str>, why: impl Into<String>) -> Self {
        Self { agent: Some(agent.clone()), date: Some(date), ..Self::in_job(tables, why) }
    }
}

/// A broken link: step, tables, reason.
struct Break(Option<StepPath>, Vec<&'static str>, String);

impl Store {
    /// Verifies a job's record, stopping at the first break.
    ///
    /// # Errors
    /// Returns an error if the database fails. An unreadable row counts as a break.
    pub async fn verify_chain(&self, job: &JobId) -> Result<ChainReport> {
        self.verify_chain_from(job, None).await
    }

    /// Like [`Self::verify_chain`], and also verifies that the record extends a published head: the job's anchor
    /// is the same, and each chain continues from where it was then.
    ///
    /// # Errors
    /// As for [`Self::verify_chain`].
    pub async fn verify_chain_from(&self, job: &JobId, published: Option<&JobHead>) -> Result<ChainReport> {
        let found = self
            .read_with(job.clone(), |db, job| {
                async move {
                    let sql = "SELECT rules_version FROM jobs WHERE job_id = $1";
                    let rules = db.first::<u32>(sql, params![job]).await?;
                    let sql = "SELECT id FROM trading_sessions WHERE job_id = $1 ORDER BY date, model";
                    Ok((rules.unwrap_or_default(), db.all::<SessionId>(sql, params![job]).await?))
                }
                .boxed()
            })
            .await;
        let mut report =
            ChainReport { rules_version: 0, heads: Vec::new(), links: 0, head: None, broken: None };
        let (rules, sessions) = match found {
            Ok(found) => found,
            Err(StoreError::Inconsistent(why)) => {
                report.broken = Some(ChainBreak::in_job(vec!["jobs", "trading_sessions"], why));
                return Ok(report);
            }
            Err(error) => return Err(error),
        };
        report.rules_version = rules;
        for session in sessions {
            match self.verify_session(session, rules, published).await? {
                // It was deleted in the meantime.
                None => {}
                Some(Ok((head, links))) => {
                    report.heads.push(head);
                    report.links += links;
                }
                Some(Err(broken)) => {
                    report.broken = Some(*broken);
                    return Ok(report);
                }
            }
        }
        let is_there = report.rules_version > 0 || !report.heads.is_empty();
        let of_job = self.read_with((job.clone(), published.cloned()), move |db, (job, published)| {
            async move {
                let Some(rows) = load_record(db, job).await? else {
                    let broken =
                        ChainBreak::in_job(vec!["jobs", "job_configs"], "the job's config is missing");
                    return Ok((None, is_there.then_some(broken)));
                };
                let broken = job::check(db, &rows, published.as_ref()).await?;
                Ok((Some(rows.head()), broken))
            }
            .boxed()
        });
        (report.head, report.broken) = match of_job.await {
            Ok((head, broken)) => (head.filter(|_| broken.is_none()), broken),
            Err(StoreError::Inconsistent(why)) => (None, Some(ChainBreak::in_job(vec!["jobs"], why))),
            Err(error) => return Err(error),
        };
        Ok(report)
    }

    async fn verify_session(
        &self,
        session: SessionId,
        rules: u32,
        published: Option<&JobHead>,
    ) -> Result<Option<Checked>> {
        let checked = self.read_with(published.cloned(), move |db, published| {
            session::verify(db, session, rules, (*published).as_ref()).boxed()
        });
        match checked.await {
            Err(StoreError::Inconsistent(why)) => {
                let broken = ChainBreak::in_job(vec!["trading_sessions"], why);
                Ok(Some(Err(Box::new(ChainBreak { session: Some(session), ..broken }))))
            }
            checked => checked,
        }
    }
}
