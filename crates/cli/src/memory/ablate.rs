//! `papertape memory ablate`: the same job with each memory setting, in one table.

use super::super::failure::{STOPPED, service_error, usage};
use super::super::output::{count, json, note, percent, say, table, text_of, width, wrap};
use super::super::record_access::{self, RecordAccess};
use super::super::summary::{self, AgentSummary};
use super::super::{Common, Outcome, execute, run::RunArgs};
use anyhow::Result;
use papertape_agents::config::MemoryMode;
use papertape_core::id::{AgentName, JobId};
use papertape_core::record::JobStatus;
use papertape_protocol::compare::CompareQuery;
use papertape_protocol::compare::pair::DifferenceResponse;
use papertape_protocol::jobs::StatusQuery;
use papertape_protocol::number::{Number, number};
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::trigger::trigger;
use papertape_service::view;
use papertape_store::{MemoryFilter, PageRequest, TradeFilter};
use serde::Serialize;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// One agent with one memory setting.
#[derive(Debug, Serialize)]
struct AblationRow {
    memory: MemoryMode,
    model: String,
    job_id: String,
    /// Trading days.
    days: usize,
    total_return: Option<f64>,
    max_drawdown: Option<f64>,
    trades: u64,
    cost_usd: Option<Number>,
    reflections: u64,
    /// How many distinct reflections its sessions received as lessons.
    reflections_used: u64,
    /// The verdict against memory `off`, over all settings of the agent; `None` of `off` itself.
    verdict: Option<String>,
    /// The difference of log returns from memory `off`, with its 95% interval.
    difference: Option<DifferenceResponse>,
    /// Adjusted by Holm over the settings.
    holm_p: Option<f64>,
}

/// Days that are already completed with the same setting are skipped.
pub(super) async fn ablate(common: &Common, config: Config, args: RunArgs) -> Outcome {
    if args.is_experiment() {
        return Err(usage("--trials, --windows, --compare and --estimate are for `papertape run`"));
    }
    let request = args.request(&config)?;
    let mut rows = Vec::new();
    let mut jobs = Vec::new();
    let RecordAccess::Local(app) = record_access::open_for_writing(common, config).await? else {
        return Err(usage(
            "a server owns the database; stop it, or use another --data-dir: an ablation runs its jobs in this process",
        ));
    };
    for mode in MemoryMode::ALL {
        let request = papertape_service::trigger::Request { memory: Some(mode), ..request.clone() };
        let queued = trigger(&app, request).await.map_err(service_error)?;
        note!("memory = {mode}: job {}", queued.job);
        if queued.skipped < queued.total_model_days {
            execute::run_to_completion(&app, &queued.job).await?;
            let status = view::status(&app, queued.job.as_str(), &StatusQuery::default())
                .await
                .map_err(service_error)?;
            if status.status != JobStatus::Completed {
                let reason = status.error.map(|error| format!(": {error}")).unwrap_or_default();
                note!("job {} {}{reason}; run the same command again to continue", queued.job, status.status);
                return Ok(ExitCode::from(STOPPED));
            }
        } else {
            execute::run_to_completion(&app, &queued.job).await?;
        }
        jobs.push((mode, queued.job.clone()));
        for agent in summary::summarize_job(&app, &queued.job).await? {
            rows.push(row(&app, mode, &agent).await?);
        }
    }
    let notes = judge(&app, &jobs, &mut rows).await?;
    if common.json {
        json(&rows)?;
    } else {
        print(&rows)?;
        notes.iter().try_for_each(|note| say(wrap(note, width(), "")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares each setting with `off`, agent by agent. Returns the reasons.
async fn judge(app: &App, jobs: &[(MemoryMode, JobId)], rows: &mut [AblationRow]) -> Result<Vec<String>> {
    let models: BTreeSet<String> = rows.iter().map(|row| row.model.clone()).collect();
    let mut notes = Vec::new();
    for model in models {
        let id = |job: &JobId| format!("job:{job}/{model}");
        let Some((_, off)) = jobs.iter().find(|(mode, _)| *mode == MemoryMode::Off) else { continue };
        let select: Vec<String> = jobs.iter().map(|(_, job)| id(job)).collect();
        let query =
            CompareQuery { select: select.join(","), against: Some(id(off)), ..CompareQuery::default() };
        let found = view::compare(app, query).await.map_err(service_error)?;
        for (mode, job) in jobs {
            let Some(pair) = found.pairs.iter().find(|pair| pair.a == id(job)) else { continue };
            notes.push(format!(
                "{model}, memory {mode} against off: {}: {}.",
                pair.words,
                pair.reasons.join("; ")
            ));
            for row in rows.iter_mut().filter(|row| row.model == model && row.memory == *mode) {
                row.verdict = Some(pair.words.clone());
                row.difference.clone_from(&pair.difference);
                row.holm_p = pair.holm_p;
            }
        }
    }
    Ok(notes)
}

async fn row(app: &App, mode: MemoryMode, agent: &AgentSummary) -> Result<AblationRow> {
    let (job, model) = (&agent.newest_trade.0, &agent.result.model);
    let (reflections, reflections_used) = reflections(app, job, model).await?;
    let metrics = &agent.result.period_metrics;
    Ok(AblationRow {
        memory: mode,
        model: model.to_owned(),
        job_id: job.to_string(),
        days: metrics.days,
        total_return: metrics.total_return,
        max_drawdown: metrics.max_drawdown,
        trades: agent.trades,
        cost_usd: agent.cost.map(number),
        reflections,
        reflections_used,
        verdict: None,
        difference: None,
        holm_p: None,
    })
}

/// How many reflections were written, and how many distinct ones a session received.
async fn reflections(app: &App, job: &JobId, model: &str) -> Result<(u64, u64)> {
    let of = MemoryFilter { job: Some(job.clone()), agent: Some(AgentName::new(model)) };
    let filter = TradeFilter { of, ..TradeFilter::default() };
    let (mut written, mut page) = (0, PageRequest::first(500));
    loop {
        let found = app.store.memory_trades(&filter, &page).await?;
        written += found.items.len() as u64;
        match found.next {
            Some(cursor) => page = PageRequest::after(500, &cursor),
            None => break,
        }
    }
    let used = app.store.lessons_given(job, &AgentName::new(model)).await?;
    Ok((written, used.len() as u64))
}

fn print(rows: &[AblationRow]) -> Result<()> {
    let mut table = table([
        "agent",
        "memory",
        ">days",
        ">return",
        ">vs off, 95%",
        "verdict",
        ">max drawdown",
        ">trades",
        ">model cost",
        ">reflections",
        ">used",
        "job",
    ]);
    let mut sorted: Vec<&AblationRow> = rows.iter().collect();
    sorted.sort_by(|a, b| (&a.model, a.memory).cmp(&(&b.model, b.memory)));
    for row in sorted {
        table.add_row([
            row.model.clone(),
            row.memory.to_string(),
            row.days.to_string(),
            percent(row.total_return),
            row.difference.as_ref().map_or_else(|| "-".to_owned(), difference),
            row.verdict.clone().unwrap_or_else(|| "-".to_owned()),
            percent(row.max_drawdown),
            count(row.trades),
            row.cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.4}")),
            count(row.reflections),
            count(row.reflections_used),
            row.job_id.clone(),
        ]);
    }
    say(text_of(&table))
}

fn difference(found: &DifferenceResponse) -> String {
    let interval = found.total_interval.map_or_else(String::new, |bounds| {
        format!(" ({:+.2} to {:+.2})", 100.0 * bounds.low, 100.0 * bounds.high)
    });
    format!("{:+.2} pp{interval}", 100.0 * found.total)
}
