//! `papertape compare`

use super::failure::{service_error, usage};
use super::output::{
    counted, layout, note, only_json, percent, say, table, terminal_width, text_of, width, wrap,
};
use super::record_access::{self, Target, find_target};
use super::{Common, Outcome};
use anyhow::Result;
use clap::Args;
use papertape_protocol::compare::branch::BranchComparison;
use papertape_protocol::compare::pair::{ComparedPair, DifferenceResponse, IntervalResponse};
use papertape_protocol::compare::{CompareQuery, CompareResponse, ComparedItem, MAX_ITEMS};
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::view;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    /// Jobs or experiments, one of their agents (ID/AGENT), `latest`, baseline:buy_and_hold, baseline:equal_weight,
    /// baseline:random or symbol:AAPL
    #[arg(required = true, value_name = "ITEM")]
    items: Vec<String>,
    /// Compare all with this item [default: as the experiment declares, else all pairs]
    #[arg(long, value_name = "ITEM")]
    against: Option<String>,
    /// What the experiment varies: mask, model, costs, prompt
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    vary: Vec<String>,
    /// Show the differences net of model cost
    #[arg(long)]
    net_of_model_cost: bool,
    /// The difference per year, in points, for the days needed [default: 10]
    #[arg(long, value_name = "POINTS")]
    points: Option<f64>,
}

pub(super) async fn compare(common: &Common, config: Config, args: CompareArgs) -> Outcome {
    if args.items.len() > MAX_ITEMS {
        return Err(usage(format!("{} items are more than {MAX_ITEMS}", args.items.len())));
    }
    let app = record_access::open_read_only(common, config).await?;
    let mut select = Vec::new();
    for item in &args.items {
        select.push(resolve(&app, item).await?);
    }
    let against = match &args.against {
        Some(against) if against.contains('/') => Some(resolve(&app, against).await?),
        against => against.clone(),
    };
    let query = CompareQuery {
        select: select.join(","),
        against,
        vary: (!args.vary.is_empty()).then(|| args.vary.join(",")),
        points: args.points,
    };
    let response = view::compare(&app, query).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    print(&response, args.net_of_model_cost)?;
    Ok(ExitCode::SUCCESS)
}

/// A selection with the full ID.
async fn resolve(app: &App, text: &str) -> Result<String> {
    if text.starts_with("baseline:") || text.starts_with("symbol:") {
        return Ok(text.to_owned());
    }
    let id = text.strip_prefix("job:").or_else(|| text.strip_prefix("experiment:")).unwrap_or(text);
    let (id, agent) = id.split_once('/').map_or((id, None), |(id, agent)| (id, Some(agent)));
    let agent = agent.map(|agent| format!("/{agent}")).unwrap_or_default();
    Ok(match find_target(app, id).await? {
        Target::Job(job) => format!("job:{job}{agent}"),
        Target::Experiment(experiment) => format!("experiment:{experiment}{agent}"),
    })
}

const COLUMNS: [&str; 8] = [
    "compared",
    ">difference",
    ">95% interval",
    ">days",
    ">p (Holm)",
    "verdict",
    ">would see",
    ">days needed",
];

/// The comparison net of model cost has no separate verdict.
const NET_COLUMNS: [&str; 5] = ["compared", ">difference", ">95% interval", ">days", ">p (Holm)"];

fn print(response: &CompareResponse, is_net: bool) -> Result<()> {
    print_items(&response.items)?;
    let label = |id: &str| {
        let item = response.items.iter().find(|item| item.id == id);
        item.map_or_else(|| id.to_owned(), |item| item.label.clone())
    };
    let table_width = terminal_width().unwrap_or(super::output::DEFAULT_WIDTH);
    let own: Vec<_> = response.pairs.iter().map(|pair| row(pair, &label)).collect();
    say(format_args!("\n{}", layout(COLUMNS, &own, table_width)))?;
    if is_net {
        let net: Vec<_> = response.pairs.iter().map(|pair| net_row(pair, &label)).collect();
        say(format_args!("\nnet of model cost\n{}", layout(NET_COLUMNS, &net, table_width)))?;
    }
    say("")?;
    for pair in &response.pairs {
        let reasons = pair.reasons.join("; ");
        let line = format!("{} vs {}: {}: {reasons}.", label(&pair.a), label(&pair.b), pair.words);
        say(wrap(&line, width(), "  "))?;
        for line in details(pair, &response.items) {
            say(wrap(&line, width(), "    "))?;
        }
    }
    let family = &response.family;
    let against = family.against.as_deref().map(label);
    let of = against.map_or_else(|| "all pairs".to_owned(), |against| format!("all against {against}"));
    let declared = match &family.declared_by {
        Some(experiment) => format!("declared by experiment {experiment}"),
        None => "not declared before the runs".to_owned(),
    };
    let line = format!(
        "Family: {of}, {}, adjusted by Holm at {}; {declared}. Differences are of log returns over the days, A less B.",
        counted(family.tests as u64, "test"),
        family.level
    );
    say(wrap(&line, width(), ""))?;
    if let Some(any) = &response.any_better {
        let line = format!(
            "Is any of {} better (SPA, {} days)? p = {:.3}. It does not say which.",
            any.items, any.days, any.p_value
        );
        say(wrap(&line, width(), ""))?;
    }
    for found in &response.random {
        let of = label(&found.item);
        if let Some(why) = &found.unavailable {
            say(wrap(&format!("{of} against random: not available: {why}."), width(), ""))?;
        }
        for null in &found.nulls {
            let p = null.p_value.map_or_else(String::new, |p| format!(", p = {p:.3}"));
            let line = format!("{of} against random {} ({} days): {}{p}.", null.null, found.days, null.words);
            say(wrap(&line, width(), ""))?;
        }
    }
    if let Some(branch) = &response.branch {
        print_branch(branch)?;
    }
    for text in &response.notes {
        note!("note: {text}");
    }
    Ok(())
}

fn print_items(items: &[ComparedItem]) -> Result<()> {
    let mut rows = table([
        "item",
        ">trials",
        ">days",
        ">return",
        ">mean a day, 95%",
        ">Sharpe, 95%",
        ">max drawdown",
        ">full research",
        ">fallback P&L",
        ">model cost",
        ">rank",
    ]);
    for item in items {
        let mean = item.mean.map_or_else(
            || "-".to_owned(),
            |mean| format!("{}{}", percent(Some(mean.mean_daily)), bounds(mean.interval, 100.0, "%")),
        );
        let sharpe = item.sharpe.map_or_else(
            || "-".to_owned(),
            |sharpe| format!("{:.2}{}", sharpe.annualized, bounds(Some(sharpe.interval), 1.0, "")),
        );
        let rank = item.rank.map_or_else(
            || "-".to_owned(),
            |rank| match rank.best == rank.worst {
                true => rank.best.to_string(),
                false => format!("{}-{}", rank.best, rank.worst),
            },
        );
        rows.add_row([
            item.label.clone(),
            match item.windows {
                0 | 1 => item.trials.to_string(),
                windows => format!("{} x {windows} windows", item.trials),
            },
            item.days.to_string(),
            percent(item.total_return),
            mean,
            sharpe,
            percent(item.max_drawdown),
            format!("{} of {}", item.full_research_days, item.days),
            percent((item.fallback_days > 0).then_some(item.fallback_log_return)),
            item.model_cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost}")),
            rank,
        ]);
    }
    say(text_of(&rows))
}

fn bounds(interval: Option<IntervalResponse>, factor: f64, unit: &str) -> String {
    interval.map_or_else(String::new, |found| {
        format!(" ({:+.2}{unit} to {:+.2}{unit})", found.low * factor, found.high * factor)
    })
}

/// A difference, its interval, and its p-value within the family.
fn shown(difference: Option<&DifferenceResponse>, p: Option<f64>) -> [String; 3] {
    let points = |value: f64| format!("{:+.2}", 100.0 * value);
    let dash = || "-".to_owned();
    let total_interval = difference.and_then(|found| found.total_interval);
    [
        difference.map_or_else(dash, |found| format!("{} pp", points(found.total))),
        total_interval.map_or_else(dash, |found| format!("{} to {}", points(found.low), points(found.high))),
        p.map_or_else(dash, |p| format!("{p:.3}")),
    ]
}

fn net_row(pair: &ComparedPair, label: &dyn Fn(&str) -> String) -> [String; NET_COLUMNS.len()] {
    let net = &pair.net_of_model_cost;
    let [difference, interval, p] = shown(net.difference.as_ref(), net.holm_p);
    let days = net.difference.as_ref().map_or_else(|| "-".to_owned(), |found| found.days.to_string());
    [format!("{} vs {}", label(&pair.a), label(&pair.b)), difference, interval, days, p]
}

fn row(pair: &ComparedPair, label: &dyn Fn(&str) -> String) -> [String; COLUMNS.len()] {
    let dash = || "-".to_owned();
    let [difference, interval, p] = shown(pair.difference.as_ref(), pair.holm_p);
    [
        format!("{} vs {}", label(&pair.a), label(&pair.b)),
        difference,
        interval,
        pair.days.to_string(),
        p,
        pair.words.clone(),
        pair.min_detectable_points.map_or_else(dash, |points| format!("{points:.1} pp/yr")),
        pair.days_needed.map_or_else(dash, |days| days.to_string()),
    ]
}

/// What is shown without a verdict.
fn details(pair: &ComparedPair, items: &[ComparedItem]) -> Vec<String> {
    let mut lines: Vec<String> = pair.claim.iter().map(|claim| format!("about {claim}")).collect();
    let over = |found: &DifferenceResponse| {
        let interval = found.total_interval.map_or_else(String::new, |bounds| {
            format!(" ({:+.2} to {:+.2})", 100.0 * bounds.low, 100.0 * bounds.high)
        });
        format!("{:+.2} pp{interval} over {} days", 100.0 * found.total, found.days)
    };
    if let Some(full) = pair.full_research.as_ref().filter(|full| full.days < pair.days) {
        lines.push(format!("full research only: {}, without a verdict", over(full)));
    }
    if let Some(windows) = pair.windows_ahead {
        lines.push(format!("ahead in {} of {} windows", windows.ahead, windows.of));
    }
    let trials = |id: &str| items.iter().find(|item| item.id == id).map_or(0, |item| item.trials);
    if let Some(spread) = &pair.trial_spread {
        lines.push(format!(
            "on exactly these days: {} against {} trials differ by {:+.3}% per day ({:+.3}% to {:+.3}%), without a verdict",
            trials(&pair.a),
            trials(&pair.b),
            100.0 * spread.difference,
            100.0 * spread.interval.low,
            100.0 * spread.interval.high
        ));
    }
    lines
}

/// The first difference between a branch and its parent.
fn print_branch(branch: &BranchComparison) -> Result<()> {
    let cut = format!(
        "\nbranch of {}, {} on {} at {}: orders differ on {} of {} days",
        branch.parent, branch.agent, branch.date, branch.at, branch.different_days, branch.days
    );
    say(wrap(&cut, width(), ""))?;
    if let Some(difference) = &branch.difference {
        let interval = difference.total_interval.map_or_else(String::new, |bounds| {
            format!(" ({:+.2} to {:+.2})", 100.0 * bounds.low, 100.0 * bounds.high)
        });
        say(format_args!(
            "  branch less parent: {:+.2} pp{interval} over {} days",
            100.0 * difference.total,
            difference.days
        ))?;
    }
    match &branch.first_difference {
        None => say("  no step differs")?,
        Some(step) => {
            say(format_args!(
                "  first difference: {} {}, in the {}",
                step.date,
                step.path,
                match step.differs.as_str() {
                    "missing" => "steps: only one of the two has it",
                    differs => differs,
                }
            ))?;
            for line in &step.diff {
                say(format_args!("    {line}"))?;
            }
        }
    }
    let mut rows = table(["day", "~parent", "~branch", ">value"]);
    for day in &branch.decisions {
        let text = |orders: &[String]| if orders.is_empty() { "-".to_owned() } else { orders.join(", ") };
        rows.add_row([
            day.date.to_string(),
            text(&day.parent),
            text(&day.branch),
            format!("{:+.2}", day.value_difference.to_f64()),
        ]);
    }
    if branch.decisions.is_empty() { Ok(()) } else { say(text_of(&rows)) }
}
