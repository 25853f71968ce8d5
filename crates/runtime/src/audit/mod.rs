//! Audit: every phase of every session runs again on its tape, over data that end at the phase's instant, and over data
//! with another future. Whatever depends on the future differs. `docs/audit.md` explains what that proves.
//!
//! The phases of the open (pre, session) run over data as of the open; then the whole day runs over data as of the
//! close. So the audit also detects a session that received the close's view by mistake.

mod items;
mod reads;
pub mod report;
mod session;

use crate::config::{SimulationConfig, decode};
use crate::services::Services;
use papertape_agents::day::StartState;
use papertape_core::RULES_VERSION;
use papertape_core::id::{AgentName, ContentHash};
use papertape_core::market::{AuditDataset, Dataset, Future};
use papertape_core::record::JobRow;
use papertape_core::time::Date;
use report::{Reads, Reason, SessionAudit, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A session of the job, in the order of the audit: by day, then by agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionKey {
    /// The trading day.
    pub date: Date,
    /// The agent.
    pub agent: AgentName,
}

/// Which sessions to audit.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Only this agent's.
    pub agent: Option<AgentName>,
    /// Only from this day on.
    pub from: Option<Date>,
    /// Only until this day, included.
    pub to: Option<Date>,
}

impl SessionFilter {
    fn includes(&self, key: &SessionKey) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == key.agent)
            && self.from.is_none_or(|from| from <= key.date)
            && self.to.is_none_or(|to| key.date <= to)
    }
}

/// The audit of a job.
pub struct Audit<'a> {
    services: &'a Services,
    job: &'a JobRow,
    config: Arc<SimulationConfig>,
    /// The data of the runs, or why nothing can be run.
    data: Result<AuditData, Reason>,
    sessions: Vec<SessionKey>,
    unfinished: BTreeSet<SessionKey>,
    /// The state of each agent after the last audited session.
    states: BTreeMap<AgentName, (Date, StartState)>,
    /// How many more findings may be traced to an instant. Each takes several runs.
    traces: usize,
}

struct AuditData {
    dataset: Arc<Dataset>,
    cut: AuditDataset,
    poisoned: AuditDataset,
}

/// Maximum number of findings of an audit that are traced to the instant whose data they need.
const MAX_TRACES: usize = 8;

impl<'a> Audit<'a> {
    /// Lists the job's sessions. Nothing has been run yet.
    ///
    /// # Errors
    /// A message, if the config or the record cannot be read.
    pub async fn open(services: &'a Services, job: &'a JobRow) -> Result<Self, String> {
        let config: SimulationConfig = decode(job)?;
        let opened = services.datasets.open(config.dataset.hash);
        let calendar = opened.as_ref().ok().cloned();
        let data = match (job.rules_version, opened) {
            (RULES_VERSION, Ok(dataset)) => Ok(AuditData {
                cut: AuditDataset::new(Arc::clone(&dataset), Future::Cut),
                poisoned: AuditDataset::new(Arc::clone(&dataset), Future::Poisoned),
                dataset,
            }),
            (RULES_VERSION, Err(error)) => Err(Reason::Dataset(error)),
            (version, _) => Err(Reason::RulesVersion(version)),
        };
        let (mut sessions, mut unfinished) = (Vec::new(), BTreeSet::new());
        for agent in &config.agents {
            let ended = services.record.ended_days(&job.id, &agent.name).await;
            let ended = ended.map_err(|error| error.to_string())?;
            let key = |date: Date| SessionKey { date, agent: agent.name.clone() };
            sessions.extend(ended.keys().map(|date| key(*date)));
            // An agent's days are sequential, so only the first one that has not ended can have begun.
            let days = calendar.as_ref().map(|data| data.trading_days(config.start_date, config.end_date));
            let done = config.done_until(&agent.name);
            let mut rest = days.unwrap_or_default().iter().map(|day| day.date);
            let next = rest.find(|date| !ended.contains_key(date) && done.is_none_or(|done| *date > done));
            if let Some(date) = next {
                let found = services.record.find_session(&job.id, &agent.name, date).await;
                if found.map_err(|error| error.to_string())?.is_some() {
                    sessions.push(key(date));
                    unfinished.insert(key(date));
                }
            }
        }
        sessions.sort_unstable();
        sessions.dedup();
        let states = BTreeMap::new();
        let config = Arc::new(config);
        Ok(Self { services, job, config, data, sessions, unfinished, states, traces: MAX_TRACES })
    }

    /// The job's sessions that a filter includes, by day and agent.
    #[must_use]
    pub fn sessions(&self, filter: &SessionFilter) -> Vec<SessionKey> {
        self.sessions.iter().filter(|key| filter.includes(key)).cloned().collect()
    }

    /// The hash of the job's dataset.
    #[must_use]
    pub fn dataset(&self) -> ContentHash {
        self.config.dataset.hash
    }

    /// Why none of the sessions can be audited; `None` if they can.
    #[must_use]
    pub fn unverifiable(&self) -> Option<&Reason> {
        self.data.as_ref().err()
    }

    /// Audits consecutive sessions of [`Self::sessions`] and reports each result. Ascending days are the cheapest: the
    /// data move forward and are copied once.
    ///
    /// # Errors
    /// A message, if the record fails.
    pub async fn run(
        &mut self,
        keys: &[SessionKey],
        mut each: impl FnMut(SessionAudit) + Send,
    ) -> Result<(), String> {
        self.states.clear();
        for of_day in keys.chunk_by(|one, other| one.date == other.date) {
            let audits = session::day(self, of_day).await.map_err(|stop| stop.to_string())?;
            audits.into_iter().for_each(&mut each);
        }
        Ok(())
    }

    /// The result of a session that cannot be run.
    fn not_run(&self, key: &SessionKey, verdict: Verdict) -> SessionAudit {
        SessionAudit {
            agent: key.agent.clone(),
            date: key.date,
            session: None,
            verdict,
            steps: 0,
            reads: Reads::default(),
            findings: Vec::new(),
        }
    }
}
