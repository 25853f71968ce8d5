//! Memory probes: resolves a request, estimates its cost, and queues its job.

pub mod counterfactual;
mod estimate;

use crate::app::App;
use crate::error::ServiceError;
use crate::trigger::check_probe_model;
use crate::view::training_cutoff;
use papertape_agents::config::Limits;
use papertape_core::id::{JobId, Symbol};
use papertape_core::json::to_value;
use papertape_core::market::Dataset;
use papertape_core::message::{ModelName, Sampling};
use papertape_core::ports::Queue as _;
use papertape_core::record::{JobKind, NewJob};
use papertape_evidence::{DEFAULT_ITEMS, QUIZ_DESIGN_VERSION, Quiz, QuizControls, QuizKind};
use papertape_protocol::cutoff::TrainingCutoffResponse;
use papertape_protocol::fields::JsonObject;
use papertape_protocol::probes::{ProbeBody, ProbeEstimate, ProbeKindBody};
use papertape_runtime::budget::{Budget, Limit};
use papertape_runtime::config::DatasetRef;
use papertape_runtime::memory_probe::MemoryProbeConfig;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Concurrent items, unless a request says otherwise.
const PARALLEL_ITEMS: u32 = 8;
/// Output tokens of a response, unless a request says otherwise: room for a model that explains itself first.
const MAX_TOKENS: u32 = 1_024;
const MAX_ITEMS: u32 = 10_000;

/// A resolved probe.
pub struct PreparedProbe {
    /// Its config.
    pub config: MemoryProbeConfig,
    /// Its questions and what they may cost.
    pub estimate: ProbeEstimate,
    /// The model's training cut-off; `None` for a house model.
    pub training_cutoff: Option<TrainingCutoffResponse>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

/// Resolves a request. Queues nothing.
///
/// # Errors
/// An invalid field, by name.
pub fn prepare(app: &App, body: ProbeBody) -> Result<PreparedProbe, ServiceError> {
    let model: ModelName =
        body.model.trim().parse().map_err(|why: String| ServiceError::invalid("model", why))?;
    let limit = match body.budget {
        Some(JsonObject(limit)) => Limit { tokens: limit.tokens, usd: limit.usd },
        None => app.config.simulation.budget.job,
    };
    let budget = Budget { job: limit, ..Budget::default() };
    check_probe_model(app, &model, budget)?;
    let name = body.dataset.as_deref().unwrap_or(&app.config.simulation.dataset);
    let dataset =
        app.catalogue.open(name).map_err(|error| ServiceError::invalid("dataset", error.to_string()))?;
    let range = |name, value: Option<u32>, default: u32, max: u32| {
        let value = value.unwrap_or(default);
        let in_range = (1..=max).contains(&value);
        in_range.then_some(value).ok_or_else(|| {
            ServiceError::invalid(name, format!("{value} is out of range; expected 1 to {max}"))
        })
    };
    let default_items = u32::try_from(DEFAULT_ITEMS).unwrap_or(MAX_ITEMS);
    let items = range("items", body.items, default_items, MAX_ITEMS)?;
    let max_tokens = range("max_tokens", body.max_tokens, MAX_TOKENS, 100_000)?;
    let parallel = range("parallel", body.parallel, PARALLEL_ITEMS, 256)?;
    if body.start_date.zip(body.end_date).is_some_and(|(start, end)| end < start) {
        return Err(ServiceError::invalid("end_date", "it is before start_date"));
    }
    let sampling = Sampling {
        temperature: (!body.default_temperature.unwrap_or_default()).then_some(0.0),
        max_tokens: Some(max_tokens),
        ..Sampling::default()
    };
    let config = MemoryProbeConfig {
        dataset: DatasetRef { name: dataset.name().to_owned(), hash: dataset.hash() },
        probe_symbols: symbols(&dataset, body.symbols.as_deref())?,
        start_date: body.start_date,
        end_date: body.end_date,
        kinds: kinds(body.kinds.as_deref()),
        items_per_kind: items as usize,
        cutoff: app.gateway.cutoff(&model).and_then(|cutoff| cutoff.date),
        seed: body.seed.unwrap_or_default(),
        design_version: QUIZ_DESIGN_VERSION,
        sampling,
        limits: Limits::default(),
        parallel_items: parallel as usize,
        budget,
        model,
    };
    resolved(app, config, &dataset)
}

fn resolved(
    app: &App,
    config: MemoryProbeConfig,
    dataset: &Arc<Dataset>,
) -> Result<PreparedProbe, ServiceError> {
    let quiz = config.quiz(dataset).map_err(ServiceError::Conflict)?;
    if quiz.items.iter().all(|item| item.is_control) {
        return Err(ServiceError::invalid(
            "symbols",
            "these prices give no item: a probe needs complete months with 60 earlier trading days, before the model's \
             training cut-off",
        ));
    }
    let estimate = estimate::estimate(app, &config, &quiz);
    let is_llm = !config.model.is_house();
    let training_cutoff = is_llm.then(|| training_cutoff(app, &config.model, &config.days(dataset)));
    let warnings = warnings(&config, &quiz, &estimate);
    Ok(PreparedProbe { config, estimate, training_cutoff, warnings })
}

fn symbols(dataset: &Dataset, requested: Option<&[String]>) -> Result<BTreeSet<Symbol>, ServiceError> {
    let all: BTreeSet<Symbol> = dataset.tradable_symbols().cloned().collect();
    let requested: BTreeSet<Symbol> = match requested {
        None | Some([]) => return Ok(all),
        Some(requested) => requested.iter().map(|symbol| Symbol::new(symbol.trim())).collect(),
    };
    match requested.iter().find(|symbol| !all.contains(*symbol)) {
        None => Ok(requested),
        Some(unknown) => {
            let known: Vec<&str> = all.iter().take(20).map(Symbol::as_str).collect();
            let (name, known) = (dataset.name(), known.join(", "));
            let message = format!("unknown symbol `{unknown}` in {name}; expected some of {known}");
            Err(ServiceError::invalid("symbols", message))
        }
    }
}

fn kinds(requested: Option<&[ProbeKindBody]>) -> Vec<QuizKind> {
    let kind = |kind: &ProbeKindBody| match kind {
        ProbeKindBody::Direction => QuizKind::Direction,
        ProbeKindBody::Level => QuizKind::Level,
        ProbeKindBody::Date => QuizKind::Date,
        ProbeKindBody::Company => QuizKind::Company,
    };
    let requested: Vec<QuizKind> = requested.into_iter().flatten().map(kind).collect();
    QuizKind::ALL.into_iter().filter(|kind| requested.is_empty() || requested.contains(kind)).collect()
}

fn warnings(config: &MemoryProbeConfig, quiz: &Quiz, estimate: &ProbeEstimate) -> Vec<String> {
    let mut warnings = Vec::new();
    if config.model.is_house() {
        warnings.push(format!("{} is rule-based: it remembers no prices and guesses", config.model));
    }
    for count in &estimate.kinds {
        let (kind, items) = (&count.kind, count.items);
        if items == 0 || count.controls == 0 {
            let why = match kind.as_str() {
                "company" => "it needs four symbols with prices of the same months",
                _ => "the prices have too few suitable months",
            };
            warnings.push(format!("{kind} has no items or no controls, and is not testable: {why}"));
        } else if items < DEFAULT_ITEMS && items < config.items_per_kind {
            warnings.push(format!(
                "{kind} has {items} of {} requested items: there are no more",
                config.items_per_kind
            ));
        }
    }
    if quiz.controls == QuizControls::Altered && config.cutoff.is_none() && !config.model.is_house() {
        warnings.push(
            "without a stated training cut-off, months that the model cannot know count as items too: they make recall \
             harder to see"
                .to_owned(),
        );
    }
    if estimate.exceeds_budget {
        warnings.push("the estimate exceeds the budget: the probe may stop before its end".to_owned());
    }
    warnings
}

/// Queues a probe.
///
/// # Errors
/// As [`prepare`]; a database error.
pub async fn create(app: &App, body: ProbeBody) -> Result<(JobId, PreparedProbe), ServiceError> {
    let prepared = prepare(app, body)?;
    let id = JobId::new(uuid::Uuid::now_v7().to_string());
    let job = NewJob {
        id: id.clone(),
        kind: JobKind::MemoryProbe,
        config: to_value(&prepared.config),
        fingerprint: prepared.config.fingerprint(),
        warnings: prepared.warnings.clone(),
        days: Vec::new(),
        parent: None,
        plan: None,
        supersedes: Vec::new(),
        continues: Vec::new(),
        texts: Vec::new(),
        created_at: app.services.clock.now(),
    };
    app.store.enqueue(job).await?;
    app.notify_workers();
    Ok((id, prepared))
}
