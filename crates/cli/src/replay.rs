//! `papertape replay`

use super::failure::FAILED;
use super::output::{count, json, note, say};
use super::record_access::find_job;
use super::{Common, Outcome, record_access};
use anyhow::{anyhow, bail};
use clap::Args;
use papertape_core::RULES_VERSION;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobKind;
use papertape_runtime::replay;
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The job, or `latest`
    job: String,
}

pub(super) async fn replay(common: &Common, config: Config, args: ReplayArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let job = find_job(&app, &args.job).await?;
    let row = app.store.get_job(&job).await?.ok_or_else(|| super::failure::no_job(&args.job))?;
    if row.kind == JobKind::MemoryProbe {
        bail!(
            "job {job} is a memory probe and has no days to replay; to show it, run `papertape probe show {job}`"
        );
    }
    if row.kind.is_assistant() {
        let kind = &row.kind;
        bail!("a job of kind `{kind}` has no days to replay; for its actions, run `papertape actions {job}`");
    }
    let report = Box::pin(replay::run(&app.services, &row)).await.map_err(|error| anyhow!(error))?;
    if let Some(rules) = report.recorded_under {
        if common.json {
            json(
                &json!({ "job_id": job, "equal": null, "recorded_under_rules": rules, "rules_version": RULES_VERSION }),
            )?;
        }
        bail!(
            "job {job} was recorded with rules version {rules}, but this program replays version {RULES_VERSION}; to \
             check its record, run `papertape verify {job}`"
        );
    }
    let is_equal = report.faults.is_empty();
    if common.json {
        let faults: Vec<_> = report
            .faults
            .iter()
            .map(|fault| json!({ "model": fault.agent, "date": fault.date, "reason": fault.reason }))
            .collect();
        json(&json!({
            "job_id": job,
            "equal": is_equal,
            "sessions_equal": report.equal,
            "sessions_unfinished": report.unfinished,
            "steps": report.steps,
            "faults": faults,
        }))?;
    } else {
        let [equal, steps] = [report.equal, report.steps].map(|number| count(number as u64));
        say(format_args!("{equal} sessions are identical; {steps} steps read, no external calls"))?;
        if report.unfinished > 0 {
            say(format_args!("{} unfinished sessions were not replayed", report.unfinished))?;
        }
        for fault in &report.faults {
            say(format_args!("different: {} on {}: {}", fault.agent, fault.date, fault.reason))?;
        }
    }
    if is_equal {
        return Ok(ExitCode::SUCCESS);
    }
    note!("the replay of job {job} differs from its record");
    Ok(ExitCode::from(FAILED))
}
