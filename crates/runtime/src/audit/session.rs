//! The runs of one day's sessions, and their comparison with the tape.

use super::items;
use super::reads::{self, DerivedRows, instant_of};
use super::report::{Finding, FindingKind, Phase, Reason, SessionAudit, Variant, Verdict};
use super::{Audit, AuditData, SessionKey};
use crate::day::{AgentDay, JobInputs};
use crate::replay::ReplayHost;
use crate::start_state;
use crate::tape_reader::{self, stop_of};
use papertape_agents::config::AgentConfig;
use papertape_agents::day::{DayResult, NODES_AT_CLOSE, StartState};
use papertape_core::json::{Difference, difference, to_value};
use papertape_core::market::{Dataset, TradingDay};
use papertape_core::point_in_time::Unverified;
use papertape_core::ports::RecordError;
use papertape_core::record::{SessionId, TapeRow};
use papertape_core::tape::{Host, SessionStop, StepPath, Tape, excerpts};
use papertape_core::time::Timestamp;
use std::sync::Arc;

/// How many trading days a finding is traced into the future.
const MAX_TRACED_DAYS: usize = 500;

/// A session that can be run.
struct Prepared<'a> {
    key: &'a SessionKey,
    agent: &'a AgentConfig,
    day: TradingDay,
    is_last: bool,
    session: SessionId,
    start: StartState,
    rows: Vec<TapeRow>,
    derived: DerivedRows,
    /// The mark of the whole day, if it ran to its end.
    mark: Option<Unverified>,
    end: Option<StartState>,
    findings: Vec<Found>,
}

/// A finding with its full difference.
struct Found {
    finding: Finding,
    difference: Option<Difference>,
}

/// A session, or its result if there is nothing to run.
enum Preparation<'a> {
    Run(Box<Prepared<'a>>),
    Done(Box<SessionAudit>),
}

/// Audits the sessions of one day.
pub(super) async fn day(
    audit: &mut Audit<'_>,
    keys: &[SessionKey],
) -> Result<Vec<SessionAudit>, SessionStop> {
    let config = Arc::clone(&audit.config);
    let mut prepared = Vec::with_capacity(keys.len());
    for key in keys {
        let Some(agent) = config.agents.iter().find(|agent| agent.name == key.agent) else { continue };
        prepared.push(prepare(audit, key, agent).await?);
    }
    if let Ok(data) = &mut audit.data {
        let runs = Runs { services: audit.services, config: &config, job: audit.job };
        for at_close in [false, true] {
            for one in &mut prepared {
                let Preparation::Run(one) = one else { continue };
                for variant in [Variant::Cut, Variant::Poisoned] {
                    let moved = match variant {
                        Variant::Cut => &mut data.cut,
                        Variant::Poisoned => &mut data.poisoned,
                    };
                    let dataset = if at_close { moved.at_close(&one.day) } else { moved.at(one.day.open) };
                    match at_close {
                        false => runs.open_phases(one, dataset, variant).await,
                        true => runs.whole_day(one, dataset, variant).await?,
                    }
                }
            }
        }
        for one in &mut prepared {
            let Preparation::Run(one) = one else { continue };
            if !one.findings.is_empty() {
                runs.explain(one, data, &mut audit.traces).await;
                // A leak into the caches must not affect later sessions.
                data.poisoned.drop_caches();
            }
        }
    }
    let mut audits = Vec::with_capacity(prepared.len());
    for one in prepared {
        match one {
            Preparation::Done(done) => audits.push(*done),
            Preparation::Run(mut one) => {
                if let Some(end) = one.end.take() {
                    audit.states.insert(one.key.agent.clone(), (one.key.date, end));
                }
                audits.push(one.result());
            }
        }
    }
    Ok(audits)
}

async fn prepare<'k>(
    audit: &mut Audit<'_>,
    key: &'k SessionKey,
    agent: &'k AgentConfig,
) -> Result<Preparation<'k>, SessionStop> {
    let done = |audit: SessionAudit| Ok(Preparation::Done(Box::new(audit)));
    let state = audit.states.remove(&key.agent).filter(|(date, _)| *date < key.date);
    if audit.unfinished.contains(key) {
        return done(audit.not_run(key, Verdict::Unfinished));
    }
    let AuditData { dataset, .. } = match &audit.data {
        Ok(data) => data,
        Err(reason) => return done(audit.not_run(key, Verdict::Unverifiable(reason.clone()))),
    };
    let (record, config) = (&*audit.services.record, &audit.config);
    let found = record.find_session(&audit.job.id, &key.agent, key.date).await.map_err(stop_of)?;
    let days = dataset.trading_days(config.start_date, config.end_date);
    let (Some(found), Some(day)) = (found, dataset.day(key.date)) else {
        let reason = Reason::Record("the session or its trading day is missing".to_owned());
        return done(audit.not_run(key, Verdict::Unverifiable(reason)));
    };
    let unreadable = |error: String| {
        let verdict = Verdict::Unverifiable(Reason::Record(error));
        SessionAudit { session: Some(found.id), ..audit.not_run(key, verdict) }
    };
    let rows = match tape_reader::rows(record, found.id, false).await {
        Ok(rows) => rows,
        Err(RecordError::Inconsistent(why)) => return done(unreadable(why)),
        Err(error) => return Err(stop_of(error)),
    };
    let derived = record.load_derived_rows(found.id).await.map_err(stop_of)?;
    let start = match state {
        Some((_, state)) => state,
        None => match start_state::before(record, config, (&audit.job.id, agent), key.date).await {
            Ok(state) => state,
            Err(stop) => return done(unreadable(stop.to_string())),
        },
    };
    let is_last = days.last().is_some_and(|last| last.date == key.date);
    let inputs = JobInputs { services: audit.services, config, dataset };
    let own = match AgentDay::of(inputs, agent, (*day, is_last), &start).await {
        Ok(agent_day) => agent_day.unbounded().map(|kind| Unverified::own(kind, key.date)),
        Err(stop) => return done(unreadable(stop.to_string())),
    };
    if let Some(mark) = own.or_else(|| start.unverified.clone().map(Unverified::through_account)) {
        let verdict = Verdict::Unverifiable(Reason::PointInTime(mark));
        return done(SessionAudit {
            session: Some(found.id),
            steps: rows.len(),
            reads: reads::summarize(&derived),
            ..audit.not_run(key, verdict)
        });
    }
    let (session, day) = (found.id, *day);
    let (mark, end) = (None, None);
    let findings = recorded_findings(&start, &derived, &day);
    Ok(Preparation::Run(Box::new(Prepared {
        key,
        agent,
        day,
        is_last,
        session,
        start,
        rows,
        derived,
        mark,
        end,
        findings,
    })))
}

/// Findings from the record without a run: memories in the start state, and reads, from after the instant.
fn recorded_findings(start: &StartState, derived: &DerivedRows, day: &TradingDay) -> Vec<Found> {
    let late = start.memory.known_after(day.open);
    let stored = (!late.is_empty()).then(|| Finding {
        kind: FindingKind::LateMemory,
        variants: Vec::new(),
        phase: None,
        path: None,
        part: None,
        pointer: None,
        recorded: None,
        recomputed: None,
        message: format!(
            "the session started with {} memories from after its open, {}",
            late.len(),
            day.open
        ),
        items: late.iter().map(reads::memory_item).collect(),
    });
    let findings = stored.into_iter().chain(reads::late_reads(derived, day));
    findings.map(|finding| Found { finding, difference: None }).collect()
}

impl Prepared<'_> {
    fn result(self) -> SessionAudit {
        let findings: Vec<Finding> = self.findings.into_iter().map(|found| found.finding).collect();
        let verdict = match self.mark {
            _ if !findings.is_empty() => Verdict::Failed,
            Some(mark) => Verdict::Unverifiable(Reason::PointInTime(mark)),
            None => Verdict::Verified,
        };
        SessionAudit {
            agent: self.key.agent.clone(),
            date: self.key.date,
            session: Some(self.session),
            verdict,
            steps: self.rows.len(),
            reads: reads::summarize(&self.derived),
            findings,
        }
    }

    fn tape(&self) -> Tape {
        Tape::new(self.rows.clone()).replay_only()
    }

    /// Adds a difference, or adds the variant to a difference that another run found.
    fn add(&mut self, stop: SessionStop, variant: Variant) {
        let found = found(stop, variant);
        let place = |finding: &Finding| (finding.path.clone(), finding.part, finding.variants.is_empty());
        let known = self.findings.iter_mut().find(|known| place(&known.finding) == place(&found.finding));
        match known {
            Some(known) if known.finding.variants.contains(&variant) => {}
            Some(known) => known.finding.variants.push(variant),
            None => self.findings.push(found),
        }
    }
}

/// The finding for a run with a different result.
fn found(stop: SessionStop, variant: Variant) -> Found {
    let message = stop.to_string();
    let (path, part, difference) = match stop {
        SessionStop::Diverged(divergence) => {
            (Some(divergence.path), Some(divergence.part), divergence.difference)
        }
        SessionStop::Missing(path) => (Some(path), Some("request"), None),
        SessionStop::UnconsumedSteps(paths) => (paths.into_iter().next(), None, None),
        _ => (None, None, None),
    };
    let (recorded, recomputed) = difference.as_ref().map(excerpts).unzip();
    let finding = Finding {
        kind: FindingKind::LookAhead,
        variants: vec![variant],
        phase: path.as_ref().map(Phase::of),
        path,
        part,
        pointer: difference.as_ref().map(|difference| difference.pointer.clone()),
        recorded,
        recomputed,
        items: Vec::new(),
        message,
    };
    Found { finding, difference }
}

/// Runs sessions over one dataset after another.
struct Runs<'a> {
    services: &'a crate::services::Services,
    config: &'a crate::config::SimulationConfig,
    job: &'a papertape_core::record::JobRow,
}

impl Runs<'_> {
    async fn open_phases(&self, one: &mut Prepared<'_>, dataset: &Dataset, variant: Variant) {
        if let Err(stop) = Box::pin(self.run_open(one, dataset)).await {
            one.add(stop, variant);
        }
    }

    async fn whole_day(
        &self,
        one: &mut Prepared<'_>,
        dataset: &Dataset,
        variant: Variant,
    ) -> Result<(), SessionStop> {
        let result = match Box::pin(self.run_whole(one, dataset)).await {
            Ok(result) => result,
            Err(stop) => {
                one.add(stop, variant);
                return Ok(());
            }
        };
        if result.closing.metadata["point_in_time"] == "unverified" {
            one.mark = Some(Unverified::from_session(&result.closing.metadata, one.key.date));
        }
        match self.state_difference(one, &result.state).await? {
            Some(found) => one.findings.push(Found {
                finding: Finding { variants: vec![variant], ..found.finding },
                difference: found.difference,
            }),
            None => one.end = Some(result.state),
        }
        Ok(())
    }

    async fn run_open(&self, one: &Prepared<'_>, dataset: &Dataset) -> Result<(), SessionStop> {
        let agent_day = self.agent_day(one, dataset).await?;
        let session = agent_day.run_open_phases(self.host(), one.tape(), one.start.clone()).await?;
        session.finish_before(&NODES_AT_CLOSE)
    }

    async fn run_whole(&self, one: &Prepared<'_>, dataset: &Dataset) -> Result<DayResult, SessionStop> {
        let agent_day = self.agent_day(one, dataset).await?;
        let (result, session) = agent_day.run(self.host(), one.tape(), one.start.clone()).await?;
        session.finish(Vec::new()).await?;
        Ok(result)
    }

    async fn agent_day<'d>(
        &'d self,
        one: &Prepared<'_>,
        dataset: &'d Dataset,
    ) -> Result<AgentDay<'d>, SessionStop> {
        let inputs = JobInputs { services: self.services, config: self.config, dataset };
        AgentDay::of(inputs, one.agent, (one.day, one.is_last), &one.start).await
    }

    fn host(&self) -> Arc<dyn Host> {
        Arc::new(ReplayHost { record: Arc::clone(&self.services.record) })
    }

    /// Compares the state after the day with the stored one.
    async fn state_difference(
        &self,
        one: &Prepared<'_>,
        state: &StartState,
    ) -> Result<Option<Found>, SessionStop> {
        let record = &*self.services.record;
        let date = one.key.date;
        let stored = record.agent_state(&self.job.id, &one.key.agent, Some(date)).await.map_err(stop_of)?;
        let stored = stored.filter(|stored| stored.after == Some(date));
        if stored.as_ref().is_some_and(|stored| stored.hash == state.to_doc().hash) {
            return Ok(None);
        }
        let mut found = found(SessionStop::Record(format!("the state after {date} differs")), Variant::Cut);
        found.finding.part = Some("state");
        found.finding.message = format!("the state after {date} differs from the stored one");
        if let Some(stored) = stored {
            let was = tape_reader::expand_stored(record, &stored.state).await.map_err(stop_of)?;
            found.difference = difference(&was, &to_value(state));
            let shown = found.difference.as_ref().map(excerpts).unzip();
            (found.finding.recorded, found.finding.recomputed) = shown;
            found.finding.pointer = found.difference.as_ref().map(|difference| difference.pointer.clone());
        }
        Ok(Some(found))
    }

    /// Separates leaks from changes of the program or the record, and names the facts that a step depends on.
    async fn explain(&self, one: &mut Prepared<'_>, data: &mut AuditData, traces: &mut usize) {
        let own = Box::pin(self.run_whole(one, &data.dataset)).await;
        let own = match own {
            Ok(result) => self.state_difference(one, &result.state).await.ok().flatten(),
            Err(stop) => Some(found(stop, Variant::Cut)),
        };
        let own = own.map(|own| (own.finding.path, own.finding.part));
        let mut all = std::mem::take(&mut one.findings);
        for Found { finding, difference } in &mut all {
            if finding.kind != FindingKind::LookAhead {
                continue;
            }
            if own.as_ref() == Some(&(finding.path.clone(), finding.part)) {
                finding.kind = FindingKind::NotReproducible;
                finding.message.push_str("; it also differs over the job's own data");
                continue;
            }
            let Some(path) = finding.path.clone() else { continue };
            finding.items = items::named(&one.derived, &data.dataset, (&path, &one.day), difference.as_ref());
            if finding.items.is_empty() && *traces > 0 {
                *traces -= 1;
                let known_at = self.trace(one, data, &path).await;
                let item = known_at.map(|at| items::located(&one.derived, &path, at, &data.dataset));
                finding.items.extend(item);
            }
        }
        one.findings = all;
    }

    /// The first instant whose data suffice for a step to reach the recorded result.
    async fn trace(&self, one: &Prepared<'_>, data: &mut AuditData, path: &StepPath) -> Option<Timestamp> {
        let instant = instant_of(path, &one.day);
        let days = data.dataset.days().iter().flat_map(|day| [day.open, day.close]);
        let later: Vec<Timestamp> = days.filter(|at| *at > instant).take(2 * MAX_TRACED_DAYS).collect();
        let (mut low, mut high) = (0, later.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let dataset = data.cut.at(later[middle]);
            let stop = match Phase::of(path).is_at_open() {
                true => Box::pin(self.run_open(one, dataset)).await.err(),
                false => Box::pin(self.run_whole(one, dataset)).await.err(),
            };
            let still =
                stop.is_some_and(|stop| found(stop, Variant::Cut).finding.path.as_ref() == Some(path));
            if still { low = middle + 1 } else { high = middle }
        }
        later.get(low).copied()
    }
}
