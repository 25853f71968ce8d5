//! How the days of a job ended.

use crate::db::Db;
use crate::error::StoreError;
use crate::value::{Row, params};
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::DayStatus;
use papertape_core::time::Date;
use std::collections::BTreeMap;

/// How each of an agent's days in a job ended; days that have not ended are left out.
pub(crate) async fn ended_days(
    db: &mut dyn Db,
    job: &JobId,
    agent: &AgentName,
) -> Result<BTreeMap<Date, DayStatus>, StoreError> {
    let sql = "SELECT date, status FROM trading_sessions
        WHERE job_id = $1 AND model = $2 AND completed_at IS NOT NULL";
    let read = |mut row: Row| Ok((row.get()?, row.get()?));
    db.query(sql, params![job, agent]).await?.into_iter().map(read).collect()
}
