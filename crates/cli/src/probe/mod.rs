//! `papertape probe`: tests whether a model recalls the prices that a backtest runs on.

mod counterfactual;

use crate::args::{parse_budget, whole};
use crate::execute::run_quietly;
use crate::failure::{FAILED, STOPPED, no_job, service_error};
use crate::output::{count, json, layout, note, only_json, say, terminal_width, width, wrap};
use crate::record_access::{self, RecordAccess, find_any_job};
use crate::{Common, Outcome, signals};
use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use papertape_core::id::JobId;
use papertape_core::message::ModelName;
use papertape_core::ports::Queue as _;
use papertape_core::record::{JobKind, JobStatus};
use papertape_core::time::{Date, parse_date};
use papertape_protocol::fields::JsonObject;
use papertape_protocol::probes::{
    EstimateProbeResponse, ProbeBody, ProbeKindBody, ProbeKindResult, ProbeResponse, ProbeScore,
    QueuedProbeResponse,
};
use papertape_protocol::simulate::LimitBody;
use papertape_runtime::budget::Limit;
use papertape_runtime::cancellation::CancelSource;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::probes::counterfactual::CounterfactualRequest;
use papertape_service::{probes, view};
use rust_decimal::Decimal;
use std::process::ExitCode;
use std::time::Duration;

/// The interval at which a probe that runs elsewhere is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

#[derive(Debug, Args)]
pub(super) struct ProbeArgs {
    #[command(subcommand)]
    command: ProbeCommand,
}

#[derive(Debug, Subcommand)]
enum ProbeCommand {
    /// Quiz a model about the prices of a dataset
    Memory(Box<MemoryArgs>),
    /// Show a probe and its result
    Show(ShowArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "The quiz is about directions, price levels, dates and companies. Its score is the accuracy minus \
    that on controls which cannot be answered from memory. Every call is recorded: after a crash, `papertape resume` \
    repeats no call that has an outcome. See docs/memory-probe.md."
)]
struct MemoryArgs {
    /// Model to probe
    #[arg(long, value_name = "PROVIDER::MODEL")]
    model: ModelName,
    /// Dataset [default: the config's]
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,
    /// Symbols in the quiz [default: all of the dataset]
    #[arg(long, value_name = "SYMBOLS", value_delimiter = ',')]
    symbols: Vec<String>,
    /// First day of the prices
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    start: Option<Date>,
    /// Last day of the prices, inclusive
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    end: Option<Date>,
    /// Kinds of items: direction, level, date, company [default: all]
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',', hide_possible_values = true)]
    kinds: Vec<Kind>,
    /// Max items of a kind, with as many controls [default: 310]
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..=10_000))]
    items: Option<u32>,
    /// Seed of the items [default: 0]
    #[arg(long, value_name = "SEED", value_parser = whole(0_u64..=i64::MAX as u64))]
    seed: Option<u64>,
    /// Send no temperature, for models that accept only their default
    #[arg(long)]
    default_temperature: bool,
    /// Max output tokens of a response [default: 1024]
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..=100_000))]
    max_tokens: Option<u32>,
    /// Max concurrent items [default: 8]
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..=256))]
    parallel: Option<u32>,
    /// Model cost budget in US dollars
    #[arg(long, value_name = "AMOUNT", value_parser = parse_budget, allow_negative_numbers = true)]
    budget: Option<Decimal>,
    /// Token budget
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u64..))]
    budget_tokens: Option<u64>,
    /// Print the estimated calls, tokens and cost, and ask nothing
    #[arg(long)]
    estimate: bool,
    /// Instead of a quiz, let a solo agent of the model trade a resampled future from --start to --end
    #[arg(long, requires_all = ["start", "end"], conflicts_with_all = ["kinds", "items", "default_temperature", "max_tokens", "parallel"])]
    counterfactual: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Direction,
    Level,
    Date,
    Company,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// The probe's job
    job: String,
}

impl MemoryArgs {
    fn body(&self) -> ProbeBody {
        let kind = |kind: &Kind| match kind {
            Kind::Direction => ProbeKindBody::Direction,
            Kind::Level => ProbeKindBody::Level,
            Kind::Date => ProbeKindBody::Date,
            Kind::Company => ProbeKindBody::Company,
        };
        let limit = LimitBody { tokens: self.budget_tokens, usd: self.budget };
        ProbeBody {
            model: self.model.to_string(),
            dataset: self.dataset.clone(),
            symbols: (!self.symbols.is_empty()).then(|| self.symbols.clone()),
            start_date: self.start,
            end_date: self.end,
            kinds: (!self.kinds.is_empty()).then(|| self.kinds.iter().map(kind).collect()),
            items: self.items,
            seed: self.seed,
            default_temperature: self.default_temperature.then_some(true),
            max_tokens: self.max_tokens,
            parallel: self.parallel,
            budget: (limit.tokens.is_some() || limit.usd.is_some()).then_some(JsonObject(limit)),
        }
    }
}

pub(super) async fn probe(common: &Common, config: Config, args: ProbeArgs) -> Outcome {
    match args.command {
        ProbeCommand::Memory(args) => Box::pin(memory(common, config, &args)).await,
        ProbeCommand::Show(args) => {
            let app = record_access::open_read_only(common, config).await?;
            let job = find_any_job(&app, &args.job).await?;
            let row = app.store.get_job(&job).await?.ok_or_else(|| no_job(&args.job))?;
            if row.kind == JobKind::Simulate {
                return counterfactual::show(&app, common, &job).await;
            }
            let found = view::probe(&app, job.as_str()).await.map_err(service_error)?;
            if common.json {
                return only_json(&found);
            }
            print(&found)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn memory(common: &Common, config: Config, args: &MemoryArgs) -> Outcome {
    if let (true, Some(start), Some(end)) = (args.counterfactual, args.start, args.end) {
        let limit = Limit { tokens: args.budget_tokens, usd: args.budget };
        let request = CounterfactualRequest {
            model: args.model.clone(),
            dataset: args.dataset.clone(),
            symbols: args.symbols.clone(),
            start,
            end,
            seed: args.seed.unwrap_or_default(),
            budget: (limit != Limit::default()).then_some(limit),
        };
        return Box::pin(counterfactual::run(common, config, &request, args.estimate)).await;
    }
    let body = args.body();
    match record_access::open_for_writing(common, config).await? {
        RecordAccess::Local(app) => {
            let prepared = probes::prepare(&app, body.clone()).map_err(service_error)?;
            let found = EstimateProbeResponse {
                estimate: prepared.estimate,
                training_cutoff: prepared.training_cutoff,
                warnings: prepared.warnings,
                deployment: view::deployment(&app),
            };
            if args.estimate {
                return estimate_only(common, &found);
            }
            print_estimate(&found);
            let (job, _) = probes::create(&app, body).await.map_err(service_error)?;
            run_local(&app, common, &job).await
        }
        RecordAccess::Remote(server) => {
            let found: EstimateProbeResponse = server.post(&["probes", "estimate"], &body).await?;
            if args.estimate {
                return estimate_only(common, &found);
            }
            print_estimate(&found);
            let queued: QueuedProbeResponse = server.post(&["probes"], &body).await?;
            let app = record_access::open_read_only(common, server.config.clone()).await?;
            follow(&app, common, &JobId::new(queued.job_id), Some(server.url())).await
        }
    }
}

fn estimate_only(common: &Common, found: &EstimateProbeResponse) -> Outcome {
    if common.json {
        return only_json(found);
    }
    print_estimate(found);
    Ok(ExitCode::SUCCESS)
}

/// Runs a queued probe in this process and prints its result.
pub(super) async fn run_local(app: &App, common: &Common, job: &JobId) -> Outcome {
    let cancel = CancelSource::default();
    let id = job.clone();
    signals::listen(&cancel, move || {
        note!("probe {id} stops after its current calls; press Ctrl-C again to stop immediately");
    })?;
    note!("probe {job} runs; if it is interrupted, resume it:\n  papertape resume {job}");
    run_quietly(app, job, &cancel).await?;
    finish(app, common, job, false).await
}

/// Follows a probe that the server runs and prints its result.
pub(super) async fn follow(app: &App, common: &Common, job: &JobId, server: Option<&str>) -> Outcome {
    let cancel = CancelSource::default();
    signals::listen(&cancel, || {})?;
    note!("probe {job} runs in the server{}", server.map(|url| format!(" at {url}")).unwrap_or_default());
    let stop = cancel.signal();
    loop {
        let found = view::probe(app, job.as_str()).await.map_err(service_error)?;
        if found.status.is_stopped() {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            _ = stop.stopped() => break,
        }
    }
    finish(app, common, job, true).await
}

async fn finish(app: &App, common: &Common, job: &JobId, is_remote: bool) -> Outcome {
    let found = view::probe(app, job.as_str()).await.map_err(service_error)?;
    if common.json {
        json(&found)?;
    } else {
        print(&found)?;
    }
    let reason = found.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    Ok(match found.status {
        JobStatus::Completed => {
            note!("probe {job} completed; to show it again:\n  papertape probe show {job}");
            ExitCode::SUCCESS
        }
        JobStatus::Queued | JobStatus::Running if is_remote => {
            note!("probe {job} continues in the server; to stop it:\n  papertape cancel {job}");
            ExitCode::from(STOPPED)
        }
        JobStatus::Failed => {
            note!("probe {job} failed{reason}");
            ExitCode::from(FAILED)
        }
        _ => {
            note!("probe {job} {}{reason}; to resume it:\n  papertape resume {job}", found.status);
            ExitCode::from(STOPPED)
        }
    })
}

fn print_estimate(found: &EstimateProbeResponse) {
    let estimate = &found.estimate;
    let kinds: Vec<String> = estimate
        .kinds
        .iter()
        .map(|kind| format!("{} {} + {}", kind.kind, kind.items, kind.controls))
        .collect();
    note!("items + controls: {} ({})", kinds.join(", "), controls(&estimate.controls));
    let cost = match (estimate.cost_usd, estimate.max_cost_usd) {
        (Some(cost), Some(max)) => format!("${cost}, at most ${max}"),
        _ => "unknown cost: the model has no price".to_owned(),
    };
    note!(
        "an estimate: {} calls, {} input and {} output tokens, {cost}",
        count(estimate.calls),
        count(estimate.input_tokens),
        count(estimate.output_tokens)
    );
    for warning in
        found.warnings.iter().chain(found.training_cutoff.iter().filter_map(|cutoff| cutoff.warning.as_ref()))
    {
        note!("note: {warning}");
    }
}

fn controls(name: &str) -> &'static str {
    match name {
        "after_cutoff" => "controls: months after the training cut-off",
        _ => "controls: sign-flipped and time-reversed charts",
    }
}

const COLUMNS: [&str; 8] =
    ["kind", ">items", ">accuracy", ">controls", ">difference, 95%", ">p (Holm)", ">declined", "verdict"];

/// Prints a probe and its result.
pub(super) fn print(found: &ProbeResponse) -> Result<()> {
    let temperature = match found.temperature {
        Some(temperature) => format!("temperature {temperature}"),
        None => "the provider's temperature".to_owned(),
    };
    let head = format!(
        "Memory probe of {} on {} ({}), {temperature}: {}",
        found.model,
        found.dataset,
        found.symbols.join(", "),
        found.status
    );
    say(wrap(&head, width(), ""))?;
    let Some(report) = &found.report else {
        return say("no result yet");
    };
    let rows: Vec<[String; COLUMNS.len()]> = report.kinds.iter().map(row).collect();
    say(format_args!(
        "\n{}",
        layout(COLUMNS, &rows, terminal_width().unwrap_or(crate::output::DEFAULT_WIDTH))
    ))?;
    say(wrap(
        &format!("\nOne-sided; {}. Declined items score as chance.", controls(&report.controls)),
        width(),
        "",
    ))?;
    for kind in report.kinds.iter().filter(|kind| kind.failed_calls > 0) {
        let calls = count(kind.failed_calls as u64);
        say(wrap(&format!("{}: {calls} calls failed and count as declined.", kind.kind), width(), ""))?;
    }
    if !found.is_llm {
        say(wrap("House models are rules, not LLMs: they remember no prices and guess.", width(), ""))?;
    }
    if let Some(warning) = found.training_cutoff.as_ref().and_then(|cutoff| cutoff.warning.as_ref()) {
        say(wrap(&format!("Warning: {warning}."), width(), ""))?;
    }
    found.limits.iter().try_for_each(|limit| say(wrap(limit, width(), "")))
}

fn row(kind: &ProbeKindResult) -> [String; COLUMNS.len()] {
    let dash = || "-".to_owned();
    let accuracy = |score: &ProbeScore| {
        score.accuracy.map_or_else(dash, |accuracy| format!("{:.1}% of {}", 100.0 * accuracy, score.count))
    };
    let difference = kind.difference.zip(kind.interval).map(|(difference, bounds)| {
        format!("{:+.1} ({:+.1} to {:+.1})", 100.0 * difference, 100.0 * bounds.low, 100.0 * bounds.high)
    });
    [
        kind.kind.clone(),
        kind.items.count.to_string(),
        accuracy(&kind.items),
        accuracy(&kind.controls),
        difference.unwrap_or_else(dash),
        kind.holm_p.map_or_else(dash, |p| format!("{p:.3}")),
        format!("{} + {}", kind.items.declined, kind.controls.declined),
        kind.words.clone(),
    ]
}
