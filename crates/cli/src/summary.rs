//! What a job came to, as a table: an agent a line, beside what doing nothing would have come to.

use super::benchmark;
use super::failure::of_view;
use super::output::{NARROW, count, money, percent, say, table, terminal_width, text_of, two, width, wrap};
use anyhow::Result;
use papertape_core::id::{AgentName, JobId};
use papertape_core::ports::{Queue as _, RecordStore as _};
use papertape_core::record::PositionRow;
use papertape_core::time::Date;
use papertape_runtime::config::SimulationConfig;
use papertape_service::app::App;
use papertape_service::view::{self, BaselineResult, RangeResult, ResultsQuery, ResultsResponse, ViewError};
use papertape_store::{PageRequest, ResultFilter};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// What is said of a house model, once, below a table that has one.
const HOUSE: &str = "House models are rules, no language models: they read the same data and use the same \
                     tools, and are the baseline that a model has to beat.";

/// Prints what the agents of a job came to, with the days that other jobs did before.
pub(super) async fn show(app: &App, job: &JobId) -> Result<Vec<Line>> {
    let lines = lines(app, job).await?;
    print(&lines)?;
    Ok(lines)
}

/// What the agents of a job came to.
pub(super) async fn lines(app: &App, job: &JobId) -> Result<Vec<Line>> {
    of_job(app, job).await
}

/// One agent's line.
pub(super) struct Line {
    pub(super) result: RangeResult,
    pub(super) model: Option<String>,
    pub(super) trades: u64,
    pub(super) rejected: u64,
    /// What it cost; `None` where the price of any call is unknown.
    pub(super) cost: Option<Decimal>,
    /// Is a part of it an estimate?
    pub(super) is_estimated: bool,
    /// Where to look first: the newest day with a trade, else the newest day.
    pub(super) look_at: (JobId, Date),
}

/// Prints the table, or that there is nothing yet.
pub(super) fn print(lines: &[Line]) -> Result<()> {
    let (Some(first), Some(last)) = (
        lines.iter().map(|line| line.result.start_date).min(),
        lines.iter().map(|line| line.result.end_date).max(),
    ) else {
        return say("no day is done yet");
    };
    let rows: Vec<[String; COLUMNS.len()]> = lines.iter().map(cells).collect();
    say(format_args!("{first} to {last}\n"))?;
    let width_of_tables = terminal_width().unwrap_or(NARROW);
    say(laid_out(COLUMNS, &rows, width_of_tables))?;
    if let Some(compared) = benchmark::table(lines, width_of_tables) {
        say(format_args!("\n{compared}"))?;
    }
    let mut below = benchmark::sentences(lines);
    if let Some(both) = lines.iter().find_map(|line| line.result.baselines.as_ref()) {
        let of = |metrics: &view::Metrics| percent(metrics.total_return);
        below.push(format!(
            "Doing nothing: buy & hold {}, equal weights {}.",
            of(&both.buy_and_hold.period_metrics),
            of(&both.equal_weight.period_metrics)
        ));
        let named = [("Buy & hold", &both.buy_and_hold), ("Equal weights", &both.equal_weight)];
        below.extend(named.into_iter().filter_map(|(name, baseline)| underinvested(name, baseline)));
    }
    below.extend(refilled(lines));
    below.extend(conventions(lines));
    for (model, end) in lines.iter().filter_map(|line| Some((&line.result.model, line.result.insolvent?))) {
        below.push(format!(
            "{model} is insolvent since {}: it lost {} and is {} below zero. Trading has stopped.",
            end.since,
            money(end.loss),
            money(end.owed)
        ));
    }
    if lines.iter().any(|line| line.result.is_llm == Some(false)) {
        below.push(HOUSE.to_owned());
    }
    below.extend(lines.iter().filter_map(|line| unverified(&line.result)));
    below.extend(done_before(lines));
    let reasons: Vec<String> = lines.iter().filter_map(first_reason).collect();
    if !reasons.is_empty() {
        below.insert(0, format!("First days that are degraded or failed: {}.", reasons.join("; ")));
    }
    say("")?;
    below.iter().try_for_each(|text| say(wrap(text, width(), "")))
}

/// A sentence for the days that other jobs did before, and whose they are where not all agents have the same.
fn done_before(lines: &[Line]) -> Vec<String> {
    let mut agents: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for line in lines {
        for span in &line.result.done_before {
            let days =
                format!("{} to {} done before, by job {}", span.start_date, span.end_date, span.job_id);
            agents.entry(days).or_default().push(&line.result.model);
        }
    }
    let told = agents.into_iter().map(|(days, agents)| match agents.len() == lines.len() {
        true => format!("{days}."),
        false => format!("{days} ({}).", agents.join(", ")),
    });
    told.collect()
}

/// How the runs were traded, once for all that were traded alike.
fn conventions(lines: &[Line]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for summary in lines.iter().filter_map(|line| Some(&line.result.conventions.as_ref()?.summary)) {
        if !told.contains(summary) {
            told.push(summary.clone());
        }
    }
    told
}

/// What the same orders come to at the next open, next to what was shown.
fn refilled(lines: &[Line]) -> Option<String> {
    let each = lines.iter().filter_map(|line| {
        let again = line.result.refilled_at_next_open.as_ref()?;
        let shown = percent(line.result.period_metrics.total_return);
        let notes = [
            (again.reduced, "reduced to what was covered"),
            (again.rejected as u64, "not fillable"),
            (again.without_next_bar as u64, "without a next bar"),
        ];
        let notes: Vec<String> = notes
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
        let model = &line.result.model;
        Some(match &again.unavailable {
            Some(why) => format!("{model}: not available, {why}"),
            None => format!("{model} {} instead of {shown}{notes}", percent(again.total_return)),
        })
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("The same orders at the next open: {}.", each.join("; ")))
}

/// What is said of a baseline that is not what its name says.
fn underinvested(name: &str, baseline: &BaselineResult) -> Option<String> {
    let share = baseline.uninvested.filter(|_| baseline.is_underinvested)? * 100.0;
    Some(format!("{name} left {share:.1}% of its money uninvested, on average over the days."))
}

/// What is said of an agent whose days are not known to have seen nothing of their future.
fn unverified(result: &RangeResult) -> Option<String> {
    let provenance = &result.provenance;
    let is_unverified = provenance.point_in_time.as_deref() == Some("unverified");
    let why = provenance.point_in_time_reason.as_ref().map(|reason| format!(" ({})", reason.sentence()));
    is_unverified.then(|| format!("{}: point in time unverified{}.", result.model, why.unwrap_or_default()))
}

/// The figures of an agent.
const COLUMNS: [&str; 12] = [
    "agent",
    "~what it is",
    ">return",
    ">a year",
    ">Sharpe",
    ">max drawdown",
    ">vs buy & hold",
    ">trades",
    ">rejected",
    ">degraded",
    ">days failed",
    ">cost",
];

/// How many days are degraded and did not fail.
fn degraded(provenance: &view::RangeProvenance) -> usize {
    provenance.reasons.iter().filter(|day| day.state != "failed").count()
}

/// The first day of an agent that failed or is degraded, where there is any.
fn first_reason(line: &Line) -> Option<String> {
    line.result.provenance.reasons.first().map(view::DegradedDayResponse::line)
}

fn cells(line: &Line) -> [String; COLUMNS.len()] {
    let metrics = &line.result.period_metrics;
    let held = line.result.baselines.as_ref().and_then(|both| both.buy_and_hold.period_metrics.total_return);
    let ahead = metrics.total_return.zip(held).map(|(own, held)| own - held);
    [
        line.result.model.clone(),
        what_it_is(&line.result, line.model.as_deref()),
        percent(metrics.total_return),
        percent(metrics.annualized_return),
        two(metrics.sharpe),
        percent(metrics.max_drawdown),
        percent(ahead),
        count(line.trades),
        count(line.rejected),
        format!("{} of {}", degraded(&line.result.provenance), metrics.days),
        format!("{} of {}", line.result.provenance.failed_days.len(), metrics.days),
        line.cost.map_or_else(
            || "unknown".to_owned(),
            |cost| {
                let mark = if line.is_estimated { "~" } else { "" };
                format!("{mark}${}", cost.round_dp(4).normalize())
            },
        ),
    ]
}

/// The width of a row's name where an agent is a column.
const NAMES: usize = 14;

/// An agent a line where that fits `width`; else an agent a column, in as many groups of agents as it takes.
pub(super) fn laid_out<const N: usize>(columns: [&str; N], rows: &[[String; N]], width: usize) -> String {
    let widest =
        |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count() + 2).max().unwrap_or(0);
    let across: usize = (0..N)
        .map(|at| {
            let name = columns[at].trim_start_matches(['>', '~']);
            widest(&mut rows.iter().map(|row| row[at].as_str()).chain([name]))
        })
        .sum();
    // The last column has no space behind it.
    if across <= width + 2 {
        let mut table = table(columns);
        table.add_rows(rows);
        return text_of(&table);
    }
    let mut groups: Vec<(usize, Vec<String>)> = Vec::new();
    for row in rows {
        let wide = widest(&mut row.iter().map(String::as_str));
        let fits = groups.last().is_some_and(|(used, _)| used + wide <= width);
        if !fits {
            let names = columns.iter().map(|name| format!("{:<NAMES$}", name.trim_start_matches(['>', '~'])));
            groups.push((NAMES, names.collect()));
        }
        let Some((used, lines)) = groups.last_mut() else { continue };
        *used += wide;
        for (line, cell) in lines.iter_mut().zip(row) {
            line.push_str(&format!("{cell:>wide$}"));
        }
    }
    groups.into_iter().map(|(_, lines)| lines.join("\n")).collect::<Vec<_>>().join("\n\n")
}

fn what_it_is(result: &RangeResult, model: Option<&str>) -> String {
    match (result.is_llm, model) {
        (Some(false), _) => "house model, no LLM".to_owned(),
        (_, Some(model)) => model.to_owned(),
        _ => "model".to_owned(),
    }
}

/// The lines of a job's agents.
async fn of_job(app: &App, job: &JobId) -> Result<Vec<Line>> {
    let query = ResultsQuery { job_id: Some(job.to_string()), ..ResultsQuery::default() };
    let results = match view::results(app, query).await {
        Ok(ResultsResponse::Range(range)) => range.results,
        // A day is not what was asked for, and nothing is a job that has not come far.
        Ok(ResultsResponse::Day(_)) | Err(ViewError::NotFound(_)) => Vec::new(),
        Err(error) => return Err(of_view(error)),
    };
    beside(app, results).await
}

/// Puts beside results what the orders and the budget say.
pub(super) async fn beside(app: &App, results: Vec<RangeResult>) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for result in results {
        let agent = AgentName::new(&result.model);
        let (mut trades, mut rejected, mut model) = (0, 0, None);
        let (mut cost, mut unpriced) = (Decimal::ZERO, 0);
        let mut is_estimated = false;
        let mut look_at = (JobId::new(&result.job_id), result.end_date);
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
                look_at = (job.clone(), date);
            }
            let spent = app.store.load_usage(&job).await?;
            let in_range = |date| date >= first.date && date <= last.date;
            let own = spent.iter().filter(|row| row.agent == agent && in_range(row.date));
            for row in own {
                cost += row.cost_usd;
                is_estimated |= row.estimated_calls > 0;
                unpriced += row.unpriced_calls;
            }
            let config = app.store.get_job(&job).await?.and_then(|row| config(&row.config));
            model = config.and_then(|config| model_of(&config, &agent)).or(model);
        }
        let cost = (unpriced == 0).then_some(cost);
        lines.push(Line { result, model, trades, rejected, cost, is_estimated, look_at });
    }
    Ok(lines)
}

fn config(config: &serde_json::Value) -> Option<SimulationConfig> {
    serde_json::from_value(config.clone()).ok()
}

/// The model that an agent thinks with, from a branch's cut on the branch's.
fn model_of(config: &SimulationConfig, agent: &AgentName) -> Option<String> {
    let changed = config.branch.as_ref().and_then(|branch| branch.agent.as_ref());
    let changed = changed.filter(|changed| changed.name == *agent);
    let agent = changed.or_else(|| config.agents.iter().find(|other| other.name == *agent))?;
    Some(agent.model.to_string())
}

/// Fills and refused orders.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: however many agents there are and however long their names, no line is wider than what shows it, and
    /// no figure is lost.
    #[test]
    fn results_fit_their_width() {
        for (agents, name) in [(1, 64), (2, 17), (3, 20), (5, 30), (40, 12)] {
            let rows: Vec<[String; COLUMNS.len()]> = (0..agents)
                .map(|agent| {
                    std::array::from_fn(|at| match at {
                        0 => format!("{agent:a>name$}"),
                        1 => "house model, no LLM".to_owned(),
                        _ => format!("+{agent}{at}.25%"),
                    })
                })
                .collect();
            for width in [80, 100, 200] {
                let shown = laid_out(COLUMNS, &rows, width);
                let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
                assert!(widest <= width, "{agents} agents, {widest} of {width}:\n{shown}");
                assert!(rows.iter().flatten().all(|cell| shown.contains(cell.as_str())), "{shown}");
                assert!(COLUMNS.iter().all(|name| shown.contains(name.trim_start_matches(['>', '~']))));
            }
        }
    }
}
