//! `papertape results`

use super::failure::{not_found, service_error, usage};
use super::output::{money, note, only_json, percent, say, table, text_of, two_decimals, width, wrap};
use super::record_access::{Target, find_target};
use super::{Common, Outcome, experiments, record_access, summary};
use anyhow::Result;
use clap::{Args, ValueEnum};
use papertape_core::id::ExperimentId;
use papertape_core::time::{Date, parse_date};
use papertape_protocol::results::day::{DayReasoning, DayResult};
use papertape_protocol::results::{BaselinePlace, DailyLevel, ReasoningLevel, ResultsQuery, ResultsResponse};
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::view;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ResultsArgs {
    /// Only this job or experiment, or `latest` [default: each agent's newest completed job]
    job: Option<String>,
    /// Show one day, with its trades and rejected orders
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, conflicts_with_all = ["start", "end"])]
    date: Option<Date>,
    /// First day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    start: Option<Date>,
    /// Last day, inclusive
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    end: Option<Date>,
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Compare with this symbol or index of the run's dataset [default: the run's own benchmark]
    #[arg(long, value_name = "SYMBOL", conflicts_with = "date")]
    benchmark: Option<String>,
    /// Include reasoning: none, summary, or full (only with --json)
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Level::None, hide_possible_values = true)]
    reasoning: Level,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    None,
    Summary,
    Full,
}

pub(super) async fn results(common: &Common, config: Config, args: ResultsArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let job_id = match &args.job {
        None => None,
        Some(job) => match find_target(&app, job).await? {
            Target::Job(job) => Some(job.to_string()),
            Target::Experiment(id) => return experiment(&app, common, &args, &id).await,
        },
    };
    let has_job = job_id.is_some();
    let query = ResultsQuery {
        date: args.date,
        start_date: args.start,
        end_date: args.end,
        model: args.agent,
        job_id,
        benchmark: args.benchmark,
        baselines: BaselinePlace::Each,
        daily: DailyLevel::All,
        reasoning: match args.reasoning {
            Level::None => ReasoningLevel::None,
            Level::Summary => ReasoningLevel::Summary,
            Level::Full => ReasoningLevel::Full,
        },
    };
    let response = view::results(&app, query).await.map_err(|error| describe(error, has_job))?;
    if common.json {
        return only_json(&response);
    }
    match response {
        ResultsResponse::Day(day) => {
            for result in &day.results {
                print_day(result)?;
            }
        }
        ResultsResponse::Range(range) => {
            let reasoning: Vec<_> =
                range.results.iter().map(|result| (result.model.clone(), result.reasoning.clone())).collect();
            summary::print(&summary::summarize(&app, range.results).await?)?;
            for (model, days) in reasoning {
                for day in days.into_iter().flatten() {
                    let books = &day.books.text;
                    let text = day.session_summary.unwrap_or_else(|| "No summary".to_owned());
                    say(format_args!("\n{} {model}: {books}\n{}", day.date, wrap(&text, width(), "  ")))?;
                }
            }
        }
    }
    if matches!(args.reasoning, Level::Full) {
        note!("for all messages, run `papertape reasoning` or add --json");
    }
    Ok(ExitCode::SUCCESS)
}

/// The results of an experiment: every trial, mean and spread.
async fn experiment(app: &App, common: &Common, args: &ResultsArgs, id: &ExperimentId) -> Outcome {
    let has_filter = args.date.is_some()
        || args.start.is_some()
        || args.end.is_some()
        || args.agent.is_some()
        || args.benchmark.is_some()
        || !matches!(args.reasoning, Level::None);
    if has_filter {
        return Err(usage(
            "the results of an experiment take no other option; name one of its jobs (`papertape experiments ID`)",
        ));
    }
    if common.json {
        return only_json(&view::experiment_results(app, id.as_str()).await.map_err(service_error)?);
    }
    experiments::print_results(app, id).await?;
    Ok(ExitCode::SUCCESS)
}

/// As [`service_error`], with what to do if nothing matches.
fn describe(error: ServiceError, has_job: bool) -> anyhow::Error {
    match error {
        ServiceError::NotFound(_) if !has_job => {
            not_found("no completed job matches; check the options, or name a job of `papertape jobs`")
        }
        error => service_error(error),
    }
}

fn print_day(result: &DayResult) -> Result<()> {
    let before = if result.done_before.is_empty() { "" } else { "completed before by " };
    let title = format!("{} on {}, {before}job {}", result.model, result.date, result.job_id);
    say(wrap(&title, width(), ""))?;
    if let Some(quality) = result.quality.as_ref().filter(|quality| quality.state != "ok") {
        let reason = quality.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        say(wrap(&format!("{}{reason}", quality.state), width(), "  "))?;
    }
    if let Some(masked) = &result.masked {
        print_line(format_args!("masked: {}, {}", masked.mask, masked.note))?;
    }
    say(format_args!("  books: {}", result.books.text))?;
    let metrics = &result.daily_metrics;
    if let Some(end) = &result.final_position {
        let gain = metrics
            .return_pct
            .map_or_else(String::new, |pct| format!(", {} on the day", percent(Some(pct.to_f64() / 100.0))));
        say(format_args!("  value {}{gain}, cash {}", money(end.portfolio_value), money(end.cash)))?;
    }
    for warning in result.training_cutoffs.iter().filter_map(|cutoff| cutoff.warning.as_ref()) {
        print_line(format_args!("warning: {warning}"))?;
    }
    if let Some(reason) = &result.provenance.point_in_time_reason {
        print_line(format_args!("point-in-time unverified: {}", reason.sentence()))?;
    }
    if let Some(end) = &result.insolvent {
        print_line(format_args!(
            "INSOLVENT since {}: lost {}, {} below zero; trading has stopped",
            end.since,
            money(end.loss),
            money(end.owed)
        ))?;
    }
    for (name, reason) in result.provenance.data_quality.iter().flat_map(|quality| &quality.sources_missing) {
        print_line(format_args!("{name}: {reason}"))?;
    }
    let mut rows =
        table(["  action", "symbol", ">quantity", ">price", ">fee", ">realized P&L", ">cash after"]);
    for trade in &result.trades {
        rows.add_row([
            format!("  {}", trade.action_type),
            trade.symbol.clone(),
            trade.quantity.to_string(),
            money(trade.price),
            money(trade.fee),
            two_decimals(trade.realized_pnl),
            money(trade.cash_after),
        ]);
    }
    if result.trades.is_empty() {
        say("  no trades")?;
    } else {
        say(text_of(&rows))?;
    }
    for charge in &result.financing {
        let nights = charge.nights.map_or(String::new(), |nights| format!(" for {nights} nights"));
        print_line(format_args!(
            "financing {}{nights}: {} held at {} each",
            charge.symbol, charge.quantity, charge.price
        ))?;
    }
    for order in &result.pending_orders {
        let at = order.fills_at.as_deref().map_or("its price", |at| match at {
            "next_open" => "the next open",
            other => other,
        });
        print_line(format_args!(
            "pending {} {} {}: fills at {at}",
            order.side, order.quantity, order.symbol
        ))?;
    }
    for order in &result.rejections {
        let reason = order.message.as_deref().or(order.code.as_deref()).unwrap_or("no reason given");
        print_line(format_args!(
            "{} {} {} {}: {reason}",
            order.status, order.side, order.quantity, order.symbol
        ))?;
    }
    for action in &result.corporate_actions {
        let symbol = action.symbol.as_deref().unwrap_or("-");
        print_line(format_args!("{} {symbol}, {} held", action.action_type, action.quantity.abs()))?;
    }
    if let Some(summary) = result.reasoning.as_ref().and_then(summary_of) {
        say(wrap(&summary, width(), "  "))?;
    }
    say("")
}

/// An indented, wrapped line.
fn print_line(text: std::fmt::Arguments<'_>) -> Result<()> {
    say(wrap(&text.to_string(), width(), "  "))
}

fn summary_of(reasoning: &DayReasoning) -> Option<String> {
    match reasoning {
        DayReasoning::Summary(text) => Some(text.clone()),
        DayReasoning::Full(_) => None,
    }
}
