//! `papertape run`

use super::{Common, FAILED, Outcome, STOPPED};
use crate::app::{Access, App};
use crate::config::Config;
use crate::trigger::{Request, trigger};
use clap::Args;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use papertape_core::id::AgentName;
use papertape_core::money::Money;
use papertape_core::record::{DayStatus, JobStatus};
use papertape_core::time::{Date, parse_date};
use papertape_runtime::simulate::Observer;
use papertape_runtime::stopping::{StopReason, Stopper};
use rust_decimal::Decimal;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// What to run.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Run the demo: three house models on AAPL, GOOG, IBM and MSFT over the last quarter of 2012
    #[arg(long, conflicts_with_all = ["start", "end", "models", "symbols"])]
    demo: bool,
    /// First day; without it each agent goes on where its newest completed job ended
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    start: Option<Date>,
    /// Last day, included
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, required_unless_present = "demo")]
    end: Option<Date>,
    /// A configured agent's name, or provider::model as a solo agent; repeat for more
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// What may be traded, separated by commas [default: all that the dataset has]
    #[arg(long, value_name = "SYMBOLS", value_delimiter = ',')]
    symbols: Vec<String>,
    /// The dataset's name or hash prefix
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// The market profile: us_equity, cn_a_share, crypto, or one of the config's
    #[arg(long, value_name = "NAME")]
    market: Option<String>,
    /// What each agent starts with
    #[arg(long, value_name = "AMOUNT")]
    cash: Option<Decimal>,
    /// The seed of the job's randomness
    #[arg(long)]
    seed: Option<u64>,
    /// Do not summarise what agents say
    #[arg(long)]
    no_summaries: bool,
    /// Do again what has been done
    #[arg(long)]
    replace: bool,
}

/// Runs it.
pub(super) async fn run(common: &Common, config: Config, args: RunArgs) -> Outcome {
    let app = App::open(config, Access::Own).await?;
    let request = request(args);
    let queued = trigger(&app, request).await?;
    let stopper = Stopper::default();
    tokio::spawn({
        let stopper = stopper.clone();
        async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                eprintln!("stopping after the step under way; once more to stop at once");
                stopper.stop(StopReason::Shutdown);
            }
        }
    });
    let bars = Bars::new();
    let end = app.worker.run_job(&queued.job, &stopper.signal(), &bars).await?;
    drop(bars);
    let Some(end) = end else { anyhow::bail!("job {} was taken by another worker", queued.job) };
    eprintln!("job {} {}", queued.job, end.status);
    let _ = common.json;
    Ok(match end.status {
        JobStatus::Completed => ExitCode::SUCCESS,
        JobStatus::Queued | JobStatus::Cancelled | JobStatus::Partial => ExitCode::from(STOPPED),
        _ => ExitCode::from(FAILED),
    })
}

fn request(args: RunArgs) -> Request {
    let mut request = Request {
        start_date: args.start,
        end_date: args.end,
        models: args.models,
        symbols: args.symbols,
        dataset: args.dataset,
        market: args.market,
        initial_cash: args.cash,
        seed: args.seed,
        summaries: args.no_summaries.then_some(false),
        replace_existing: args.replace,
        ..Request::default()
    };
    if args.demo {
        request.start_date = Some(jiff::civil::date(2012, 10, 1));
        request.end_date = Some(jiff::civil::date(2012, 12, 31));
        request.symbols = ["AAPL", "GOOG", "IBM", "MSFT"].map(str::to_owned).to_vec();
        request.models =
            ["house::momentum", "house::contrarian", "house::buy_and_hold"].map(str::to_owned).to_vec();
    }
    request
}

/// A progress bar an agent.
struct Bars {
    all: MultiProgress,
    bars: std::sync::Mutex<BTreeMap<AgentName, ProgressBar>>,
}

impl Bars {
    fn new() -> Self {
        Self { all: MultiProgress::new(), bars: std::sync::Mutex::default() }
    }
}

impl Observer for Bars {
    fn day_ended(&self, agent: &AgentName, date: Date, _: DayStatus, value: Money) {
        let mut bars = self.bars.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bar = bars.entry(agent.clone()).or_insert_with(|| {
            let style = ProgressStyle::with_template("{prefix:24} {pos} days {msg}");
            let bar = self.all.add(ProgressBar::new_spinner());
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.with_prefix(agent.to_string())
        });
        bar.inc(1);
        bar.set_message(format!("{date}  {}", value.0.round_dp(2)));
    }
}
