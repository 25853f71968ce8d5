//! Estimates the calls, tokens and cost of an experiment.

use super::plan::Prepared;
use crate::app::App;
use crate::error::ServiceError;
use crate::format::{count, counted};
use papertape_agents::config::{AgentConfig, AgentKind};
use papertape_core::json;
use papertape_core::message::{ModelName, Usage};
use papertape_core::ports::Queue as _;
use papertape_protocol::experiments::{AgentEstimate, Estimate, EstimateBasis};
use papertape_protocol::number::number;
use papertape_runtime::config::SimulationConfig;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// The maximum number of recorded days of an agent that an estimate is based on.
const RECORDED_DAYS: u32 = 60;
/// Assumed calls of a solo agent per day.
const SOLO_CALLS: u64 = 8;
/// Assumed input and output tokens of a solo agent's call.
const SOLO_TOKENS: (u64, u64) = (5_000, 300);
/// Assumed calls of an analyst of a desk per symbol and day.
const ANALYST_CALLS: u64 = 3;
/// Assumed input and output tokens of a desk's call.
const DESK_TOKENS: (u64, u64) = (6_000, 800);

/// The usage of a model-day of an agent.
struct PerDay {
    calls: f64,
    input: f64,
    output: f64,
    /// US dollars; `None` if unknown.
    cost: Option<Decimal>,
    basis: EstimateBasis,
    explanation: String,
}

pub(super) async fn estimate(app: &App, prepared: &Prepared) -> Result<Estimate, ServiceError> {
    let mut agents = Vec::new();
    let mut total = Estimate {
        agents: Vec::new(),
        jobs: prepared.manifest.planned_jobs,
        model_days: 0,
        calls: 0,
        input_tokens: 0,
        output_tokens: 0,
        cost_usd: None,
        exceeds_budget: false,
    };
    let mut cost = Some(Decimal::ZERO);
    for agent in &prepared.agents {
        let days = prepared.jobs.iter().flat_map(|one| &one.job.days).filter(|day| day.agent == agent.name);
        let (skipped, run): (Vec<_>, Vec<_>) = days.partition(|day| day.skipped.is_some());
        let model_days = run.len() as u64;
        let config = prepared.jobs.first().map(|one| &one.job.config);
        let day = per_day(app, agent, config).await?;
        let times = |amount: f64| (amount * model_days as f64).round() as u64;
        let own_cost = day.cost.map(|cost| (cost * Decimal::from(model_days)).round_dp(4));
        let own = AgentEstimate {
            model: agent.name.to_string(),
            model_days,
            skipped_days: skipped.len() as u64,
            calls: times(day.calls),
            input_tokens: times(day.input),
            output_tokens: times(day.output),
            cost_usd: own_cost.map(number),
            basis: day.basis,
            explanation: day.explanation,
        };
        total.model_days += own.model_days;
        total.calls += own.calls;
        total.input_tokens += own.input_tokens;
        total.output_tokens += own.output_tokens;
        if model_days > 0 {
            cost = cost.zip(own_cost).map(|(sum, own)| sum + own);
        }
        agents.push(own);
    }
    let (limit, tokens) = (prepared.limit, total.input_tokens + total.output_tokens);
    total.exceeds_budget = limit.tokens.is_some_and(|max| tokens > max)
        || limit.usd.zip(cost).is_some_and(|(max, cost)| cost > max);
    Ok(Estimate { agents, cost_usd: cost.map(number), ..total })
}

async fn per_day(
    app: &App,
    agent: &AgentConfig,
    config: Option<&SimulationConfig>,
) -> Result<PerDay, ServiceError> {
    if agent.is_rule_based() {
        return Ok(PerDay {
            calls: 0.0,
            input: 0.0,
            output: 0.0,
            cost: Some(Decimal::ZERO),
            basis: EstimateBasis::Rules,
            explanation: "rule-based: it calls no language model".to_owned(),
        });
    }
    let symbols = config.map_or(1, |config| config.symbols.len());
    match recorded(app, agent, symbols).await? {
        Some(found) => Ok(found),
        None => Ok(assumed(app, agent, symbols)),
    }
}

/// From the newest recorded days of the same agent with the same number of symbols, whatever their seed.
async fn recorded(app: &App, agent: &AgentConfig, symbols: usize) -> Result<Option<PerDay>, ServiceError> {
    let own = unseeded(agent);
    let mut is_same = BTreeMap::new();
    let (mut days, mut calls, mut usage) = (0_u64, 0_u64, Usage::default());
    let (mut cost, mut unpriced) = (Decimal::ZERO, 0);
    for day in app.store.recent_usage(&agent.name, RECORDED_DAYS).await? {
        if !is_same.contains_key(&day.job) {
            let row = app.store.get_job(&day.job).await?;
            let config = row.and_then(|row| serde_json::from_value::<SimulationConfig>(row.config).ok());
            let same = config.is_some_and(|config| {
                let other = config.agents.iter().find(|other| other.name == agent.name);
                config.symbols.len() == symbols && other.is_some_and(|other| unseeded(other) == own)
            });
            is_same.insert(day.job.clone(), same);
        }
        if is_same.get(&day.job) == Some(&true) {
            days += 1;
            calls += day.calls;
            usage += day.used.usage;
            cost += day.used.cost_usd;
            unpriced += day.used.unpriced_calls;
        }
    }
    if days == 0 {
        return Ok(None);
    }
    let mean = |sum: u64| sum as f64 / days as f64;
    let (calls, input, output) = (mean(calls), mean(usage.input_tokens), mean(usage.output_tokens));
    Ok(Some(PerDay {
        calls,
        input,
        output,
        cost: (unpriced == 0).then(|| cost / Decimal::from(days)),
        basis: EstimateBasis::Record,
        explanation: format!(
            "mean of the newest {} on record: {calls:.1} calls, {} input and {} output tokens per day, summaries included",
            counted(days, "day"),
            count(input.round() as u64),
            count(output.round() as u64)
        ),
    }))
}

/// What makes an agent's days comparable: everything except its seed.
fn unseeded(agent: &AgentConfig) -> papertape_core::id::ContentHash {
    let mut agent = agent.clone();
    agent.sampling.seed = None;
    json::hash(&json::to_value(&agent.fingerprint()))
}

fn assumed(app: &App, agent: &AgentConfig, symbols: usize) -> PerDay {
    let (calls, (input, output), how) = match agent.kind {
        AgentKind::External if agent.models().iter().all(ModelName::is_house) => {
            (0, SOLO_TOKENS, "an external agent whose own model calls are unknown".to_owned())
        }
        AgentKind::External => (SOLO_CALLS, SOLO_TOKENS, "an external agent".to_owned()),
        AgentKind::Solo => {
            (SOLO_CALLS.min(agent.limits.max_steps.into()), SOLO_TOKENS, "a solo agent".to_owned())
        }
        AgentKind::Desk => {
            let desk = agent.desk_config();
            let analysts = desk.selected_analysts.len() as u64 * ANALYST_CALLS;
            // Bull and Bear, the Research Manager and the Trader, three risk analysts and the Portfolio Manager.
            let debates = 2 * u64::from(desk.max_debate_rounds) + 3 * u64::from(desk.max_risk_discuss_rounds);
            let calls = (analysts + debates + 3) * symbols as u64;
            (calls, DESK_TOKENS, format!("a desk with {}", counted(symbols as u64, "symbol")))
        }
    };
    let per_call = Usage { input_tokens: input, cached_tokens: 0, output_tokens: output };
    // The most expensive one of a desk's models: the estimate does not assume which call goes to which model.
    let costs = agent.models().into_iter().map(|model| app.services.models.cost(&model, &per_call));
    let cost = costs.collect::<Option<Vec<_>>>().map(|costs| costs.into_iter().max().unwrap_or_default());
    PerDay {
        calls: calls as f64,
        input: (calls * input) as f64,
        output: (calls * output) as f64,
        cost: cost.map(|cost| cost * Decimal::from(calls)),
        basis: EstimateBasis::Assumption,
        explanation: format!(
            "assumed for {how}, which has no days on record: {calls} calls of {} input and {} output tokens per day",
            count(input),
            count(output)
        ),
    }
}
