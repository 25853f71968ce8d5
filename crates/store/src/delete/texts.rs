//! Texts that nothing uses any more.
//!
//! Texts are shared by their hashes: by columns, by other texts and by configs. Which of a deleted job's texts are
//! still used is found out by going through all that is left, so that no count has to be kept with every write. A
//! hash that is met anywhere counts as a use, be it meant as one or not: a text too many stays, none too few.

use crate::db::{Backend, Db, Statement};
use crate::error::StoreError;
use crate::search;
use crate::texts;
use crate::value::{Row, Value, params};
use papertape_core::id::{ContentHash, JobId};
use papertape_core::record::JobHead;
use std::collections::BTreeSet;

/// Rows of hashes that are read at a time …
const ROWS: usize = 4_096;
/// … and rows with a text.
const BODIES: usize = 64;
/// A hash in digits.
const HEX: usize = 64;

/// Where hashes of texts stand: a table, its order, the columns, and how its rows are a job's.
const COLUMNS: &[(&str, &str, &[&str], &str)] = &[
    ("steps", "id", &["request_ref", "outcome_ref", "implied_hash"], IN_SESSION),
    ("trading_sessions", "id", &["state_hash"], IN_JOB),
];

/// The same, of tables that are small enough to be read at once.
const SMALL: &[(&str, &str, &str)] = &[
    ("session_instructions", "hash", IN_SESSION),
    ("agent_states", "hash", IN_JOB),
    ("job_configs", "anchor", IN_JOB),
    ("job_configs", "parent_head", IN_JOB),
    ("job_details", "agent_hash", IN_JOB),
];

/// Where texts stand by their numbers.
const BY_ID: &[(&str, &str)] = &[("reasoning_log_rows", "content_id"), ("trade_reflections", "text_id")];

const IN_JOB: &str = "job_id = $1";
const IN_SESSION: &str = "session_id IN (SELECT id FROM trading_sessions WHERE job_id = $1)";

/// The texts that jobs use which are about to be deleted.
#[derive(Debug, Default)]
pub(super) struct Candidates(BTreeSet<ContentHash>);

impl Candidates {
    /// What these jobs use, directly and through other texts.
    pub(super) async fn of(db: &mut dyn Db, jobs: &[JobId]) -> Result<Self, StoreError> {
        let mut found = BTreeSet::new();
        for job in jobs {
            let mut take = |hash| {
                found.insert(hash);
            };
            columns(db, Some(job), &mut take).await?;
            for (table, column) in BY_ID {
                let (sql, mut last) = (
                    format!(
                        "SELECT DISTINCT t.id, t.hash FROM texts t JOIN {table} r ON r.{column} = t.id
                         WHERE r.{IN_SESSION} AND t.id > $2 ORDER BY t.id LIMIT {ROWS}"
                    ),
                    0_i64,
                );
                loop {
                    let rows = db.query(&sql, params![job, last]).await?;
                    let count = rows.len();
                    for mut row in rows {
                        last = row.get()?;
                        found.insert(row.get()?);
                    }
                    if count < ROWS {
                        break;
                    }
                }
            }
        }
        let mut all = Self::default();
        all.close(db, found, |_| true).await?;
        Ok(all)
    }

    /// Adds these texts and those that they name, as far as they are wanted and there.
    async fn close(
        &mut self,
        db: &mut dyn Db,
        from: BTreeSet<ContentHash>,
        wanted: impl Fn(&ContentHash) -> bool,
    ) -> Result<(), StoreError> {
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

    /// Removes those that nothing uses which is left, and the heads that were published of these jobs. How many?
    pub(super) async fn collect(self, db: &mut dyn Db, jobs: &[JobId]) -> Result<u64, StoreError> {
        let mut used = BTreeSet::new();
        let mut take = |hash| {
            if self.0.contains(&hash) {
                used.insert(hash);
            }
        };
        columns(db, None, &mut take).await?;
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

    /// Notes which of these are named by other texts. Gives the heads of these jobs.
    async fn named_by_others(
        &self,
        db: &mut dyn Db,
        jobs: &[JobId],
        used: &mut BTreeSet<ContentHash>,
    ) -> Result<Vec<ContentHash>, StoreError> {
        let (mut heads, mut last) = (Vec::new(), 0_i64);
        let sql =
            format!("SELECT id, hash, body, encoding FROM texts WHERE id > $1 ORDER BY id LIMIT {BODIES}");
        loop {
            let rows = db.query(&sql, params![last]).await?;
            let count = rows.len();
            for mut row in rows {
                last = row.get()?;
                let hash: ContentHash = row.get()?;
                if self.0.contains(&hash) {
                    continue;
                }
                let body = texts::decode(row.get()?, row.get()?)?;
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

/// Gives each hash in the columns of a job's rows, or of all.
async fn columns(
    db: &mut dyn Db,
    job: Option<&JobId>,
    take: &mut (dyn FnMut(ContentHash) + Send),
) -> Result<(), StoreError> {
    let only = |which: &str| if job.is_some() { which.to_owned() } else { "$1 = ''".to_owned() };
    let job = job.map_or("", JobId::as_str);
    for (table, order, columns, which) in COLUMNS {
        let mut last = 0_i64;
        let sql = format!(
            "SELECT {order}, {} FROM {table} WHERE {} AND {order} > $2 ORDER BY {order} LIMIT {ROWS}",
            columns.join(", "),
            only(which)
        );
        loop {
            let rows = db.query(&sql, params![job, last]).await?;
            let count = rows.len();
            for mut row in rows {
                last = row.get()?;
                for _ in *columns {
                    take_one(&mut row, take)?;
                }
            }
            if count < ROWS {
                break;
            }
        }
    }
    for (table, column, which) in SMALL {
        let sql = format!("SELECT DISTINCT {column} FROM {table} WHERE {}", only(which));
        for mut row in db.query(&sql, params![job]).await? {
            take_one(&mut row, take)?;
        }
    }
    // Texts that a queued job has brought are named by its config only, until it begins.
    let ids = format!("SELECT job_id FROM job_configs WHERE {} ORDER BY job_id", only(IN_JOB));
    for mut row in db.query(&ids, params![job]).await? {
        let id: JobId = row.get()?;
        let config = db.row("SELECT config FROM job_configs WHERE job_id = $1", params![&id]).await?;
        let Some(mut config) = config else { continue };
        let config: serde_json::Value = config.get()?;
        named(&config.to_string()).for_each(&mut *take);
    }
    Ok(())
}

fn take_one(row: &mut Row, take: &mut (dyn FnMut(ContentHash) + Send)) -> Result<(), StoreError> {
    if let Some(hash) = row.get::<Option<ContentHash>>()? {
        take(hash);
    }
    Ok(())
}

/// The hashes in a text: runs of exactly as many digits.
fn named(text: &str) -> impl Iterator<Item = ContentHash> + '_ {
    let runs = text.split(|c: char| !c.is_ascii_hexdigit());
    runs.filter(|run| run.len() == HEX).filter_map(ContentHash::from_hex)
}

/// Is it a head that was published of one of these jobs?
fn is_head_of(jobs: &[JobId], hash: ContentHash, body: &str) -> bool {
    let is_candidate = body.starts_with('{') && jobs.iter().any(|job| body.contains(job.as_str()));
    is_candidate
        && serde_json::from_str::<JobHead>(body)
            .is_ok_and(|head| head.hash() == hash && jobs.contains(&head.job))
}

/// Removes a text with its words, unless a row has it by its number. Was it there?
async fn remove(db: &mut dyn Db, hash: ContentHash) -> Result<bool, StoreError> {
    let sql = "SELECT id, body, encoding FROM texts WHERE hash = $1";
    let Some(mut row) = db.row(sql, params![hash]).await? else { return Ok(false) };
    let (id, body, encoding): (i64, String, i64) = (row.get()?, row.get()?, row.get()?);
    let uses: Vec<String> =
        BY_ID.iter().map(|(table, column)| format!("SELECT 1 FROM {table} WHERE {column} = $1")).collect();
    let mut statement = Statement::new(uses.join(" UNION ALL "));
    statement.params.push(Value::from(id));
    if !statement.query(db).await?.is_empty() {
        return Ok(false);
    }
    if db.backend() == Backend::Sqlite {
        search::forget(db, id, &texts::decode(body, encoding)?).await?;
    }
    db.execute("DELETE FROM texts WHERE id = $1", params![id]).await.map(|removed| removed > 0)
}
