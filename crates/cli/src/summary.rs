//! The results table: an agent per row, compared with the baselines, and the notes below it.

use super::benchmark;
use super::failure::service_error;
use super::output::{
    DEFAULT_WIDTH, count, layout, money, percent, points, say, terminal_width, two_decimals, width, wrap,
};
use anyhow::Result;
use papertape_core::id::{AgentName, JobId};
use papertape_core::market::MaskKind;
use papertape_core::metric::MIN_ANNUALIZED_DAYS;
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::PositionRow;
use papertape_core::time::Date;
use papertape_protocol::quality::DegradedDayResponse;
use papertape_protocol::results::baseline::{BaselineResult, Baselines};
use papertape_protocol::results::metrics::Metrics;
use papertape_protocol::results::range::{RangeProvenance, RangeResult};
use papertape_protocol::results::{ResultsQuery, ResultsResponse};
use papertape_runtime::config::{DatasetRef, SimulationConfig};
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::view;
use papertape_store::{PageRequest, ResultFilter};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

const HOUSE_NOTE: &str = "House models are rules, not LLMs. They read the same data and use the same tools, and are the \
                          reference that an LLM should beat.";

/// How many symbols a header lists.
const MAX_LISTED_SYMBOLS: usize = 8;

/// Prints a job's results, including days that other jobs completed before.
pub(super) async fn print_job(app: &App, job: &JobId) -> Result<Vec<AgentSummary>> {
    let agents = summarize_job(app, job).await?;
    print(&agents)?;
    Ok(agents)
}

/// One agent's row.
pub(super) struct AgentSummary {
    pub(super) result: RangeResult,
    pub(super) model: Option<String>,
    /// `None` if its job cannot be read.
    data: Option<TradedData>,
    pub(super) trades: u64,
    pub(super) rejected: u64,
    /// `None` if the price of any call is unknown.
    pub(super) cost: Option<Decimal>,
    /// Whether a part of the cost is an estimate.
    pub(super) is_estimated: bool,
    /// The newest day with a trade, else the newest day: the one to inspect first.
    pub(super) newest_trade: (JobId, Date),
}

/// What an agent traded on. Results on different data are not comparable.
#[derive(PartialEq)]
struct TradedData {
    dataset: DatasetRef,
    mask: Option<MaskKind>,
    market: String,
    /// The symbols or the index.
    symbols: Vec<String>,
}

impl TradedData {
    fn from_config(config: &SimulationConfig) -> Self {
        let masking = config.translation();
        let real = |symbol| masking.map_or(symbol, |masking| masking.real_symbol(symbol)).to_string();
        let symbols = || config.symbols.iter().map(real).collect();
        let costs = if config.market.is_frictionless() { " (frictionless)" } else { "" };
        Self {
            dataset: config.dataset.clone(),
            mask: masking.map(|masking| masking.kind),
            market: format!("{}{costs}", config.market.name),
            symbols: config.universe.clone().map_or_else(symbols, |index| vec![index]),
        }
    }
}

/// Prints a table for all agents with the same data, days and baselines.
pub(super) fn print(agents: &[AgentSummary]) -> Result<()> {
    let mut groups: Vec<Vec<&AgentSummary>> = Vec::new();
    for agent in agents {
        match groups.iter_mut().find(|group| is_comparable(group[0], agent)) {
            Some(group) => group.push(agent),
            None => groups.push(vec![agent]),
        }
    }
    if groups.is_empty() {
        return say("no day is completed yet");
    }
    let table_width = terminal_width().unwrap_or(DEFAULT_WIDTH);
    for group in &groups {
        let results: Vec<&RangeResult> = group.iter().map(|agent| &agent.result).collect();
        let rows: Vec<[String; COLUMNS.len()]> = group.iter().map(|agent| cells(agent)).collect();
        say(header(group[0], groups.len() > 1))?;
        say(layout(COLUMNS, &rows, table_width))?;
        if let Some(table) = benchmark::table(&results, table_width) {
            say(format_args!("\n{table}"))?;
        }
        say("")?;
        print_notes(&notes(&results))?;
        if groups.len() > 1 {
            say("")?;
        }
    }
    print_notes(&general_notes(agents, groups.len()))
}

fn print_notes(notes: &[String]) -> Result<()> {
    notes.iter().try_for_each(|note| say(wrap(note, width(), "")))
}

/// Whether both agents belong in the same table: one header and one line of baselines are true for both.
fn is_comparable(one: &AgentSummary, other: &AgentSummary) -> bool {
    let days = |result: &RangeResult| (result.start_date, result.end_date, result.period_metrics.days);
    let baselines = |result: &RangeResult| result.baselines.as_ref().map(baselines_note);
    one.data == other.data
        && days(&one.result) == days(&other.result)
        && baselines(&one.result) == baselines(&other.result)
}

/// The days of a table, and if there are several tables, its data.
fn header(agent: &AgentSummary, has_data: bool) -> String {
    let days = format!("{} to {}", agent.result.start_date, agent.result.end_date);
    match agent.data.as_ref().filter(|_| has_data) {
        Some(TradedData { dataset, market, symbols, .. }) => {
            let mut listed = symbols.iter().take(MAX_LISTED_SYMBOLS).cloned().collect::<Vec<_>>().join(", ");
            if let Some(more) = symbols.len().checked_sub(MAX_LISTED_SYMBOLS).filter(|more| *more > 0) {
                listed.push_str(&format!(" and {more} more"));
            }
            wrap(&format!("{days}, {}, {market}: {listed}", dataset.name), width(), "") + "\n"
        }
        None => days + "\n",
    }
}

/// The sentences below the table.
fn notes(results: &[&RangeResult]) -> Vec<String> {
    let reasons: Vec<String> = results.iter().filter_map(|result| first_reason(result)).collect();
    let mut notes = Vec::new();
    if let Some(masked) = results.iter().find_map(|result| result.masked.as_ref()) {
        notes.push(format!("Masked ({}): {}.", masked.mask, masked.note));
    }
    if !reasons.is_empty() {
        notes.push(format!("First degraded or failed days: {}.", reasons.join("; ")));
    }
    notes.extend(benchmark::notes(results));
    if let Some(baselines) = results.iter().find_map(|result| result.baselines.as_ref()) {
        notes.push(baselines_note(baselines));
        let named = [("Buy and hold", &baselines.buy_and_hold), ("Equal weight", &baselines.equal_weight)];
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
    notes.extend(results.iter().filter_map(|result| unverified(result)));
    let cutoffs = results.iter().flat_map(|result| &result.training_cutoffs);
    let warnings: BTreeSet<&String> = cutoffs.filter_map(|cutoff| cutoff.warning.as_ref()).collect();
    notes.extend(warnings.into_iter().map(|warning| format!("Warning: {warning}.")));
    notes.extend(done_before(results));
    notes
}

/// The sentences that apply to every table.
fn general_notes(agents: &[AgentSummary], tables: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if tables > 1 {
        notes.push(
            "The tables cover different days or data, so do not compare returns across them.".to_owned(),
        );
    }
    if agents.iter().any(|agent| agent.result.period_metrics.days < MIN_ANNUALIZED_DAYS) {
        notes.push(format!("Nothing is annualized under {MIN_ANNUALIZED_DAYS} days."));
    }
    if agents.iter().any(|agent| agent.result.period_metrics.mean_interval.is_some()) {
        notes.push("In parentheses: 95% intervals. The daily mean is of log returns.".to_owned());
    }
    if agents.iter().any(|agent| agent.result.is_llm == Some(false)) {
        notes.push(HOUSE_NOTE.to_owned());
    }
    notes
}

fn baselines_note(baselines: &Baselines) -> String {
    let total = |baseline: &BaselineResult| percent(baseline.period_metrics.total_return);
    let (hold, equal) = (total(&baselines.buy_and_hold), total(&baselines.equal_weight));
    format!("Baselines: buy and hold {hold}, equal weight {equal}.")
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

const COLUMNS: [&str; 14] = [
    "agent",
    "~model",
    ">days",
    ">return",
    ">daily mean",
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
        metrics.days.to_string(),
        percent(metrics.total_return),
        mean_interval(metrics),
        percent(metrics.annualized_return),
        sharpe_interval(metrics),
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

/// The mean log return per day, with its interval.
fn mean_interval(metrics: &Metrics) -> String {
    metrics.mean_interval.map_or_else(
        || "-".to_owned(),
        |found| {
            let [mean, low, high] = [found.mean, found.low, found.high].map(|value| percent(Some(value)));
            format!("{mean} ({low} to {high})")
        },
    )
}

/// The Sharpe ratio, with its interval.
fn sharpe_interval(metrics: &Metrics) -> String {
    let interval = metrics.sharpe_interval.map_or_else(String::new, |found| {
        format!(" ({} to {})", two_decimals(Some(found.low)), two_decimals(Some(found.high)))
    });
    format!("{}{interval}", two_decimals(metrics.sharpe))
}

fn model_name(result: &RangeResult, model: Option<&str>) -> String {
    match (result.is_llm, model) {
        (Some(false), _) => "rules, not an LLM".to_owned(),
        (_, Some(model)) => model.to_owned(),
        _ => "-".to_owned(),
    }
}

/// The summaries of a job's agents; none if no day is completed yet.
pub(super) async fn summarize_job(app: &App, job: &JobId) -> Result<Vec<AgentSummary>> {
    let query = ResultsQuery { job_id: Some(job.to_string()), ..ResultsQuery::default() };
    let results = match view::results(app, query).await {
        Ok(ResultsResponse::Range(range)) => range.results,
        Ok(ResultsResponse::Day(_)) | Err(ServiceError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(service_error(error)),
    };
    summarize(app, results).await
}

/// Adds models, order counts and costs to results.
pub(super) async fn summarize(app: &App, results: Vec<RangeResult>) -> Result<Vec<AgentSummary>> {
    let mut agents = Vec::new();
    for result in results {
        let agent = AgentName::new(&result.model);
        let (mut trades, mut rejected, mut model, mut data) = (0, 0, None, None);
        let (mut cost, mut unpriced) = (Decimal::ZERO, 0);
        let mut is_estimated = false;
        let mut newest_trade = (JobId::new(&result.job_id), result.end_date);
        for days in result.daily_portfolio_values.chunk_by(|one, next| one.job_id == next.job_id) {
            let (Some(first), Some(last)) = (days.first(), days.last()) else { continue };
            let job = JobId::new(&first.job_id);
            let config = app.store.get_job(&job).await?.and_then(|row| config(&row.config));
            // The job's own days, which are shown as real ones.
            let masking = config.as_ref().and_then(SimulationConfig::translation);
            let own = |date: Date| masking.map_or(date, |masking| masking.masked_date(date));
            let filter = ResultFilter {
                from: Some(own(first.date)),
                to: Some(own(last.date)),
                agent: Some(agent.clone()),
                job: Some(job.clone()),
            };
            let found = orders(app, &filter).await?;
            trades += found.trades;
            rejected += found.rejected;
            if let Some(date) = found.newest_trade {
                newest_trade = (job.clone(), masking.map_or(date, |masking| masking.real_date(date)));
            }
            let usage = app.store.load_usage(&job).await?;
            let in_range = |date| date >= own(first.date) && date <= own(last.date);
            let own = usage.iter().filter(|row| row.agent == agent && in_range(row.date));
            for row in own {
                cost += row.cost_usd;
                is_estimated |= row.estimated_calls > 0;
                unpriced += row.unpriced_calls;
            }
            data = config.as_ref().map(TradedData::from_config).or(data);
            model = config.and_then(|config| model_of(&config, &agent)).or(model);
        }
        let cost = (unpriced == 0).then_some(cost);
        agents.push(AgentSummary { result, model, data, trades, rejected, cost, is_estimated, newest_trade });
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
