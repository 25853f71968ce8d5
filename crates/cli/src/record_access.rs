//! How a command comes to the record. One process owns a SQLite record: who only reads reads beside it,
//! who wants to write goes through its API. On PostgreSQL there is no owner.

use super::api_client::ApiClient;
use super::failure::{not_found, usage};
use super::logging;
use anyhow::{Context as _, Result};
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobKind;
use papertape_service::address::Address;
use papertape_service::app::{Access, App, database_file};
use papertape_service::config::Config;
use papertape_store::{JobFilter, PageRequest, StoreError};

/// How a command that writes comes to the record.
pub(super) enum RecordAccess {
    /// This process owns it, or shares it.
    Local(Box<App>),
    /// A server of this machine owns it.
    Remote(Box<ApiClient>),
}

/// Opens the record for reading.
pub(super) async fn to_read(config: Config) -> Result<App> {
    there_is_a_record(&config)?;
    opened(App::open(config, Access::Read).await)
}

/// Opens the record for writing, or finds the server that has it. Makes the record where there is none.
pub(super) async fn to_write(config: Config) -> Result<RecordAccess> {
    match App::open(config.clone(), Access::Own).await {
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(StoreError::InUse { pid: Some(pid), .. }) => {
                match Address::read(&config.data_dir, config.mode, *pid) {
                    Some(address) => Ok(RecordAccess::Remote(Box::new(ApiClient::new(address, config)?))),
                    None => Err(in_use(*pid)),
                }
            }
            _ => Err(error),
        },
        app => Ok(RecordAccess::Local(Box::new(opened(app)?.with_portable_files()))),
    }
}

/// As [`to_write`], for commands that have nothing to do where there is no record.
pub(super) async fn open_existing(config: Config) -> Result<RecordAccess> {
    there_is_a_record(&config)?;
    to_write(config).await
}

/// Opens the record for this process alone, and leaves the portable files of plans as they are.
pub(super) async fn to_own_alone(config: Config) -> Result<App> {
    owned(config, Access::Own).await
}

/// Opens the record for this process alone (or, on PostgreSQL, beside others).
pub(super) async fn open_exclusive(config: Config, access: Access) -> Result<App> {
    Ok(owned(config, access).await?.with_portable_files())
}

async fn owned(config: Config, access: Access) -> Result<App> {
    let (data_dir, mode) = (config.data_dir.clone(), config.mode);
    match App::open(config, access).await {
        Err(error) => match error.downcast_ref::<StoreError>() {
            Some(StoreError::InUse { pid: Some(pid), .. }) => match Address::read(&data_dir, mode, *pid) {
                Some(address) => Err(anyhow::anyhow!(
                    "{} is already served at {} by process {pid}",
                    data_dir.display(),
                    address.url
                )),
                None => Err(in_use(*pid)),
            },
            _ => Err(error),
        },
        app => opened(app),
    }
}

fn opened(app: Result<App>) -> Result<App> {
    let app = app?;
    logging::redact_with(&app.services.redactor);
    Ok(app)
}

fn in_use(pid: u32) -> anyhow::Error {
    anyhow::anyhow!(
        "the record is in use by process {pid}, which is no server: wait until it is done, or stop it; \
         `papertape serve` lets several commands work at once"
    )
}

/// Is there a record? One on PostgreSQL is made when it is first opened.
pub(super) fn has_record(config: &Config) -> Result<bool> {
    let file = database_file(&config.data_dir, config.mode);
    Ok(config.database_url.is_some() || file.try_exists().with_context(|| file.display().to_string())?)
}

fn there_is_a_record(config: &Config) -> Result<()> {
    if !has_record(config)? {
        let dir = config.data_dir.display();
        return Err(not_found(format!("there is no record in {dir}; `papertape run --demo` makes one")));
    }
    Ok(())
}

/// The job that is named, where `latest` is the newest backtest; a profile where there is none.
pub(super) async fn job_named(app: &App, job: &str) -> Result<JobId> {
    if job == "latest"
        && let Some(found) = latest(app, |kind| *kind == JobKind::Simulate).await?
    {
        return Ok(found);
    }
    named(app, job, |kind| !kind.is_assistant()).await
}

/// The job that is named, where `latest` is the newest one of any kind.
pub(super) async fn any_job_named(app: &App, job: &str) -> Result<JobId> {
    named(app, job, |_| true).await
}

async fn named(app: &App, job: &str, is_meant: impl Fn(&JobKind) -> bool) -> Result<JobId> {
    if job.is_empty() || job.contains('\0') {
        return Err(usage("a job's id is a text"));
    }
    if job == "latest" {
        return latest(app, is_meant).await?.ok_or_else(|| not_found("there are no jobs yet"));
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
            Err(usage(format!("`{}` matches several jobs: {}", job.escape_default(), several.join(", "))))
        }
    }
}

/// What tables show of a job's ID: its last 8 characters, which are random; the first ones are the time, and those of
/// jobs started within a minute are the same.
pub(super) fn short_id(id: &str) -> &str {
    let start = id.char_indices().rev().nth(MIN_SHORT_ID - 1).map_or(0, |(at, _)| at);
    &id[start..]
}

/// A part of an ID must be at least this long to name a job.
const MIN_SHORT_ID: usize = 8;

/// The newest job of those that are meant that has done, or is to do, something; else the newest one.
async fn latest(app: &App, is_meant: impl Fn(&JobKind) -> bool) -> Result<Option<JobId>> {
    let mut request = PageRequest::first(200);
    loop {
        let page = app.store.jobs(&JobFilter::default(), &request).await?;
        let meant: Vec<_> = page.items.iter().filter(|item| is_meant(&item.job.kind)).collect();
        let works = meant.iter().find(|item| {
            let days = item.days;
            item.job.kind.is_assistant() || days.completed + days.failed + days.queued + days.running > 0
        });
        match (works.or(meant.first()), page.next) {
            (Some(found), _) => return Ok(Some(found.job.id.clone())),
            (None, Some(next)) => request.cursor = Some(next),
            (None, None) => return Ok(None),
        }
    }
}
