//! `papertape plans`

use super::failure::{of_view, usage};
use super::output::{json, note, say, table, text_of, width, wrap};
use super::record_access::{self, RecordAccess};
use super::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use papertape_assistant::children::LeftOut;
use papertape_core::action::Language;
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::plan::{PlanId, PlanWrite};
use papertape_core::ports::Plans as _;
use papertape_redact::Sanitized;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::view::{self, JobResult, OmittedChild, OmittedDependency, TaskSummary, ViewError};
use serde::Deserialize as _;
use serde_json::json;
use std::process::ExitCode;

/// What of plans.
#[derive(Debug, Args)]
pub(super) struct PlansArgs {
    /// What to do.
    #[command(subcommand)]
    command: PlansCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum PlansCommand {
    /// List plans, newest first
    List(ListArgs),
    /// Show a plan with its tasks and jobs
    Show(ShowArgs),
    /// Delete a plan with its tasks; its jobs and their logs stay
    Delete(DeleteArgs),
}

/// Which part of the list.
#[derive(Debug, Args)]
struct ListArgs {
    /// How many at most, 1 to 200
    #[arg(long, value_name = "COUNT")]
    limit: Option<u32>,
    /// Go on from an earlier page
    #[arg(long)]
    cursor: Option<String>,
}

/// Which plan.
#[derive(Debug, Args)]
struct ShowArgs {
    /// The plan's number
    plan: i64,
}

/// Which plan, for good.
#[derive(Debug, Args)]
struct DeleteArgs {
    /// The plan's number
    plan: i64,
    /// Delete it without asking
    #[arg(long)]
    yes: bool,
}

/// Does it.
pub(super) async fn plans(common: &Common, config: Config, args: PlansArgs) -> Outcome {
    match args.command {
        PlansCommand::List(args) => list(common, config, args).await,
        PlansCommand::Show(args) => show(common, config, args.plan).await,
        PlansCommand::Delete(args) => delete(common, config, args).await,
    }
}

async fn list(common: &Common, config: Config, args: ListArgs) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let answer = view::plans(&app, args.limit, args.cursor).await.map_err(of_view)?;
    if common.json {
        json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    if answer.plans.is_empty() {
        note!("there are no plans");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = table([">plan", "~name", "status", ">tasks", "changed (UTC)"]);
    for plan in &answer.plans {
        table.add_row([
            plan.id.to_string(),
            plan.name.clone(),
            plan.status.to_string(),
            plan.tasks.to_string(),
            plan.updated_at.strftime("%Y-%m-%d %H:%M").to_string(),
        ]);
    }
    say(text_of(&table))?;
    if let Some(cursor) = answer.next_cursor {
        note!("there are more: papertape plans list --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(common: &Common, config: Config, plan: i64) -> Outcome {
    let app = record_access::to_read(common, config).await?;
    let about = view::plan(&app, plan).await.map_err(of_view)?.plan;
    let tasks = view::tasks(&app, plan).await.map_err(of_view)?.tasks;
    let jobs = view::plan_jobs(&app, plan, None, None).await.map_err(of_view)?;
    if common.json {
        json(&json!({ "plan": about, "tasks": tasks, "jobs": jobs.jobs }))?;
        return Ok(ExitCode::SUCCESS);
    }
    say(format_args!("plan    {} {}", about.id, about.name))?;
    say(format_args!("status  {}", about.status))?;
    if !about.goal.is_empty() {
        say(format_args!("goal\n{}", wrap(&about.goal, width(), "  ")))?;
    }
    for task in &tasks {
        say(line(task))?;
    }
    for job in &jobs.jobs {
        let id = JobId::new(&job.job_id);
        let came = view::job_result(&app, &id, &job.job_type).await.map_err(of_view)?;
        let line = came.as_ref().map(|came| format!(": {}", in_short(came))).unwrap_or_default();
        say(format_args!("job     {} {}, {}{line}", job.job_id, job.job_type, job.status))?;
        if let Some(JobResult::Decomposition(came)) = &came {
            for dropped in &came.omitted.dependencies {
                say(dropped_line(dropped))?;
            }
        }
    }
    if jobs.next_cursor.is_some() {
        note!("there are more jobs: GET /plans/{plan}/jobs lists them");
    }
    Ok(ExitCode::SUCCESS)
}

/// What a job came to, in a line.
fn in_short(came: &JobResult) -> String {
    match came {
        JobResult::Decomposition(came) => {
            let stats = came.stats;
            let mut text = format!(
                "stopped ({}), {} task(s) made of {} node(s)",
                came.stopped_reason, stats.nodes_created, stats.nodes_processed
            );
            if stats.children_omitted > 0 {
                text.push_str(&format!(", {} left out", stats.children_omitted));
            }
            let words =
                LeftOut::deserialize(to_value(&came.omitted)).map(|left_out| left_out.words(Language::En));
            if let Some(words) = words.ok().filter(|words| !words.is_empty()) {
                text.push_str(&format!(" ({words})"));
            }
            if stats.nodes_failed > 0 {
                text.push_str(&format!(", {} failed", stats.nodes_failed));
            }
            text
        }
        JobResult::Execution(came) => {
            let tasks: Vec<String> =
                came.tasks.iter().map(|(status, count)| format!("{count} {status}")).collect();
            let held = match came.blocked.len() {
                0 => String::new(),
                count => format!(", {count} held back from spending"),
            };
            format!("tasks {}{held}", tasks.join(", "))
        }
    }
}

/// A dependency that a decomposition dropped, in a line.
fn dropped_line(dropped: &OmittedDependency) -> String {
    let child = |child: &OmittedChild| match (&child.name, child.task_id) {
        (Some(name), Some(task)) => format!("task {task} `{name}`"),
        (Some(name), None) => format!("`{name}`"),
        (None, _) => format!("child {}", child.place),
    };
    let (from, to) = (child(&dropped.from), child(&dropped.to));
    format!("        dropped dependency ({}): {from} after {to}", dropped.reason)
}

/// A task in a line, as deep as it stands.
fn line(task: &TaskSummary) -> String {
    let indent = "  ".repeat(usize::try_from(task.depth).unwrap_or_default() + 1);
    let after = match &task.dependencies[..] {
        [] => String::new(),
        ids => format!(", after {}", ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    };
    format!("{indent}{} {} ({}{after})", task.id, task.name, task.status)
}

async fn delete(common: &Common, config: Config, args: DeleteArgs) -> Outcome {
    let plan = args.plan;
    if !args.yes {
        let app = record_access::to_read(common, config).await?;
        let about = view::plan(&app, plan).await.map_err(of_view)?.plan;
        let tasks = about.tasks;
        return Err(usage(format!(
            "plan {plan}, `{}`, would go with its {tasks} task(s); --yes deletes it",
            about.name
        )));
    }
    match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => delete_here(&app, plan).await?,
        RecordAccess::Remote(server) => server.delete(&["plans", &plan.to_string()]).await?,
    }
    if common.json {
        json(&json!({ "plan_id": plan, "deleted": true }))?;
    }
    note!("plan {plan} is deleted; its jobs and their logs stay");
    Ok(ExitCode::SUCCESS)
}

async fn delete_here(app: &App, plan: i64) -> Result<()> {
    let writes = vec![PlanWrite::Delete { plan: PlanId(plan) }];
    let writes = Sanitized::of(&app.services.redactor, writes);
    let deleted = app.store.write_plans(writes, app.services.clock.now()).await;
    deleted.map(drop).map_err(|error| of_view(ViewError::from(error)))
}
