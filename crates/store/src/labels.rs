//! Names, tags and notes of jobs, and the derived rows that lists of jobs are searched, filtered and sorted by.
//!
//! A job's number of degraded days, and what it was sorted by before a change, are written by triggers: see the
//! migration `job_labels`.

use crate::db::{Backend, Db, Statement};
use crate::error::Result;
use crate::read::{MAX_CURSOR_AGE, labels_of};
use crate::store::Store;
use crate::value::{columns, params};
use futures::FutureExt as _;
use papertape_core::id::JobId;
use papertape_core::label::{JobLabels, LabelChanges, LabelError};
use papertape_core::record::JobKind;
use papertape_core::time::{Timestamp, from_micros, to_micros};
use papertape_redact::Sanitized;
use serde_json::Value;
use std::collections::BTreeSet;

/// Characters of `models`, which an index holds.
const MAX_SORT_CHARS: usize = 200;

/// The outcome of a change of labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelsWrite {
    /// There is no such job.
    NotFound,
    /// The changes are invalid; nothing was written.
    Rejected(LabelError),
    /// The labels now.
    Written(JobLabels),
}

impl Store {
    /// Changes a job's name, tags and note. Each field is replaced as a whole; the last write wins.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub async fn write_labels(
        &self,
        job: &JobId,
        changes: Sanitized<LabelChanges>,
        by: Option<String>,
        at: Timestamp,
    ) -> Result<LabelsWrite> {
        let args = (job.clone(), changes, by);
        self.write_with(args, move |db, (job, changes, by)| {
            write(db, job, changes.get(), by.as_deref(), at).boxed()
        })
        .await
    }

    /// Removes changes of sort keys that no cursor may refer to any more. Returns how many.
    ///
    /// # Errors
    /// Returns an error if the database fails.
    pub(crate) async fn remove_old_sort_changes(&self) -> Result<u64> {
        let age = i64::try_from(MAX_CURSOR_AGE.as_micros()).unwrap_or(i64::MAX);
        self.write(move |db| {
            async move {
                let now = db.backend().now();
                db.execute(
                    &format!("DELETE FROM job_sort_changes WHERE changed_at < {now} - $1"),
                    params![age],
                )
                .await
            }
            .boxed()
        })
        .await
    }
}

async fn write(
    db: &mut dyn Db,
    job: &JobId,
    changes: &LabelChanges,
    by: Option<&str>,
    at: Timestamp,
) -> Result<LabelsWrite> {
    let lock = match db.backend() {
        Backend::Postgres => "FOR UPDATE",
        Backend::Sqlite => "",
    };
    // The job's own row belongs to its worker, so writers of labels wait for each other here.
    let sql = format!("SELECT 1 FROM job_search WHERE job_id = $1 {lock}");
    if db.row(&sql, params![job]).await?.is_none() {
        return Ok(LabelsWrite::NotFound);
    }
    let before = read(db, job).await?;
    let mut labels = match before.changed(changes) {
        Ok(labels) => labels,
        Err(error) => return Ok(LabelsWrite::Rejected(error)),
    };
    if labels == before {
        return Ok(LabelsWrite::Written(before));
    }
    // As the database stores it, in microseconds.
    (labels.updated_at, labels.updated_by) = (from_micros(to_micros(at)), by.map(str::to_owned));
    let row = columns! {
        job_id: job, name: labels.name.as_ref(), note: labels.note.as_ref(), updated_at: at, updated_by: by,
    };
    let conflict = " ON CONFLICT (job_id) DO UPDATE SET name = excluded.name, note = excluded.note,
        updated_at = excluded.updated_at, updated_by = excluded.updated_by";
    Statement::insert("job_labels", row).add(conflict, []).execute(db).await?;
    for tag in before.tags.difference(&labels.tags) {
        db.execute("DELETE FROM job_tags WHERE job_id = $1 AND tag = $2", params![job, tag]).await?;
    }
    for tag in labels.tags.difference(&before.tags) {
        db.insert("job_tags", columns! { job_id: job, tag }).await?;
    }
    let row = columns! { label_words: label_words(&labels), name_key: name_key(&labels) };
    Statement::update("job_search", row).add(" WHERE job_id = ?", [job.into()]).execute(db).await?;
    Ok(LabelsWrite::Written(labels))
}

/// A job's labels.
async fn read(db: &mut dyn Db, job: &JobId) -> Result<JobLabels> {
    Ok(labels_of(db, std::slice::from_ref(job)).await?.remove(job).unwrap_or_default())
}

fn label_words(labels: &JobLabels) -> String {
    let texts = labels.name.iter().chain(&labels.tags).chain(&labels.note);
    texts.map(|text| text.to_lowercase()).collect::<Vec<_>>().join("\n")
}

fn name_key(labels: &JobLabels) -> String {
    labels.name.as_ref().map_or_else(|| "1".to_owned(), |name| format!("0{}", name.to_lowercase()))
}

/// Adds a new job to the lists of jobs.
pub(crate) async fn list_job(
    db: &mut dyn Db,
    (job, kind): (&JobId, &JobKind),
    config: &Value,
    created_at: Timestamp,
) -> Result<()> {
    let text = |path: &str| config.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let dataset = text("/dataset/name");
    let (models, agents) = agents_of(config);
    let words = format!("{job}\n{dataset}{agents}").to_lowercase();
    let row = columns! {
        job_id: job, kind, created_at, dataset, dataset_hash: text("/dataset/hash"),
        first_day: text("/start_date"), models, agents, words,
    };
    db.insert("job_search", row).await
}

/// The sort key of the agents' models, and their names and models between line feeds. A branch may replace one of the
/// agents.
fn agents_of(config: &Value) -> (String, String) {
    let field = |agent: &Value, field: &str| agent[field].as_str().unwrap_or_default().to_owned();
    let branch = &config["branch"]["agent"];
    let (mut models, mut agents) = (BTreeSet::new(), String::new());
    for agent in config["agents"].as_array().into_iter().flatten() {
        let name = field(agent, "name");
        let is_replaced = branch["name"].as_str() == Some(name.as_str());
        let model = field(if is_replaced { branch } else { agent }, "model");
        agents.push_str(&format!("\n{name}\n{model}"));
        models.insert(model);
    }
    if !agents.is_empty() {
        agents.push('\n');
    }
    let models = Vec::from_iter(models).join(", ");
    (models.chars().take(MAX_SORT_CHARS).collect(), agents)
}
