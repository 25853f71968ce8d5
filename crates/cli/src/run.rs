//! `papertape run`

use super::failure::{of_trigger, usage};
use super::output::note;
use super::record_access::RecordAccess;
use super::{Common, Outcome, execute, record_access};
use anyhow::Result;
use clap::{Args, ValueEnum};
use papertape_agents::config::{AgentConfig, AgentKind};
use papertape_agents::desk::config::{Analyst, DeskConfig, PromptStyle};
use papertape_agents::memory::MemoryMode;
use papertape_core::broker::CostModel;
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::ModelName;
use papertape_core::time::{Date, parse_date};
use papertape_protocol::simulate::QueuedResponse;
use papertape_runtime::budget::Budget;
use papertape_service::config::Config;
use papertape_service::trigger::{Request, trigger};
use rust_decimal::Decimal;

/// The models of the demo, and of a run that names none.
const HOUSE: [&str; 3] = ["house::momentum", "house::contrarian", "house::buy_and_hold"];

/// What to run.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Run the demo: three house models on AAPL, GOOG, IBM and MSFT over the last quarter of 2012
    #[arg(long, conflicts_with_all = ["start", "end", "models", "symbols", "universe"])]
    demo: bool,
    /// First day; without it each agent goes on where its newest completed job ended
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    start: Option<Date>,
    /// Last day, included
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, required_unless_present = "demo")]
    end: Option<Date>,
    /// How agents work that are named by a model: solo, one conversation with tools; desk, analysts, a
    /// debate, a trader, a risk debate and a portfolio manager for each symbol
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Solo, hide_possible_values = true)]
    agent: Kind,
    /// A configured agent's name, or provider::model; repeat for more [default: the configured agents,
    /// else the house models]
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    #[command(flatten)]
    desk: DeskArgs,
    /// What may be traded, separated by commas [default: all that the dataset has]
    #[arg(long, value_name = "SYMBOLS", value_delimiter = ',')]
    symbols: Vec<String>,
    /// Trade the members that an index of the dataset has on each day, such as SP500
    #[arg(long, value_name = "INDEX", conflicts_with = "symbols")]
    universe: Option<String>,
    /// The dataset's name, or six or more digits of its hash
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// The market: us_equity, cn_a_share, crypto, or one of the config's; by default the dataset's own
    #[arg(long, value_name = "NAME")]
    market: Option<String>,
    /// Trade without fees, slippage, borrow fees and participation cap; results are labeled so
    #[arg(long)]
    frictionless: bool,
    /// What each agent starts with
    #[arg(long, value_name = "AMOUNT")]
    cash: Option<Decimal>,
    /// Compare results with this symbol or index of the dataset; it changes nothing that agents see
    #[arg(long, value_name = "SYMBOL")]
    benchmark: Option<String>,
    /// The seed of the job's randomness
    #[arg(long)]
    seed: Option<u64>,
    /// The most model calls of an agent's day
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    /// The most tokens of the job, summaries left out
    #[arg(long, value_name = "COUNT")]
    budget_tokens: Option<u64>,
    /// The most US dollars of the job, summaries left out
    #[arg(long, value_name = "AMOUNT")]
    budget_usd: Option<Decimal>,
    /// Which of the traders' memories are on: off, rounds, rounds+open, all [default: all]
    #[arg(long, value_name = "SETTING")]
    memory: Option<MemoryMode>,
    /// How many of its last rounds a trader reads, 0 to 10 [default: 2]
    #[arg(long, value_name = "COUNT")]
    read_window: Option<u32>,
    /// The same for the session after a losing close [default: 2]
    #[arg(long, value_name = "COUNT")]
    read_window_after_loss: Option<u32>,
    /// Begin with what the agents of the same names had learnt in another job before the start
    #[arg(long, value_name = "JOB")]
    memory_from: Option<String>,
    /// Do not summarise what agents say
    #[arg(long)]
    no_summaries: bool,
    /// Run again what has been done, and let the new days count instead
    #[arg(long)]
    replace: bool,
    /// Of the days that are done, run again those from the first degraded one on
    #[arg(long, conflicts_with = "replace")]
    rerun_degraded: bool,
}

/// What a desk is to be; all else as its config has it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Desk (with --agent desk, or for configured desks)")]
struct DeskArgs {
    /// The model of analysts, researchers, Trader and risk analysts [default: the agent's]
    #[arg(long, value_name = "PROVIDER::MODEL")]
    quick: Option<ModelName>,
    /// The model of the Research Manager and the Portfolio Manager [default: the agent's]
    #[arg(long, value_name = "PROVIDER::MODEL")]
    deep: Option<ModelName>,
    /// The analysts, separated by commas: market, social, news, fundamentals [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    analysts: Vec<Analyst>,
    /// How analyses are to read: standard, compact or detailed [default: standard]
    #[arg(long, value_name = "STYLE", value_parser = style)]
    style: Option<PromptStyle>,
    /// How often Bull and Bear speak each [default: 1]
    #[arg(long, value_name = "COUNT")]
    debate_rounds: Option<u32>,
    /// How often each risk analyst speaks [default: 1]
    #[arg(long, value_name = "COUNT")]
    risk_rounds: Option<u32>,
}

/// Reads a prompt style.
pub(super) fn style(text: &str) -> Result<PromptStyle, String> {
    [PromptStyle::Standard, PromptStyle::Compact, PromptStyle::Detailed]
        .into_iter()
        .find(|style| style.as_str() == text)
        .ok_or_else(|| format!("`{text}` is no style; there are: standard, compact, detailed"))
}

impl DeskArgs {
    fn is_given(&self) -> bool {
        self.quick.is_some()
            || self.deep.is_some()
            || !self.analysts.is_empty()
            || self.style.is_some()
            || self.debate_rounds.is_some()
            || self.risk_rounds.is_some()
    }

    /// A desk's settings with these in place of its own.
    fn over(&self, mut desk: DeskConfig) -> DeskConfig {
        desk.quick_think_llm = self.quick.clone().or(desk.quick_think_llm);
        desk.deep_think_llm = self.deep.clone().or(desk.deep_think_llm);
        if !self.analysts.is_empty() {
            desk.selected_analysts = self.analysts.iter().copied().collect();
        }
        desk.analysis_prompt_style = self.style.unwrap_or(desk.analysis_prompt_style);
        desk.max_debate_rounds = self.debate_rounds.unwrap_or(desk.max_debate_rounds);
        desk.max_risk_discuss_rounds = self.risk_rounds.unwrap_or(desk.max_risk_discuss_rounds);
        desk
    }
}

/// How an agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// One conversation with tools
    Solo,
    /// A desk of analysts, researchers and a trader
    Desk,
}

/// Runs it.
pub(super) async fn run(common: &Common, config: Config, args: RunArgs) -> Outcome {
    let request = args.request(&config)?;
    match record_access::to_write(common, config).await? {
        RecordAccess::Local(app) => {
            let queued = trigger(&app, request).await.map_err(of_trigger)?;
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

/// What the one who asked should know before it begins.
fn print_warnings(warnings: &[String], skipped: usize, total: usize) {
    if skipped == total {
        note!("all {total} model-days were done before: nothing is run; --replace runs them again");
    }
    for warning in warnings {
        note!("note: {warning}");
    }
}

impl RunArgs {
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
            summaries: self.no_summaries.then_some(false),
            replace_existing: self.replace,
            rerun_degraded: self.rerun_degraded,
            memory: self.memory,
            read_window: self.read_window,
            read_window_after_loss: self.read_window_after_loss,
            memory_from: self.memory_from.map(JobId::new),
            ..Request::default()
        };
        if self.demo {
            request.start_date = Some(jiff::civil::date(2012, 10, 1));
            request.end_date = Some(jiff::civil::date(2012, 12, 31));
            request.symbols = ["AAPL", "GOOG", "IBM", "MSFT"].map(str::to_owned).to_vec();
            request.models = HOUSE.map(str::to_owned).to_vec();
        }
        if self.budget_tokens.is_some() || self.budget_usd.is_some() {
            let mut budget: Budget = config.simulation.budget;
            budget.job.tokens = self.budget_tokens.or(budget.job.tokens);
            budget.job.usd = self.budget_usd.or(budget.job.usd);
            request.budget = Some(budget);
        }
        let is_shaped = self.agent == Kind::Desk || self.desk.is_given() || self.max_steps.is_some();
        if is_shaped {
            let names = std::mem::take(&mut request.models);
            request.agents = shaped(config, names, (self.agent, &self.desk, self.max_steps))?;
        }
        Ok(request)
    }
}

/// The agents that are named, given whole: of this kind where a model names them, with these settings.
fn shaped(
    config: &Config,
    mut names: Vec<String>,
    (kind, desk, most): (Kind, &DeskArgs, Option<u32>),
) -> Result<Vec<AgentConfig>> {
    let mut agents = Vec::new();
    if names.is_empty() && kind == Kind::Solo {
        agents.clone_from(&config.agents);
    }
    if names.is_empty() && agents.is_empty() {
        names = HOUSE.map(str::to_owned).to_vec();
    }
    for name in names {
        let configured = config.agents.iter().find(|agent| agent.name.as_str() == name);
        agents.push(match configured {
            Some(agent) => agent.clone(),
            None => {
                let model = name.parse().map_err(|error: String| usage(format!("--model: {error}")))?;
                match kind {
                    Kind::Solo => AgentConfig::solo(AgentName::new(&name), model),
                    Kind::Desk => AgentConfig::desk(AgentName::new(format!("desk:{name}")), model),
                }
            }
        });
    }
    for agent in &mut agents {
        agent.limits.max_steps = most.unwrap_or(agent.limits.max_steps);
        if desk.is_given() {
            if agent.kind != AgentKind::Desk {
                return Err(usage(format!(
                    "--quick, --deep, --analysts, --style and rounds are for desks, and {} is none; add --agent \
                     desk",
                    agent.name
                )));
            }
            agent.desk = Some(desk.over(agent.desk_config()));
        }
    }
    Ok(agents)
}
