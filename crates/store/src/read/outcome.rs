//! Outcomes of the assistant's jobs.

use crate::error::StoreError;
use crate::store::Store;
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::id::JobId;
use serde_json::Value;

impl Store {
    /// The outcome of an assistant job as recorded when its session ended; `None` before that, and for other
    /// jobs.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn outcome(&self, job: &JobId) -> Result<Option<Value>, StoreError> {
        self.read_with(job.clone(), |db, job| {
            async move {
                let sql = "SELECT metadata FROM trading_sessions WHERE job_id = $1
                    AND status IN ('completed', 'failed') ORDER BY id DESC LIMIT 1";
                let Some(mut row) = db.row(sql, params![job]).await? else { return Ok(None) };
                let metadata: Option<Value> = row.get()?;
                let stored = metadata.and_then(|mut metadata| Some(metadata.get_mut("assistant")?.take()));
                Ok(stored.filter(|stored| !stored.is_null()))
            }
            .boxed()
        })
        .await
    }
}
