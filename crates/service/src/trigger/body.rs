//! Requests as the API takes them: from the wire types and to them.

use super::masking::mask_of;
use super::{BudgetChange, Request};
use crate::error::ServiceError;
use papertape_agents::config::{
    AgentConfig, AgentKind, Analyst, DeskConfig, ExternalConfig, Limits, MAX_WINDOW, MemoryMode, PromptStyle,
    SizingConfig, Weights,
};
use papertape_core::broker::CostModel;
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::ModelName;
use papertape_protocol::agent::{AgentBody, KindBody, LimitsBody, MAX_AGENTS};
use papertape_protocol::desk::{AnalystBody, DeskBody, SizingBody, StyleBody, WeightsBody};
use papertape_protocol::fields::{JsonObject, MAX_READ_WINDOW};
use papertape_protocol::simulate::{BudgetBody, LimitBody, MemoryBody, TriggerBody};
use papertape_runtime::budget::{Budget, Limit};
use serde_json::Value;

const _: () = assert!(MAX_READ_WINDOW == MAX_WINDOW);

/// The request that a JSON object makes, as `POST /simulate/trigger` reads it.
///
/// # Errors
/// A sentence that names the field.
pub fn request_of_json(body: &Value) -> Result<Request, String> {
    let body: TriggerBody = serde_json::from_value(body.clone()).map_err(|error| error.to_string())?;
    request_of(body).map_err(|error| error.to_string())
}

/// The request that a body makes.
///
/// # Errors
/// A field that is wrong, named.
pub fn request_of(body: TriggerBody) -> Result<Request, ServiceError> {
    let masking = body.masking.as_deref().map(|mask| mask_of("masking", mask)).transpose()?.flatten();
    for (field, is_empty) in [
        ("models", body.models.as_ref().is_some_and(Vec::is_empty)),
        ("agents", body.agents.as_ref().is_some_and(Vec::is_empty)),
        ("symbols", body.symbols.as_ref().is_some_and(Vec::is_empty)),
    ] {
        if is_empty {
            return Err(ServiceError::invalid(
                field,
                "the list is empty; name one at least, or leave the field out",
            ));
        }
    }
    let (models, agents) = (body.models.unwrap_or_default(), body.agents.unwrap_or_default());
    if models.len() + agents.len() > MAX_AGENTS {
        return Err(ServiceError::invalid("models", format!("a job has at most {MAX_AGENTS} agents")));
    }
    Ok(Request {
        start_date: body.start_date,
        end_date: Some(body.end_date),
        models,
        agents: agents.into_iter().map(|JsonObject(body)| agent_config(body)).collect::<Result<_, _>>()?,
        symbols: body.symbols.unwrap_or_default(),
        universe: body.universe,
        dataset: body.dataset,
        market: body.market,
        costs: body.costs.map(CostModel::from),
        initial_cash: body.initial_cash,
        benchmark: body.benchmark,
        seed: body.seed,
        budget: body.budget.map(|JsonObject(budget)| budget_change(budget).over(Budget::default())),
        summaries: body.summaries,
        replace_existing: body.replace_existing.unwrap_or_default(),
        rerun_degraded: body.rerun_degraded.unwrap_or_default(),
        profile: false,
        memory: body.memory.map(memory_mode),
        read_window: body.read_window,
        read_window_after_loss: body.read_window_after_loss,
        masking,
        memory_from: memory_from(body.memory_from)?,
        parts: body.parts,
    })
}

fn agent_config(body: AgentBody) -> Result<AgentConfig, ServiceError> {
    let wrong = |message: String| ServiceError::invalid("agents", format!("{}: {message}", body.name));
    let limits = body.limits.map(|JsonObject(limits)| limits);
    let external = body.external.map(|name| external_config(name, limits.as_ref()));
    let model = match (&body.model, &external) {
        (Some(model), _) => model.parse().map_err(wrong)?,
        // The configured models are added later.
        (None, Some(external)) => external.model(),
        (None, None) => return Err(wrong("`model` is missing: `provider::model`".to_owned())),
    };
    let desk = body.desk.map(|JsonObject(desk)| desk_config(desk)).transpose().map_err(wrong)?;
    Ok(AgentConfig {
        name: AgentName::from(body.name),
        kind: match body.kind {
            KindBody::Solo => AgentKind::Solo,
            KindBody::Desk => AgentKind::Desk,
            KindBody::External => AgentKind::External,
        },
        model,
        sampling: body.sampling.map(|JsonObject(sampling)| sampling.into()).unwrap_or_default(),
        language: body.language,
        instructions: body.instructions,
        tools: body.tools.unwrap_or_default(),
        limits: limits.as_ref().map(limits_of).unwrap_or_default(),
        desk,
        external,
    })
}

fn external_config(name: String, limits: Option<&LimitsBody>) -> ExternalConfig {
    let default = ExternalConfig::new(name);
    let max_requests = limits.and_then(|limits| limits.max_requests).unwrap_or(default.max_requests);
    let max_orders = limits.and_then(|limits| limits.max_orders).unwrap_or(default.max_orders);
    ExternalConfig { max_requests, max_orders, ..default }
}

/// A job that is named; none is named by a NUL.
fn memory_from(text: Option<String>) -> Result<Option<JobId>, ServiceError> {
    match text {
        Some(text) if text.contains('\0') => {
            Err(ServiceError::invalid("memory_from", "it contains a NUL character"))
        }
        text => Ok(text.map(JobId::new)),
    }
}

fn memory_mode(body: MemoryBody) -> MemoryMode {
    match body {
        MemoryBody::Off => MemoryMode::Off,
        MemoryBody::Rounds => MemoryMode::Rounds,
        MemoryBody::RoundsOpen => MemoryMode::RoundsOpen,
        MemoryBody::All => MemoryMode::All,
    }
}

fn limits_of(body: &LimitsBody) -> Limits {
    let default = Limits::default();
    Limits {
        max_steps: body.max_steps.unwrap_or(default.max_steps),
        max_attempts: body.max_attempts.unwrap_or(default.max_attempts),
        call_timeout_secs: body.call_timeout_secs.unwrap_or(default.call_timeout_secs),
        session_timeout_secs: body.session_timeout_secs.unwrap_or(default.session_timeout_secs),
    }
}

/// The lines of a budget that a body gives.
#[must_use]
pub fn budget_change(body: BudgetBody) -> BudgetChange {
    let limit = |body: Option<JsonObject<LimitBody>>| {
        body.map(|JsonObject(body)| Limit { tokens: body.tokens, usd: body.usd })
    };
    BudgetChange {
        job: limit(body.job),
        agent: limit(body.agent),
        day: limit(body.day),
        summaries: limit(body.summaries),
    }
}

fn desk_config(body: DeskBody) -> Result<DeskConfig, String> {
    let default = DeskConfig::default();
    let model = |name: Option<String>| name.map(|name| name.parse::<ModelName>()).transpose();
    let analyst = |analyst: AnalystBody| match analyst {
        AnalystBody::Market => Analyst::Market,
        AnalystBody::Social => Analyst::Social,
        AnalystBody::News => Analyst::News,
        AnalystBody::Fundamentals => Analyst::Fundamentals,
    };
    Ok(DeskConfig {
        quick_think_llm: model(body.quick_think_llm)?,
        deep_think_llm: model(body.deep_think_llm)?,
        selected_analysts: body
            .selected_analysts
            .map_or(default.selected_analysts, |analysts| analysts.into_iter().map(analyst).collect()),
        max_debate_rounds: body.max_debate_rounds.unwrap_or(default.max_debate_rounds),
        max_risk_discuss_rounds: body.max_risk_discuss_rounds.unwrap_or(default.max_risk_discuss_rounds),
        analysis_prompt_style: match body.analysis_prompt_style {
            None => default.analysis_prompt_style,
            Some(StyleBody::Standard) => PromptStyle::Standard,
            Some(StyleBody::Compact) => PromptStyle::Compact,
            Some(StyleBody::Detailed) => PromptStyle::Detailed,
        },
        research_node_timeout_secs: body
            .research_node_timeout_secs
            .unwrap_or(default.research_node_timeout_secs),
        analyst_node_timeout_secs: body
            .analyst_node_timeout_secs
            .unwrap_or(default.analyst_node_timeout_secs),
        trader_node_timeout_secs: body.trader_node_timeout_secs.unwrap_or(default.trader_node_timeout_secs),
        risk_node_timeout_secs: body.risk_node_timeout_secs.unwrap_or(default.risk_node_timeout_secs),
        portfolio_node_timeout_secs: body
            .portfolio_node_timeout_secs
            .unwrap_or(default.portfolio_node_timeout_secs),
        symbols_at_once: body.symbols_at_once.map_or(default.symbols_at_once, |count| count as usize),
        sizing: body.sizing.map_or(default.sizing, |JsonObject(sizing)| sizing_config(sizing)),
    })
}

fn sizing_config(body: SizingBody) -> SizingConfig {
    let default = SizingConfig::default();
    SizingConfig {
        weights: body.weights.map_or(default.weights, |JsonObject(body)| weights(body)),
        symbol_cap: body.symbol_cap.unwrap_or(default.symbol_cap),
        gross_cap: body.gross_cap.unwrap_or(default.gross_cap),
        cash_reserve: body.cash_reserve.unwrap_or(default.cash_reserve),
        min_order: body.min_order.unwrap_or(default.min_order),
        shorting: body.shorting.unwrap_or(default.shorting),
        max_leverage: body.max_leverage.unwrap_or(default.max_leverage),
    }
}

fn weights(body: WeightsBody) -> Weights {
    let default = Weights::default();
    Weights {
        buy: body.buy.unwrap_or(default.buy),
        overweight: body.overweight.unwrap_or(default.overweight),
        underweight: body.underweight.unwrap_or(default.underweight),
        sell: body.sell.unwrap_or(default.sell),
    }
}
