//! `papertape run`

use super::failure::{of_trigger, usage};
use super::output::note;
use super::way::Way;
use super::{Common, Outcome, execute, way};
use crate::config::Config;
use crate::trigger::{Request, trigger};
use crate::view::number;
use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use papertape_agents::config::AgentConfig;
use papertape_agents::memory::MemoryMode;
use papertape_core::id::{AgentName, JobId};
use papertape_core::time::{Date, parse_date};
use papertape_runtime::budget::{Budget, Limit};
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// The models of the demo, and of a run that names none.
const HOUSE: [&str; 3] = ["house::momentum", "house::contrarian", "house::buy_and_hold"];

/// What to run.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Run the demo: three house models on AAPL, GOOG, IBM and MSFT over the last quarter of 2012
    #[arg(long, conflicts_with_all = ["start", "end", "models", "symbols"])]
    demo: bool,
    /// First day; without it each agent goes on where its newest completed job ended
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    start: Option<Date>,
    /// Last day, included
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, required_unless_present = "demo")]
    end: Option<Date>,
    /// How agents work that are named by a model: solo, one conversation with tools
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Kind::Solo, hide_possible_values = true)]
    agent: Kind,
    /// A configured agent's name, or provider::model; repeat for more [default: the configured agents,
    /// else the house models]
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// What may be traded, separated by commas [default: all that the dataset has]
    #[arg(long, value_name = "SYMBOLS", value_delimiter = ',')]
    symbols: Vec<String>,
    /// The dataset's name, or six or more digits of its hash
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// The market: us_equity, cn_a_share, crypto, or one of the config's
    #[arg(long, value_name = "NAME")]
    market: Option<String>,
    /// What each agent starts with
    #[arg(long, value_name = "AMOUNT")]
    cash: Option<Decimal>,
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
    /// Do again what has been done
    #[arg(long)]
    replace: bool,
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
    if args.agent == Kind::Desk {
        return Err(usage("--agent: this version has no desk agents yet; use `--agent solo`"));
    }
    let request = args.request(&config)?;
    match way::to_write(config).await? {
        Way::Here(app) => {
            let queued = trigger(&app, request).await.map_err(of_trigger)?;
            tell(&queued.warnings, queued.skipped, queued.total_model_days);
            execute::here(&app, common, &queued.job).await
        }
        Way::There(server) => {
            let answer = server.post(&["simulate", "trigger"], &body(&request)).await?;
            let job = answer["job_id"].as_str().context("the server's answer names no job")?;
            let warnings: Vec<String> =
                serde_json::from_value(answer["warnings"].clone()).unwrap_or_default();
            tell(&warnings, 0, 1);
            execute::there(&server, common, &JobId::new(job)).await
        }
    }
}

/// What the one who asked should know before it begins.
fn tell(warnings: &[String], skipped: usize, total: usize) {
    if skipped == total {
        note!("all {total} model-days were done before: nothing is run; --replace does them again");
        return;
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
            dataset: self.dataset,
            market: self.market,
            initial_cash: self.cash,
            seed: self.seed,
            summaries: self.no_summaries.then_some(false),
            replace_existing: self.replace,
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
        if let Some(most) = self.max_steps {
            request.agents = limited(config, std::mem::take(&mut request.models), most)?;
        }
        Ok(request)
    }
}

/// The agents that are named, with another bound of model calls.
fn limited(config: &Config, mut names: Vec<String>, most: u32) -> Result<Vec<AgentConfig>> {
    let mut agents = Vec::new();
    if names.is_empty() {
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
                AgentConfig::solo(AgentName::new(&name), model)
            }
        });
    }
    for agent in &mut agents {
        agent.limits.max_steps = most;
    }
    Ok(agents)
}

/// A budget as the API takes it: amounts are numbers there.
fn budget(budget: Budget) -> Value {
    let limit = |limit: Limit| json!({ "tokens": limit.tokens, "usd": limit.usd.map(number) });
    json!({
        "job": limit(budget.job),
        "agent": limit(budget.agent),
        "day": limit(budget.day),
        "summaries": limit(budget.summaries),
    })
}

/// The request as the API takes it.
fn body(request: &Request) -> Value {
    let mut body = json!({
        "start_date": request.start_date,
        "end_date": request.end_date,
        "models": request.models,
        "agents": request.agents,
        "symbols": request.symbols,
        "dataset": request.dataset,
        "market": request.market,
        "initial_cash": request.initial_cash.map(number),
        "seed": request.seed,
        "budget": request.budget.map(budget),
        "summaries": request.summaries,
        "replace_existing": request.replace_existing,
        "memory": request.memory,
        "read_window": request.read_window,
        "read_window_after_loss": request.read_window_after_loss,
        "memory_from": request.memory_from,
    });
    if let Some(fields) = body.as_object_mut() {
        // What is not asked for is left out, but for the day on which to go on.
        fields.retain(|name, value| {
            name == "start_date" || !(value.is_null() || value.as_array().is_some_and(Vec::is_empty))
        });
    }
    body
}
