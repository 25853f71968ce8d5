//! A request as a body, for a command that sends it to the server.

use super::Request;
use papertape_agents::config::{
    AgentConfig, AgentKind, Analyst, DeskConfig, MemoryMode, PromptStyle, SizingConfig,
};
use papertape_core::time::Date;
use papertape_protocol::agent::{AgentBody, KindBody, LimitsBody};
use papertape_protocol::desk::{AnalystBody, DeskBody, SizingBody, StyleBody, WeightsBody};
use papertape_protocol::fields::JsonObject;
use papertape_protocol::simulate::{BudgetBody, CostsBody, LimitBody, MemoryBody, TriggerBody};
use papertape_runtime::budget::{Budget, Limit};

impl Request {
    /// The same as `POST /simulate/trigger` takes it.
    #[must_use]
    pub fn to_body(&self, end_date: Date) -> TriggerBody {
        let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        let agents = self.agents.iter().map(|config| JsonObject(agent(config)));
        TriggerBody {
            start_date: self.start_date,
            end_date,
            models: some(&self.models),
            replace_existing: Some(self.replace_existing),
            rerun_degraded: Some(self.rerun_degraded),
            agents: (!self.agents.is_empty()).then(|| agents.collect()),
            symbols: some(&self.symbols),
            universe: self.universe.clone(),
            dataset: self.dataset.clone(),
            market: self.market.clone(),
            costs: self.costs.map(CostsBody::from),
            initial_cash: self.initial_cash,
            benchmark: self.benchmark.clone(),
            seed: self.seed,
            budget: self.budget.map(|lines| JsonObject(budget(lines))),
            summaries: self.summaries,
            memory: self.memory.map(|mode| match mode {
                MemoryMode::Off => MemoryBody::Off,
                MemoryMode::Rounds => MemoryBody::Rounds,
                MemoryMode::RoundsOpen => MemoryBody::RoundsOpen,
                MemoryMode::All => MemoryBody::All,
            }),
            read_window: self.read_window,
            read_window_after_loss: self.read_window_after_loss,
            memory_from: self.memory_from.as_ref().map(ToString::to_string),
            parts: self.parts,
            masking: self.masking.map(|kind| kind.as_str().to_owned()),
        }
    }
}

/// One line of a budget.
#[must_use]
pub fn limit_body(limit: Limit) -> LimitBody {
    LimitBody { tokens: limit.tokens, usd: limit.usd }
}

fn budget(budget: Budget) -> BudgetBody {
    let line = |limit: Limit| Some(JsonObject(limit_body(limit)));
    BudgetBody {
        job: line(budget.job),
        agent: line(budget.agent),
        day: line(budget.day),
        summaries: line(budget.summaries),
    }
}

fn agent(config: &AgentConfig) -> AgentBody {
    let limits = &config.limits;
    AgentBody {
        name: config.name.to_string(),
        kind: match config.kind {
            AgentKind::Solo => KindBody::Solo,
            AgentKind::Desk => KindBody::Desk,
            AgentKind::External => KindBody::External,
        },
        // The server's configuration has the models of an external agent.
        model: config.external.is_none().then(|| config.model.to_string()),
        sampling: Some(JsonObject(config.sampling.clone().into())),
        language: config.language,
        instructions: config.instructions.clone(),
        tools: Some(config.tools.clone()),
        limits: Some(JsonObject(LimitsBody {
            max_steps: Some(limits.max_steps),
            max_attempts: Some(limits.max_attempts),
            call_timeout_secs: Some(limits.call_timeout_secs),
            session_timeout_secs: Some(limits.session_timeout_secs),
            max_requests: config.external.as_ref().map(|external| external.max_requests),
            max_orders: config.external.as_ref().map(|external| external.max_orders),
        })),
        desk: config.desk.as_ref().map(|config| JsonObject(desk(config))),
        external: config.external.as_ref().map(|external| external.name.clone()),
    }
}

fn desk(config: &DeskConfig) -> DeskBody {
    let analyst = |analyst: &Analyst| match analyst {
        Analyst::Market => AnalystBody::Market,
        Analyst::Social => AnalystBody::Social,
        Analyst::News => AnalystBody::News,
        Analyst::Fundamentals => AnalystBody::Fundamentals,
    };
    DeskBody {
        quick_think_llm: config.quick_think_llm.as_ref().map(ToString::to_string),
        deep_think_llm: config.deep_think_llm.as_ref().map(ToString::to_string),
        selected_analysts: Some(config.selected_analysts.iter().map(analyst).collect()),
        max_debate_rounds: Some(config.max_debate_rounds),
        max_risk_discuss_rounds: Some(config.max_risk_discuss_rounds),
        analysis_prompt_style: Some(match config.analysis_prompt_style {
            PromptStyle::Standard => StyleBody::Standard,
            PromptStyle::Compact => StyleBody::Compact,
            PromptStyle::Detailed => StyleBody::Detailed,
        }),
        research_node_timeout_secs: Some(config.research_node_timeout_secs),
        analyst_node_timeout_secs: Some(config.analyst_node_timeout_secs),
        trader_node_timeout_secs: Some(config.trader_node_timeout_secs),
        risk_node_timeout_secs: Some(config.risk_node_timeout_secs),
        portfolio_node_timeout_secs: Some(config.portfolio_node_timeout_secs),
        symbols_at_once: u32::try_from(config.symbols_at_once).ok(),
        sizing: Some(JsonObject(sizing(&config.sizing))),
    }
}

fn sizing(config: &SizingConfig) -> SizingBody {
    let weights = &config.weights;
    SizingBody {
        weights: Some(JsonObject(WeightsBody {
            buy: Some(weights.buy),
            overweight: Some(weights.overweight),
            underweight: Some(weights.underweight),
            sell: Some(weights.sell),
        })),
        symbol_cap: Some(config.symbol_cap),
        gross_cap: Some(config.gross_cap),
        cash_reserve: Some(config.cash_reserve),
        min_order: Some(config.min_order),
        shorting: Some(config.shorting),
        max_leverage: Some(config.max_leverage),
    }
}
