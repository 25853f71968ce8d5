//! A session's text outside its steps: the system prompts of its nodes, and its summaries.

use super::commit::CommitApplier;
use crate::error::{Result, StoreError};
use crate::value::params;
use papertape_core::id::ContentHash;
use papertape_core::record::chain;
use papertape_core::tape::StepPath;
use serde_json::json;

impl CommitApplier<'_> {
    pub(super) async fn instructions(&mut self, node: &str, hash: ContentHash) -> Result<(), StoreError> {
        let is_open = !self.commit.detached && !self.head.closed;
        let link = self.head.link(&chain::instructions_link(node, hash));
        let sql = "INSERT INTO session_instructions (session_id, node, hash, n, seq)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT (session_id, node) DO NOTHING";
        let values = params![self.head.id, node, hash, self.fence.next(), link.seq];
        if self.db.execute(sql, values).await? == 0 {
            self.head.unlink(link);
            return Ok(());
        }
        if !is_open {
            return Err(StoreError::inconsistent(format!(
                "the instructions of {node} are of no open session"
            )));
        }
        let event = json!({
            "session": self.head.id, "agent": self.head.agent, "date": self.head.date, "node": node,
        });
        self.fence.event(self.db, "node", &event, self.commit.at).await.map(drop)
    }

    pub(super) async fn summary(
        &mut self,
        path: Option<&StepPath>,
        summary: &Result<String, String>,
    ) -> Result<()> {
        let (text, error) = match summary {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(error)),
        };
        if !self.commit.detached {
            return Err(StoreError::inconsistent("a summary is of no detached tape"));
        }
        let link = chain::summary_link(path, text.map(String::as_str), error.map(String::as_str));
        let seq = self.head.link(&link).seq;
        let changed = match path {
            Some(path) => {
                let sql = "UPDATE reasoning_log_rows SET summary = $1, summary_error = $2, summary_seq = $3
                    WHERE session_id = $4 AND summary_seq IS NULL
                      AND step_id = (SELECT s.id FROM steps s
                          WHERE s.session_id = $4 AND s.detached = 0 AND s.path = $5)";
                self.db.execute(sql, params![text, error, seq, self.head.id, path]).await?
            }
            None => {
                let sql =
                    "UPDATE trading_sessions SET session_summary = $1, summary_error = $2, summary_seq = $3
                    WHERE id = $4 AND summary_seq IS NULL";
                self.db.execute(sql, params![text, error, seq, self.head.id]).await?
            }
        };
        match (changed, path) {
            (0, Some(path)) => Err(StoreError::inconsistent(format!("{path} has no message to sum up"))),
            (0, None) => Err(StoreError::inconsistent("the session has its summary already")),
            _ => Ok(()),
        }
    }
}
