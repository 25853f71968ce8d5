//! Collects a bundle from the database.

use super::archive::{Archive, ArchiveWriter};
use super::document::{
    About, AccountLine, AuditDocument, BundledJob, DatasetDocument, DayLine, ExperimentDocument,
    ExperimentJobDocument, FORMAT, FillsLine, HeadsDocument, JobDocument, LedgerLine, Manifest, ModelUsage,
    TapeForm, folder,
};
use super::facts::{JobFacts, is_interim, limitations};
use super::parts::{LINES, document, line};
use super::tape;
use crate::app::App;
use crate::error::ServiceError;
use crate::view::{self, AuditProgress, ComparisonInput, RecordedDay};
use anyhow::Context as _;
use papertape_core::id::{AgentName, ContentHash, ExperimentId, JobId};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::{JobKind, JobRecord, JobRow, JobStatus, PositionRow};
use papertape_core::time::Date;
use papertape_protocol::audit::AuditQuery;
use papertape_protocol::compare::{CompareQuery, CompareResponse};
use papertape_protocol::results::range::RangeResult;
use papertape_protocol::results::{ResultsQuery, ResultsResponse};
use papertape_runtime::account_before;
use papertape_runtime::config::SimulationConfig;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tokio::sync::Semaphore;

/// Bundles are collected one at a time: an audit needs two copies of its dataset.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// What to bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleTarget {
    /// A simulation.
    Job(JobId),
    /// All jobs of an experiment, with their comparison.
    Experiment(ExperimentId),
}

impl BundleTarget {
    /// A name for the file.
    #[must_use]
    pub fn file_name(&self) -> String {
        let id = match self {
            Self::Job(job) => job.as_str(),
            Self::Experiment(experiment) => experiment.as_str(),
        };
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
        format!("papertape-{}.zip", id.chars().filter(is_plain).take(64).collect::<String>())
    }
}

/// What a bundle contains besides the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleOptions {
    /// How much of the tape.
    pub tape: TapeForm,
    /// Whether to run the audit.
    pub audit: bool,
}

/// Collects a bundle. Its stored bytes wait in a file without a name in `dir`. The same record gives the same bytes.
///
/// # Errors
/// No such job or experiment; a job that is queued or running, is not a simulation, or has no closed day; a record that
/// is not intact; a database or a file that fails.
pub async fn collect(
    app: &App,
    target: &BundleTarget,
    options: BundleOptions,
    dir: &Path,
    progress: AuditProgress<'_>,
) -> Result<Archive, ServiceError> {
    let _permit = ONE_AT_A_TIME.acquire().await.map_err(anyhow::Error::from)?;
    let mut archive = ArchiveWriter::new(dir)?;
    let (about, jobs) = match target {
        BundleTarget::Job(job) => (About::Job(job.to_string()), vec![job.clone()]),
        BundleTarget::Experiment(id) => {
            (About::Experiment(id.to_string()), experiment(app, id, options.tape, &mut archive).await?)
        }
    };
    let mut rows = Vec::new();
    for job in jobs {
        rows.push(simulation(app, &job).await?);
    }
    let (mut facts, mut bundled) = (Vec::new(), Vec::new());
    for row in &rows {
        let (head, of_job) = Box::pin(self::job(app, row, options, &mut archive, progress)).await?;
        let (job_id, folder) = (row.id.to_string(), folder(&row.id));
        bundled.push(BundledJob { job_id, folder, head });
        facts.push(of_job);
    }
    if facts.iter().all(|job| job.results.is_empty()) {
        return Err(ServiceError::Conflict("there is no closed day to bundle".to_owned()));
    }
    let compared = compared(app, target, &facts).await?;
    if let Ok((response, input)) = &compared {
        document(&mut archive, "comparison.json", response)?;
        document(&mut archive, "comparison-input.json", input)?;
    }
    // The parts of a job that was resumed meanwhile may contradict each other.
    for (row, bundled) in rows.iter().zip(&bundled) {
        let head = app.store.job_record(&row.id).await?.map(|record| record.head().hash());
        if head != Some(bundled.head) {
            return Err(ServiceError::Conflict(format!("job {} has changed meanwhile; try again", row.id)));
        }
    }
    let is_interim = compared.as_ref().map(|(response, _)| is_interim(response)).map_err(String::as_str);
    let limitations = limitations(&facts, options.tape, is_interim);
    let archive = archive.finish(|parts| {
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            about,
            tape: options.tape,
            jobs: bundled,
            limitations,
            parts: parts.to_vec(),
        };
        let mut text = serde_json::to_vec_pretty(&manifest)?;
        text.push(b'\n');
        Ok(text)
    });
    Ok(archive?)
}

async fn simulation(app: &App, job: &JobId) -> Result<JobRow, ServiceError> {
    let row = app.store.get_job(job).await?.ok_or_else(|| view::no_job(job.as_str()))?;
    if row.kind != JobKind::Simulate {
        let message = format!("a job of kind `{}` has no results to bundle", row.kind);
        return Err(ServiceError::Conflict(message));
    }
    if matches!(row.status, JobStatus::Queued | JobStatus::Running) {
        return Err(ServiceError::Conflict(format!(
            "job {job} is {}; wait until it stops, or cancel it",
            row.status
        )));
    }
    check_rules(&row)?;
    if row.config.get("masking").is_some_and(|masking| !masking.is_null()) {
        return Err(ServiceError::Conflict(format!(
            "job {job} is masked: its results are under real dates and its books under masked ones, which a bundle cannot \
             verify yet"
        )));
    }
    Ok(row)
}

fn check_rules(row: &JobRow) -> Result<(), ServiceError> {
    if row.rules_version < 2 {
        return Err(ServiceError::Conflict(format!(
            "job {} was recorded under rules version 1: its rows lack what the books are recomputed from; run it again",
            row.id
        )));
    }
    Ok(())
}

async fn experiment(
    app: &App,
    id: &ExperimentId,
    tape: TapeForm,
    archive: &mut ArchiveWriter,
) -> Result<Vec<JobId>, ServiceError> {
    let found = match id.as_str().contains('\0') {
        true => None,
        false => app.store.experiment(id).await?,
    };
    let row = found.ok_or_else(|| view::no_experiment(id))?;
    let mut jobs = app.store.experiment_jobs(id).await?;
    jobs.sort_by_key(|job| (job.window, job.trial));
    let (manifest, is_redacted) = redacted(row.manifest, tape);
    let job = |job: &papertape_store::ExperimentJobOverview| ExperimentJobDocument {
        job_id: job.job.to_string(),
        window: job.window,
        trial: job.trial,
    };
    let experiment = ExperimentDocument {
        experiment_id: id.to_string(),
        manifest,
        manifest_hash: row.hash,
        is_redacted,
        jobs: jobs.iter().map(job).collect(),
    };
    document(archive, "experiment.json", &experiment)?;
    Ok(jobs.into_iter().map(|job| job.job).collect())
}

async fn job(
    app: &App,
    row: &JobRow,
    options: BundleOptions,
    archive: &mut ArchiveWriter,
    progress: AuditProgress<'_>,
) -> Result<(ContentHash, JobFacts), ServiceError> {
    let id = &row.id;
    let intact = app.store.verify_chain(id).await?;
    if let Some(broken) = intact.broken {
        let message = format!("the record of job {id} is not intact: {broken}; run `papertape verify {id}`");
        return Err(ServiceError::Conflict(message));
    }
    let mut record = app.store.job_record(id).await?.ok_or_else(|| view::no_job(id.as_str()))?;
    let config: SimulationConfig = serde_json::from_value(record.config.clone())
        .with_context(|| format!("the config of job {id} cannot be read"))?;
    let head = record.head();
    let folder = folder(id);
    let (stored_config, is_config_redacted) = redacted(std::mem::take(&mut record.config), options.tape);
    without_errors(&mut record);
    let about = JobDocument {
        job_id: id.clone(),
        kind: row.kind.to_string(),
        status: row.status,
        rules_version: row.rules_version,
        parts: row.parts,
        is_config_redacted,
        model_calls: usage(app, id).await?,
    };
    document(archive, format!("{folder}/job.json"), &about)?;
    document(archive, format!("{folder}/config.json"), &stored_config)?;
    let has_dataset = app.services.datasets.open(config.dataset.hash).is_ok();
    let dataset = DatasetDocument {
        name: config.dataset.name.clone(),
        hash: config.dataset.hash,
        is_available: has_dataset,
    };
    document(archive, format!("{folder}/datasets.json"), &[dataset])?;
    ledger(app, (id, &config), &record, archive, &folder).await?;
    let results = results(app, id, options.tape).await?;
    document(archive, format!("{folder}/metrics.json"), &results)?;
    let audit = audit(app, id, options, progress).await?;
    document(archive, format!("{folder}/audit.json"), &audit)?;
    let hash = head.hash();
    let (planned_days, open_days) = JobFacts::count_days(&record);
    document(archive, format!("{folder}/heads.json"), &HeadsDocument { head, record })?;
    if options.tape != TapeForm::None {
        tape::write(app, id, options.tape, archive, &folder).await?;
    }
    Ok((hash, JobFacts { job: about, config, planned_days, open_days, has_dataset, results, audit }))
}

/// Replaces the texts of a config by their hashes, if the tape is redacted.
fn redacted(mut config: Value, tape: TapeForm) -> (Value, bool) {
    let is_redacted = tape == TapeForm::Redacted && redact_texts(&mut config);
    (config, is_redacted)
}

fn redact_texts(value: &mut Value) -> bool {
    match value {
        Value::Object(map) => {
            let mut found = false;
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "instructions" => {
                        *text = format!("blake3:{}", ContentHash::of(text.as_bytes()));
                        found = true;
                    }
                    other => found |= redact_texts(other),
                }
            }
            found
        }
        Value::Array(items) => {
            let mut found = false;
            for item in items {
                found |= redact_texts(item);
            }
            found
        }
        _ => false,
    }
}

/// Errors are in no chain, and can quote what a provider returned. Only the reason for a skipped day is, and that is the
/// program's own sentence.
fn without_errors(record: &mut JobRecord) {
    for day in &mut record.days {
        day.error = None;
    }
    for session in record.sessions.values_mut().flat_map(BTreeMap::values_mut) {
        session.error = None;
    }
}

async fn usage(app: &App, job: &JobId) -> Result<Vec<ModelUsage>, ServiceError> {
    let mut by_agent: BTreeMap<AgentName, ModelUsage> = BTreeMap::new();
    for row in app.store.load_usage(job).await? {
        let of_agent = by_agent.entry(row.agent.clone()).or_insert_with(|| ModelUsage {
            agent: row.agent.clone(),
            input_tokens: 0,
            output_tokens: 0,
            cost_usd: rust_decimal::Decimal::ZERO,
            unpriced_calls: 0,
            estimated_calls: 0,
        });
        of_agent.input_tokens += row.usage.input_tokens;
        of_agent.output_tokens += row.usage.output_tokens;
        of_agent.cost_usd += row.cost_usd;
        of_agent.unpriced_calls += row.unpriced_calls;
        of_agent.estimated_calls += row.estimated_calls;
    }
    let normalized = |usage: ModelUsage| ModelUsage { cost_usd: usage.cost_usd.normalize(), ..usage };
    Ok(by_agent.into_values().map(normalized).collect())
}

async fn ledger(
    app: &App,
    (job, config): (&JobId, &SimulationConfig),
    record: &JobRecord,
    archive: &mut ArchiveWriter,
    folder: &str,
) -> Result<(), ServiceError> {
    let mut first: BTreeMap<&AgentName, Date> = BTreeMap::new();
    for day in &record.days {
        first.entry(&day.agent).and_modify(|first| *first = day.date.min(*first)).or_insert(day.date);
    }
    let mut fills: Vec<FillsLine> = Vec::new();
    let mut out = archive.open(format!("{folder}/ledger.jsonl"), LINES);
    for (agent, first) in first {
        let mut of_job: Option<JobId> = None;
        for day in view::recorded_days(app, (agent, job), first).await? {
            let session = &day.session;
            if of_job.as_ref() != Some(&session.job) {
                let account = opening(app, (job, config), agent, (&session.job, session.date)).await?;
                line(&mut out, &LedgerLine::Account(Box::new(account)))?;
                of_job = Some(session.job.clone());
            }
            let (day, of_day) = lines(day)?;
            line(&mut out, &LedgerLine::Day(Box::new(day)))?;
            if !of_day.fills.is_empty() || !of_day.orders.is_empty() {
                fills.push(of_day);
            }
        }
    }
    out.finish()?;
    let mut out = archive.open(format!("{folder}/fills.jsonl"), LINES);
    for of_day in &fills {
        line(&mut out, of_day)?;
    }
    Ok(out.finish()?)
}

/// The account before an agent's first day in a job, which may be an earlier one than the bundle's.
async fn opening(
    app: &App,
    (job, config): (&JobId, &SimulationConfig),
    agent: &AgentName,
    (of, date): (&JobId, Date),
) -> Result<AccountLine, ServiceError> {
    let earlier: SimulationConfig;
    let config = if of == job {
        config
    } else {
        let row = app.store.get_job(of).await?.ok_or_else(|| view::no_job(of.as_str()))?;
        check_rules(&row)?;
        earlier = serde_json::from_value(row.config)
            .with_context(|| format!("the config of job {of} cannot be read"))?;
        &earlier
    };
    let account = account_before(&app.store, config, (of, agent), date).await;
    let account =
        account.map_err(|stop| anyhow::anyhow!("the account of {agent} before {date}: {stop:?}"))?;
    Ok(AccountLine { agent: agent.clone(), job: of.clone(), date, account })
}

fn lines(day: RecordedDay) -> Result<(DayLine, FillsLine), ServiceError> {
    let RecordedDay { session, is_full, is_verified, insolvent, profit, return_pct } = day;
    let missing = || anyhow::anyhow!("session {} is not closed", session.id);
    let is_action = |row: &PositionRow| {
        matches!(row.action_type.as_str(), "split" | "dividend" | "financing" | "no_trade")
    };
    let (actions, fills): (Vec<_>, Vec<_>) = session.positions.into_iter().map(plain).partition(is_action);
    let of_day =
        FillsLine { agent: session.agent.clone(), date: session.date, fills, orders: session.orders };
    let day = DayLine {
        agent: session.agent,
        job: session.job,
        date: session.date,
        status: session.status,
        starting: session.starting.ok_or_else(missing)?,
        actions,
        cash: session.cash.ok_or_else(missing)?,
        portfolio_value: session.portfolio_value.ok_or_else(missing)?,
        daily_profit: profit,
        daily_return_pct: return_pct,
        holdings: session.holdings,
        snapshots: session.snapshots,
        insolvent,
        full_research: is_full,
        point_in_time: is_verified,
    };
    Ok((day, of_day))
}

/// Without the day's profit, which the database duplicates in the last row of a day.
fn plain(row: PositionRow) -> PositionRow {
    PositionRow { daily_profit: None, daily_return_pct: None, ..row }
}

/// The results of each agent, as `GET /results` returns them.
async fn results(app: &App, job: &JobId, tape: TapeForm) -> Result<Vec<RangeResult>, ServiceError> {
    let query = ResultsQuery { job_id: Some(job.to_string()), ..ResultsQuery::default() };
    let mut results = match view::results(app, query).await {
        Ok(ResultsResponse::Range(range)) => range.results,
        Ok(ResultsResponse::Day(_)) | Err(ServiceError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    if tape == TapeForm::Redacted {
        // The reason of a failed day can quote what a provider returned.
        for result in &mut results {
            for day in &mut result.provenance.reasons {
                day.reason = None;
            }
        }
    }
    Ok(results)
}

async fn audit(
    app: &App,
    job: &JobId,
    options: BundleOptions,
    progress: AuditProgress<'_>,
) -> Result<AuditDocument, ServiceError> {
    if !options.audit {
        return Ok(AuditDocument::NotRun("it was not requested".to_owned()));
    }
    let found = Box::pin(view::audit_all(app, job.as_str(), &AuditQuery::default(), progress)).await;
    let mut report = match found {
        Ok(report) => report,
        Err(ServiceError::Conflict(why) | ServiceError::NotFound(why)) => {
            return Ok(AuditDocument::NotRun(why));
        }
        Err(error) => return Err(error),
    };
    if options.tape == TapeForm::Redacted {
        for finding in report.sessions.iter_mut().flat_map(|session| &mut session.findings) {
            (finding.recorded, finding.recomputed) = (None, None);
        }
    }
    Ok(AuditDocument::Report(Box::new(report)))
}

/// The comparison with its inputs, or why there is none.
async fn compared(
    app: &App,
    target: &BundleTarget,
    jobs: &[JobFacts],
) -> Result<Result<(CompareResponse, ComparisonInput), String>, ServiceError> {
    let item = match target {
        BundleTarget::Job(job) => format!("job:{job}"),
        BundleTarget::Experiment(id) => format!("experiment:{id}"),
    };
    let with_baseline = format!("{item},baseline:buy_and_hold");
    let has_dataset = jobs.iter().all(|job| job.has_dataset);
    let selections = match target {
        // What the experiment declared is compared as declared.
        BundleTarget::Experiment(_) => vec![item, with_baseline],
        BundleTarget::Job(_) if has_dataset => vec![with_baseline],
        BundleTarget::Job(_) => vec![item],
    };
    let mut why = String::new();
    for select in selections {
        let query = CompareQuery { select, ..CompareQuery::default() };
        match Box::pin(view::compare_with_input(app, query)).await {
            Ok(found) => return Ok(Ok(found)),
            Err(error @ ServiceError::Internal(_)) => return Err(error),
            Err(error) => why = error.to_string(),
        }
    }
    Ok(Err(why))
}
