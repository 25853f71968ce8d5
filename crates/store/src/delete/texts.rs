//! Garbage collection of unreferenced texts.
//!
//! Texts are shared by hash: by columns, by other texts and by configs. To find out which texts of a deleted job
//! are still used, everything that remains is scanned, so that no write has to maintain a reference count. Any
//! occurrence of a hash counts as a use, intended or not: a text may be kept unnecessarily, but is never lost.

use crate::db::{Backend, Db};
use crate::error::Result;
use crate::search;
use crate::texts::{self, BODY, Body};
use crate::value::params;
use papertape_core::id::{ContentHash, JobId};
use papertape_core::record::JobHead;
use std::collections::BTreeSet;

/// Rows of hashes per read…
const ROWS: usize = 4_096;
/// …and rows with a text.
const BODIES: usize = 64;
/// Hex digits of a hash.
const HEX: usize = 64;

/// Columns with hashes of texts: tables with rows of sessions…
const OF_SESSIONS: &[(&str, &str)] =
    &[("steps", "request_ref"), ("steps", "outcome_ref"), ("session_instructions", "hash")];

/// …and tables with rows of jobs.
const OF_JOBS: &[(&str, &str)] = &[
    ("trading_sessions", "state_hash"),
    ("agent_states", "hash"),
    ("job_configs", "anchor"),
    ("job_configs", "parent_head"),
    ("job_details", "agent_hash"),
];

/// Columns with IDs of texts, in rows of sessions.
const BY_ID: &[(&str, &str)] = &[("reasoning_log_rows", "content_id"), ("trade_reflections", "text_id")];

/// The texts used by the jobs to be deleted.
#[derive(Debug, Default)]
pub(super) struct Candidates(BTreeSet<ContentHash>);

impl Candidates {
    /// The texts that these jobs use, directly and through other texts.
    pub(super) async fn of(db: &mut dyn Db, jobs: &[JobId]) -> Result<Self> {
        let mut found = BTreeSet::new();
        for job in jobs {
            texts_of_job(db, job, &mut found).await?;
        }
        let mut all = Self::default();
        all.close(db, found, |_| true).await?;
        Ok(all)
    }

    /// Adds these texts and, transitively, those that they reference, if they exist and are wanted.
    async fn close(
        &mut self,
        db: &mut dyn Db,
        from: BTreeSet<ContentHash>,
        wanted: impl Fn(&ContentHash) -> bool,
    ) -> Result<()> {
        let mut open: Vec<ContentHash> = from.into_iter().filter(&wanted).collect();
        while !open.is_empty() {
            let group: BTreeSet<ContentHash> =
                open.split_off(open.len().saturating_sub(BODIES)).into_iter().collect();
            for (hash, body) in texts::fetch(db, &group).await? {
                if self.0.insert(hash) {
                    open.extend(named(&body).filter(|hash| wanted(hash) && !self.0.contains(hash)));
                }
            }
        }
        Ok(())
    }

    /// Removes the texts that nothing remaining uses, and the published heads of these jobs. Returns how many.
    pub(super) async fn collect(self, db: &mut dyn Db, jobs: &[JobId]) -> Result<u64> {
        let mut used = BTreeSet::new();
        let mut take = |hash| {
            if self.0.contains(&hash) {
                used.insert(hash);
            }
        };
        texts_of_all_jobs(db, &mut take).await?;
        let heads = self.named_by_others(db, jobs, &mut used).await?;
        let mut live = Self::default();
        live.close(db, used, |hash| self.0.contains(hash)).await?;
        let dead: Vec<ContentHash> =
            self.0.into_iter().filter(|hash| !live.0.contains(hash)).chain(heads).collect();
        let mut removed = 0;
        for hash in dead {
            removed += u64::from(remove(db, hash).await?);
        }
        Ok(removed)
    }

    /// Marks the texts that other texts reference. Returns the heads of these jobs.
    async fn named_by_others(
        &self,
        db: &mut dyn Db,
        jobs: &[JobId],
        used: &mut BTreeSet<ContentHash>,
    ) -> Result<Vec<ContentHash>> {
        let (mut heads, mut last) = (Vec::new(), 0_i64);
        let sql =
            format!("SELECT t.id, t.hash, {BODY} FROM texts t WHERE t.id > $1 ORDER BY t.id LIMIT {BODIES}");
        loop {
            let rows = db.query(&sql, params![last]).await?;
            let count = rows.len();
            for mut row in rows {
                last = row.get()?;
                let hash: ContentHash = row.get()?;
                if self.0.contains(&hash) {
                    continue;
                }
                let Body(body) = row.get()?;
                if is_head_of(jobs, hash, &body) {
                    heads.push(hash);
                } else {
                    used.extend(named(&body).filter(|named| self.0.contains(named)));
                }
            }
            if count < BODIES {
                return Ok(heads);
            }
        }
    }
}

/// The hashes in the columns of a job's rows, and in its config. Reads one session at a time to limit memory.
async fn texts_of_job(db: &mut dyn Db, job: &JobId, found: &mut BTreeSet<ContentHash>) -> Result<()> {
    let columns = OF_SESSIONS.iter().map(|(table, column)| {
        format!("SELECT DISTINCT {column} FROM {table} WHERE session_id = $1 AND {column} IS NOT NULL")
    });
    let by_id = BY_ID.iter().map(|(table, column)| {
        format!(
            "SELECT DISTINCT t.hash FROM {table} r JOIN texts t ON t.id = r.{column} WHERE r.session_id = $1"
        )
    });
    let of_session: Vec<String> = columns.chain(by_id).collect();
    for session in db.all::<i64>("SELECT id FROM trading_sessions WHERE job_id = $1", params![job]).await? {
        for sql in &of_session {
            found.extend(db.all::<ContentHash>(sql, params![session]).await?);
        }
    }
    for (table, column) in OF_JOBS {
        let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE job_id = $1 AND {column} IS NOT NULL");
        found.extend(db.all::<ContentHash>(&sql, params![job]).await?);
    }
    found.extend(config_of(db, job).await?);
    Ok(())
}

/// The same for all jobs.
async fn texts_of_all_jobs(db: &mut dyn Db, take: &mut (dyn FnMut(ContentHash) + Send)) -> Result<()> {
    let sql =
        format!("SELECT id, request_ref, outcome_ref FROM steps WHERE id > $1 ORDER BY id LIMIT {ROWS}");
    let mut last = 0_i64;
    loop {
        let rows = db.query(&sql, params![last]).await?;
        let count = rows.len();
        for mut row in rows {
            last = row.get()?;
            for _ in 0..2 {
                if let Some(hash) = row.get::<Option<ContentHash>>()? {
                    take(hash);
                }
            }
        }
        if count < ROWS {
            break;
        }
    }
    for (table, column) in OF_SESSIONS.iter().chain(OF_JOBS).filter(|(table, _)| *table != "steps") {
        let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL");
        db.all(&sql, &[]).await?.into_iter().for_each(&mut *take);
    }
    for job in db.all("SELECT job_id FROM job_configs", &[]).await? {
        config_of(db, &job).await?.into_iter().for_each(&mut *take);
    }
    Ok(())
}

/// The hashes in a job's config: texts that came with a queued job are referenced only there until it starts.
async fn config_of(db: &mut dyn Db, job: &JobId) -> Result<Vec<ContentHash>> {
    let sql = "SELECT config FROM job_configs WHERE job_id = $1";
    let config = db.first::<serde_json::Value>(sql, params![job]).await?;
    Ok(config.map(|config| named(&config.to_string()).collect()).unwrap_or_default())
}

/// The hashes in a text: runs of exactly 64 hex digits.
fn named(text: &str) -> impl Iterator<Item = ContentHash> + '_ {
    let runs = text.split(|c: char| !c.is_ascii_hexdigit());
    runs.filter(|run| run.len() == HEX).filter_map(ContentHash::from_hex)
}

/// Whether the text is a published head of one of these jobs.
fn is_head_of(jobs: &[JobId], hash: ContentHash, body: &str) -> bool {
    let is_candidate = body.starts_with('{') && jobs.iter().any(|job| body.contains(job.as_str()));
    is_candidate
        && serde_json::from_str::<JobHead>(body)
            .is_ok_and(|head| head.hash() == hash && jobs.contains(&head.job))
}

/// Removes a text and its index entry, unless a row references it by ID. Returns whether it was removed.
async fn remove(db: &mut dyn Db, hash: ContentHash) -> Result<bool> {
    let sql = format!("SELECT t.id, {BODY} FROM texts t WHERE t.hash = $1");
    let Some((id, Body(body))) = db.first::<(i64, Body)>(&sql, params![hash]).await? else {
        return Ok(false);
    };
    let uses: Vec<String> =
        BY_ID.iter().map(|(table, column)| format!("SELECT 1 FROM {table} WHERE {column} = $1")).collect();
    if db.row(&uses.join(" UNION ALL "), params![id]).await?.is_some() {
        return Ok(false);
    }
    if db.backend() == Backend::Sqlite {
        search::forget(db, id, &body).await?;
    }
    db.execute("DELETE FROM texts WHERE id = $1", params![id]).await.map(|removed| removed > 0)
}
