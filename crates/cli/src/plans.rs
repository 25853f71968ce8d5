//! `papertape plans`

use super::args::{parse_plan, whole};
use super::failure::{service_error, usage};
use super::output::{json, note, only_json, say, table, text_of, width, wrap};
use super::record_access::{self, RecordAccess};
use super::{Common, Outcome};
use anyhow::Result;
use clap::{Args, Subcommand};
use papertape_assistant::children::LeftOut;
use papertape_core::id::JobId;
use papertape_core::json::to_value;
use papertape_core::language::Language;
use papertape_core::plan::{PlanId, PlanWrite};
use papertape_core::ports::Plans as _;
use papertape_protocol::job_result::{JobResult, OmittedChild, OmittedDependency};
use papertape_protocol::plans::TaskSummary;
use papertape_protocol::query::PageQuery;
use papertape_redact::Sanitized;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::view;
use serde::Deserialize as _;
use serde_json::json;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct PlansArgs {
    #[command(subcommand)]
    command: PlansCommand,
}

#[derive(Debug, Subcommand)]
enum PlansCommand {
    /// List plans, newest first
    List(ListArgs),
    /// Show a plan with its tasks and jobs
    Show(ShowArgs),
    /// Delete a plan and its tasks, but not its jobs
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Max plans, 1 to 200
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u32..=200))]
    limit: Option<u32>,
    /// Continue after a cursor from an earlier page
    #[arg(long)]
    cursor: Option<String>,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// The plan's ID
    #[arg(value_parser = parse_plan)]
    plan: i64,
}

#[derive(Debug, Args)]
struct DeleteArgs {
    /// The plan's ID
    #[arg(value_parser = parse_plan)]
    plan: i64,
    /// Confirm the deletion
    #[arg(long)]
    yes: bool,
}

pub(super) async fn plans(common: &Common, config: Config, args: PlansArgs) -> Outcome {
    match args.command {
        PlansCommand::List(args) => list(common, config, args).await,
        PlansCommand::Show(args) => show(common, config, args.plan).await,
        PlansCommand::Delete(args) => delete(common, config, args).await,
    }
}

async fn list(common: &Common, config: Config, args: ListArgs) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let response = view::plans(&app, PageQuery { limit: args.limit, cursor: args.cursor })
        .await
        .map_err(service_error)?;
    if common.json {
        return only_json(&response);
    }
    if response.plans.is_empty() {
        note!("no plans");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = table([">plan", "~name", "status", ">tasks", "updated (UTC)"]);
    for plan in &response.plans {
        table.add_row([
            plan.id.to_string(),
            plan.name.clone(),
            plan.status.to_string(),
            plan.tasks.to_string(),
            plan.updated_at.strftime("%Y-%m-%d %H:%M").to_string(),
        ]);
    }
    say(text_of(&table))?;
    if let Some(cursor) = response.next_cursor {
        note!("more plans: papertape plans list --cursor {cursor}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn show(common: &Common, config: Config, plan: i64) -> Outcome {
    let app = record_access::open_read_only(common, config).await?;
    let details = view::plan(&app, plan).await.map_err(service_error)?.plan;
    let tasks = view::tasks(&app, plan).await.map_err(service_error)?.tasks;
    let jobs = view::plan_jobs(&app, plan, PageQuery::default()).await.map_err(service_error)?;
    if common.json {
        return only_json(&json!({ "plan": details, "tasks": tasks, "jobs": jobs.jobs }));
    }
    say(format_args!("plan    {} {}", details.id, details.name))?;
    say(format_args!("status  {}", details.status))?;
    if !details.goal.is_empty() {
        say(format_args!("goal\n{}", wrap(&details.goal, width(), "  ")))?;
    }
    for task in &tasks {
        say(task_line(task))?;
    }
    for job in &jobs.jobs {
        let id = JobId::new(&job.job_id);
        let result =
            view::job_result(&app, &id, &job.job_type.as_str().into()).await.map_err(service_error)?;
        let text = result.as_ref().map(|result| format!(": {}", result_line(result))).unwrap_or_default();
        say(format_args!("job     {} {}, {}{text}", job.job_id, job.job_type, job.status))?;
        if let Some(JobResult::Decomposition(result)) = &result {
            for dropped in &result.omitted.dependencies {
                say(dropped_line(dropped))?;
            }
        }
    }
    if jobs.next_cursor.is_some() {
        note!("more jobs: GET /plans/{plan}/jobs");
    }
    Ok(ExitCode::SUCCESS)
}

fn result_line(result: &JobResult) -> String {
    match result {
        JobResult::Decomposition(result) => {
            let stats = result.stats;
            let mut text = format!(
                "stopped ({}), {} task(s) created from {} node(s)",
                result.stopped_reason, stats.nodes_created, stats.nodes_processed
            );
            if stats.children_omitted > 0 {
                text.push_str(&format!(", {} dropped", stats.children_omitted));
            }
            let reasons =
                LeftOut::deserialize(to_value(&result.omitted)).map(|omitted| omitted.words(Language::En));
            if let Some(reasons) = reasons.ok().filter(|reasons| !reasons.is_empty()) {
                text.push_str(&format!(" ({reasons})"));
            }
            if stats.nodes_failed > 0 {
                text.push_str(&format!(", {} failed", stats.nodes_failed));
            }
            text
        }
        JobResult::Execution(result) => {
            let tasks: Vec<String> =
                result.tasks.iter().map(|(status, count)| format!("{count} {status}")).collect();
            let blocked = match result.blocked.len() {
                0 => String::new(),
                count => format!(", {count} blocked from spending"),
            };
            format!("tasks {}{blocked}", tasks.join(", "))
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

/// A task on one line, indented by its depth.
fn task_line(task: &TaskSummary) -> String {
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
        let app = record_access::open_read_only(common, config).await?;
        let details = view::plan(&app, plan).await.map_err(service_error)?.plan;
        return Err(usage(format!(
            "this deletes plan {plan}, `{}`, with {} task(s); confirm with --yes",
            details.name, details.tasks
        )));
    }
    match record_access::open_existing(common, config).await? {
        RecordAccess::Local(app) => delete_local(&app, plan).await?,
        RecordAccess::Remote(server) => server.delete(&["plans", &plan.to_string()]).await?,
    }
    if common.json {
        json(&json!({ "plan_id": plan, "deleted": true }))?;
    }
    note!("deleted plan {plan}; its jobs and their logs remain");
    Ok(ExitCode::SUCCESS)
}

async fn delete_local(app: &App, plan: i64) -> Result<()> {
    let writes = vec![PlanWrite::Delete { plan: PlanId(plan) }];
    let writes = Sanitized::of(&app.services.redactor, writes);
    let deleted = app.store.write_plans(writes, app.services.clock.now()).await;
    deleted.map(drop).map_err(|error| service_error(ServiceError::from(error)))
}
