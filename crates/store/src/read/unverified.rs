//! Sessions that could see beyond the market view.

use crate::db::{Db, Statement};
use crate::error::StoreError;
use crate::store::Store;
use futures::FutureExt as _;
use papertape_core::id::{AgentName, JobId};
use papertape_core::time::Date;
use serde_json::Value;

/// The mark as canonical metadata spell it.
const MARK: &str = "%\"point_in_time\":\"unverified\"%";

impl Store {
    /// The day and metadata of an agent's newest session in a job, up to a day, whose point-in-time access is
    /// unverified; `None` if all are verified.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn newest_unverified(
        &self,
        job: &JobId,
        agent: &AgentName,
        until: Date,
    ) -> Result<Option<(Date, Value)>, StoreError> {
        self.read_with((job.clone(), agent.clone()), move |db, (job, agent)| {
            newest(db, job, agent, until).boxed()
        })
        .await
    }
}

async fn newest(
    db: &mut dyn Db,
    job: &JobId,
    agent: &AgentName,
    until: Date,
) -> Result<Option<(Date, Value)>, StoreError> {
    let mut statement = Statement::new("SELECT date, metadata FROM trading_sessions WHERE 1 = 1");
    statement.add(" AND job_id = ? AND model = ? AND date <= ?", [job.into(), agent.into(), until.into()]);
    statement.add(" AND metadata LIKE ? ORDER BY date DESC LIMIT 1", [MARK.into()]);
    let row = statement.query(db).await?.into_iter().next();
    row.map(|mut row| Ok((row.get()?, row.get()?))).transpose()
}
