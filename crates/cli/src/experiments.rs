//! `papertape experiments`, and what other commands print of an experiment.

use super::args::whole;
use super::failure::service_error;
use super::output::{count, json, note, only_json, percent, say, table, text_of, two_decimals, width, wrap};
use super::record_access::{Target, find_target, short_id};
use super::{Common, Outcome, record_access};
use anyhow::{Result, bail};
use clap::Args;
use papertape_core::id::ExperimentId;
use papertape_protocol::experiments::{
    AgentTrials, Estimate, ExperimentResponse, ExperimentSummary, ExperimentsQuery, Manifest, Spread,
    TrialResult, WindowTrials,
};
use papertape_protocol::number::Number;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::view;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ExperimentsArgs {
    /// Show this experiment in detail
    experiment: Option<String>,
    /// Max experiments, 1 to 200
    #[arg(long, value_name = "COUNT", conflicts_with = "experiment", value_parser = whole(1_u32..=200))]
    limit: Option<u32>,
    /// Continue after a cursor from an earlier page
    #[arg(long, conflicts_with = "experiment")]
    cursor: Option<String>,
}

pub(super) async fn experiments(common: &Common, config: Config, args: ExperimentsArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    if let Some(name) = &args.experiment {
        return match find_target(&app, name).await? {
            Target::Experiment(id) => show(&app, common, &id).await,
            Target::Job(job) => bail!("{job} is a job; run `papertape jobs {job}`"),
        };
    }
    let query = ExperimentsQuery { limit: args.limit, cursor: args.cursor };
    let response = view::experiments(&app, query).await.map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    if response.experiments.is_empty() {
        note!("no experiments; start one with `papertape run --trials 3`");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = table([
        "experiment",
        "status",
        "days",
        "agents",
        ">trials",
        ">windows",
        ">done",
        ">cost",
        "created (UTC)",
    ]);
    for one in &response.experiments {
        table.add_row([
            short_id(&one.experiment_id).to_owned(),
            one.status.to_string(),
            format!("{} to {}", one.start_date, one.planned_last_day),
            match one.agents.as_slice() {
                [agent] => agent.clone(),
                agents => format!("{} agents", agents.len()),
            },
            one.trials.to_string(),
            one.windows.to_string(),
            done(one),
            cost(one.usage.cost_usd),
            one.created_at.strftime("%Y-%m-%d %H:%M").to_string(),
        ]);
    }
    say(text_of(&table))?;
    if let Some(cursor) = response.next_cursor {
        note!("more experiments: papertape experiments --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints an experiment and its jobs.
pub(super) async fn show(app: &App, common: &Common, id: &ExperimentId) -> Outcome {
    let found = view::experiment(app, id.as_str()).await.map_err(service_error)?;
    if common.json {
        json(&found)?;
        return Ok(ExitCode::SUCCESS);
    }
    for (label, value) in details(&found) {
        say(format_args!("{label:<10} {value}"))?;
    }
    let mut table = table(["job", ">window", ">trial", ">seed", "status", ">done", ">cost", "~error"]);
    for one in &found.jobs {
        let progress = &one.progress;
        let over = progress.total_model_days - progress.pending;
        table.add_row([
            short_id(&one.job_id).to_owned(),
            match &one.mask {
                Some(mask) => format!("{} ({mask})", one.window),
                None => one.window.to_string(),
            },
            one.trial.to_string(),
            one.seed.to_string(),
            one.status.to_string(),
            format!("{over}/{}", progress.total_model_days),
            cost(one.usage.cost_usd),
            one.error.clone().unwrap_or_default(),
        ]);
    }
    say(format_args!("\n{}", text_of(&table)))?;
    Ok(ExitCode::SUCCESS)
}

fn details(found: &ExperimentResponse) -> Vec<(&'static str, String)> {
    let (experiment, manifest) = (&found.experiment, &found.manifest);
    let mut lines = vec![
        ("experiment", experiment.experiment_id.clone()),
        ("status", experiment.status.to_string()),
        (
            "progress",
            format!(
                "{} model-days, {} of {} jobs",
                done(experiment),
                experiment.completed_jobs,
                experiment.planned_jobs
            ),
        ),
    ];
    lines.extend(experiment.interim.as_ref().map(|why| ("interim", why.clone())));
    lines.extend(plan_lines(manifest));
    lines.push((
        "usage",
        format!(
            "{} input tokens, {} output tokens, {}",
            count(experiment.usage.input_tokens),
            count(experiment.usage.output_tokens),
            cost(experiment.usage.cost_usd)
        ),
    ));
    let limits = [
        found.budget.tokens.map(|tokens| format!("{} tokens", count(tokens))),
        found.budget.usd.map(|usd| format!("${usd}")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    if !limits.is_empty() {
        lines.push(("budget", format!("{}, for all jobs together", limits.join(", "))));
    }
    lines.push(("manifest", found.manifest_hash.clone()));
    lines
}

fn plan_lines(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let mut lines: Vec<(&str, String)> = manifest
        .agents
        .iter()
        .map(|agent| {
            let trials =
                if agent.trials == 1 { "1 trial".to_owned() } else { format!("{} trials", agent.trials) };
            let note = agent.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
            ("agent", format!("{}: {trials}{note}", agent.name))
        })
        .collect();
    lines.extend((1..).zip(&manifest.windows).map(|(number, window): (u32, _)| {
        (
            "window",
            format!("{number}: {} to {}, {} trading days", window.start_date, window.end_date, window.days),
        )
    }));
    lines.push(("compare", manifest.compare.replace('_', " ")));
    lines
}

/// Prints the plan and the estimate of an experiment, before it starts.
pub(super) fn print_estimate(manifest: &Manifest, estimate: &Estimate, warnings: &[String]) {
    for (label, value) in plan_lines(manifest) {
        note!("{label:<10} {value}");
    }
    for agent in &estimate.agents {
        let skipped = match agent.skipped_days {
            0 => String::new(),
            skipped => format!(" ({skipped} more are already completed)"),
        };
        note!(
            "estimate   {}: {} model-days{skipped}, {} calls, {} input and {} output tokens, {} ({})",
            agent.model,
            count(agent.model_days),
            count(agent.calls),
            count(agent.input_tokens),
            count(agent.output_tokens),
            cost(agent.cost_usd),
            agent.explanation
        );
    }
    note!(
        "in all     {} jobs, {} model-days; an estimate: {} calls, {} tokens, {}",
        estimate.jobs,
        count(estimate.model_days),
        count(estimate.calls),
        count(estimate.input_tokens + estimate.output_tokens),
        cost(estimate.cost_usd)
    );
    for warning in warnings {
        note!("note: {warning}");
    }
}

/// Prints every trial, and the mean and the spread of each window's trials.
pub(super) async fn print_results(app: &App, id: &ExperimentId) -> Result<()> {
    let results = view::experiment_results(app, id.as_str()).await.map_err(service_error)?;
    let mut notes = Vec::new();
    for AgentTrials { agent, training_cutoffs, windows } in &results.agents {
        for one in windows {
            say(format_args!(
                "{}, {}window {}: {} to {}, {} trading days",
                agent.name,
                one.mask.as_ref().map_or_else(String::new, |mask| format!("mask {mask}, ")),
                one.number,
                one.window.start_date,
                one.window.end_date,
                one.window.days
            ))?;
            say(format_args!("{}\n", trials_table(one)))?;
        }
        notes.extend(agent.note.as_ref().map(|note| format!("{}: {note}.", agent.name)));
        let warnings = training_cutoffs.iter().filter_map(|cutoff| cutoff.warning.as_ref());
        notes.extend(warnings.map(|warning| format!("Warning: {warning}.")));
    }
    if let Some(interim) = &results.interim {
        notes.push(format!("Interim: {interim}."));
    }
    notes.push(
        "Mean and deviation (ddof 1) are over the trials that have completed the window. They show how much runs of one \
         configuration differ on these days, not how it would do on others."
            .to_owned(),
    );
    let is_short = |one: &WindowTrials| one.window.days < 60;
    if results.agents.iter().any(|one| one.windows.iter().any(is_short)) {
        notes.push("Nothing is annualized under 60 days.".to_owned());
    }
    notes.iter().try_for_each(|note| say(wrap(note, width(), "")))
}

fn trials_table(one: &WindowTrials) -> String {
    let mut rows = table([
        "trial",
        ">seed",
        "job",
        "status",
        ">days",
        ">return",
        ">daily sd",
        ">max drawdown",
        ">Sharpe",
        ">degraded",
        ">cost",
    ]);
    for trial in &one.trials {
        rows.add_row(trial_row(trial, one.window.days));
    }
    let spread = &one.spread;
    let row = |name: &str, get: fn(&Spread) -> Option<f64>| {
        let of = |spread: &Option<Spread>| spread.as_ref().and_then(get);
        // A figure may be defined in some trials only.
        let counts = [&spread.total_return, &spread.max_drawdown, &spread.sharpe];
        let mut counts: Vec<u32> = counts.into_iter().flatten().map(|spread| spread.n).collect();
        counts.dedup();
        let n = match counts.as_slice() {
            [] => "n=0".to_owned(),
            counts => format!("n={}", counts.iter().map(u32::to_string).collect::<Vec<_>>().join("/")),
        };
        [
            name.to_owned(),
            String::new(),
            String::new(),
            String::new(),
            n,
            percent(of(&spread.total_return)),
            String::new(),
            percent(of(&spread.max_drawdown)),
            two_decimals(of(&spread.sharpe)),
            String::new(),
            String::new(),
        ]
    };
    rows.add_row(row("mean", |spread| Some(spread.mean)));
    rows.add_row(row("deviation", |spread| spread.deviation));
    let held = one.buy_and_hold.map(|held| format!("\nbuy and hold {}", percent(Some(held))));
    format!("{}{}", text_of(&rows), held.unwrap_or_default())
}

fn trial_row(trial: &TrialResult, planned: u32) -> [String; 11] {
    [
        trial.trial.to_string(),
        trial.seed.to_string(),
        short_id(&trial.job_id).to_owned(),
        trial.status.to_string(),
        format!("{}/{planned}", trial.days),
        percent(trial.total_return),
        percent(trial.daily_deviation).trim_start_matches('+').to_owned(),
        percent(trial.max_drawdown),
        two_decimals(trial.sharpe),
        trial.degraded_days.to_string(),
        cost(trial.cost_usd),
    ]
}

fn done(experiment: &ExperimentSummary) -> String {
    let progress = &experiment.progress;
    format!("{}/{}", progress.total_model_days - progress.pending, progress.total_model_days)
}

fn cost(usd: Option<Number>) -> String {
    match usd {
        Some(usd) if usd.is_zero() => "$0".to_owned(),
        Some(usd) => format!("${usd:.4}"),
        None => "cost unknown".to_owned(),
    }
}
