//! Writes the portable files after the database's commits.
//!
//! A job's index row and the rows that its file already has determine what to write, so writing is idempotent and
//! a crash loses nothing: the next start compares everything.

use super::file::{FilePart, Filed, Mark, PortableFile, set_aside};
use super::upgrade::{FileReport, PortableFiles, blocking};
use super::{files_in, path_of};
use crate::action;
use crate::db::Db;
use crate::error::{Result, StoreError};
use crate::value::params;
use futures::FutureExt as _;
use papertape_core::action::{ActionRow, PlanJob};
use papertape_core::id::JobId;
use papertape_core::plan::PlanId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Number of jobs whose rows are in memory at a time.
const GROUP: usize = 32;

/// Keeps the portable files up to date while it exists.
#[derive(Debug)]
pub struct Projector {
    asks: mpsc::UnboundedSender<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Projector {
    /// Migrates older formats and imports other files, catches up, and then follows new commits. Failures are
    /// logged and retried with the next commit.
    #[must_use]
    pub fn start(files: PortableFiles) -> Self {
        let (asks, asked) = mpsc::unbounded_channel();
        files.store.follow_all();
        let task = tokio::spawn(follow(files, asked));
        Self { asks, task }
    }

    /// Resolves when the files contain everything committed before the call, or cannot be written now.
    pub async fn flush(&self) {
        let (done, finished) = oneshot::channel();
        if self.asks.send(done).is_ok() {
            // The sender was dropped: the projector has ended.
            let _ = finished.await;
        }
    }

    /// Flushes and ends.
    pub async fn stop(self) {
        self.flush().await;
        self.task.abort();
        let _ = self.task.await;
    }
}

async fn follow(files: PortableFiles, mut asked: mpsc::UnboundedReceiver<oneshot::Sender<()>>) {
    let notifier = files.store.notifier().clone();
    let mut known = Known::default();
    let mut left = BTreeSet::new();
    let mut is_behind = true;
    loop {
        if is_behind {
            is_behind = match begin(&files, &mut known).await {
                Ok(()) => false,
                Err(error) => {
                    tracing::error!(error = %error, "cannot bring the portable files up to date");
                    true
                }
            };
        }
        let answer = tokio::select! {
            () = notifier.news() => None,
            ask = asked.recv() => match ask {
                Some(answer) => Some(answer),
                None => return,
            },
        };
        let news = notifier.take_news();
        is_behind |= news.any;
        left.extend(news.jobs);
        let jobs: Vec<JobId> = std::mem::take(&mut left).into_iter().collect();
        left = known.project(&files, jobs).await;
        is_behind |= std::mem::take(&mut known.again);
        if let Some(answer) = answer {
            // The requester may be gone.
            let _ = answer.send(());
        }
    }
}

/// Startup: files first, then the rows that they lack.
async fn begin(files: &PortableFiles, known: &mut Known) -> Result<()> {
    for report in files.migrate(false).await? {
        log_report(&report);
    }
    known.catch_up(files).await
}

fn log_report(report: &FileReport) {
    if !report.migrated && report.jobs_imported == 0 {
        return;
    }
    let backup = report.backup.as_ref().map(|backup| backup.display().to_string());
    tracing::info!(
        file = %report.path.display(), form = report.form, backup, jobs = report.jobs_imported,
        rows = report.rows_imported, "portable file upgraded or imported"
    );
}

/// How much of each job the files contain.
#[derive(Debug, Default)]
struct Known {
    record: Arc<str>,
    jobs: HashMap<JobId, (Option<PlanId>, Mark)>,
    /// Each file's last error, so that it is logged once.
    logged: HashMap<Option<PlanId>, String>,
    /// Corrupt files. The next write recreates them: the database has everything.
    damaged: BTreeSet<Option<PlanId>>,
    /// A file turned out to be corrupt while it was written: compare all files again.
    again: bool,
}

/// Pending changes to a file.
#[derive(Debug, Default)]
struct ProjectorState {
    parts: Vec<FilePart>,
    gone: Vec<JobId>,
}

impl Known {
    /// Reads what the files contain, deletes what no longer belongs there, and writes what is missing.
    async fn catch_up(&mut self, files: &PortableFiles) -> Result<()> {
        self.record = files.store.identity().await?.into();
        self.jobs.clear();
        self.damaged.clear();
        let found = files_in(&files.dir).map_err(|error| StoreError::file(&files.dir, &error))?;
        for (plan, path) in found {
            match blocking(move || inspect(&path)).await {
                Ok(Inspection::Jobs(jobs)) => self.compare(files, plan, jobs).await?,
                Ok(Inspection::Damaged(error)) => {
                    self.tell(plan, &error);
                    self.damaged.insert(plan);
                }
                Err(error) => self.tell(plan, &error),
            }
        }
        let mut last = JobId::new("");
        loop {
            let jobs = jobs_after(files, &last).await?;
            let Some(newest) = jobs.last() else { return Ok(()) };
            last = newest.clone();
            self.project(files, jobs).await;
        }
    }

    /// Jobs that belong to this plan are up to date as far as the file goes; other jobs of this database are
    /// deleted from the file.
    async fn compare(&mut self, files: &PortableFiles, plan: Option<PlanId>, jobs: Vec<Filed>) -> Result<()> {
        let mut gone = Vec::new();
        for group in jobs.chunks(GROUP) {
            let ids: Vec<JobId> = group.iter().map(|job| job.index.job.clone()).collect();
            let rows = indexes(files, ids).await?;
            for Filed { index, record } in group {
                let is_own = record.as_deref() == Some(&*self.record);
                match rows.get(&index.job) {
                    Some(now) if now.plan == plan && is_own => {
                        self.jobs.insert(index.job.clone(), (plan, Mark::of(index)));
                    }
                    // Written by another database: rewrite it.
                    Some(now) if now.plan == plan => {}
                    Some(_) => gone.push(index.job.clone()),
                    // A job of another database that was not imported stays in the file.
                    None if is_own => gone.push(index.job.clone()),
                    None => {}
                }
            }
        }
        if !gone.is_empty() {
            let work = ProjectorState { parts: Vec::new(), gone };
            self.write(files, plan, work).await;
        }
        Ok(())
    }

    /// Brings the files of these jobs up to date. Returns the jobs that failed.
    async fn project(&mut self, files: &PortableFiles, jobs: Vec<JobId>) -> BTreeSet<JobId> {
        let mut left = BTreeSet::new();
        for group in jobs.chunks(GROUP) {
            if let Err(error) = self.project_group(files, group, &mut left).await {
                tracing::error!(error = %error, "cannot write portable files");
                left.extend(group.iter().cloned());
            }
        }
        left
    }

    async fn project_group(
        &mut self,
        files: &PortableFiles,
        jobs: &[JobId],
        left: &mut BTreeSet<JobId>,
    ) -> Result<()> {
        let known_jobs: Vec<_> = jobs.iter().map(|job| (job.clone(), self.jobs.get(job).cloned())).collect();
        let parts = parts(files, known_jobs).await?;
        let mut writes: BTreeMap<Option<PlanId>, ProjectorState> = BTreeMap::new();
        let mut moves: BTreeMap<Option<PlanId>, ProjectorState> = BTreeMap::new();
        for (job, part) in jobs.iter().zip(parts) {
            let old_plan = self.jobs.get(job).map(|(plan, _)| *plan);
            let new_plan = match part {
                FileState::Same => continue,
                FileState::Gone => None,
                FileState::Part(part) => {
                    let plan = part.index.plan;
                    writes.entry(plan).or_default().parts.push(part);
                    Some(plan)
                }
            };
            if let Some(old_plan) = old_plan.filter(|old_plan| Some(*old_plan) != new_plan) {
                moves.entry(old_plan).or_default().gone.push(job.clone());
            }
        }
        // Write to the new file before deleting from the old one: the job is in some file at any moment.
        for (plan, work) in writes.into_iter().chain(moves) {
            left.extend(self.write(files, plan, work).await);
        }
        Ok(())
    }

    /// Applies changes to a file. Returns their jobs on failure.
    async fn write(
        &mut self,
        files: &PortableFiles,
        plan: Option<PlanId>,
        work: ProjectorState,
    ) -> Vec<JobId> {
        let (path, record) = (path_of(&files.dir, plan), Arc::clone(&self.record));
        let work = Arc::new(work);
        let is_damaged = self.damaged.contains(&plan) && !work.parts.is_empty();
        let done = {
            let (work, path) = (Arc::clone(&work), path.clone());
            blocking(move || {
                if is_damaged {
                    let aside = set_aside(&path)?;
                    tracing::warn!(file = %path.display(), aside = %aside.display(), "rebuilding a damaged portable file");
                }
                PortableFile::for_rows(&path)?.write(&record, &work.parts, &work.gone)
            })
            .await
        };
        if is_damaged {
            self.damaged.remove(&plan);
        }
        if let Err(error) = done {
            self.tell(plan, &error);
            if !is_damaged && matches!(blocking(move || inspect(&path)).await, Ok(Inspection::Damaged(_))) {
                self.again = true;
            }
            let parts = work.parts.iter().map(|part| part.index.job.clone());
            return parts.chain(work.gone.iter().cloned()).collect();
        }
        self.logged.remove(&plan);
        for job in &work.gone {
            // Unless the job has moved to another file.
            if self.jobs.get(job).is_some_and(|(of, _)| *of == plan) {
                self.jobs.remove(job);
            }
        }
        for part in &work.parts {
            self.jobs.insert(part.index.job.clone(), (plan, Mark::of(&part.index)));
        }
        Vec::new()
    }

    fn tell(&mut self, plan: Option<PlanId>, error: &StoreError) {
        let text = error.to_string();
        if self.logged.get(&plan) != Some(&text) {
            tracing::error!(error = %text, "cannot write a portable file");
            self.logged.insert(plan, text);
        }
    }
}

/// A file's contents.
enum Inspection {
    Jobs(Vec<Filed>),
    Damaged(StoreError),
}

fn inspect(path: &Path) -> Result<Inspection> {
    let file = PortableFile::open(path)?;
    Ok(match file.check_integrity() {
        Ok(()) => Inspection::Jobs(file.jobs()?),
        Err(error) => Inspection::Damaged(error),
    })
}

/// The part of a job that a file lacks.
enum FileState {
    Same,
    Gone,
    Part(FilePart),
}

/// Jobs that have or had a log, by ID.
async fn jobs_after(files: &PortableFiles, after: &JobId) -> Result<Vec<JobId>> {
    let sql = "SELECT job_id FROM plan_job_index WHERE job_id > $1 AND next_sequence > 1
        ORDER BY job_id LIMIT 256";
    files.store.all(sql, params![after]).await
}

async fn indexes(files: &PortableFiles, jobs: Vec<JobId>) -> Result<BTreeMap<JobId, PlanJob>> {
    files
        .store
        .read_with(jobs, |db, jobs| {
            async move {
                let mut found = BTreeMap::new();
                for job in jobs.iter() {
                    if let Some(index) = action::index_of(db, job).await? {
                        found.insert(job.clone(), index);
                    }
                }
                Ok(found)
            }
            .boxed()
        })
        .await
}

type KnownState = (JobId, Option<(Option<PlanId>, Mark)>);

/// The part of each of these jobs that the files lack, on one snapshot.
async fn parts(files: &PortableFiles, known_jobs: Vec<KnownState>) -> Result<Vec<FileState>> {
    files
        .store
        .read_with(known_jobs, |db, known_jobs| {
            async move {
                let mut found = Vec::new();
                for (job, known) in known_jobs.iter() {
                    found.push(part(db, job, known.as_ref()).await?);
                }
                Ok(found)
            }
            .boxed()
        })
        .await
}

async fn part(db: &mut dyn Db, job: &JobId, known: Option<&(Option<PlanId>, Mark)>) -> Result<FileState> {
    let Some(index) = action::index_of(db, job).await? else {
        return Ok(if known.is_some() { FileState::Gone } else { FileState::Same });
    };
    if index.next_sequence <= 1 {
        // No log yet.
        return Ok(FileState::Same);
    }
    let now = Mark::of(&index);
    let from = match known {
        Some((plan, mark)) if *plan == index.plan && *mark == now => return Ok(FileState::Same),
        Some((plan, mark)) if *plan == index.plan && adds(mark, &now) => Some(mark.next),
        _ => None,
    };
    let rows: Vec<ActionRow> = action::rows_from(db, job, from.unwrap_or(0)).await?;
    Ok(FileState::Part(FilePart { index, rows, anew: from.is_none() }))
}

/// Whether rows were only appended since.
fn adds(before: &Mark, now: &Mark) -> bool {
    now.next >= before.next && now.rows_kept - before.rows_kept == now.next - before.next
}
