//! The known limitations of a bundle. They follow from its parts: the writer states them in the manifest, and the
//! verification computes them again.

use super::document::{AuditDocument, JobDocument, TapeForm};
use papertape_core::record::{DayStatus, JobRecord, JobStatus};
use papertape_core::time::Date;
use papertape_protocol::audit::AuditSummary;
use papertape_protocol::compare::CompareResponse;
use papertape_protocol::results::range::RangeResult;
use papertape_runtime::config::SimulationConfig;

/// Whether any verdict waits for more days or trials.
pub(super) fn is_interim(response: &CompareResponse) -> bool {
    response.items.iter().any(|item| item.interim.is_some())
}

/// What the limitations of a job follow from.
#[derive(Clone, Debug)]
pub(super) struct JobFacts {
    pub(super) job: JobDocument,
    pub(super) config: SimulationConfig,
    pub(super) planned_days: usize,
    pub(super) open_days: usize,
    pub(super) has_dataset: bool,
    pub(super) results: Vec<RangeResult>,
    pub(super) audit: AuditDocument,
}

impl JobFacts {
    pub(super) fn count_days(record: &JobRecord) -> (usize, usize) {
        let is_open = |status: DayStatus| matches!(status, DayStatus::Queued | DayStatus::Running);
        (record.days.len(), record.days.iter().filter(|day| is_open(day.status)).count())
    }
}

/// All sentences, those of every job first.
pub(super) fn limitations(jobs: &[JobFacts], tape: TapeForm, comparison: Result<bool, &str>) -> Vec<String> {
    let mut found: Vec<String> = jobs.iter().flat_map(of_job).collect();
    match comparison {
        Ok(true) => found.push(
            "The comparison is interim: the planned last day or trial has not been reached.".to_owned(),
        ),
        Ok(false) => {}
        Err(why) => found.push(format!("There is no comparison: {why}.")),
    }
    found.push(match tape {
        TapeForm::None => {
            "The tape is not included: the hashes of the sessions are stated, not recomputed.".to_owned()
        }
        TapeForm::Redacted => {
            "The texts of the tape are not included: links that contain texts are stated by their \
             hashes."
                .to_owned()
        }
        TapeForm::Full => "The tape is included with all prompts, responses and tool results.".to_owned(),
    });
    found.push(
        "The bundle does not show that its heads were published: compare them with heads that were published when the \
         jobs ran."
            .to_owned(),
    );
    found
}

fn of_job(facts: &JobFacts) -> Vec<String> {
    let id = &facts.job.job_id;
    let mut found = Vec::new();
    let mut add = |text: String| found.push(format!("Job {id}: {text}."));
    if facts.open_days > 0 {
        let ended = facts.planned_days - facts.open_days.min(facts.planned_days);
        add(format!("interim: {ended} of {} planned model-days have ended", facts.planned_days));
    }
    if facts.job.status != JobStatus::Completed {
        add(format!("its status is {}", facts.job.status));
    }
    if facts.job.parts > 1 {
        add(format!("it ran in {} parts", facts.job.parts));
    }
    if let Some(imported) = &facts.config.imported {
        add(format!("imported from {}: its days were traded by another program", imported.format));
    }
    if let Some(branch) = &facts.config.branch {
        add(format!("branched from job {} on {}: what came before is the parent's", branch.job, branch.date));
    }
    for (agent, continues) in &facts.config.continues {
        add(format!("{agent} continues the account of job {} after {}", continues.job, continues.date));
    }
    if let Some(memory) = &facts.config.memory_from {
        add(format!("its agents start with the memory of job {memory}"));
    }
    if facts.job.is_config_redacted {
        add("texts of its config are replaced by hashes: its anchor is stated, not recomputed".to_owned());
    }
    if !facts.has_dataset {
        add("its dataset was not available: there are no baselines".to_owned());
    }
    for result in &facts.results {
        of_agent(result, &mut add);
    }
    for usage in &facts.job.model_calls {
        if usage.unpriced_calls > 0 {
            add(format!("{}: the price of {} model calls is unknown", usage.agent, usage.unpriced_calls));
        }
        if usage.estimated_calls > 0 {
            add(format!("{}: the usage of {} model calls is estimated", usage.agent, usage.estimated_calls));
        }
    }
    add(match &facts.audit {
        AuditDocument::NotRun(why) => format!("not audited: {why}"),
        AuditDocument::Report(report) => audit(report.summary),
    });
    found
}

fn of_agent(result: &RangeResult, add: &mut impl FnMut(String)) {
    let agent = &result.model;
    let provenance = &result.provenance;
    if let Some(insolvent) = &result.insolvent {
        add(format!("{agent} lost everything on {}", insolvent.since));
    }
    match (provenance.point_in_time.as_deref(), &provenance.point_in_time_reason) {
        (Some("verified"), _) => {}
        (_, Some(reason)) => add(format!("{agent} is not verified as point-in-time: {}", reason.sentence())),
        (_, None) => add(format!("{agent} is not verified as point-in-time")),
    }
    if !provenance.degraded_days.is_empty() {
        add(format!("{agent} has degraded days: {}", dates(&provenance.degraded_days)));
    }
    if !provenance.failed_days.is_empty() {
        add(format!("{agent} has failed days: {}", dates(&provenance.failed_days)));
    }
    if result.is_llm == Some(false) {
        add(format!("{agent} is rule-based, not a language model"));
    }
    if let Some(first) = result.done_before.first() {
        let jobs: Vec<&str> = result.done_before.iter().map(|span| span.job_id.as_str()).collect();
        add(format!(
            "{agent}: days from {} on belong to earlier jobs ({})",
            first.start_date,
            jobs.join(", ")
        ));
    }
}

fn audit(summary: AuditSummary) -> String {
    let AuditSummary { verified, failed, unverifiable, unfinished } = summary;
    format!(
        "the audit found {verified} sessions verified, {failed} failed, {unverifiable} unverifiable, {unfinished} unfinished"
    )
}

/// The number of days and the first of them.
fn dates(days: &[Date]) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = days.iter().take(NAMED).map(ToString::to_string).collect();
    let more = days.len().saturating_sub(NAMED);
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}
