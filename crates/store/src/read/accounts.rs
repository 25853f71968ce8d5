//! Which jobs own an agent's account: what a new job can continue instead of rerunning the same days.

use super::by_key;
use crate::db::{Db, Statement};
use crate::error::{Result, StoreError};
use crate::rows::agent_state;
use crate::store::Store;
use crate::value::{Value, from_row, params};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::record::{AgentState, DayStatus, JobKind, SessionId, SkippedDay};
use papertape_core::time::Date;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An agent's days in a job that has not been superseded for it.
#[derive(Clone, Debug)]
pub struct AccountDays {
    /// The job.
    pub job: JobId,
    /// Hash of everything that determines the agent's days in this job: see `NewDay::agent_hash`.
    pub agent_hash: ContentHash,
    /// The last day taken over from the job that it continues; `None` if it opens a new account.
    pub continued: Option<Date>,
    /// Its days, oldest first.
    pub days: Vec<AccountDay>,
}

/// One day of `AccountDays`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountDay {
    /// The trading day.
    pub date: Date,
    /// Its status in the job.
    pub status: DayStatus,
    /// The job and session that completed the day: this job's own, or another's if the day was skipped.
    pub done: Option<SkippedDay>,
    /// Whether orders expired at the close because the run ended there.
    pub has_expired_orders: bool,
}

/// The newest job from which an agent can be continued.
#[derive(Clone, Debug)]
pub struct NewestJob {
    /// The job.
    pub job: JobId,
    /// The agent's last day in it.
    pub date: Date,
    /// The agent's state after that day, as the stored document (long strings extracted).
    pub state: AgentState,
}

/// SQL condition: a row of `job_details` (`d`) whose job has not been superseded for its agent.
pub(super) const COUNTS: &str = "NOT EXISTS (SELECT 1 FROM job_supersessions x
    WHERE x.superseded_job = d.job_id AND x.agent = d.model)";

impl Store {
    /// The simulations in which the agent, with this hash, starts on this day and has completed at least one day,
    /// newest first; superseded ones are left out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn accounts_from(
        &self,
        agent: &AgentName,
        agent_hash: ContentHash,
        first: Date,
    ) -> Result<Vec<AccountDays>> {
        let simulate = JobKind::Simulate;
        let sql = format!(
            "SELECT d.job_id FROM job_details d JOIN jobs j ON j.job_id = d.job_id
            WHERE d.agent_hash = $1 AND d.date = $2 AND d.model = $3 AND j.kind = '{simulate}' AND {COUNTS}
                AND NOT EXISTS (SELECT 1 FROM job_details e
                    WHERE e.job_id = d.job_id AND e.model = d.model AND e.date < $2)
                AND EXISTS (SELECT 1 FROM job_details c
                    WHERE c.job_id = d.job_id AND c.model = d.model AND c.status = 'completed')
            ORDER BY j.created_at DESC, j.job_id DESC"
        );
        self.read_with(agent.clone(), move |db, agent| {
            let sql = sql.clone();
            async move {
                let mut found = Vec::new();
                for job in db.all(&sql, params![agent_hash, first, agent]).await? {
                    found.extend(account_days(db, job, agent, None).await?);
                }
                Ok(found)
            }
            .boxed()
        })
        .await
    }

    /// The simulations that continue the agent's account from this job, newest first; superseded ones are left
    /// out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn continuations_of(&self, job: &JobId, agent: &AgentName) -> Result<Vec<AccountDays>> {
        self.read_with((job.clone(), agent.clone()), |db, (job, agent)| {
            async move {
                let sql =
                    "SELECT k.job_id, k.date FROM job_continuations k JOIN jobs j ON j.job_id = k.job_id
                    WHERE k.continued_job = $1 AND k.agent = $2 AND j.kind = $3
                        AND NOT EXISTS (SELECT 1 FROM job_supersessions x
                            WHERE x.superseded_job = k.job_id AND x.agent = k.agent)
                    ORDER BY j.created_at DESC, j.job_id DESC";
                let mut found = Vec::new();
                for (job, date) in db.all(sql, params![job, agent, &JobKind::Simulate]).await? {
                    found.extend(account_days(db, job, agent, Some(date)).await?);
                }
                Ok(found)
            }
            .boxed()
        })
        .await
    }

    /// The simulations in which the agent, with this hash, completed days from `from` to `to`, with the first and
    /// last of those days; superseded ones are left out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn completed_spans(
        &self,
        agent: &AgentName,
        agent_hash: ContentHash,
        (from, to): (Date, Date),
    ) -> Result<Vec<(JobId, Date, Date)>> {
        let simulate = JobKind::Simulate;
        let sql = format!(
            "SELECT d.job_id, min(d.date), max(d.date) FROM job_details d
            JOIN jobs j ON j.job_id = d.job_id
            WHERE d.agent_hash = $1 AND d.date >= $2 AND d.date <= $3 AND d.model = $4
                AND d.status = 'completed' AND j.kind = '{simulate}' AND {COUNTS}
            GROUP BY d.job_id, j.created_at ORDER BY j.created_at, d.job_id"
        );
        self.all(sql, params![agent_hash, from, to, agent]).await
    }

    /// The newest stopped simulation that has not been superseded for the agent and in which all of the agent's
    /// days are done, at least one of them in the job itself; with the agent's final state. `None` if there is
    /// none.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn newest_completed_job(&self, agent: &AgentName) -> Result<Option<NewestJob>> {
        self.read_with(agent.clone(), |db, agent| newest(db, agent).boxed()).await
    }

    /// Session metadata as stored JSON; sessions without metadata are left out.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn metadata_of(&self, sessions: &[SessionId]) -> Result<BTreeMap<SessionId, String>> {
        let sessions: Arc<[SessionId]> = sessions.into();
        self.read_with(sessions, |db, sessions| {
            async move {
                let sql =
                    "SELECT id, metadata FROM trading_sessions WHERE metadata IS NOT NULL AND id IN (?)";
                let found: BTreeMap<SessionId, Vec<String>> = by_key(db, sql, sessions).await?;
                Ok(found.into_iter().filter_map(|(id, mut rows)| Some((id, rows.pop()?))).collect())
            }
            .boxed()
        })
        .await
    }

    /// The agents of a job that were superseded, each with the newest job that did so.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn superseded(&self, job: &JobId) -> Result<BTreeMap<AgentName, JobId>> {
        self.read_with([job.clone()], |db, jobs| {
            async move { Ok(superseded(db, jobs).await?.remove(&jobs[0]).unwrap_or_default()) }.boxed()
        })
        .await
    }
}

/// By job, the agents that were superseded in it, each with the newest job that did so.
pub(super) async fn superseded(
    db: &mut dyn Db,
    jobs: &[JobId],
) -> Result<BTreeMap<JobId, BTreeMap<AgentName, JobId>>> {
    let sql = "SELECT s.superseded_job, s.agent, s.job_id FROM job_supersessions s
        JOIN jobs j ON j.job_id = s.job_id WHERE s.superseded_job IN (?) ORDER BY j.created_at, j.job_id";
    let found: BTreeMap<JobId, Vec<(AgentName, JobId)>> = by_key(db, sql, jobs).await?;
    Ok(found.into_iter().map(|(job, rows)| (job, rows.into_iter().collect())).collect())
}

/// An agent's days in a job; `None` if it has none.
async fn account_days(
    db: &mut dyn Db,
    job: JobId,
    agent: &AgentName,
    continued: Option<Date>,
) -> Result<Option<AccountDays>> {
    let sql = "SELECT d.agent_hash, d.date, d.status, coalesce(d.skipped_job, s.job_id),
            coalesce(d.skipped_session, s.id),
            CASE WHEN EXISTS (SELECT 1 FROM orders o
                WHERE o.session_id = coalesce(d.skipped_session, s.id) AND o.status = 'expired') THEN 1 ELSE 0 END
        FROM job_details d LEFT JOIN trading_sessions s
            ON s.job_id = d.job_id AND s.date = d.date AND s.model = d.model
        WHERE d.job_id = $1 AND d.model = $2 ORDER BY d.date";
    let days = db.all::<(ContentHash, AccountDay)>(sql, params![&job, agent]).await?;
    let (hashes, days): (Vec<_>, Vec<_>) = days.into_iter().unzip();
    Ok(hashes.last().map(|agent_hash| AccountDays { job, agent_hash: *agent_hash, continued, days }))
}

from_row! { impl row => AccountDay { date, status, done, has_expired_orders } }

/// Adds the condition that the job (`j`) of a row of `job_details` (`d`) has stopped and that all of the row's
/// agent's days are done, at least one of them in that job itself. Of an experiment, only the first trial counts: the
/// others repeat it. Masked jobs do not count: they are controls, on other days.
pub(super) fn all_done(statement: &mut Statement) {
    statement.add(
        " AND j.kind = ? AND j.status NOT IN ('queued', 'running')
          AND NOT EXISTS (SELECT 1 FROM job_details u WHERE u.job_id = d.job_id AND u.model = d.model
              AND u.status NOT IN ('completed', 'skipped'))
          AND EXISTS (SELECT 1 FROM trading_sessions t WHERE t.job_id = d.job_id AND t.model = d.model
              AND t.status = 'completed')
          AND NOT EXISTS (SELECT 1 FROM experiment_jobs e WHERE e.job_id = d.job_id AND e.trial > 1)
          AND NOT EXISTS (SELECT 1 FROM job_configs c WHERE c.job_id = d.job_id
              AND c.config LIKE '%\"masking\":{%')",
        [Value::from(&JobKind::Simulate)],
    );
    statement.add(&format!(" AND {COUNTS}"), []);
}

async fn newest(db: &mut dyn Db, agent: &AgentName) -> Result<Option<NewestJob>> {
    let mut statement = Statement::default();
    statement.add(
        "SELECT d.job_id, max(d.date) FROM job_details d JOIN jobs j ON j.job_id = d.job_id
         WHERE d.model = ? AND d.status = 'completed'",
        [agent.into()],
    );
    all_done(&mut statement);
    statement.add(" GROUP BY d.job_id, j.created_at ORDER BY j.created_at DESC, d.job_id DESC LIMIT 1", []);
    let newest = statement.first::<(JobId, Date)>(db).await?;
    let Some((job, date)) = newest else { return Ok(None) };
    let state = agent_state(db, &job, agent, Some(date)).await?.filter(|state| state.after == Some(date));
    let state = state.ok_or_else(|| {
        StoreError::inconsistent(format!("the job {job} has left no state of {agent} after {date}"))
    })?;
    Ok(Some(NewestJob { job, date, state }))
}
