//! Outcomes of the assistant's jobs and of memory probes.

use crate::error::Result;
use crate::store::Store;
use crate::value::params;
use papertape_core::id::JobId;
use serde_json::Value;

impl Store {
    /// The outcome of an assistant job or a memory probe as recorded when its session ended; `None` before that, and for
    /// other jobs.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn outcome(&self, job: &JobId) -> Result<Option<Value>> {
        let sql = "SELECT metadata FROM trading_sessions WHERE job_id = $1
            AND status IN ('completed', 'failed') ORDER BY id DESC LIMIT 1";
        let metadata = self.first::<Option<Value>>(sql, params![job]).await?.flatten();
        let stored = metadata.and_then(|mut metadata| {
            let key = ["assistant", "memory_probe"].into_iter().find(|key| metadata.get(key).is_some())?;
            Some(metadata.get_mut(key)?.take())
        });
        Ok(stored.filter(|stored| !stored.is_null()))
    }
}
