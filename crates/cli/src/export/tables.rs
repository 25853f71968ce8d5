//! `papertape export tables`

use crate::failure::service_error;
use crate::output::{count, counted, note, only_json, say, table, text_of};
use crate::record_access::find_job;
use crate::{Common, Outcome, record_access};
use clap::Args;
use papertape_service::config::Config;
use papertape_service::tables::{TableSelection, export_tables};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(crate) struct TablesArgs {
    /// The job, `latest`, or `all` for every job
    job: String,
    /// Directory to write to; created if missing
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Replace the tables in a directory that is not empty
    #[arg(long)]
    force: bool,
}

pub(super) async fn export(common: &Common, config: Config, args: TablesArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let selection = match args.job.as_str() {
        "all" => TableSelection::All,
        job => TableSelection::Job(find_job(&app, job).await?),
    };
    let report = export_tables(&app, &selection, &args.output, args.force).await.map_err(service_error)?;
    if common.json {
        return only_json(&report);
    }
    let mut rows = table(["table", ">rows", "file"]);
    for table in &report.tables {
        rows.add_row([table.name.to_owned(), count(table.rows), table.file.display().to_string()]);
    }
    say(text_of(&rows))?;
    note!(
        "{} exported; the columns are in {}",
        counted(report.jobs as u64, "job"),
        report.directory.join("schema.json").display()
    );
    Ok(ExitCode::SUCCESS)
}
