//! The results table: an agent per row, compared with the baselines, and the notes below it.

use super::benchmark;
use super::failure::of_service;
use super::output::{
    DEFAULT_WIDTH, count, layout, money, percent, points, say, terminal_width, two_decimals, width, wrap,
};
use anyhow::Result;
use papertape_core::id::{AgentName, JobId};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::PositionRow;
use papertape_core::time::Date;
use papertape_protocol::quality::DegradedDayResponse;
use papertape_protocol::results::baseline::BaselineResult;
use papertape_protocol::results::range::{RangeProvenance, RangeResult};
use papertape_protocol::results::{ResultsQuery, ResultsResponse};
use papertape_runtime::config::SimulationConfig;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::view;
use papertape_store::{PageRequest, ResultFilter};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

const HOUSE_NOTE: &str = "House models are rules, not LLMs. They read the same data and use the same tools, and are the \
                          reference that an LLM should beat.";

/// Annualized metrics of fewer days get a note.
const MIN_ANNUALIZED_DAYS: usize = 20;

/// Prints a job's results, including days that other jobs completed before.
pub(super) async fn print_job(app: &App, job: &JobId) -> Result<Vec<AgentSummary>> {
    let agents = of_job(app, job).await?;
    print(&agents)?;
    Ok(agents)
}

/// One agent's row.
pub(super) struct AgentSummary {
    pub(super) result: RangeResult,
    pub(super) model: Option<String>,
    pub(super) trades: u64,
    pub(super) rejected: u64,
    /// `None` if the price of any call is unknown.
    pub(super) cost: Option<Decimal>,
    /// Whether a part of the cost is an estimate.
    pub(super) is_estimated: bool,
    /// The newest day with a trade, else the newest day: the one to inspect first.
    pub(super) newest_trade: (JobId, Date),
}

pub(super) fn print(agents: &[AgentSummary]) -> Result<()> {
    let (Some(first), Some(last)) = (
        agents.iter().map(|agent| agent.result.start_date).min(),
        agents.iter().map(|agent| agent.result.end_date).max(),
    ) else {
        return say("no day is completed yet");
    };
    let results: Vec<&RangeResult> = agents.iter().map(|agent| &agent.result).collect();
    let rows: Vec<[String; COLUMNS.len()]> = agents.iter().map(cells).collect();
    say(format_args!("{first} to {last}\n"))?;
    let table_width = terminal_width().unwrap_or(DEFAULT_WIDTH);
    say(layout(COLUMNS, &rows, table_width))?;
    if let Some(table) = benchmark::table(&results, table_width) {
        say(format_args!("\n{table}"))?;
    }
    say("")?;
    notes(&results).iter().try_for_each(|note| say(wrap(note, width(), "")))
}

/// The sentences below the table.
fn notes(results: &[&RangeResult]) -> Vec<String> {
    let reasons: Vec<String> = results.iter().filter_map(|result| first_reason(result)).collect();
    let mut notes = Vec::new();
    if !reasons.is_empty() {
        notes.push(format!("First degraded or failed days: {}.", reasons.join("; ")));
    }
    notes.extend(different_days(results));
    if results.iter().any(|result| result.period_metrics.days < MIN_ANNUALIZED_DAYS) {
        notes.push(format!(
            "Annualized metrics of fewer than {MIN_ANNUALIZED_DAYS} days are arithmetic, not a forecast."
        ));
    }
    notes.extend(benchmark::notes(results));
    if let Some(baselines) = results.iter().find_map(|result| result.baselines.as_ref()) {
        let total = |baseline: &BaselineResult| percent(baseline.period_metrics.total_return);
        let (hold, equal) = (&baselines.buy_and_hold, &baselines.equal_weight);
        notes.push(format!("Baselines: buy and hold {}, equal weight {}.", total(hold), total(equal)));
        let named = [("Buy and hold", hold), ("Equal weight", equal)];
        notes.extend(named.into_iter().filter_map(|(name, baseline)| underinvested(name, baseline)));
    }
    notes.extend(refilled(results));
    notes.extend(conventions(results));
    notes.extend(results.iter().filter_map(|result| {
        let end = result.insolvent.as_ref()?;
        Some(format!(
            "{} has been insolvent since {}: it lost {} and is {} below zero. Trading has stopped.",
            result.model,
            end.since,
            money(end.loss),
            money(end.owed)
        ))
    }));
    if results.iter().any(|result| result.is_llm == Some(false)) {
        notes.push(HOUSE_NOTE.to_owned());
    }
    notes.extend(results.iter().filter_map(|result| unverified(result)));
    notes.extend(done_before(results));
    notes
}

/// A warning if the agents do not cover the same days.
fn different_days(results: &[&RangeResult]) -> Option<String> {
    let days = |result: &RangeResult| (result.start_date, result.end_date);
    let first = days(results.first().copied()?);
    if results.iter().all(|&result| days(result) == first) {
        return None;
    }
    let each: Vec<String> = results
        .iter()
        .map(|result| format!("{} {} to {}", result.model, result.start_date, result.end_date))
        .collect();
    Some(format!("The agents cover different days, so do not compare their returns: {}.", each.join("; ")))
}

/// The days that other jobs completed before, and by agent if they differ.
fn done_before(results: &[&RangeResult]) -> Vec<String> {
    let mut agents: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for result in results {
        for span in &result.done_before {
            let days = format!(
                "{} to {} were completed before, by job {}",
                span.start_date, span.end_date, span.job_id
            );
            agents.entry(days).or_default().push(&result.model);
        }
    }
    let notes = agents.into_iter().map(|(days, agents)| match agents.len() == results.len() {
        true => format!("{days}."),
        false => format!("{days} ({}).", agents.join(", ")),
    });
    notes.collect()
}

/// The trading conventions, once for all results that share them.
fn conventions(results: &[&RangeResult]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for summary in results.iter().filter_map(|result| Some(&result.conventions.as_ref()?.summary)) {
        if !notes.contains(summary) {
            notes.push(summary.clone());
        }
    }
    notes
}

/// The returns if the same orders had filled at the next open.
fn refilled(results: &[&RangeResult]) -> Option<String> {
    let each = results.iter().filter_map(|result| {
        let refill = result.refilled_at_next_open.as_ref()?;
        let actual = percent(result.period_metrics.total_return);
        let counts = [
            (refill.reduced, "reduced to available cash or shares"),
            (refill.rejected as u64, "rejected"),
            (refill.without_next_bar as u64, "without a next bar"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
        let model = &result.model;
        Some(match &refill.unavailable {
            Some(reason) => format!("{model}: not available: {reason}"),
            None => format!("{model} {} instead of {actual}{counts}", percent(refill.total_return)),
        })
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("If the same orders filled at the next open: {}.", each.join("; ")))
}

/// A warning for a baseline that could not invest all its money.
fn underinvested(name: &str, baseline: &BaselineResult) -> Option<String> {
    let fraction = baseline.uninvested.filter(|_| baseline.is_underinvested)? * 100.0;
    Some(format!("{name} left {fraction:.1}% of its cash uninvested on average."))
}

/// A warning for an agent that may have seen the future.
fn unverified(result: &RangeResult) -> Option<String> {
    let provenance = &result.provenance;
    let is_unverified = provenance.point_in_time.as_deref() == Some("unverified");
    let reason = provenance.point_in_time_reason.as_ref().map(|reason| format!(" ({})", reason.sentence()));
    is_unverified
        .then(|| format!("{}: point-in-time unverified{}.", result.model, reason.unwrap_or_default()))
}

const COLUMNS: [&str; 12] = [
    "agent",
    "~model",
    ">return",
    ">annualized",
    ">Sharpe",
    ">max drawdown",
    ">vs buy & hold",
    ">trades",
    ">rejected",
    ">degraded",
    ">failed days",
    ">model cost",
];

/// The number of days that are degraded but did not fail.
fn degraded(provenance: &RangeProvenance) -> usize {
    provenance.reasons.iter().filter(|day| day.state != "failed").count()
}

/// The first degraded or failed day, with its reason.
fn first_reason(result: &RangeResult) -> Option<String> {
    result.provenance.reasons.first().map(DegradedDayResponse::line)
}

fn cells(agent: &AgentSummary) -> [String; COLUMNS.len()] {
    let result = &agent.result;
    let metrics = &result.period_metrics;
    let held = result.baselines.as_ref().and_then(|both| both.buy_and_hold.period_metrics.total_return);
    let ahead = metrics.total_return.zip(held).map(|(own, held)| own - held);
    [
        result.model.clone(),
        model_name(result, agent.model.as_deref()),
        percent(metrics.total_return),
        percent(metrics.annualized_return),
        two_decimals(metrics.sharpe),
        percent(metrics.max_drawdown),
        points(ahead),
        count(agent.trades),
        count(agent.rejected),
        format!("{} of {}", degraded(&result.provenance), metrics.days),
        format!("{} of {}", result.provenance.failed_days.len(), metrics.days),
        agent.cost.map_or_else(
            || "unknown".to_owned(),
            |cost| {
                let mark = if agent.is_estimated { "~" } else { "" };
                format!("{mark}${}", cost.round_dp(4).normalize())
            },
        ),
    ]
}

fn model_name(result: &RangeResult, model: Option<&str>) -> String {
    match (result.is_llm, model) {
        (Some(false), _) => "rules, not an LLM".to_owned(),
        (_, Some(model)) => model.to_owned(),
        _ => "-".to_owned(),
    }
}

/// The summaries of a job's agents; none if no day is completed yet.
pub(super) async fn of_job(app: &App, job: &JobId) -> Result<Vec<AgentSummary>> {
    let query = ResultsQuery { job_id: Some(job.to_string()), ..ResultsQuery::default() };
    let results = match view::results(app, query).await {
        Ok(ResultsResponse::Range(range)) => range.results,
        Ok(ResultsResponse::Day(_)) | Err(ServiceError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(of_service(error)),
    };
    summarize(app, results).await
}

/// Adds models, order counts and costs to results.
pub(super) async fn summarize(app: &App, results: Vec<RangeResult>) -> Result<Vec<AgentSummary>> {
    let mut agents = Vec::new();
    for result in results {
        let agent = AgentName::new(&result.model);
        let (mut trades, mut rejected, mut model) = (0, 0, None);
        let (mut cost, mut unpriced) = (Decimal::ZERO, 0);
        let mut is_estimated = false;
        let mut newest_trade = (JobId::new(&result.job_id), result.end_date);
        for days in result.daily_portfolio_values.chunk_by(|one, next| one.job_id == next.job_id) {
            let (Some(first), Some(last)) = (days.first(), days.last()) else { continue };
            let job = JobId::new(&first.job_id);
            let filter = ResultFilter {
                from: Some(first.date),
                to: Some(last.date),
                agent: Some(agent.clone()),
                job: Some(job.clone()),
            };
            let found = orders(app, &filter).await?;
            trades += found.trades;
            rejected += found.rejected;
            if let Some(date) = found.newest_trade {
                newest_trade = (job.clone(), date);
            }
            let usage = app.store.load_usage(&job).await?;
            let in_range = |date| date >= first.date && date <= last.date;
            let own = usage.iter().filter(|row| row.agent == agent && in_range(row.date));
            for row in own {
                cost += row.cost_usd;
                is_estimated |= row.estimated_calls > 0;
                unpriced += row.unpriced_calls;
            }
            let config = app.store.get_job(&job).await?.and_then(|row| config(&row.config));
            model = config.and_then(|config| model_of(&config, &agent)).or(model);
        }
        let cost = (unpriced == 0).then_some(cost);
        agents.push(AgentSummary { result, model, trades, rejected, cost, is_estimated, newest_trade });
    }
    Ok(agents)
}

fn config(config: &serde_json::Value) -> Option<SimulationConfig> {
    serde_json::from_value(config.clone()).ok()
}

/// The agent's model; in a branch, the one that it was changed to.
fn model_of(config: &SimulationConfig, agent: &AgentName) -> Option<String> {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let changed = changed.filter(|changed| changed.name == *agent);
    let agent = changed.or_else(|| config.agents.iter().find(|other| other.name == *agent))?;
    Some(agent.model.to_string())
}

/// Fills and rejected orders.
#[derive(Default)]
struct Orders {
    trades: u64,
    rejected: u64,
    newest_trade: Option<Date>,
}

async fn orders(app: &App, filter: &ResultFilter) -> Result<Orders> {
    const TRADES: [&str; 8] = ["buy", "sell", "short", "cover", "stop", "target", "liquidation", "delisting"];
    let is_trade = |row: &&PositionRow| TRADES.contains(&row.action_type.as_str());
    let mut orders = Orders::default();
    let mut page = PageRequest::first(200);
    loop {
        let found = app.store.results(filter, &page).await?;
        for session in &found.items {
            let trades = session.positions.iter().filter(is_trade).count() as u64;
            orders.trades += trades;
            orders.rejected +=
                session.orders.iter().filter(|order| order.status == "rejected").count() as u64;
            if trades > 0 {
                orders.newest_trade = Some(session.date);
            }
        }
        match found.next {
            Some(cursor) => page = PageRequest::after(200, &cursor),
            None => return Ok(orders),
        }
    }
}
