//! `papertape replay`

use super::failure::FAILED;
use super::output::{count, json, note, say};
use super::record_access::job_named;
use super::{Common, Outcome, record_access};
use anyhow::{anyhow, bail};
use clap::Args;
use papertape_core::RULES_VERSION;
use papertape_core::ports::Queue as _;
use papertape_runtime::assistant_job::is_assistants;
use papertape_runtime::replay;
use papertape_service::config::Config;
use serde_json::json;
use std::process::ExitCode;

/// What to replay.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The job, or `latest`
    job: String,
}

/// Replays it.
pub(super) async fn replay(common: &Common, config: Config, args: ReplayArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let job = job_named(&app, &args.job).await?;
    let row = app.store.get_job(&job).await?.ok_or_else(|| super::failure::no_job(&args.job))?;
    if is_assistants(&row.kind) {
        let kind = &row.kind;
        bail!(
            "a job of the kind `{kind}` has no days to replay; `papertape actions {job}` shows what it did"
        );
    }
    let report = Box::pin(replay::run(&app.services, &row)).await.map_err(|error| anyhow!(error))?;
    if let Some(rules) = report.recorded_under {
        if common.json {
            json(
                &json!({ "job_id": job, "equal": null, "recorded_under_rules": rules, "rules_version": RULES_VERSION }),
            )?;
        }
        bail!(
            "job {job} was recorded under rules {rules}, and this version replays rules {RULES_VERSION}; \
             `papertape verify {job}` checks its record by its own rules"
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
        say(format_args!("{equal} sessions came out equal, {steps} steps were read, nothing was called"))?;
        if report.unfinished > 0 {
            say(format_args!("{} sessions have not ended and were not replayed", report.unfinished))?;
        }
        for fault in &report.faults {
            say(format_args!("not equal: {} on {}: {}", fault.agent, fault.date, fault.reason))?;
        }
    }
    if is_equal {
        return Ok(ExitCode::SUCCESS);
    }
    note!("the replay of job {job} differs from its record");
    Ok(ExitCode::from(FAILED))
}
