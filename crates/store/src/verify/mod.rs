//! Is the record as it was written? Recomputes a job's chains from the rows as they stand now: the steps of
//! each session, the rows that they imply, the texts that they refer to, its instructions, its close, its
//! summaries; the days of each agent, and what the job was to do. Beyond the chains it compares what stands in
//! the record twice, and requires each expected day.
//!
//! This shows that something was edited, added or taken away afterwards. It cannot show that a whole
//! job was made up with chains of its own, unless its head was published before: see [`crate::head`].

mod duplicates;
mod job;
mod session;
mod texts;

use crate::error::StoreError;
use crate::head::JobRows;
use crate::store::Store;
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::record::{JobHead, SessionId};
use papertape_core::tape::StepPath;
use papertape_core::time::Date;
use session::Checked;
use std::sync::Arc;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReport {
    /// The rules that the job was recorded under, which it is verified by.
    pub rules_version: u32,
    /// The newest hash of each session that was looked at and is whole, by day and agent.
    pub heads: Vec<SessionHead>,
    /// How many links these have.
    pub links: u64,
    /// The job's head, where the record is whole.
    pub head: Option<JobHead>,
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
    /// The session; `None`: the job itself, or a day that has none.
    pub session: Option<SessionId>,
    /// The agent; `None`: all of them.
    pub agent: Option<AgentName>,
    /// The trading day; `None`: all of them.
    pub date: Option<Date>,
    /// The step; `None`: the session's own row, or the job's.
    pub path: Option<StepPath>,
    /// The tables of the rows in question.
    pub tables: Vec<&'static str>,
    /// What is wrong.
    pub why: String,
}

impl std::fmt::Display for Broken {
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

impl Broken {
    /// A break of the job as a whole.
    fn of_job(tables: Vec<&'static str>, why: impl Into<String>) -> Self {
        Self { session: None, agent: None, date: None, path: None, tables, why: why.into() }
    }

    /// A break of a day that has no session, or of its row.
    fn of_day(agent: &AgentName, date: Date, tables: Vec<&'static str>, why: impl Into<String>) -> Self {
        Self { agent: Some(agent.clone()), date: Some(date), ..Self::of_job(tables, why) }
    }
}

impl Store {
    /// Verifies a job's record, up to the first break.
    ///
    /// # Errors
    /// A database that fails. A row that cannot be read at all is a break.
    pub async fn verify_chain(&self, job: &JobId) -> Result<ChainReport, StoreError> {
        self.verify_chain_from(job, None).await
    }

    /// As [`Self::verify_chain`], and that the record extends a head that was published: the same job was to
    /// do the same, and each chain goes on from where it was then.
    ///
    /// # Errors
    /// As there.
    pub async fn verify_chain_from(
        &self,
        job: &JobId,
        published: Option<&JobHead>,
    ) -> Result<ChainReport, StoreError> {
        let wanted = job.clone();
        let found = self
            .read(move |db| {
                let job = wanted.clone();
                async move {
                    let sql = "SELECT rules_version FROM jobs WHERE job_id = $1";
                    let rules = db.row(sql, params![&job]).await?.map(|mut row| row.get()).transpose()?;
                    let sql = "SELECT id FROM trading_sessions WHERE job_id = $1 ORDER BY date, model";
                    let rows = db.query(sql, params![&job]).await?;
                    let ids = rows.into_iter().map(|mut row| row.get()).collect::<Result<Vec<_>, _>>()?;
                    Ok((rules.unwrap_or_default(), ids))
                }
                .boxed()
            })
            .await;
        let mut report =
            ChainReport { rules_version: 0, heads: Vec::new(), links: 0, head: None, broken: None };
        let (rules, sessions): (u32, Vec<SessionId>) = match found {
            Ok(found) => found,
            Err(StoreError::Inconsistent(why)) => {
                report.broken = Some(Broken::of_job(vec!["jobs", "trading_sessions"], why));
                return Ok(report);
            }
            Err(error) => return Err(error),
        };
        report.rules_version = rules;
        for session in sessions {
            match self.verify_session(session, rules, published).await? {
                // It was deleted meanwhile.
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
        let wanted = Arc::new((job.clone(), published.cloned()));
        let is_there = report.rules_version > 0 || !report.heads.is_empty();
        let of_job = self.read(move |db| {
            let wanted = Arc::clone(&wanted);
            async move {
                let Some(rows) = JobRows::load(db, &wanted.0).await? else {
                    let broken =
                        Broken::of_job(vec!["jobs", "job_configs"], "what the job was to do is not there");
                    return Ok((None, is_there.then_some(broken)));
                };
                let broken = job::check(db, &rows, wanted.1.as_ref()).await?;
                Ok((Some(rows.head()), broken))
            }
            .boxed()
        });
        (report.head, report.broken) = match of_job.await {
            Ok((head, broken)) => (head.filter(|_| broken.is_none()), broken),
            Err(StoreError::Inconsistent(why)) => (None, Some(Broken::of_job(vec!["jobs"], why))),
            Err(error) => return Err(error),
        };
        Ok(report)
    }

    async fn verify_session(
        &self,
        session: SessionId,
        rules: u32,
        published: Option<&JobHead>,
    ) -> Result<Option<Checked>, StoreError> {
        let published = Arc::new(published.cloned());
        let checked = self.read(move |db| {
            let published = Arc::clone(&published);
            async move { session::verify(db, session, rules, (*published).as_ref()).await }.boxed()
        });
        match checked.await {
            Err(StoreError::Inconsistent(why)) => {
                let broken = Broken::of_job(vec!["trading_sessions"], why);
                Ok(Some(Err(Box::new(Broken { session: Some(session), ..broken }))))
            }
            checked => checked,
        }
    }
}
