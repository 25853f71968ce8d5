//! Sessions that could see beyond the market view.

use crate::error::Result;
use crate::store::Store;
use crate::value::params;
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
    ) -> Result<Option<(Date, Value)>> {
        let sql =
            "SELECT date, metadata FROM trading_sessions WHERE job_id = $1 AND model = $2 AND date <= $3
            AND metadata LIKE $4 ORDER BY date DESC LIMIT 1";
        self.first(sql, params![job, agent, until, MARK]).await
    }
}
