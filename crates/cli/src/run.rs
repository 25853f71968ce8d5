//! `papertape run`

use super::args::{parse_amount, parse_budget, whole};
use super::failure::{service_error, usage};
use super::output::{json, note};
use super::record_access::RecordAccess;
use super::{Common, Outcome, execute, experiment_run, record_access};
use anyhow::Result;
use clap::{Args, ValueEnum};
use papertape_agents::config::{
    AgentConfig, AgentKind, Analyst, DEFAULT_MODELS, DeskConfig, ExternalConfig, MAX_ROUNDS, MAX_WINDOW,
    MemoryMode, PromptStyle,
};
use papertape_core::broker::CostModel;
use papertape_core::id::{AgentName, ExperimentId, JobId};
use papertape_core::language::Language;
use papertape_core::market::MaskKind;
use papertape_core::message::ModelName;
use papertape_core::part::MAX_PARTS;
use papertape_core::time::{Date, parse_date};
use papertape_protocol::experiments::{EstimateResponse, MAX_TRIALS, QueuedExperimentResponse, WindowsBody};
use papertape_protocol::simulate::QueuedResponse;
use papertape_runtime::budget::Budget;
use papertape_service::config::Config;
use papertape_service::experiments::{self, ExperimentRequest};
use papertape_service::trigger::{Request, trigger};
use papertape_service::view;
use rust_decimal::Decimal;
use std::io::IsTerminal as _;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Run the demo: three house models, four symbols, the last quarter of 2012
    #[arg(long, conflicts_with_all = ["start", "end", "models", "symbols", "universe"])]
    demo: bool,
    /// First day [default: the day after each agent's newest completed job]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    start: Option<Date>,
    /// Last day, inclusive
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, required_unless_present = "demo")]
    end: Option<Date>,
    /// Kind of agents that models run as: solo (one conversation) or desk (a team of roles)
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Solo, hide_possible_values = true)]
    kind: Kind,
    /// Language of the prompts of agents that models run as: en or zh [default: en]
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<Language>,
    /// Agent to run: a configured name, or provider::model; repeat for more [default: the configured agents, else the
    /// house models]
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// External agent to run: a configured name, or tradingagents; repeat for more
    #[arg(long = "agent", value_name = "NAME", conflicts_with = "demo")]
    external: Vec<String>,
    /// Run the external agents in a sandbox, whatever the config says
    #[arg(long, requires = "external")]
    sandbox: bool,
    /// Symbols to trade, separated by commas [default: all of the dataset]
    #[arg(long, value_name = "SYMBOLS", value_delimiter = ',')]
    symbols: Vec<String>,
    /// Trade each day's members of an index of the dataset, such as SP500
    #[arg(long, value_name = "INDEX", conflicts_with = "symbols")]
    universe: Option<String>,
    /// The dataset's name, or six or more digits of its hash
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Market profile: us_equity, cn_a_share, crypto, or a configured one [default: the dataset's]
    #[arg(long, value_name = "NAME")]
    market: Option<String>,
    /// Trade without fees, slippage, borrow fees or a participation cap
    #[arg(long)]
    frictionless: bool,
    /// Initial cash of each agent, in the market's currency
    #[arg(long, value_name = "AMOUNT", value_parser = parse_amount, allow_negative_numbers = true)]
    cash: Option<Decimal>,
    /// Compare results with this symbol or index of the dataset
    #[arg(long, value_name = "SYMBOL")]
    benchmark: Option<String>,
    /// Mask the data against memorization: dates, entities (symbols, names and prices) or all
    #[arg(long, value_name = "MASK", value_parser = mask, conflicts_with = "vary")]
    mask: Option<MaskKind>,
    /// Run each agent this many times, each time with another seed, as one experiment. Rule-based agents run once
    #[arg(long, value_name = "COUNT", value_parser = whole(1..=MAX_TRIALS))]
    trials: Option<u32>,
    /// Run an experiment over windows of trading days that are evenly spaced from --start to --end, such as 5x60d
    #[arg(long, value_name = "COUNTxDAYSd", value_parser = windows)]
    windows: Option<WindowsBody>,
    /// What the experiment compares: all_pairs, or all agents against an agent or buy_and_hold [default: all_pairs]
    #[arg(long, value_name = "NAME")]
    compare: Option<String>,
    /// Vary one condition in one experiment: mask runs the arms none, dates, entities and all
    #[arg(long, value_name = "NAME", value_parser = ["mask"])]
    vary: Option<String>,
    /// Print the estimate of calls, tokens and cost, and run nothing
    #[arg(long)]
    estimate: bool,
    /// Start an experiment without confirmation. Outside a terminal, this is the default
    #[arg(long)]
    yes: bool,
    /// Random seed
    #[arg(long, value_parser = whole(0_u64..))]
    seed: Option<u64>,
    /// Max model calls per agent and day
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..))]
    max_steps: Option<u32>,
    /// Max tokens of the job, or of all jobs of an experiment together, without summaries
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u64..), allow_negative_numbers = true)]
    budget_tokens: Option<u64>,
    /// The same as model cost in US dollars, without summaries
    #[arg(long, value_name = "AMOUNT", value_parser = parse_budget, allow_negative_numbers = true)]
    budget_usd: Option<Decimal>,
    /// Traders' memories: off, rounds, rounds+open or all [default: all]
    #[arg(long, value_name = "SETTING")]
    memory: Option<MemoryMode>,
    /// Recent rounds that a trader reads, 0 to 10 [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole(0..=MAX_WINDOW))]
    read_window: Option<u32>,
    /// The same for the session after a losing close [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole(0..=MAX_WINDOW))]
    read_window_after_loss: Option<u32>,
    /// Start with the memories that agents of the same names have from another job
    #[arg(long, value_name = "JOB")]
    memory_from: Option<String>,
    /// Do not summarize sessions
    #[arg(long)]
    no_summaries: bool,
    /// Split the agents into parts that different workers run [default: worker.parts]
    #[arg(long, value_name = "COUNT", value_parser = whole(1..=MAX_PARTS))]
    parts: Option<u32>,
    /// Run completed days again, and replace their results
    #[arg(long)]
    replace: bool,
    /// Run completed days again from the first degraded one
    #[arg(long, conflicts_with = "replace")]
    rerun_degraded: bool,
    // Last, since its heading applies to every option that follows.
    #[command(flatten)]
    desk: DeskArgs,
}

/// A desk's settings; the others come from the config.
#[derive(Debug, Args)]
#[command(next_help_heading = "Desk options (with --kind desk, or for configured desks)")]
struct DeskArgs {
    /// Model of the analysts, researchers, Trader and risk analysts [default: the agent's]
    #[arg(long, value_name = "PROVIDER::MODEL")]
    quick_model: Option<ModelName>,
    /// Model of the Research Manager and the Portfolio Manager [default: the agent's]
    #[arg(long, value_name = "PROVIDER::MODEL")]
    deep_model: Option<ModelName>,
    /// Analysts: market, social, news, fundamentals [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    analysts: Vec<Analyst>,
    /// Style of the analyses: standard, compact or detailed [default: standard]
    #[arg(long, value_name = "STYLE", value_parser = style)]
    style: Option<PromptStyle>,
    /// How many times Bull and Bear each speak [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = whole(1..=MAX_ROUNDS))]
    debate_rounds: Option<u32>,
    /// How many times each risk analyst speaks [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = whole(1..=MAX_ROUNDS))]
    risk_rounds: Option<u32>,
}

/// Parses a prompt style.
pub(super) fn style(text: &str) -> Result<PromptStyle, String> {
    [PromptStyle::Standard, PromptStyle::Compact, PromptStyle::Detailed]
        .into_iter()
        .find(|style| style.as_str() == text)
        .ok_or_else(|| format!("unknown style `{text}`; expected one of standard, compact, detailed"))
}

impl DeskArgs {
    fn is_set(&self) -> bool {
        self.quick_model.is_some()
            || self.deep_model.is_some()
            || !self.analysts.is_empty()
            || self.style.is_some()
            || self.debate_rounds.is_some()
            || self.risk_rounds.is_some()
    }

    /// Overrides a desk's settings with the options that are set.
    fn apply(&self, mut desk: DeskConfig) -> DeskConfig {
        desk.quick_think_llm = self.quick_model.clone().or(desk.quick_think_llm);
        desk.deep_think_llm = self.deep_model.clone().or(desk.deep_think_llm);
        if !self.analysts.is_empty() {
            desk.selected_analysts = self.analysts.iter().copied().collect();
        }
        desk.analysis_prompt_style = self.style.unwrap_or(desk.analysis_prompt_style);
        desk.max_debate_rounds = self.debate_rounds.unwrap_or(desk.max_debate_rounds);
        desk.max_risk_discuss_rounds = self.risk_rounds.unwrap_or(desk.max_risk_discuss_rounds);
        desk
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Solo,
    Desk,
}

/// Parses windows of the form `5x60d`.
fn windows(text: &str) -> Result<WindowsBody, String> {
    let parts = text.strip_suffix('d').and_then(|text| text.split_once('x'));
    let parsed = parts.and_then(|(count, days)| Some((count.parse().ok()?, days.parse().ok()?)));
    match parsed {
        Some((count, days)) if count > 0 && days > 0 => Ok(WindowsBody { count, days }),
        _ => Err("expected the number of windows and their trading days, such as 5x60d".to_owned()),
    }
}

/// Parses a mask; `None` would be the same as no option.
fn mask(text: &str) -> Result<MaskKind, String> {
    text.parse()
}

pub(super) async fn run(common: &Common, config: Config, args: RunArgs) -> Outcome {
    let is_experiment = args.is_experiment();
    let (trials, windows, compare) = (args.trials.unwrap_or(1), args.windows, args.compare.clone());
    let masks = match args.vary {
        Some(_) => std::iter::once(None).chain(MaskKind::ALL.map(Some)).collect(),
        None => Vec::new(),
    };
    let before = if args.estimate { Before::EstimateOnly } else { Before::start(args.yes) };
    let request = args.request(&config)?;
    if is_experiment {
        let experiment = ExperimentRequest { simulation: request, trials, windows, compare, masks };
        return run_experiment(common, config, &experiment, before).await;
    }
    match record_access::open_for_writing(common, config).await? {
        RecordAccess::Local(app) => {
            let queued = trigger(&app, request).await.map_err(service_error)?;
            print_warnings(&queued.warnings, queued.skipped, queued.total_model_days);
            execute::run_local(&app, common, &queued.job).await
        }
        RecordAccess::Remote(server) => {
            let end = request.end_date.ok_or_else(|| usage("--end: give the last day"))?;
            let queued: QueuedResponse = server.post(&["simulate", "trigger"], &request.to_body(end)).await?;
            print_warnings(&queued.warnings, 0, 1);
            execute::run_remote(&server, common, &JobId::new(queued.job_id)).await
        }
    }
}

/// What to do with an experiment's estimate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Print it and run nothing.
    EstimateOnly,
    /// Print it and ask, if the experiment calls language models.
    Ask,
    /// Print it and start.
    Start,
}

impl Before {
    /// Asks only in a terminal.
    fn start(is_confirmed: bool) -> Self {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if is_terminal && !is_confirmed { Self::Ask } else { Self::Start }
    }

    /// Prints the estimate. Returns whether to start.
    fn decide(self, common: &Common, found: &EstimateResponse) -> Result<bool> {
        if self == Self::EstimateOnly && common.json {
            json(found)?;
            return Ok(false);
        }
        super::experiments::print_estimate(&found.manifest, &found.estimate, &found.warnings);
        match self {
            Self::EstimateOnly => Ok(false),
            Self::Ask if found.estimate.calls > 0 => {
                note!("start? [y/N]");
                let mut line = String::new();
                std::io::stdin().read_line(&mut line)?;
                Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
            }
            Self::Ask | Self::Start => Ok(true),
        }
    }
}

async fn run_experiment(
    common: &Common,
    config: Config,
    request: &ExperimentRequest,
    before: Before,
) -> Outcome {
    match record_access::open_for_writing(common, config).await? {
        RecordAccess::Local(app) => {
            let (manifest, estimate, warnings) =
                experiments::estimate(&app, request).await.map_err(service_error)?;
            let deployment = view::deployment(&app);
            if !before.decide(common, &EstimateResponse { manifest, estimate, warnings, deployment })? {
                return Ok(ExitCode::SUCCESS);
            }
            let queued = experiments::create(&app, request).await.map_err(service_error)?;
            experiment_run::run_local(&app, common, &queued.id).await
        }
        RecordAccess::Remote(server) => {
            let body = request.to_body().map_err(service_error)?;
            let found: EstimateResponse = server.post(&["experiments", "estimate"], &body).await?;
            if !before.decide(common, &found)? {
                return Ok(ExitCode::SUCCESS);
            }
            let queued: QueuedExperimentResponse = server.post(&["experiments"], &body).await?;
            experiment_run::run_remote(&server, common, &ExperimentId::new(queued.experiment_id)).await
        }
    }
}

fn print_warnings(warnings: &[String], skipped: usize, total: usize) {
    if skipped == total {
        note!("all {total} model-days are already completed; to run them again, use --replace");
    }
    for warning in warnings {
        note!("note: {warning}");
    }
}

impl RunArgs {
    /// Whether these options ask for an experiment. A single trial of one range is an ordinary run.
    pub(super) fn is_experiment(&self) -> bool {
        self.trials.is_some_and(|trials| trials > 1)
            || self.windows.is_some()
            || self.compare.is_some()
            || self.vary.is_some()
            || self.estimate
    }

    pub(super) fn request(self, config: &Config) -> Result<Request> {
        let mut request = Request {
            start_date: self.start,
            end_date: self.end,
            models: self.models,
            symbols: self.symbols,
            universe: self.universe,
            dataset: self.dataset,
            market: self.market,
            costs: self.frictionless.then_some(CostModel::Frictionless),
            initial_cash: self.cash,
            benchmark: self.benchmark,
            seed: self.seed,
            masking: self.mask,
            summaries: self.no_summaries.then_some(false),
            replace_existing: self.replace,
            rerun_degraded: self.rerun_degraded,
            memory: self.memory,
            read_window: self.read_window,
            read_window_after_loss: self.read_window_after_loss,
            memory_from: self.memory_from.map(JobId::new),
            parts: self.parts,
            ..Request::default()
        };
        if self.demo {
            request.start_date = Some(jiff::civil::date(2012, 10, 1));
            request.end_date = Some(jiff::civil::date(2012, 12, 31));
            request.symbols = ["AAPL", "GOOG", "IBM", "MSFT"].map(str::to_owned).to_vec();
            request.models = DEFAULT_MODELS.map(str::to_owned).to_vec();
        }
        if self.budget_tokens.is_some() || self.budget_usd.is_some() {
            let mut budget: Budget = config.simulation.budget;
            budget.job.tokens = self.budget_tokens.or(budget.job.tokens);
            budget.job.usd = self.budget_usd.or(budget.job.usd);
            request.budget = Some(budget);
        }
        let has_own_kind = self.kind == Kind::Desk
            || self.desk.is_set()
            || self.max_steps.is_some()
            || self.language.is_some();
        // These flags apply to models. A run of only external agents has none.
        if has_own_kind && (self.external.is_empty() || !request.models.is_empty()) {
            let names = std::mem::take(&mut request.models);
            request.agents = agents(config, names, (self.kind, &self.desk, self.max_steps), self.language)?;
        }
        for name in self.external {
            let external = ExternalConfig { sandbox: self.sandbox, ..ExternalConfig::new(&name) };
            request.agents.push(AgentConfig::external(AgentName::new(&name), external));
        }
        Ok(request)
    }
}

/// The full configs of the named agents. A model's name becomes an agent of this kind.
fn agents(
    config: &Config,
    mut names: Vec<String>,
    (kind, desk, max_steps): (Kind, &DeskArgs, Option<u32>),
    language: Option<Language>,
) -> Result<Vec<AgentConfig>> {
    let mut agents = Vec::new();
    if names.is_empty() && kind == Kind::Solo {
        agents.clone_from(&config.agents);
    }
    if names.is_empty() && agents.is_empty() {
        names = DEFAULT_MODELS.map(str::to_owned).to_vec();
    }
    for name in names {
        let configured = config.agents.iter().find(|agent| agent.name.as_str() == name);
        agents.push(match configured {
            Some(agent) => agent.clone(),
            None => {
                let model = name.parse().map_err(|error: String| usage(format!("--model: {error}")))?;
                let agent = match kind {
                    Kind::Solo => AgentConfig::solo(AgentName::new(&name), model),
                    Kind::Desk => AgentConfig::desk(AgentName::new(format!("desk:{name}")), model),
                };
                AgentConfig { language: language.unwrap_or(agent.language), ..agent }
            }
        });
    }
    for agent in &mut agents {
        agent.limits.max_steps = max_steps.unwrap_or(agent.limits.max_steps);
        if desk.is_set() {
            if agent.kind != AgentKind::Desk {
                return Err(usage(format!(
                    "--quick-model, --deep-model, --analysts, --style and rounds apply only to desks, and {} is not one; \
                     add --kind desk",
                    agent.name
                )));
            }
            agent.desk = Some(desk.apply(agent.desk_config()));
        }
    }
    Ok(agents)
}
