//! Packs the texts of a database that an older version has written, a batch per transaction: a database of any
//! size takes little memory, and what a killed process has done stays done. Readers take either form.

use super::{Body, PACKED, pack};
use crate::db::{Backend, Db};
use crate::error::Result;
use crate::texts::BODY;
use crate::value::{Array, params};
use std::sync::Arc;
use std::time::Instant;

/// Max texts per transaction.
const BATCH: usize = 512;
/// Max bytes of texts per transaction, unless a single one is longer.
const BATCH_BYTES: i64 = 8 << 20;

/// SQL: the texts after `$1` that are to be packed; `$2` is [`PACKED`].
const UNPACKED: &str = "FROM texts t WHERE t.id > $1 AND t.encoding <> $2
    AND NOT EXISTS (SELECT 1 FROM reasoning_log_rows m WHERE m.content_id = t.id)
    AND t.id NOT IN (SELECT r.text_id FROM trade_reflections r)";

/// The work's row in `pending_upgrades`.
const NAME: &str = "pack_texts";

/// What was packed, in bytes of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedBatch {
    texts: u64,
    before: u64,
    after: u64,
}

/// Adds up batches, and reports them.
#[derive(Debug)]
pub(crate) struct PackReport {
    started: Instant,
    total: PackedBatch,
}

impl PackReport {
    pub(crate) fn begin() -> Self {
        tracing::info!("compressing the stored texts; the database can be used once this is done");
        Self { started: Instant::now(), total: PackedBatch::default() }
    }

    pub(crate) fn add(&mut self, batch: PackedBatch) {
        self.total.texts += batch.texts;
        self.total.before += batch.before;
        self.total.after += batch.after;
    }

    /// Reports the end. A SQLite file does not become smaller by itself.
    pub(crate) fn end(self, backend: Backend) {
        let PackedBatch { texts, before, after } = self.total;
        let elapsed_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let hint = match backend {
            Backend::Sqlite => "; `papertape migrate database --compact` makes the file smaller",
            Backend::Postgres => "; `VACUUM FULL` makes the tables smaller",
        };
        tracing::info!(
            texts,
            bytes_before = before,
            bytes_after = after,
            elapsed_ms,
            "compressed the stored texts{hint}"
        );
    }
}

/// Whether there is anything to pack.
pub(crate) async fn is_pending(db: &mut dyn Db) -> Result<bool> {
    let sql = "SELECT 1 FROM pending_upgrades WHERE name = $1";
    Ok(db.first::<i64>(sql, params![NAME]).await?.is_some())
}

/// Packs the next texts; `None` if all are done.
pub(crate) async fn pack_next(db: &mut dyn Db) -> Result<Option<PackedBatch>> {
    // Other processes wait for the row.
    let sql = "UPDATE pending_upgrades SET position = position WHERE name = $1 RETURNING position";
    let Some(position) = db.first::<i64>(sql, params![NAME]).await? else { return Ok(None) };
    let sql = format!("SELECT t.id, octet_length(t.body) {UNPACKED} ORDER BY t.id LIMIT $3");
    let lengths = db.all::<(i64, i64)>(&sql, params![position, PACKED, BATCH]).await?;
    let mut bytes = 0;
    let fits = |(at, (_, length)): &(usize, (i64, i64))| {
        bytes += length;
        *at == 0 || bytes <= BATCH_BYTES
    };
    let Some((_, (last, _))) = lengths.into_iter().enumerate().take_while(fits).last() else {
        db.execute("DELETE FROM pending_upgrades WHERE name = $1", params![NAME]).await?;
        return Ok(None);
    };
    let sql = format!("SELECT t.id, {BODY} {UNPACKED} AND t.id <= $3 ORDER BY t.id");
    let found = db.all::<(i64, Body)>(&sql, params![position, PACKED, last]).await?;
    let (mut batch, mut ids, mut blobs) = (PackedBatch::default(), Vec::new(), Vec::new());
    for (id, Body(body)) in found {
        let Some(packed) = pack::pack(&body) else { continue };
        batch.texts += 1;
        batch.before += body.len() as u64;
        batch.after += packed.len() as u64;
        ids.push(id);
        blobs.push(Arc::new(packed));
    }
    match db.backend() {
        Backend::Sqlite => {
            let sql = "UPDATE texts SET body = '', encoding = $1, packed = $2 WHERE id = $3";
            for (id, packed) in ids.iter().zip(&blobs) {
                db.execute(sql, params![PACKED, packed, *id]).await?;
            }
        }
        Backend::Postgres => {
            let sql = "UPDATE texts SET body = '', encoding = $1, packed = n.packed
                FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BYTEA[])) AS n (id, packed)
                WHERE texts.id = n.id";
            let blobs = blobs.into_iter().map(Some).collect();
            db.execute(sql, params![PACKED, Array::Numbers(ids), Array::Blobs(blobs)]).await?;
        }
    }
    let sql = "UPDATE pending_upgrades SET position = $1 WHERE name = $2";
    db.execute(sql, params![last, NAME]).await?;
    Ok(Some(batch))
}
