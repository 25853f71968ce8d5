//! Verifies the parts of one job.

use super::super::document::{
    AuditDocument, BundledJob, DatasetDocument, FillsLine, HeadsDocument, JobDocument, LedgerLine, TapeForm,
    TapeLine, TextLine,
};
use super::super::facts::JobFacts;
use super::super::read::Bundle;
use super::books::{BookDay, Books};
use super::comparison::ComparedJob;
use super::tape::{DayRows, Tape, Texts};
use super::{Failures, heads, metrics};
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::{DayStatus, JobHead, JobRecord, OrderRow};
use papertape_core::time::Date;
use papertape_protocol::audit::AuditSummary;
use papertape_protocol::results::range::RangeResult;
use papertape_runtime::config::SimulationConfig;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};

/// The parts of every job.
pub(super) const PARTS: [&str; 8] = [
    "job.json",
    "config.json",
    "datasets.json",
    "ledger.jsonl",
    "fills.jsonl",
    "metrics.json",
    "audit.json",
    "heads.json",
];

/// A job whose parts could be read.
pub(super) struct VerifiedJob {
    pub(super) facts: JobFacts,
    pub(super) agents: BTreeMap<AgentName, Vec<BookDay>>,
    /// The number of planned days of each agent, and how many of them have not ended.
    pub(super) planned: BTreeMap<AgentName, (usize, usize)>,
    /// The links of the tape: all, and those that are stated.
    pub(super) links: Option<(u64, u64)>,
}

impl VerifiedJob {
    /// For the comparison.
    pub(super) fn compared(&self) -> ComparedJob<'_> {
        ComparedJob {
            config: &self.facts.config,
            has_prompts: !self.facts.job.is_config_redacted,
            agents: &self.agents,
            planned: self.planned.clone(),
        }
    }
}

/// Verifies a job. `None` if a part that others need cannot be read.
pub(super) fn verify<R: Read + Seek>(
    bundle: &mut Bundle<R>,
    (listed, form): (&BundledJob, TapeForm),
    published: Option<&JobHead>,
    failures: &mut Failures,
) -> Option<VerifiedJob> {
    let part = |name: &str| format!("{}/{name}", listed.folder);
    let name = part("job.json");
    let job: JobDocument = failures.take(&name, bundle.document(&name))?;
    if job.job_id.as_str() != listed.job_id {
        failures.add(&name, "it is another job than the manifest lists");
    }
    if job.is_config_redacted && form != TapeForm::Redacted {
        failures.add(&name, "its config is redacted, and the bundle is not");
    }
    let name = part("config.json");
    let stored: Value = failures.take(&name, bundle.document(&name))?;
    let config: Result<SimulationConfig, _> = serde_json::from_value(stored.clone());
    let config = failures.take(&name, config.map_err(|error| format!("it cannot be read: {error}")))?;
    let name = part("heads.json");
    let mut heads: HeadsDocument = failures.take(&name, bundle.document(&name))?;
    heads.record.config = stored;
    failures.take(&name, heads::check(&heads, &job, listed.head));
    if let Some(published) = published {
        if let Some(why) = heads::contradiction(&heads, &job, published) {
            failures.add(&name, why);
        } else if form == TapeForm::None && published.agents.values().any(|agent| agent.open.is_some()) {
            failures.add(&name, "a session was open in the published head: only a bundle with the tape can show that it continues");
        }
    }
    let name = part("datasets.json");
    let datasets: Vec<DatasetDocument> = failures.take(&name, bundle.document(&name))?;
    let has_dataset = match datasets.as_slice() {
        [only] if only.hash == config.dataset.hash && only.name == config.dataset.name => only.is_available,
        _ => {
            failures.add(&name, "it is not the dataset of the config");
            return None;
        }
    };
    let (agents, days) = books(bundle, (&job.job_id, &config), form, &part, failures)?;
    check_days(&heads.record, &agents).map_err(|why| failures.add(&part("ledger.jsonl"), why)).ok();
    let name = part("metrics.json");
    let results: Vec<RangeResult> = failures.take(&name, bundle.document(&name))?;
    failures.take(&name, check_results((&job, &config), &results, &agents));
    let name = part("audit.json");
    let audit: AuditDocument = failures.take(&name, bundle.document(&name))?;
    failures.take(&name, check_audit(&audit, (&job, &config)));
    let links = tape(bundle, (&job.job_id, form), (&heads.record, &days), published, &part, failures);
    let (planned_days, open_days) = JobFacts::count_days(&heads.record);
    Some(VerifiedJob {
        planned: planned(&heads.record),
        facts: JobFacts { job, config, planned_days, open_days, has_dataset, results, audit },
        agents,
        links,
    })
}

type Recomputed = (BTreeMap<AgentName, Vec<BookDay>>, BTreeMap<(AgentName, Date), DayRows>);

/// Recomputes the books; with their rows, if there is a tape to compare them with.
fn books<R: Read + Seek>(
    bundle: &mut Bundle<R>,
    (job, config): (&JobId, &SimulationConfig),
    form: TapeForm,
    part: &impl Fn(&str) -> String,
    failures: &mut Failures,
) -> Option<Recomputed> {
    let (of_fills, of_ledger) = (part("fills.jsonl"), part("ledger.jsonl"));
    let mut books = Books::new(job, config);
    let mut orders: BTreeMap<(AgentName, Date), Vec<OrderRow>> = BTreeMap::new();
    let read = bundle.rows(&of_fills, |line: FillsLine| {
        if form != TapeForm::None {
            orders.insert((line.agent.clone(), line.date), line.orders.clone());
        }
        books.add_fills(line)
    });
    failures.take(&of_fills, read)?;
    let mut days = BTreeMap::new();
    let read = bundle.rows(&of_ledger, |line: LedgerLine| match line {
        LedgerLine::Account(line) => books.open(*line),
        LedgerLine::Day(day) => {
            let positions = books.day(&day)?;
            if form != TapeForm::None {
                let key = (day.agent.clone(), day.date);
                let orders = orders.remove(&key).unwrap_or_default();
                days.insert(key, DayRows { day: *day, positions, orders });
            }
            Ok(())
        }
    });
    failures.take(&of_ledger, read)?;
    if let Some(why) = books.left() {
        failures.add(&of_fills, why);
        return None;
    }
    Some((books.agents, days))
}

fn planned(record: &JobRecord) -> BTreeMap<AgentName, (usize, usize)> {
    let mut planned: BTreeMap<AgentName, (usize, usize)> = BTreeMap::new();
    for day in &record.days {
        let of_agent = planned.entry(day.agent.clone()).or_default();
        of_agent.0 += 1;
        of_agent.1 += usize::from(matches!(day.status, DayStatus::Queued | DayStatus::Running));
    }
    planned
}

/// The closed sessions of the job are the days of the ledger that belong to it.
fn check_days(record: &JobRecord, agents: &BTreeMap<AgentName, Vec<BookDay>>) -> Result<(), String> {
    let own = agents.iter().flat_map(|(agent, days)| {
        let own = days.iter().filter(|day| day.job == record.job);
        own.map(move |day| (agent, day.date, day.status.as_str()))
    });
    let sessions = record.sessions.iter().flat_map(|(agent, days)| {
        let closed = days.iter().filter(|(_, session)| session.is_closed);
        closed.map(move |(date, session)| (agent, *date, session.status.as_str()))
    });
    let (own, sessions): (BTreeSet<_>, BTreeSet<_>) = (own.collect(), sessions.collect());
    match own.symmetric_difference(&sessions).next() {
        Some((agent, date, _)) => Err(format!("{agent} on {date}: the day is not the session in heads.json")),
        None => Ok(()),
    }
}

fn check_results(
    (job, config): (&JobDocument, &SimulationConfig),
    results: &[RangeResult],
    agents: &BTreeMap<AgentName, Vec<BookDay>>,
) -> Result<(), String> {
    let named: BTreeSet<&str> = results.iter().map(|result| result.model.as_str()).collect();
    if named != agents.keys().map(AgentName::as_str).collect() || named.len() != results.len() {
        return Err("its agents are not those of the ledger".to_owned());
    }
    for result in results {
        let days = agents.get(&AgentName::new(result.model.as_str())).map(Vec::as_slice).unwrap_or_default();
        if result.rules_version != job.rules_version {
            return Err(format!("{}: its rules version is not that of the job", result.model));
        }
        metrics::check((&job.job_id, config), result, days)?;
    }
    Ok(())
}

/// The audit is a statement; that it belongs to this job and adds up can be checked.
fn check_audit(
    audit: &AuditDocument,
    (job, config): (&JobDocument, &SimulationConfig),
) -> Result<(), String> {
    let AuditDocument::Report(report) = audit else { return Ok(()) };
    if report.job_id != job.job_id.as_str() || report.dataset != config.dataset.hash.to_hex() {
        return Err("it is the audit of another job or another dataset".to_owned());
    }
    let mut summary = AuditSummary::default();
    for session in &report.sessions {
        summary.add(session.verdict);
    }
    if summary != report.summary || report.count != report.sessions.len() || report.total != report.count {
        return Err("its summary is not that of its sessions".to_owned());
    }
    Ok(())
}

/// Recomputes the chains of the sessions; returns the number of links, and of those that are stated.
fn tape<R: Read + Seek>(
    bundle: &mut Bundle<R>,
    (job, form): (&JobId, TapeForm),
    (record, days): (&JobRecord, &BTreeMap<(AgentName, Date), DayRows>),
    published: Option<&JobHead>,
    part: &impl Fn(&str) -> String,
    failures: &mut Failures,
) -> Option<(u64, u64)> {
    if form == TapeForm::None {
        return None;
    }
    let name = part("tape.jsonl");
    let mut tape = Tape::new((job, form), record, days, published);
    let walked = bundle.lines(&name, |line: TapeLine| tape.line(line)).and_then(|()| tape.end());
    failures.take(&name, walked)?;
    if form == TapeForm::Full {
        let name = part("texts.jsonl");
        let mut texts = Texts::default();
        let read = bundle.lines(&name, |line: TextLine| texts.line(&line));
        failures.take(&name, read.and_then(|()| texts.end(&tape.texts)))?;
    }
    Some((tape.links, tape.stated))
}
