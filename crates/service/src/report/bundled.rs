//! The report of a job from an evidence bundle, without a database. The texts behind decisions are not in it.

use super::data::{ReportData, agents};
use super::run::Run;
use super::trades::{TradeBook, add_sessions};
use super::words::Words;
use crate::bundle::Bundle;
use crate::bundle::document::{About, BundledJob, DayLine, FillsLine, JobDocument, LedgerLine};
use papertape_core::id::AgentName;
use papertape_core::language::Language;
use papertape_core::message::Usage;
use papertape_core::record::{JobKind, JobRow, SessionId};
use papertape_core::time::{Date, Timestamp};
use papertape_protocol::results::range::RangeResult;
use papertape_runtime::config::SimulationConfig;
use papertape_store::{SessionResult, UsageCost};
use std::collections::BTreeMap;
use std::io::{Read, Seek};

/// The report of a job of a bundle. `None` if it has no closed day.
///
/// # Errors
/// What is wrong with a part.
pub(crate) fn bundled_report<R: Read + Seek>(
    bundle: &mut Bundle<R>,
    job: &BundledJob,
    language: Language,
) -> Result<Option<String>, String> {
    let found = data(bundle, job, Words(language))?;
    Ok(found.as_ref().map(super::page))
}

fn data<R: Read + Seek>(
    bundle: &mut Bundle<R>,
    listed: &BundledJob,
    words: Words,
) -> Result<Option<ReportData>, String> {
    let part = |name: &str| format!("{}/{name}", listed.folder);
    let job: JobDocument = bundle.document(&part("job.json"))?;
    let config: SimulationConfig = bundle.document(&part("config.json"))?;
    let results: Vec<RangeResult> = bundle.document(&part("metrics.json"))?;
    let mut runs: Vec<Run> = results.into_iter().map(|result| Run { window: 1, trial: 1, result }).collect();
    if runs.is_empty() {
        return Ok(None);
    }
    let comparison = match (&bundle.manifest().about, bundle.has("comparison.json")) {
        (About::Job(_), true) => Ok(bundle.document("comparison.json")?),
        (About::Job(_), false) => Err("the bundle has none".to_owned()),
        (About::Experiment(id), _) => Err(format!("this run is a part of experiment {id}")),
    };
    let agents = agents(&config, &mut runs);
    let sessions = sessions(bundle, &part)?;
    let market = config.imported.is_none().then_some(&config.market);
    let mut trades = TradeBook::default();
    for run in &runs {
        let of_agent = sessions.get(&AgentName::new(&run.result.model)).map(Vec::as_slice);
        add_sessions(market, run, of_agent.unwrap_or_default(), &mut trades);
    }
    trades.rank();
    Ok(Some(ReportData {
        words,
        used: used(&job),
        job: row(job, &config),
        agents,
        config,
        runs,
        comparison,
        baselines: None,
        trades,
        experiment: None,
        is_bundled: true,
    }))
}

/// As the database has it. What a bundle does not say is not shown.
fn row(job: JobDocument, config: &SimulationConfig) -> JobRow {
    JobRow {
        id: job.job_id,
        kind: JobKind::Simulate,
        config: serde_json::Value::Null,
        fingerprint: config.fingerprint(),
        rules_version: job.rules_version,
        status: job.status,
        error: None,
        warnings: Vec::new(),
        parent: None,
        superseded_by: None,
        created_at: Timestamp::UNIX_EPOCH,
        started_at: None,
        completed_at: None,
        crashes: 0,
        parts: job.parts,
    }
}

fn used(job: &JobDocument) -> UsageCost {
    job.model_calls.iter().fold(UsageCost::default(), |sum, of| {
        let usage =
            Usage { input_tokens: of.input_tokens, output_tokens: of.output_tokens, ..Usage::default() };
        sum.and(UsageCost {
            usage,
            cost_usd: of.cost_usd,
            estimated_calls: of.estimated_calls,
            unpriced_calls: of.unpriced_calls,
        })
    })
}

/// The closed days of each agent, oldest first.
fn sessions<R: Read + Seek>(
    bundle: &mut Bundle<R>,
    part: &impl Fn(&str) -> String,
) -> Result<BTreeMap<AgentName, Vec<SessionResult>>, String> {
    let mut fills: BTreeMap<(AgentName, Date), FillsLine> = BTreeMap::new();
    bundle.rows(&part("fills.jsonl"), |line: FillsLine| {
        fills.insert((line.agent.clone(), line.date), line);
        Ok(())
    })?;
    let mut found: BTreeMap<AgentName, Vec<SessionResult>> = BTreeMap::new();
    bundle.rows(&part("ledger.jsonl"), |line: LedgerLine| {
        if let LedgerLine::Day(day) = line {
            let of_day = fills.remove(&(day.agent.clone(), day.date));
            let of_agent = found.entry(day.agent.clone()).or_default();
            let id = i64::try_from(of_agent.len()).map_err(|error| error.to_string())?;
            of_agent.push(session(SessionId(id), *day, of_day));
        }
        Ok(())
    })?;
    Ok(found)
}

fn session(id: SessionId, day: DayLine, fills: Option<FillsLine>) -> SessionResult {
    let mut positions = day.actions;
    let mut orders = Vec::new();
    if let Some(of_day) = fills {
        positions.extend(of_day.fills);
        orders = of_day.orders;
    }
    positions.sort_by_key(|row| row.action_id);
    SessionResult {
        id,
        job: day.job,
        date: day.date,
        agent: day.agent,
        status: day.status,
        error: None,
        previous_date: None,
        starting: Some(day.starting),
        holdings: day.holdings,
        cash: Some(day.cash),
        portfolio_value: Some(day.portfolio_value),
        positions,
        orders,
        snapshots: day.snapshots,
        metadata: None,
        session_summary: None,
    }
}
