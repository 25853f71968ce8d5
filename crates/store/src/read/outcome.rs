//! Outcomes of the assistant's jobs.

use crate::error::Result;
use crate::store::Store;
use crate::value::params;
use papertape_core::id::JobId;
use serde_json::Value;

impl Store {
    /// The outcome of an assistant job as recorded when its session ended; `None` before that, and for other
    /// jobs.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn outcome(&self, job: &JobId) -> Result<Option<Value>> {
        let sql = "SELECT metadata FROM trading_sessions WHERE job_id = $1
            AND status IN ('completed', 'failed') ORDER BY id DESC LIMIT 1";
        let metadata = self.first::<Option<Value>>(sql, params![job]).await?.flatten();
        let stored = metadata.and_then(|mut metadata| Some(metadata.get_mut("assistant")?.take()));
        Ok(stored.filter(|stored| !stored.is_null()))
    }
}
