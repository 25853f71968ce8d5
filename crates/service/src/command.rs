//! Requests as commands for a terminal. Tests parse the commands and compare what they request.

use crate::config::Config;
use crate::error::ServiceError;
use crate::experiments::ExperimentRequest;
use crate::trigger::Request;
use papertape_agents::config::{
    AgentConfig, AgentKind, DeskConfig, ExternalConfig, Limits, MemoryMode, PromptStyle,
};
use papertape_core::broker::CostModel;
use papertape_core::language::Language;
use papertape_core::market::MaskKind;
use papertape_core::message::Sampling;
use papertape_protocol::fields::JsonObject;
use papertape_protocol::simulate::BranchBody;
use papertape_runtime::budget::Limit;
use rust_decimal::Decimal;
use std::fmt::Display;

/// `papertape run` with the options that make this request under this config; `None` if no options do.
#[must_use]
pub fn run_command(config: &Config, request: &ExperimentRequest) -> Option<String> {
    let mut command = Command::new("papertape run");
    add_agents(&mut command, config, &request.simulation)?;
    add_simulation(&mut command, config, &request.simulation)?;
    command.option("trials", Some(request.trials).filter(|trials| *trials > 1));
    command.option("windows", request.windows.map(|windows| format!("{}x{}d", windows.count, windows.days)));
    command.option("compare", request.compare.as_deref());
    if !request.masks.is_empty() {
        let all = std::iter::once(None).chain(MaskKind::ALL.map(Some));
        if !request.masks.iter().copied().eq(all) || request.simulation.masking.is_some() {
            return None;
        }
        command.option("vary", Some("mask"));
    }
    Some(command.text)
}

/// `papertape branch` with the options that make this request; `None` if no options do.
///
/// # Errors
/// Sampling parameters out of range.
pub fn branch_command(job: &str, body: BranchBody) -> Result<Option<String>, ServiceError> {
    // The command reads a file where the text begins so.
    let is_file = body.instructions.as_ref().is_some_and(|text| text.starts_with('@'));
    let sampling = body.sampling.map(|JsonObject(sampling)| Sampling::from(sampling));
    if let Some(sampling) = &sampling {
        sampling.check().map_err(|message| ServiceError::invalid("sampling", message))?;
    }
    if sampling.is_some() || is_file {
        return Ok(None);
    }
    let mut command = Command::new("papertape branch");
    command.word(job);
    command.option("date", Some(body.date));
    command.option("agent", body.agent.as_deref());
    command.option("at", body.node.as_deref());
    command.option("model", body.model.as_deref());
    command.option("instructions", body.instructions.as_deref());
    Ok(Some(command.text))
}

/// The options that all agents share, and their names.
fn add_agents(command: &mut Command, config: &Config, request: &Request) -> Option<()> {
    let (external, own): (Vec<_>, Vec<_>) =
        request.agents.iter().partition(|agent| agent.kind == AgentKind::External);
    if let Some(first) = own.first() {
        let options = AgentOptions::of(first);
        if own.iter().any(|agent| **agent != options.agent(agent)) {
            return None;
        }
        // These options change configured agents too.
        if options.changes_all() && !request.models.is_empty() {
            return None;
        }
        options.add_to(command);
    }
    let is_configured = |name: &str| config.agents.iter().any(|agent| agent.name.as_str() == name);
    // Agents keep their order: those of the request come before those that it names.
    for agent in own {
        let model = agent.model.to_string();
        if is_configured(&model) {
            return None;
        }
        command.option("model", Some(model));
    }
    for name in &request.models {
        command.option("model", Some(name));
    }
    for agent in &external {
        let plain = ExternalConfig::new(agent.name.as_str());
        let sandboxed = ExternalConfig { sandbox: true, ..plain.clone() };
        let is_sandboxed = agent.external.as_ref() == Some(&sandboxed);
        let expected = if is_sandboxed { sandboxed } else { plain };
        // One option sandboxes all of them.
        let is_same =
            external.iter().all(|other| other.external.as_ref().map(|one| one.sandbox) == Some(is_sandboxed));
        if **agent != AgentConfig::external(agent.name.clone(), expected) || !is_same {
            return None;
        }
        command.option("agent", Some(agent.name.as_str()));
    }
    let is_sandboxed = external.iter().any(|agent| agent.external.as_ref().is_some_and(|one| one.sandbox));
    command.flag("sandbox", is_sandboxed);
    Some(())
}

fn add_simulation(command: &mut Command, config: &Config, request: &Request) -> Option<()> {
    let defaults = &config.simulation;
    let frictionless = request.costs.unwrap_or(defaults.costs) == CostModel::Frictionless;
    let summaries = request.summaries.unwrap_or(defaults.summaries);
    // There are no options that turn these on again.
    if (!frictionless && defaults.costs == CostModel::Frictionless) || (summaries && !defaults.summaries) {
        return None;
    }
    command.option("dataset", request.dataset.as_ref().filter(|name| **name != defaults.dataset));
    command.option("symbols", Some(request.symbols.join(",")).filter(|symbols| !symbols.is_empty()));
    command.option("universe", request.universe.as_deref());
    command.option("start", request.start_date);
    command.option("end", Some(request.end_date?));
    command.option("market", request.market.as_deref());
    command.option(
        "benchmark",
        request.benchmark.as_ref().filter(|name| Some(*name) != defaults.benchmark.as_ref()),
    );
    command.flag("frictionless", frictionless && defaults.costs != CostModel::Frictionless);
    command.option("cash", request.initial_cash.filter(|cash| *cash != defaults.initial_cash).map(plain));
    command.option("mask", request.masking.map(MaskKind::as_str));
    if let Some(budget) = request.budget {
        let Limit { tokens, usd } = budget.job;
        let job =
            Limit { tokens: tokens.or(defaults.budget.job.tokens), usd: usd.or(defaults.budget.job.usd) };
        let mut expected = defaults.budget;
        expected.job = job;
        if expected != budget {
            return None;
        }
        command.option("budget-tokens", tokens);
        command.option("budget-usd", usd.map(plain));
    }
    command.option("seed", request.seed.filter(|seed| *seed != 0));
    command.option(
        "memory",
        request.memory.filter(|mode| *mode != defaults.memory.mode).map(MemoryMode::as_str),
    );
    command.option("read-window", request.read_window);
    command.option("read-window-after-loss", request.read_window_after_loss);
    command.option("memory-from", request.memory_from.as_ref());
    command.flag("no-summaries", !summaries && defaults.summaries);
    command.option("parts", request.parts);
    command.flag("replace", request.replace_existing);
    command.flag("rerun-degraded", request.rerun_degraded);
    (!request.profile).then_some(())
}

/// What the options of `papertape run` say about the agents that models run as.
struct AgentOptions {
    is_desk: bool,
    language: Language,
    max_steps: u32,
    desk: DeskConfig,
}

impl AgentOptions {
    fn of(agent: &AgentConfig) -> Self {
        let own = agent.desk_config();
        let desk = DeskConfig {
            quick_think_llm: own.quick_think_llm,
            deep_think_llm: own.deep_think_llm,
            selected_analysts: own.selected_analysts,
            analysis_prompt_style: own.analysis_prompt_style,
            max_debate_rounds: own.max_debate_rounds,
            max_risk_discuss_rounds: own.max_risk_discuss_rounds,
            ..DeskConfig::default()
        };
        Self {
            is_desk: agent.kind == AgentKind::Desk,
            language: agent.language,
            max_steps: agent.limits.max_steps,
            desk,
        }
    }

    /// The agent that the command makes of the same model.
    fn agent(&self, agent: &AgentConfig) -> AgentConfig {
        let model = agent.model.clone();
        let mut made = if self.is_desk {
            AgentConfig::desk(format!("desk:{model}").into(), model)
        } else {
            AgentConfig::solo(model.to_string().into(), model)
        };
        made.language = self.language;
        made.limits.max_steps = self.max_steps;
        made.desk = self.is_desk.then(|| self.desk.clone());
        made
    }

    fn changes_all(&self) -> bool {
        self.max_steps != Limits::default().max_steps || self.desk != DeskConfig::default()
    }

    fn add_to(&self, command: &mut Command) {
        let default = DeskConfig::default();
        let desk = &self.desk;
        command.option("kind", self.is_desk.then_some("desk"));
        let language = Some(self.language).filter(|language| *language != Language::DEFAULT_FOR_PROMPTS);
        command.option("language", language.map(Language::as_str));
        let max_steps = Limits::default().max_steps;
        command.option("max-steps", Some(self.max_steps).filter(|steps| *steps != max_steps));
        command.option("quick-model", desk.quick_think_llm.as_ref());
        command.option("deep-model", desk.deep_think_llm.as_ref());
        if desk.selected_analysts != default.selected_analysts {
            let names: Vec<&str> = desk.selected_analysts.iter().map(|analyst| analyst.as_str()).collect();
            command.option("analysts", Some(names.join(",")));
        }
        let style = Some(desk.analysis_prompt_style).filter(|style| *style != default.analysis_prompt_style);
        command.option("style", style.map(PromptStyle::as_str));
        let rounds = Some(desk.max_debate_rounds).filter(|rounds| *rounds != default.max_debate_rounds);
        command.option("debate-rounds", rounds);
        let rounds =
            Some(desk.max_risk_discuss_rounds).filter(|rounds| *rounds != default.max_risk_discuss_rounds);
        command.option("risk-rounds", rounds);
    }
}

/// An amount without the zeros that calculations leave.
fn plain(amount: Decimal) -> Decimal {
    amount.normalize()
}

/// A command under construction, in the syntax of a POSIX shell.
struct Command {
    text: String,
}

impl Command {
    fn new(program: &str) -> Self {
        Self { text: program.to_owned() }
    }

    fn word(&mut self, word: &str) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@+=,-".contains(c);
        self.text.push(' ');
        if !word.is_empty() && word.chars().all(is_plain) {
            self.text.push_str(word);
        } else {
            // Only a NUL cannot be quoted, and no request has one.
            self.text.push_str(&shlex::try_quote(word).unwrap_or_default());
        }
    }

    fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.word(&format!("--{name}"));
        }
    }

    /// A value that begins with a hyphen would be read as another option.
    fn option(&mut self, name: &str, value: Option<impl Display>) {
        let Some(value) = value.map(|value| value.to_string()) else { return };
        if value.starts_with('-') || value.is_empty() {
            self.word(&format!("--{name}={value}"));
        } else {
            self.word(&format!("--{name}"));
            self.word(&value);
        }
    }
}
