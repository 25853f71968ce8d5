//! Files in older formats, and files that were put into the folder: migrated to the current format and imported,
//! one by one, each after a backup.

use super::file::{Filed, PortableFile};
use super::import::Imported;
use super::schema_versions;
use super::source::Source;
use super::{files_in, path_of};
use crate::error::{Result, StoreError};
use crate::sqlite::back_up;
use crate::store::Store;
use papertape_core::action::PlanJob;
use papertape_core::id::JobId;
use papertape_core::plan::PlanId;
use papertape_core::ports::ActionLog as _;
use papertape_redact::Redactor;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Max failed jobs named in an error; the rest is only counted.
const MAX_TOLD: usize = 20;

/// The portable files of a database.
#[derive(Clone)]
pub struct PortableFiles {
    pub(super) store: Store,
    pub(super) dir: PathBuf,
    redactor: Arc<Redactor>,
}

/// What was done to a file, or in a dry run would be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The file.
    pub path: PathBuf,
    /// The format that it had; `None` if it was empty.
    pub form: Option<i64>,
    /// Whether its format was migrated.
    pub migrated: bool,
    /// The backup made beforehand.
    pub backup: Option<PathBuf>,
    /// Number of imported jobs from other databases.
    pub jobs_imported: usize,
    /// Their rows.
    pub rows_imported: usize,
    /// Log rows that were not imported because their jobs are not in the index.
    pub rows_left_out: u64,
    /// Why it was left unchanged, or where the import failed.
    pub error: Option<String>,
}

impl FileReport {
    /// Whether nothing had to be done.
    #[must_use]
    pub const fn is_current(&self) -> bool {
        !self.migrated && self.jobs_imported == 0 && self.error.is_none()
    }
}

impl PortableFiles {
    /// The portable files of a database, in a data directory.
    #[must_use]
    pub fn new(store: Store, dir: PathBuf, redactor: Arc<Redactor>) -> Self {
        Self { store, dir, redactor }
    }

    /// Path of a plan's file, or of the file for jobs without a plan.
    #[must_use]
    pub fn path(&self, plan: Option<PlanId>) -> PathBuf {
        path_of(&self.dir, plan)
    }

    /// Migrates every file to the current format and imports the jobs of other databases. A file that cannot be
    /// migrated is left unchanged, and the others are still processed. `dry_run` changes nothing.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read or the database fails.
    pub async fn migrate(&self, dry_run: bool) -> Result<Vec<FileReport>> {
        let known = Some((&self.store, self.store.identity().await?));
        let into = (!dry_run).then_some(self);
        Migration { known, into }.upgrade_all(&self.dir).await
    }

    /// What [`Self::migrate`] would do with a folder's files in a new database. Changes nothing.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub async fn preview(dir: &Path) -> Result<Vec<FileReport>> {
        Migration { known: None, into: None }.upgrade_all(dir).await
    }
}

/// Processes a folder's files.
struct Migration<'a> {
    /// The database that decides which jobs are known, with its ID; `None` if there is none yet.
    known: Option<(&'a Store, String)>,
    /// The destination of imports and migrations; `None`: nothing is changed.
    into: Option<&'a PortableFiles>,
}

impl Migration<'_> {
    async fn upgrade_all(&self, dir: &Path) -> Result<Vec<FileReport>> {
        let files = files_in(dir).map_err(|error| StoreError::file(dir, &error))?;
        let mut reports = Vec::new();
        for (plan, path) in files {
            let mut report = FileReport { path, ..FileReport::default() };
            match self.upgrade(plan, &mut report).await {
                Err(error) => {
                    tracing::warn!(file = %report.path.display(), error = %error, "portable file not upgraded");
                    report.error = Some(error.to_string());
                }
                Ok(()) => {
                    if let Some(error) = &report.error {
                        tracing::warn!(file = %report.path.display(), error, "jobs of a portable file not imported");
                    }
                }
            }
            reports.push(report);
        }
        Ok(reports)
    }

    async fn upgrade(&self, plan: Option<PlanId>, report: &mut FileReport) -> Result<()> {
        let (path, dry_run) = (report.path.clone(), self.into.is_none());
        let source =
            blocking(move || if dry_run { Source::copy(&path) } else { Ok(Source::in_place(&path)) });
        let source = Arc::new(source.await?);
        let opened = Arc::clone(&source);
        let upgraded = blocking(move || upgrade_file(&opened, dry_run)).await?;
        report.form = upgraded.form;
        report.migrated = upgraded.is_older;
        report.backup = upgraded.backup;
        let mut unknown = Vec::new();
        let record = self.known.as_ref().map(|(_, identity)| identity.as_str());
        for Filed { index, record: of } in upgraded.jobs {
            let is_own = of.is_some() && of.as_deref() == record;
            if !is_own && !self.is_known(&index.job).await? {
                unknown.push(index);
            }
        }
        let mut left_out = Vec::new();
        for (job, rows) in upgraded.without_index {
            if !self.is_known(&job).await? {
                report.rows_left_out += rows;
                left_out.push(format!(
                    "{rows} row(s) of the job {} are not imported: plan_job_index does not have it",
                    job.as_str().escape_default()
                ));
            }
        }
        let (good, odd): (Vec<_>, Vec<_>) = unknown.into_iter().partition(|index| is_id(index.job.as_str()));
        unknown = good;
        left_out.extend(odd.iter().map(|index| {
            format!("the job {} is not imported: invalid ID", index.job.as_str().escape_default())
        }));
        // In a dry run, a file in an older format is not migrated and cannot be read yet.
        if !(dry_run && upgraded.is_older) {
            unknown = self.readable(&source, unknown, &mut left_out).await?;
        }
        if !unknown.is_empty() {
            self.import_all(plan, unknown, report, &mut left_out).await?;
        }
        report.error = describe_left_out(&left_out);
        Ok(())
    }

    /// The jobs whose rows can be read. An unreadable one does not exclude the others.
    async fn readable(
        &self,
        source: &Arc<Source>,
        jobs: Vec<PlanJob>,
        left_out: &mut Vec<String>,
    ) -> Result<Vec<PlanJob>> {
        let source = Arc::clone(source);
        let look = move || {
            let file = source.open()?;
            // Rows are read again at import time instead of held here: a file may be larger than memory.
            let read = |job: PlanJob| (file.rows(&job.job).err(), job);
            Ok(jobs.into_iter().map(read).collect::<Vec<_>>())
        };
        let mut readable = Vec::new();
        for (error, job) in blocking(look).await? {
            match error {
                None => readable.push(job),
                Some(error) => left_out.push(format!("cannot read the job {}: {error}", job.job)),
            }
        }
        Ok(readable)
    }

    /// Imports jobs after backing up their file.
    async fn import_all(
        &self,
        plan: Option<PlanId>,
        jobs: Vec<PlanJob>,
        report: &mut FileReport,
        left_out: &mut Vec<String>,
    ) -> Result<()> {
        let mut made = None;
        if self.into.is_some() && report.backup.is_none() {
            let path = report.path.clone();
            made = Some(blocking(move || copy(&path)).await?);
            report.backup.clone_from(&made);
        }
        if made.is_some() {
            let path = report.path.clone();
            blocking(move || PortableFile::open(&path)?.vacuum()).await?;
        }
        for index in jobs {
            // The file's name decides which plan the job belongs to.
            let index = PlanJob { plan, ..index };
            let job = index.job.clone();
            if let Err(error) = self.import_one(index, report).await {
                left_out.push(format!("cannot import the job {job}: {error}"));
            }
        }
        if let Some(copy) = made.filter(|_| report.jobs_imported == 0) {
            // Nothing was changed: without this, every start would leave another backup.
            std::fs::remove_file(&copy).map_err(|error| StoreError::file(&copy, &error))?;
            report.backup = None;
        }
        Ok(())
    }

    async fn import_one(&self, index: PlanJob, report: &mut FileReport) -> Result<()> {
        let job = index.job.clone();
        let Some(into) = self.into else {
            report.jobs_imported += 1;
            report.rows_imported += usize::try_from(index.rows_kept).unwrap_or_default();
            return Ok(());
        };
        let path = report.path.clone();
        let rows = blocking(move || PortableFile::open(&path)?.rows(&job)).await?;
        let from = report.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let imported = Imported::new(&into.redactor, index, rows, from);
        let rows = imported.len();
        if into.store.import_job(imported).await? {
            report.jobs_imported += 1;
            report.rows_imported += rows;
        }
        Ok(())
    }

    async fn is_known(&self, job: &JobId) -> Result<bool> {
        let Some((store, _)) = &self.known else { return Ok(false) };
        let found = store.plan_job(job).await;
        Ok(found.map_err(|error| StoreError::Database(error.to_string()))?.is_some())
    }
}

/// An ID ends up in URLs and file names.
fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    (1..=200).contains(&text.len()) && !text.starts_with('.') && text.chars().all(is_plain)
}

/// An error message that names the jobs left out.
fn describe_left_out(left_out: &[String]) -> Option<String> {
    let mut text = left_out.iter().take(MAX_TOLD).cloned().collect::<Vec<_>>().join("; ");
    if left_out.len() > MAX_TOLD {
        text.push_str(&format!("; and {} more", left_out.len() - MAX_TOLD));
    }
    (!text.is_empty()).then_some(text)
}

/// A file after its migration.
struct UpgradedFile {
    form: Option<i64>,
    is_older: bool,
    backup: Option<PathBuf>,
    jobs: Vec<Filed>,
    /// Jobs that are in the log but not in the index, with their number of rows.
    without_index: Vec<(JobId, u64)>,
}

fn upgrade_file(source: &Source, dry_run: bool) -> Result<UpgradedFile> {
    let mut file = source.open()?;
    let path = source.path();
    let form = file.form()?;
    schema_versions::check(path, form)?;
    let is_older = form.is_some_and(|form| form < schema_versions::FORM);
    let mut upgraded =
        UpgradedFile { form, is_older, backup: None, jobs: Vec::new(), without_index: Vec::new() };
    if form.is_none() {
        return Ok(upgraded);
    }
    if is_older && !dry_run {
        // Try it first: a file that cannot be migrated would otherwise be backed up at each start.
        file.after(schema_versions::upgrade)?;
        upgraded.backup = Some(back_up(file.connection(), path, form.unwrap_or_default())?);
    }
    upgraded.jobs = match (is_older, dry_run) {
        (true, true) => file.after(schema_versions::upgrade)?,
        (true, false) => {
            // Vacuum first: if the process dies afterwards, the next start sees the older format and repeats it.
            file.vacuum()?;
            file.in_one(schema_versions::upgrade)?;
            file.vacuum()?;
            file.jobs()?
        }
        (false, _) => file.jobs()?,
    };
    // The migration of an older format indexes everything in the log.
    if !is_older {
        upgraded.without_index = file.without_index()?;
    }
    Ok(upgraded)
}

fn copy(path: &Path) -> Result<PathBuf> {
    let file = PortableFile::open(path)?;
    back_up(file.connection(), path, schema_versions::FORM)
}

/// Runs file work off the async worker threads.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(StoreError::Database(format!("a file upgrade failed: {error}"))))
}
