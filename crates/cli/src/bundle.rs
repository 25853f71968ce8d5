//! `papertape bundle`

use super::audit::AuditProgress;
use super::export::Output;
use super::failure::{FAILED, service_error, usage};
use super::output::{bytes, count, json, note, width, wrap};
use super::record_access::{Target, find_target};
use super::{Common, Outcome, record_access};
use anyhow::Context as _;
use clap::Args;
use papertape_protocol::bundle::TapeForm;
use papertape_service::bundle::document::Manifest;
use papertape_service::bundle::{BundleOptions, BundleTarget, collect, verify};
use papertape_service::config::Config;
use serde_json::json;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct BundleArgs {
    /// The job or the experiment, or `latest`
    target: String,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Include the tape: `none`, `full`, or `redacted` with hashes in place of texts
    #[arg(long, value_name = "FORM", default_value_t)]
    tape: TapeForm,
    /// Leave the audit out, which re-runs every session four times
    #[arg(long)]
    no_audit: bool,
}

pub(super) async fn bundle(common: &Common, config: Config, args: BundleArgs) -> Outcome {
    if args.output.is_dir() {
        return Err(usage(format!("--output: {} is a directory; name a file", args.output.display())));
    }
    let app = record_access::open_read_only(common, config).await?;
    let target = match find_target(&app, &args.target).await? {
        Target::Job(job) => BundleTarget::Job(job),
        Target::Experiment(experiment) => BundleTarget::Experiment(experiment),
    };
    let dir = args.output.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let options = BundleOptions { tape: args.tape, audit: !args.no_audit };
    let progress = AuditProgress::default();
    let advance = |done, all| progress.advance(done, all);
    let collected = Box::pin(collect(&app, &target, options, dir, &advance)).await;
    drop(progress);
    let mut archive = collected.map_err(service_error)?;
    let manifest: Manifest =
        serde_json::from_slice(archive.manifest()).context("the manifest cannot be read")?;
    let mut out = Output::open(Some(args.output.clone()))?;
    let written = archive.write_to(&mut out);
    let hash = out.finish(written)?;
    if common.json {
        json(&json!({
            "bundle": hash,
            "file": args.output,
            "bytes": archive.bytes(),
            "about": manifest.about,
            "tape": manifest.tape,
            "jobs": manifest.jobs,
            "parts": manifest.parts,
            "limitations": manifest.limitations,
        }))?;
    } else {
        note!("known limitations:");
        for limitation in &manifest.limitations {
            note!("{}", wrap(&format!("- {limitation}"), width(), "  "));
        }
    }
    // Success is reported only for a file that verifies.
    let file = File::open(&args.output).with_context(|| args.output.display().to_string())?;
    let report = verify(BufReader::new(file), None).with_context(|| args.output.display().to_string())?;
    if let Some(part) = report.parts.iter().find(|part| !part.ok) {
        note!("the bundle does not verify: {}: {}", part.name, part.reasons.join("; "));
        return Ok(ExitCode::from(FAILED));
    }
    let parts = count(manifest.parts.len() as u64 + 1);
    note!("bundle {hash}: {parts} parts, {}, verified; to verify it elsewhere:", bytes(archive.bytes()));
    note!("  papertape verify {}", args.output.display());
    Ok(ExitCode::SUCCESS)
}
