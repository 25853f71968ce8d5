//! On SQLite the full text index lags behind the commits: indexing costs as much as all the rest of a message,
//! and far less per text when texts are indexed in batches. A search reads texts that are not indexed yet
//! directly, so results do not depend on the index lag.
//!
//! PostgreSQL maintains such a list itself (the `fastupdate` of its GIN indexes).

use super::index;
use super::tokenizer::{Word, has_all, indexed};
use crate::db::{Backend, Db};
use crate::error::Result;
use crate::texts;
use crate::value::params;

/// Queues the text for indexing; searches find it immediately.
pub(crate) async fn later(db: &mut dyn Db, text_id: i64) -> Result<()> {
    match db.backend() {
        Backend::Sqlite => {
            let sql = "INSERT INTO texts_to_index (text_id) VALUES ($1) ON CONFLICT DO NOTHING";
            db.execute(sql, params![text_id]).await.map(drop)
        }
        Backend::Postgres => index(db, text_id).await,
    }
}

/// Indexes at most this many texts; returns how many it indexed.
pub(crate) async fn catch_up(db: &mut dyn Db, most: usize) -> Result<usize> {
    let sql = "SELECT text_id FROM texts_to_index ORDER BY text_id LIMIT $1";
    let texts = db.all::<i64>(sql, params![most]).await?;
    for text_id in &texts {
        index(db, *text_id).await?;
    }
    if let Some(last) = texts.last() {
        db.execute("DELETE FROM texts_to_index WHERE text_id <= $1", params![*last]).await?;
    }
    Ok(texts.len())
}

/// The texts that contain all of these words, among those not indexed yet.
pub(super) async fn matching(db: &mut dyn Db, asked: &[Word]) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    if db.backend() == Backend::Postgres {
        return Ok(found);
    }
    let sql = "SELECT t.id, t.body, t.encoding FROM texts_to_index i JOIN texts t ON t.id = i.text_id";
    for (text_id, body, encoding) in db.all::<(i64, String, i64)>(sql, &[]).await? {
        if has_all(&indexed(&texts::decode(body, encoding)?), asked) {
            found.push(text_id);
        }
    }
    Ok(found)
}
