//! Exports jobs as Parquet tables, for analysis next to the record.
//!
//! The rows are those that the API returns, typed. Sessions are read in pages and written in bounded groups of rows, so
//! memory does not grow with the job. Files get their final names once all of them are complete.

mod metrics;
mod rows;
mod schema;
mod writer;

pub use schema::{Column, ColumnType, TABLES, TABLES_VERSION, Table, schema_json, schema_markdown};

use crate::app::App;
use crate::error::ServiceError;
use anyhow::{Context as _, Result};
use papertape_core::id::JobId;
use papertape_store::{JobFilter, PageRequest};
use serde::Serialize;
use std::path::{Path, PathBuf};
use writer::{Cell, TableWriter, unwritable};

/// Which jobs to export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSelection {
    /// One job.
    Job(JobId),
    /// Every job of the database.
    All,
}

/// What was exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TablesReport {
    /// The directory.
    pub directory: PathBuf,
    /// The version of the tables.
    pub version: u32,
    /// The number of jobs.
    pub jobs: usize,
    /// The tables.
    pub tables: Vec<TableFile>,
}

/// One table's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableFile {
    /// The table.
    pub name: &'static str,
    /// Its file.
    pub file: PathBuf,
    /// Its number of rows.
    pub rows: u64,
}

/// All tables while they are written.
struct Tables(Vec<TableWriter>);

impl Tables {
    fn push(&mut self, table: usize, row: Vec<Cell>) -> Result<()> {
        self.0[table].push(row)
    }
}

/// Writes the tables of the selected jobs into a directory, which is created if necessary: a Parquet file for each
/// table, `schema.json`, and the same as text in `README.md`.
///
/// # Errors
/// A directory that is not empty, unless `force` allows to replace the tables in it; no such job; a number that does not
/// fit its column; a file that cannot be written; a database error. Files of an earlier export are then unchanged.
pub async fn export_tables(
    app: &App,
    selection: &TableSelection,
    dir: &Path,
    force: bool,
) -> Result<TablesReport, ServiceError> {
    let jobs = match selection {
        TableSelection::All => all_jobs(app).await?,
        TableSelection::Job(job) => vec![job.clone()],
    };
    prepare(dir, force)?;
    let written = write(app, &jobs, dir).await;
    if written.is_err() {
        names().for_each(|name| drop(std::fs::remove_file(draft(dir, &name))));
    }
    let rows = written?;
    // The schema is last: where it is new, all tables are.
    for name in names() {
        let path = dir.join(&name);
        std::fs::rename(draft(dir, &name), &path).with_context(|| unwritable(&path))?;
    }
    let file =
        |(table, rows): (&Table, u64)| TableFile { name: table.name, file: dir.join(file_name(table)), rows };
    Ok(TablesReport {
        directory: dir.to_owned(),
        version: TABLES_VERSION,
        jobs: jobs.len(),
        tables: TABLES.iter().zip(rows).map(file).collect(),
    })
}

fn prepare(dir: &Path, force: bool) -> Result<(), ServiceError> {
    std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let mut entries = std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    if !force && entries.next().is_some() {
        let message = format!(
            "{} is not empty; use another directory, or --force to replace the tables in it",
            dir.display()
        );
        return Err(ServiceError::invalid("output", message));
    }
    Ok(())
}

/// Writes all files under their temporary names, and returns each table's number of rows.
async fn write(app: &App, jobs: &[JobId], dir: &Path) -> Result<Vec<u64>, ServiceError> {
    let create = |table| TableWriter::create(table, &draft(dir, &file_name(table)));
    let mut tables = Tables(TABLES.iter().map(create).collect::<Result<_>>()?);
    for job in jobs {
        rows::export(app, &mut tables, job).await?;
    }
    let rows = tables.0.into_iter().map(TableWriter::finish).collect::<Result<_>>()?;
    let schema = serde_json::to_string_pretty(&schema_json()).map_err(anyhow::Error::from)?;
    for (name, text) in [(README, readme()), (SCHEMA, schema)] {
        let path = draft(dir, name);
        std::fs::write(&path, text).with_context(|| unwritable(&path))?;
    }
    Ok(rows)
}

/// All jobs by ID. IDs begin with the time of the request, so this is also their order in time.
async fn all_jobs(app: &App) -> Result<Vec<JobId>, ServiceError> {
    let mut jobs = Vec::new();
    let mut request = PageRequest::first(200);
    loop {
        let page = app.store.jobs(&JobFilter::default(), &request).await?;
        jobs.extend(page.items.into_iter().map(|item| item.job.id));
        match page.next {
            Some(cursor) => request = PageRequest::after(200, &cursor),
            None => break,
        }
    }
    jobs.sort();
    Ok(jobs)
}

const README: &str = "README.md";
const SCHEMA: &str = "schema.json";

fn file_name(table: &Table) -> String {
    format!("{}.parquet", table.name)
}

/// All files, the schema last.
fn names() -> impl Iterator<Item = String> {
    TABLES.iter().map(file_name).chain([README.to_owned(), SCHEMA.to_owned()])
}

/// Where a file is written until all are complete.
fn draft(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.part"))
}

fn readme() -> String {
    format!(
        "# Papertape tables\n\nVersion {TABLES_VERSION}. Written by `papertape export tables`. `schema.json` has the same in \
         JSON.\n\nDecimals are exact: 38 digits, 18 of them after the point. Instants are UTC. Texts are redacted as in the \
         record.\n\n{}",
        schema_markdown().trim_end()
    ) + "\n"
}
