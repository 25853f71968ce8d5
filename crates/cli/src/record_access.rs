//! Opens the database for a command. One process owns a SQLite database: others may read it directly, and write
//! through the owner's API. PostgreSQL has no owner.

use super::Common;
use super::api_client::ApiClient;
use super::failure::{not_found, usage};
use anyhow::{Context as _, Result};
use papertape_core::id::{ExperimentId, JobId};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobKind;
use papertape_service::address::Address;
use papertape_service::app::{Access, App, database_file};
use papertape_service::config::Config;
use papertape_store::{JobFilter, PageRequest, StoreError};

/// How a command can write.
pub(super) enum RecordAccess {
    /// Directly: this process owns the database, or it is PostgreSQL.
    Local(Box<App>),
    /// Through the API of the server that owns the database.
    Remote(Box<ApiClient>),
}

/// Opens the database for reading, alongside a process that owns it.
pub async fn open_read_only(common: &Common, config: Config) -> Result<App> {
    require_database(&config)?;
    with_redacted_log(common, App::open(config, Access::Read, common.product.integrations()).await)
}

/// Opens the database for writing, creating it if necessary, or finds the server that owns it.
pub(super) async fn open_for_writing(common: &Common, config: Config) -> Result<RecordAccess> {
    match App::open(config.clone(), Access::Own, common.product.integrations()).await {
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(StoreError::InUse { pid: Some(pid), .. }) => {
                match Address::read(&config.data_dir, config.mode, *pid) {
                    Some(address) => Ok(RecordAccess::Remote(Box::new(ApiClient::new(address, config)?))),
                    None => Err(in_use(*pid)),
                }
            }
            _ => Err(error),
        },
        app => Ok(RecordAccess::Local(Box::new(with_redacted_log(common, app)?.with_portable_files()))),
    }
}

/// As [`open_for_writing`], but a missing database is an error.
pub(super) async fn open_existing(common: &Common, config: Config) -> Result<RecordAccess> {
    require_database(&config)?;
    open_for_writing(common, config).await
}

/// As [`open_exclusive`], without updating the plans' portable files.
pub(super) async fn open_without_portable_files(common: &Common, config: Config) -> Result<App> {
    open_owned(common, config, Access::Own).await
}

/// Takes ownership of the database; on PostgreSQL, which has no owner, opens it.
pub async fn open_exclusive(common: &Common, config: Config, access: Access) -> Result<App> {
    Ok(open_owned(common, config, access).await?.with_portable_files())
}

async fn open_owned(common: &Common, config: Config, access: Access) -> Result<App> {
    let (data_dir, mode) = (config.data_dir.clone(), config.mode);
    match App::open(config, access, common.product.integrations()).await {
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(StoreError::InUse { pid: Some(pid), .. }) => match Address::read(&data_dir, mode, *pid) {
                Some(address) => Err(anyhow::anyhow!(
                    "the server at {} (process {pid}) owns {}; stop it first, or use another --data-dir",
                    address.url,
                    data_dir.display()
                )),
                None => Err(in_use(*pid)),
            },
            _ => Err(error),
        },
        app => with_redacted_log(common, app),
    }
}

fn with_redacted_log(common: &Common, app: Result<App>) -> Result<App> {
    let app = app?;
    common.product.redact_log(&app.services.redactor);
    Ok(app.with_doors(common.product.door_server()))
}

fn in_use(pid: u32) -> anyhow::Error {
    anyhow::anyhow!(
        "process {pid} owns the database and is not a server; wait until it ends, or stop it. To run several \
         commands at once, start `papertape serve`"
    )
}

/// Whether the database exists. PostgreSQL's schema is created when it is first opened, so it always does.
pub(super) fn has_database(config: &Config) -> Result<bool> {
    let file = database_file(&config.data_dir, config.mode);
    Ok(config.database_url.is_some() || file.try_exists().with_context(|| file.display().to_string())?)
}

fn require_database(config: &Config) -> Result<()> {
    if !has_database(config)? {
        let dir = config.data_dir.display();
        return Err(not_found(format!("no database in {dir}; create one with `papertape run --demo`")));
    }
    Ok(())
}

/// Finds a job by its ID or a part of it. `latest` is the newest backtest, else the newest profile.
pub(super) async fn find_job(app: &App, job: &str) -> Result<JobId> {
    if job == "latest"
        && let Some(found) = latest(app, |kind| *kind == JobKind::Simulate).await?
    {
        return Ok(found);
    }
    find(app, job, |kind| !kind.is_assistant() && *kind != JobKind::MemoryProbe).await
}

/// What an ID names.
pub(super) enum Target {
    /// A job.
    Job(JobId),
    /// An experiment: all its jobs.
    Experiment(ExperimentId),
}

/// Finds a job or an experiment by its ID or a part of it. `latest` is the newest job, as in [`find_job`].
pub(super) async fn find_target(app: &App, text: &str) -> Result<Target> {
    if text != "latest" && text.chars().count() >= MIN_SHORT_ID && !text.contains('\0') {
        let mut experiments = app.store.experiments_by_short_id(text).await?;
        let is_whole = experiments.iter().any(|id| id.as_str() == text);
        // An experiment and its jobs are created at the same time, so their IDs may begin alike.
        let jobs = if is_whole { Vec::new() } else { app.store.jobs_by_short_id(text).await? };
        match (experiments.as_slice(), jobs.as_slice()) {
            ([_], []) => return Ok(Target::Experiment(experiments.remove(0))),
            ([], _) => {}
            (experiments, jobs) => {
                let experiments = experiments.iter().map(ExperimentId::as_str);
                let several: Vec<&str> = experiments.chain(jobs.iter().map(JobId::as_str)).collect();
                return Err(usage(format!(
                    "`{}` matches several experiments and jobs; use one of their IDs: {}",
                    text.escape_default(),
                    several.join(", ")
                )));
            }
        }
    }
    find_job(app, text).await.map(Target::Job)
}

/// As [`find_target`], in the database of the server's command.
pub(super) async fn find_target_remote(common: &Common, server: &ApiClient, text: &str) -> Result<Target> {
    find_target(&open_read_only(common, server.config.clone()).await?, text).await
}

/// As [`find_job`], for an optional filter: the job's whole ID.
pub(super) async fn find_filter(app: &App, job: Option<&str>) -> Result<Option<String>> {
    let Some(job) = job else { return Ok(None) };
    Ok(Some(find_job(app, job).await?.to_string()))
}

/// As [`find_job`], in the database of the server's command.
pub(super) async fn find_job_remote(common: &Common, server: &ApiClient, job: &str) -> Result<JobId> {
    find_job(&open_read_only(common, server.config.clone()).await?, job).await
}

/// Finds a job by its ID or a part of it. `latest` is the newest job of any kind.
pub(super) async fn find_any_job(app: &App, job: &str) -> Result<JobId> {
    find(app, job, |_| true).await
}

async fn find(app: &App, job: &str, is_candidate: impl Fn(&JobKind) -> bool) -> Result<JobId> {
    if job.is_empty() || job.contains('\0') {
        return Err(usage("invalid job ID"));
    }
    if job == "latest" {
        return latest(app, is_candidate).await?.ok_or_else(|| not_found("no jobs yet"));
    }
    let id = JobId::new(job);
    if app.store.get_job(&id).await?.is_some() {
        return Ok(id);
    }
    if job.chars().count() < MIN_SHORT_ID {
        return Err(super::failure::no_job(job));
    }
    let mut found = app.store.jobs_by_short_id(job).await?;
    match found.as_slice() {
        [_] => Ok(found.remove(0)),
        [] => Err(super::failure::no_job(job)),
        several => {
            let several: Vec<&str> = several.iter().map(JobId::as_str).collect();
            Err(usage(format!(
                "`{}` matches several jobs; use one of their IDs: {}",
                job.escape_default(),
                several.join(", ")
            )))
        }
    }
}

/// The last 8 characters of a job's ID, for tables. They are random, while the first ones encode the time and are equal
/// for jobs started within a minute.
pub(super) fn short_id(id: &str) -> &str {
    let start = id.char_indices().rev().nth(MIN_SHORT_ID - 1).map_or(0, |(at, _)| at);
    &id[start..]
}

/// The minimum length of a part of an ID that identifies a job.
const MIN_SHORT_ID: usize = 8;

/// The newest candidate that has or had work to do (not only skipped days), else the newest candidate.
async fn latest(app: &App, is_candidate: impl Fn(&JobKind) -> bool) -> Result<Option<JobId>> {
    let mut request = PageRequest::first(200);
    loop {
        let page = app.store.jobs(&JobFilter::default(), &request).await?;
        let candidates: Vec<_> = page.items.iter().filter(|item| is_candidate(&item.job.kind)).collect();
        let with_work = candidates.iter().find(|item| {
            let days = item.days;
            item.job.kind.is_assistant() || days.completed + days.failed + days.queued + days.running > 0
        });
        match (with_work.or(candidates.first()), page.next) {
            (Some(found), _) => return Ok(Some(found.job.id.clone())),
            (None, Some(next)) => request.cursor = Some(next),
            (None, None) => return Ok(None),
        }
    }
}
