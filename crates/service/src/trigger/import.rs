//! Imports: jobs of days that were traded by another tool.

use super::check::{check_agent, redact};
use super::memory::{embedding, memory_settings};
use super::{PreparedJob, Request, enqueue, resume};
use crate::app::App;
use crate::error::ServiceError;
use papertape_agents::config::{AgentConfig, DeskConfig, MemoryMode};
use papertape_agents::day::StartState;
use papertape_agents::recorded::RecordedDay;
use papertape_core::broker::MarketProfile;
use papertape_core::id::{AgentName, ContentHash, JobId, Symbol};
use papertape_core::json::{self, to_value};
use papertape_core::language::Language;
use papertape_core::market::{Dataset, TradingDay};
use papertape_core::message::ModelName;
use papertape_core::money::Money;
use papertape_core::ports::Queue as _;
use papertape_core::record::{JobKind, JobRow, JobStatus, NewModelDay, StoredText, Supersession};
use papertape_core::tape::ContentDoc;
use papertape_core::time::Date;
use papertape_runtime::config::{DatasetRef, Imported, SimulationConfig};
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet};

/// An agent whose days were recorded by another tool.
#[derive(Clone, Debug)]
pub struct RecordedAgent {
    /// Its name there.
    pub name: AgentName,
    /// The starting cash.
    pub initial_cash: Money,
    /// Its messages and actions, by day. Days without either are absent.
    pub days: BTreeMap<Date, RecordedDay>,
    /// The symbols that it was allowed to trade.
    pub symbols: BTreeSet<Symbol>,
    /// The desk's settings; `None` for an agent with one conversation.
    pub desk: Option<DeskConfig>,
}

impl RecordedAgent {
    /// Its config, with this model.
    #[must_use]
    pub fn config(&self, model: ModelName) -> AgentConfig {
        match &self.desk {
            None => AgentConfig::solo(self.name.clone(), model),
            Some(desk) => {
                AgentConfig { desk: Some(desk.clone()), ..AgentConfig::desk(self.name.clone(), model) }
            }
        }
    }

    /// The name that stands for its model: imported agents have no callable model.
    #[must_use]
    pub fn model(&self) -> ModelName {
        ModelName { provider: ModelName::RECORDED.to_owned(), model: self.name.to_string() }
    }
}

/// The settings of an import.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// The name of the format in the job's config.
    pub format: &'static str,
    /// The source of the logs.
    pub source: String,
    /// The market's rules.
    pub market: MarketProfile,
    /// The model that writes memories and summaries.
    pub writer: ModelName,
    /// The language of the memories.
    pub language: Language,
    /// The memories that are written; `None`: the config's.
    pub memory: Option<MemoryMode>,
    /// Whether to write summaries; `None`: the config's.
    pub summaries: Option<bool>,
    /// Warnings for readers of the job.
    pub warnings: Vec<String>,
}

/// A job that an import would write. Agents with different initial cash go into separate jobs.
pub struct PlannedImport {
    prepared: PreparedJob,
    key: JobId,
}

impl PlannedImport {
    /// The config that the job would run with.
    #[must_use]
    pub fn config(&self) -> &SimulationConfig {
        &self.prepared.config
    }

    /// The newest existing job with this content, whatever memories it was imported with.
    ///
    /// # Errors
    /// A database error.
    pub async fn existing(&self, app: &App) -> Result<Option<JobRow>, ServiceError> {
        let mut found = None;
        let mut next = Some(self.key.clone());
        while let Some(job) = next.take() {
            let row = app.store.get_job(&job).await?;
            next = row.as_ref().and_then(|row| row.superseded_by.clone());
            found = row.or(found);
        }
        Ok(found)
    }
}

/// Plans the jobs of an import. The same logs and prices give the same jobs, whatever their paths.
///
/// # Errors
/// An invalid field.
pub fn plan_import(
    app: &App,
    dataset: &Dataset,
    agents: &[RecordedAgent],
    request: &ImportRequest,
) -> Result<Vec<PlannedImport>, ServiceError> {
    by_cash(agents)
        .into_iter()
        .map(|(cash, agents)| one_job(app, dataset, (cash, &agents), request))
        .collect()
}

/// The agents of each job: those with the same initial cash.
#[must_use]
pub fn by_cash(agents: &[RecordedAgent]) -> BTreeMap<Money, Vec<&RecordedAgent>> {
    let mut by_cash: BTreeMap<Money, Vec<&RecordedAgent>> = BTreeMap::new();
    for agent in agents {
        by_cash.entry(agent.initial_cash).or_default().push(agent);
    }
    by_cash
}

/// The trading days of a job with these agents: from the first to the last day with a message or an action.
#[must_use]
pub fn days_of<'d>(dataset: &'d Dataset, agents: &[&RecordedAgent]) -> &'d [TradingDay] {
    let dates = || agents.iter().flat_map(|agent| agent.days.keys().copied());
    match (dates().min(), dates().max()) {
        (Some(first), Some(last)) => dataset.trading_days(first, last),
        _ => &[],
    }
}

/// The tradable symbols: those that the agents saw, if they have prices.
#[must_use]
pub fn symbols_of(dataset: &Dataset, agents: &[&RecordedAgent]) -> BTreeSet<Symbol> {
    let known: BTreeSet<&Symbol> = dataset.tradable_symbols().collect();
    let seen = agents.iter().flat_map(|agent| &agent.symbols);
    seen.filter(|symbol| known.contains(symbol)).cloned().collect()
}

fn one_job(
    app: &App,
    dataset: &Dataset,
    (cash, recorded): (Money, &[&RecordedAgent]),
    request: &ImportRequest,
) -> Result<PlannedImport, ServiceError> {
    let defaults = &app.config.simulation;
    let days = days_of(dataset, recorded);
    let (Some(first), Some(last)) = (days.first(), days.last()) else {
        return Err(ServiceError::invalid("dataset", "none of its trading days is in the logs"));
    };
    let memory = Request { memory: request.memory, ..Request::default() };
    let memory = memory_settings(&memory, defaults.memory)?;
    let mut texts = BTreeMap::new();
    let mut logs = BTreeMap::new();
    let mut agents = Vec::new();
    for agent in recorded {
        logs.insert(agent.name.clone(), log_of(app, agent, days, &mut texts));
        let mut config = agent.config(request.writer.clone());
        config.language = request.language;
        redact(app, &mut config);
        check_agent(app, &config, defaults.budget)?;
        config.model = agent.model();
        agents.push(config);
    }
    let source = app.services.redactor.redact_text(&request.source).value;
    let imported =
        Imported { format: request.format.to_owned(), source, logs, writer: request.writer.clone() };
    let mut config = SimulationConfig {
        dataset: DatasetRef { name: dataset.name().to_owned(), hash: dataset.hash() },
        start_date: first.date,
        end_date: last.date,
        symbols: symbols_of(dataset, recorded),
        universe: None,
        agents,
        market: request.market.clone(),
        initial_cash: cash,
        seed: 0,
        prompts: app.services.prompts.hash(),
        summaries: request.summaries.unwrap_or(defaults.summaries),
        benchmark: None,
        memory,
        memory_from: None,
        embedding: embedding(app, memory)?,
        starts: BTreeMap::new(),
        continues: BTreeMap::new(),
        branch: None,
        masking: None,
        imported: Some(imported),
        budget: defaults.budget,
    };
    for agent in &config.agents {
        let doc = StartState::new(agent, config.market.clone(), cash, config.seed).to_doc();
        config.starts.insert(agent.name.clone(), doc.hash);
        texts.extend(doc.texts.into_iter().map(|text| (text.hash, text)));
    }
    let key = key(&config, request.format);
    let days = model_days(&config, days);
    let prepared = PreparedJob {
        config,
        days,
        texts: texts.into_values().collect(),
        warnings: request.warnings.clone(),
        supersedes: Vec::new(),
        kind: JobKind::Simulate,
    };
    Ok(PlannedImport { prepared, key })
}

fn model_days(config: &SimulationConfig, days: &[TradingDay]) -> Vec<NewModelDay> {
    let mut all = Vec::new();
    for agent in &config.agents {
        let start = config.starts.get(&agent.name).copied();
        let hash = start.map(|start| config.agent_hash(agent, start));
        let day = |date: Date, agent_hash| NewModelDay {
            date,
            agent: agent.name.clone(),
            agent_hash,
            skipped: None,
        };
        all.extend(hash.into_iter().flat_map(|hash| days.iter().map(move |of| day(of.date, hash))));
    }
    all
}

/// Stores the redacted documents of an agent's days. Returns the hash of their index.
fn log_of(
    app: &App,
    agent: &RecordedAgent,
    days: &[TradingDay],
    texts: &mut BTreeMap<ContentHash, StoredText>,
) -> ContentHash {
    let mut store = |doc: ContentDoc| {
        texts.extend(doc.texts.into_iter().map(|text| (text.hash, text)));
        doc.hash
    };
    let mut index = Map::new();
    for day in days {
        if let Some(recorded) = agent.days.get(&day.date) {
            let clean = app.services.redactor.redact_value(to_value(recorded)).value;
            index.insert(day.date.to_string(), json!(store(ContentDoc::of(&clean)).to_hex()));
        }
    }
    store(ContentDoc::of(&index.into()))
}

/// The job's ID. It is derived from the content, so that there is one job per content.
fn key(config: &SimulationConfig, format: &str) -> JobId {
    let logs: Option<&BTreeMap<AgentName, ContentHash>> =
        config.imported.as_ref().map(|imported| &imported.logs);
    let content = json::hash(&json!({
        "format": format,
        "dataset": config.dataset.hash,
        "market": config.market,
        "initial_cash": config.initial_cash,
        "days": [config.start_date, config.end_date],
        "logs": logs,
    }));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&content.as_bytes()[..16]);
    JobId::new(uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string())
}

/// Queues an import's job, or finds the existing one with its content. Returns the job with its status; `None` if
/// there is nothing left to run.
///
/// With `replace`, a new job supersedes an existing one.
///
/// # Errors
/// A database error.
pub async fn import(
    app: &App,
    mut import: PlannedImport,
    replace: bool,
) -> Result<(JobId, Option<JobStatus>), ServiceError> {
    let existing = import.existing(app).await?;
    let job = match existing {
        None => import.key.clone(),
        Some(row) if replace => {
            let agents = import.prepared.config.agents.iter();
            import.prepared.supersedes =
                agents.map(|agent| Supersession { agent: agent.name.clone(), job: row.id.clone() }).collect();
            JobId::new(uuid::Uuid::now_v7().to_string())
        }
        Some(row) if row.status == JobStatus::Completed => return Ok((row.id, None)),
        // It was stopped or killed, and is resumed.
        Some(row) => {
            let status = resume(app, &row.id, None).await?;
            return Ok((row.id, Some(status)));
        }
    };
    match enqueue(app, job.clone(), &import.prepared, (None, 1)).await {
        Ok(()) => Ok((job, Some(JobStatus::Queued))),
        // The same content was imported concurrently: IDs are unique.
        Err(error) => match import.existing(app).await? {
            Some(row) if !replace => Ok((row.id, Some(row.status))),
            _ => Err(error.into()),
        },
    }
}
