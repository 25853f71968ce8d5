//! `papertape label`

use super::failure::{service_error, usage};
use super::output::{json, say};
use super::record_access::{self, RecordAccess, find_any_job, find_job_remote};
use super::{Common, Outcome};
use clap::Args;
use papertape_core::label::LabelChanges;
use papertape_protocol::labels::{Labels, LabelsPatch, LabelsResponse};
use papertape_service::config::Config;
use papertape_service::labels::change_labels;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct LabelArgs {
    /// The job, or `latest`
    job: String,
    /// Its name; empty removes it
    #[arg(long)]
    name: Option<String>,
    /// A tag to add, or with `-` in front to remove; repeatable
    #[arg(long, value_name = "[+|-]TAG", allow_hyphen_values = true)]
    tag: Vec<String>,
    /// Its note; empty removes it
    #[arg(long)]
    note: Option<String>,
}

pub(super) async fn label(common: &Common, config: Config, args: LabelArgs) -> Outcome {
    let mut changes = LabelChanges { name: args.name, note: args.note, ..LabelChanges::default() };
    for tag in args.tag {
        match tag.strip_prefix('-') {
            Some(tag) => changes.remove_tags.push(tag.to_owned()),
            None => changes.add_tags.push(tag.strip_prefix('+').unwrap_or(&tag).to_owned()),
        }
    }
    if changes.is_empty() {
        return Err(usage("nothing to change; pass --name, --tag or --note"));
    }
    let (job, labels): (_, Labels) = match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => {
            let job = find_any_job(&app, &args.job).await?;
            let labels = change_labels(&app, job.as_str(), changes, None).await.map_err(service_error)?;
            (job, labels.into())
        }
        RecordAccess::Remote(server) => {
            let job = find_job_remote(common, &server, &args.job).await?;
            let patch = LabelsPatch {
                name: changes.name.map(Some),
                note: changes.note.map(Some),
                tags: None,
                add_tags: changes.add_tags,
                remove_tags: changes.remove_tags,
            };
            let changed: LabelsResponse = server.patch(&["jobs", job.as_str(), "labels"], &patch).await?;
            (job, changed.labels)
        }
    };
    if common.json {
        json(&json!({ "job_id": job, "labels": labels }))?;
        return Ok(ExitCode::SUCCESS);
    }
    say(format_args!("job   {job}"))?;
    for (field, value) in lines(&labels) {
        say(format_args!("{field:<5} {value}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The labels that are set, each with its field.
pub(super) fn lines(labels: &Labels) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    lines.extend(labels.name.clone().map(|name| ("name", name)));
    lines.extend((!labels.tags.is_empty()).then(|| ("tags", labels.tags.join(", "))));
    lines.extend(labels.note.clone().map(|note| ("note", note)));
    lines
}
