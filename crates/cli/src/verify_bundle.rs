//! `papertape verify FILE`: no database, no network, no configuration.

use super::failure::{FAILED, not_found};
use super::head::published_document;
use super::output::{bytes, count, json, note, say, table, text_of, width, wrap};
use super::{Common, Outcome};
use anyhow::{Context as _, Result, anyhow};
use papertape_core::id::ContentHash;
use papertape_core::record::JobHead;
use papertape_service::bundle::{BundleReport, PartReport, verify};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn verify_bundle(common: &Common, path: &Path, expected: Option<&str>) -> Outcome {
    if !path.is_file() {
        return Err(not_found(format!("no such file: {}", path.display())));
    }
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let size = file.metadata().with_context(|| path.display().to_string())?.len();
    let hash = expected.and_then(ContentHash::from_hex);
    let published: Option<JobHead> = match expected {
        Some(expected) if hash.is_none() => Some(published_document(expected)?),
        _ => None,
    };
    let found = verify(BufReader::new(file), published.as_ref());
    let report = found.with_context(|| path.display().to_string())?;
    if common.json {
        json(&report)?;
    } else {
        print(&report)?;
    }
    if !report.whole {
        let failed: Vec<&str> =
            report.parts.iter().filter(|part| !part.ok).map(|part| part.name.as_str()).collect();
        note!("verification failed: {}", failed.join(", "));
        return Ok(ExitCode::from(FAILED));
    }
    if let Some(hash) = hash
        && !report.jobs.iter().any(|job| job.head == hash)
    {
        return Err(anyhow!(
            "the head {hash} is not that of a job in the bundle; pass a file with the document that `papertape head` \
             printed, to check whether the bundle extends it"
        ));
    }
    let parts = count(report.parts.len() as u64);
    note!(
        "{parts} parts, {}: intact{}",
        bytes(size),
        if expected.is_some() { ", and as published" } else { "" }
    );
    if let Some(bundle) = report.bundle {
        note!("bundle {bundle}");
    }
    Ok(ExitCode::SUCCESS)
}

fn print(report: &BundleReport) -> Result<()> {
    let mut parts = table(["part", "result", "checked"]);
    for part in &report.parts {
        let checked = if part.ok { part.check.as_str() } else { "" };
        parts.add_row([part.name.as_str(), if part.ok { "ok" } else { "FAILED" }, checked]);
    }
    say(text_of(&parts))?;
    for part in &report.parts {
        explain(part)?;
    }
    for job in &report.jobs {
        match job.links {
            Some((all, stated)) => say(format_args!(
                "job {}: head {}, {} links, {} of them stated by their hash",
                job.job_id,
                job.head,
                count(all),
                count(stated)
            ))?,
            None => say(format_args!("job {}: head {}", job.job_id, job.head))?,
        }
    }
    sentences("Known limitations:", &report.limitations)?;
    sentences("Not verified:", &report.not_verified)
}

fn explain(part: &PartReport) -> Result<()> {
    for reason in &part.reasons {
        say(wrap(&format!("{}: {reason}", part.name), width(), "  "))?;
    }
    Ok(())
}

fn sentences(heading: &str, sentences: &[String]) -> Result<()> {
    if sentences.is_empty() {
        return Ok(());
    }
    say(heading)?;
    for sentence in sentences {
        say(wrap(&format!("- {sentence}"), width(), "  "))?;
    }
    Ok(())
}
