//! On SQLite the full text index lags behind the commits: indexing costs as much as all the rest of a message,
//! and far less per text when texts are indexed in batches. A search reads texts that are not indexed yet
//! directly, so results do not depend on the index lag.
//!
//! The caller that writes a new text also makes its words. They stay in memory until the text is indexed. Without
//! them, for example after a restart, the text is read back.
//!
//! PostgreSQL maintains such a list itself (the `fastupdate` of its GIN indexes).

use super::tokenizer::{IndexedWords, Word};
use super::{add, index};
use crate::db::{Backend, Db};
use crate::error::Result;
use crate::texts::{BODY, Body};
use crate::value::params;
use std::collections::HashMap;
use std::sync::Arc;

/// Max bytes of words in memory; further texts are read back.
const MAX_WORD_BYTES: usize = 16 << 20;

/// Queues the text for indexing; searches find it immediately. `words` are a text's that this transaction added.
pub(crate) async fn later(db: &mut dyn Db, text_id: i64, words: Option<&Arc<String>>) -> Result<()> {
    match (db.backend(), words) {
        (Backend::Sqlite, words) => {
            let sql = "INSERT INTO texts_to_index (text_id) VALUES ($1) ON CONFLICT DO NOTHING";
            db.execute(sql, params![text_id]).await?;
            db.queued_text(text_id, words);
            Ok(())
        }
        (Backend::Postgres, Some(words)) => add(db, text_id, words).await,
        (Backend::Postgres, None) => index(db, text_id).await,
    }
}

/// The words of queued texts, by text.
#[derive(Debug, Default)]
pub(crate) struct QueuedWords {
    words: HashMap<i64, Arc<String>>,
    bytes: usize,
}

impl QueuedWords {
    /// Adds the words of a text that was queued; without words, the text is read back.
    pub(crate) fn insert(&mut self, text_id: i64, words: Option<Arc<String>>) {
        // The ID may be one that a deleted text had.
        self.take(text_id);
        if let Some(words) = words.filter(|words| self.bytes + words.len() <= MAX_WORD_BYTES) {
            self.bytes += words.len();
            self.words.insert(text_id, words);
        }
    }

    fn take(&mut self, text_id: i64) -> Option<Arc<String>> {
        let words = self.words.remove(&text_id)?;
        self.bytes -= words.len();
        Some(words)
    }
}

/// Indexes at most this many texts; returns how many it indexed.
pub(crate) async fn catch_up(db: &mut dyn Db, queued: &mut QueuedWords, most: usize) -> Result<usize> {
    let sql = "SELECT text_id FROM texts_to_index ORDER BY text_id LIMIT $1";
    let rows = db.query(sql, params![most]).await?;
    let mut last = None;
    let count = rows.len();
    for mut row in rows {
        let text_id: i64 = row.get()?;
        match queued.take(text_id) {
            Some(words) => add(db, text_id, &words).await?,
            None => index(db, text_id).await?,
        }
        last = Some(text_id);
    }
    if let Some(last) = last {
        db.execute("DELETE FROM texts_to_index WHERE text_id <= $1", params![last]).await?;
    }
    if count < most {
        // What is left belongs to deleted texts.
        *queued = QueuedWords::default();
    }
    Ok(count)
}

/// The texts that contain all of these words, among those not indexed yet.
pub(super) async fn matching(db: &mut dyn Db, asked: &[Word]) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    if db.backend() == Backend::Postgres {
        return Ok(found);
    }
    let sql = format!("SELECT t.id, {BODY} FROM texts_to_index i JOIN texts t ON t.id = i.text_id");
    for mut row in db.query(&sql, &[]).await? {
        let (text_id, Body(body)) = (row.get()?, row.get()?);
        if IndexedWords::of(&body).has_all(asked) {
            found.push(text_id);
        }
    }
    Ok(found)
}
