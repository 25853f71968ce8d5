//! Jobs found by text, tag, model, dataset, time, status and quality, in one of several orders.
//!
//! Names, statuses and quality change. A list that is sorted by one of them and paged stays in the order of its first
//! page: its cursor remembers which changes that page saw, and later pages use the values from before any later change.

use super::by_key;
use super::jobs::{JobFilter, JobOverview, fill_in};
use crate::db::{Backend, Db, Statement};
use crate::error::{Result, StoreError};
use crate::page::{List, Page, PageRequest};
use crate::rows::JOB;
use crate::store::Store;
use crate::value;
use futures::FutureExt as _;
use papertape_core::id::JobId;
use papertape_core::job_list::{JobOrder, JobSort, ListQuality};
use papertape_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

const JOBS: List = List::ascending("job_list", (50, 200), "sort_key, job_id");

/// How long changes of sort keys are stored, and so how long a list can be paged in the order of its first page.
pub(crate) const MAX_CURSOR_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum open transactions that a cursor names.
const MAX_OPEN: usize = 1_000;

/// Which jobs, and in which order; conditions are ANDed.
#[derive(Clone, Debug, Default)]
pub struct JobSearch {
    /// Of this kind and status.
    pub filter: JobFilter,
    /// Texts in lowercase that all occur in the ID, the dataset, an agent's name or model, the name, a tag or the note.
    pub terms: Vec<String>,
    /// With this tag.
    pub tag: Option<String>,
    /// With an agent of this name or model.
    pub model: Option<String>,
    /// On this dataset, by name or hash.
    pub dataset: Option<String>,
    /// Of this quality.
    pub quality: Option<ListQuality>,
    /// Requested at this instant or later.
    pub from: Option<Timestamp>,
    /// Requested before this instant.
    pub before: Option<Timestamp>,
    /// The order.
    pub order: JobOrder,
}

/// The changes of sort keys that the first page of a list has seen: those before `next` that are not in `open`. On SQLite
/// these are numbers of changes, on PostgreSQL of transactions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    taken_at: i64,
    next: i64,
    open: Vec<i64>,
}

/// A job on a page, with what its cursor holds.
struct Found {
    order: String,
    seen: Seen,
    key: serde_json::Value,
    job: JobId,
}

type Cursor = (String, Seen, serde_json::Value, JobId);

impl Store {
    /// The jobs that match, in the requested order. A job that matched when the first page was read, and still does, is
    /// returned exactly once.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid or older than a day, or the database fails.
    pub async fn find_jobs(&self, search: &JobSearch, page: &PageRequest) -> Result<Page<JobOverview>> {
        self.read_with((search.clone(), page.clone()), |db, (search, page)| find(db, search, page).boxed())
            .await
    }
}

async fn find(db: &mut dyn Db, search: &JobSearch, request: &PageRequest) -> Result<Page<JobOverview>> {
    let cursor = JOBS.key::<Cursor>(request)?;
    let order = search.order.to_string();
    if cursor.as_ref().is_some_and(|(of, ..)| *of != order) {
        return Err(StoreError::BadCursor);
    }
    let sort = search.order.sort;
    let (seen, has_changed) = match &cursor {
        _ if !is_mutable(sort) => (Seen::default(), false),
        None => (seen_now(db).await?, false),
        Some((_, seen, ..)) => (seen.clone(), has_changed(db, sort, seen).await?),
    };
    let mut statement = Statement::new("SELECT sort_key, job_id FROM (SELECT ");
    add_key(&mut statement, db.backend(), sort, has_changed.then_some(&seen));
    statement.sql.push_str(" AS sort_key, s.job_id AS job_id FROM job_search s");
    if search.filter.status.is_some() || sort == JobSort::Status {
        statement.sql.push_str(" JOIN jobs j ON j.job_id = s.job_id");
    }
    add_conditions(&mut statement, db.backend(), search);
    statement.sql.push_str(") found WHERE 1 = 1");
    let (beyond, direction) = if search.order.descending { ("<", " DESC") } else { (">", "") };
    if let Some((_, _, key, job)) = &cursor {
        let key = match key {
            serde_json::Value::Number(key) => value::Value::from(key.as_i64().ok_or(StoreError::BadCursor)?),
            serde_json::Value::String(key) => key.into(),
            _ => return Err(StoreError::BadCursor),
        };
        if is_number(sort) != matches!(key, value::Value::I64(_)) {
            return Err(StoreError::BadCursor);
        }
        statement.add(&format!(" AND (sort_key, job_id) {beyond} (?, ?)"), [key, job.into()]);
    }
    let limit = JOBS.limit(request) + 1;
    statement.add(&format!(" ORDER BY sort_key{direction}, job_id{direction} LIMIT ?"), [limit.into()]);
    let found = match is_number(sort) {
        true => keyed(statement.all::<(i64, JobId)>(db).await?, &order, &seen),
        false => keyed(statement.all::<(String, JobId)>(db).await?, &order, &seen),
    };
    let key = |found: &Found| -> Cursor {
        (found.order.clone(), found.seen.clone(), found.key.clone(), found.job.clone())
    };
    let page = JOBS.page(request, found, key);
    let ids: Vec<JobId> = page.items.into_iter().map(|found| found.job).collect();
    Ok(Page { items: overviews(db, &ids).await?, next: page.next })
}

fn keyed<K: Into<serde_json::Value>>(rows: Vec<(K, JobId)>, order: &str, seen: &Seen) -> Vec<Found> {
    let found =
        |(key, job): (K, JobId)| Found { order: order.to_owned(), seen: seen.clone(), key: key.into(), job };
    rows.into_iter().map(found).collect()
}

/// These jobs, in this order.
async fn overviews(db: &mut dyn Db, ids: &[JobId]) -> Result<Vec<JobOverview>> {
    let sql = format!("SELECT job_id, {JOB} FROM jobs WHERE job_id IN (?)");
    let mut rows: BTreeMap<JobId, Vec<JobOverview>> = by_key(db, &sql, ids).await?;
    let mut jobs: Vec<JobOverview> = ids.iter().filter_map(|id| rows.remove(id)?.pop()).collect();
    fill_in(db, &mut jobs).await?;
    Ok(jobs)
}

fn add_conditions(statement: &mut Statement, backend: Backend, search: &JobSearch) {
    let contains = |column: &str| match backend {
        Backend::Sqlite => format!("instr({column}, ?) > 0"),
        Backend::Postgres => format!("strpos({column}, ?) > 0"),
    };
    statement.sql.push_str(" WHERE 1 = 1");
    statement.add_some(" AND s.kind = ?", search.filter.kind.as_ref());
    statement.add_some(" AND j.status = ?", search.filter.status);
    for term in &search.terms {
        let sql = format!(" AND ({} OR {})", contains("s.words"), contains("s.label_words"));
        statement.add(&sql, [term.into(), term.into()]);
    }
    statement
        .add_some(" AND s.job_id IN (SELECT t.job_id FROM job_tags t WHERE t.tag = ?)", search.tag.as_ref());
    statement.add_some(
        &format!(" AND {}", contains("s.agents")),
        search.model.as_ref().map(|model| format!("\n{model}\n")),
    );
    if let Some(dataset) = &search.dataset {
        statement.add(" AND (s.dataset = ? OR s.dataset_hash = ?)", [dataset.into(), dataset.into()]);
    }
    match search.quality {
        Some(ListQuality::Ok) => statement.sql.push_str(" AND s.degraded_days = 0"),
        Some(ListQuality::Degraded) => statement.sql.push_str(" AND s.degraded_days > 0"),
        None => {}
    }
    statement.add_some(" AND s.created_at >= ?", search.from);
    statement.add_some(" AND s.created_at < ?", search.before);
}

/// Whether a job's place in this order can change.
const fn is_mutable(sort: JobSort) -> bool {
    matches!(sort, JobSort::Name | JobSort::Status | JobSort::Quality)
}

const fn is_number(sort: JobSort) -> bool {
    matches!(sort, JobSort::Created | JobSort::Quality)
}

/// Appends the sort key: as it is now, or as it was when these changes had been seen.
fn add_key(statement: &mut Statement, backend: Backend, sort: JobSort, seen: Option<&Seen>) {
    let now = match (sort, backend) {
        (JobSort::Created, _) => "s.created_at",
        (JobSort::Name, _) => "s.name_key",
        (JobSort::Status, Backend::Sqlite) => "j.status",
        (JobSort::Status, Backend::Postgres) => "j.status COLLATE \"C\"",
        (JobSort::Dataset, _) => "s.dataset",
        (JobSort::Model, _) => "s.models",
        (JobSort::StartDate, _) => "s.first_day",
        (JobSort::Quality, _) => "s.degraded_days",
    };
    let Some(seen) = seen else {
        statement.sql.push_str(now);
        return;
    };
    let before = if is_number(sort) { "CAST(c.before AS BIGINT)" } else { "c.before" };
    statement.sql.push_str(&format!("coalesce((SELECT {before} FROM job_sort_changes c"));
    statement.add(" WHERE c.job_id = s.job_id AND c.sort = ? AND ", [sort.as_str().into()]);
    add_unseen(statement, backend, seen);
    statement.sql.push_str(&format!(" ORDER BY c.n LIMIT 1), {now})"));
}

/// Appends the condition that a change was made after these.
fn add_unseen(statement: &mut Statement, backend: Backend, seen: &Seen) {
    let column = match backend {
        Backend::Sqlite => "c.n",
        Backend::Postgres => "c.transaction",
    };
    statement.add(&format!("({column} >= ?"), [seen.next.into()]);
    if !seen.open.is_empty() {
        let places = vec!["?"; seen.open.len()].join(", ");
        statement.add(&format!(" OR {column} IN ({places})"), seen.open.iter().map(|&open| open.into()));
    }
    statement.sql.push(')');
}

/// Whether the sort key of any job has changed since these changes.
async fn has_changed(db: &mut dyn Db, sort: JobSort, seen: &Seen) -> Result<bool> {
    let max_age = i64::try_from(MAX_CURSOR_AGE.as_micros()).unwrap_or(i64::MAX);
    let now: Option<i64> = db.first(&format!("SELECT {}", db.backend().now()), &[]).await?;
    let age = now.and_then(|now| now.checked_sub(seen.taken_at)).ok_or(StoreError::BadCursor)?;
    if age > max_age || seen.open.len() > MAX_OPEN {
        return Err(StoreError::BadCursor);
    }
    let mut statement = Statement::new("SELECT 1 FROM job_sort_changes c WHERE ");
    statement.add("c.sort = ? AND ", [sort.as_str().into()]);
    add_unseen(&mut statement, db.backend(), seen);
    statement.sql.push_str(" LIMIT 1");
    Ok(db.row(&statement.sql, &statement.params).await?.is_some())
}

/// The changes that this transaction sees.
async fn seen_now(db: &mut dyn Db) -> Result<Seen> {
    let now = db.backend().now();
    match db.backend() {
        Backend::Sqlite => {
            let sql = format!("SELECT {now}, coalesce(max(n), 0) + 1 FROM job_sort_changes");
            let (taken_at, next) = db.first(&sql, &[]).await?.unwrap_or_default();
            Ok(Seen { taken_at, next, open: Vec::new() })
        }
        Backend::Postgres => {
            let sql = format!("SELECT {now}, CAST(pg_current_snapshot() AS TEXT)");
            let found: Option<(i64, String)> = db.first(&sql, &[]).await?;
            let unreadable = || StoreError::inconsistent("PostgreSQL's snapshot cannot be read");
            let (taken_at, snapshot) = found.ok_or_else(unreadable)?;
            let (next, open) = parse_snapshot(&snapshot).ok_or_else(unreadable)?;
            Ok(Seen { taken_at, next, open })
        }
    }
}

/// `xmin:xmax:xip,…` as the first transaction that had not begun, and those that were open.
fn parse_snapshot(text: &str) -> Option<(i64, Vec<i64>)> {
    let mut parts = text.split(':');
    let (_, next, open) = (parts.next()?, parts.next()?, parts.next()?);
    let open: Option<Vec<i64>> =
        open.split(',').filter(|id| !id.is_empty()).map(|id| id.parse().ok()).collect();
    Some((next.parse().ok()?, open?))
}

#[cfg(test)]
mod tests {
    use super::parse_snapshot;

    /// Goal: PostgreSQL's form of a snapshot is read, with and without open transactions.
    #[test]
    fn snapshots_are_read() {
        assert_eq!(parse_snapshot("10:20:10,14"), Some((20, vec![10, 14])));
        assert_eq!(parse_snapshot("20:20:"), Some((20, vec![])));
        assert_eq!(parse_snapshot("20"), None);
    }
}
