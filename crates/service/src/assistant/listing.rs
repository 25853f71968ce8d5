//! Lists runs and data, and stops a job.

use super::toolbox::{JobToolbox, ToolArgs, bad, missing, service_failure, unavailable};
use crate::view;
use papertape_core::language::Language;
use papertape_core::message::CallFailure;
use papertape_core::ports::ToolCaller;
use papertape_core::record::{JobKind, JobStatus};
use papertape_protocol::jobs::{JobSummary, JobsQuery};
use papertape_runtime::child_jobs;
use serde_json::{Value, json};

/// Runs: default and maximum.
const RUNS: u32 = 10;
const MAX_RUNS: u32 = 100;
/// Symbols per dataset if none is named: default and maximum.
const SYMBOLS: usize = 12;
const MAX_SYMBOLS: usize = 500;

impl JobToolbox {
    /// Requests that a job stop. A repeated request finds it stopped.
    pub(super) async fn cancel(
        &self,
        by: &ToolCaller<'_>,
        args: &ToolArgs<'_>,
    ) -> Result<Value, CallFailure> {
        let name = args.text("job_id").unwrap_or_default();
        if name == "latest" {
            let why = (
                "job_id: give the job's ID; `latest` may be a different job by then",
                "job_id：请给出任务编号",
            );
            return Err(bad(args.localized(why.0.to_owned(), why.1.to_owned())));
        }
        let job = self.job(args).await?;
        if job == by.origin.job {
            let why = ("a turn cannot cancel itself", "本轮不能取消自己");
            return Err(missing(args.localized(why.0.to_owned(), why.1.to_owned())));
        }
        let status = child_jobs::cancel(&self.0.services, &job).await.map_err(unavailable)?;
        let message = match status {
            Some(JobStatus::Cancelled) => {
                args.localized(format!("job {job} is cancelled"), format!("任务 {job} 已取消"))
            }
            Some(JobStatus::Running | JobStatus::Queued) => args.localized(
                format!("job {job} will stop after the current step"),
                format!("任务 {job} 将在当前步骤完成后停止"),
            ),
            Some(status) => {
                return Err(missing(args.localized(
                    format!("job {job} is already {status}"),
                    format!("任务 {job} {}，无需取消", Language::Zh.status(status.as_str())),
                )));
            }
            None => {
                return Err(missing(
                    args.localized(format!("there is no job {job}"), format!("没有任务 {job}")),
                ));
            }
        };
        Ok(json!({ "message": message, "job_id": job, "status": status }))
    }

    /// The newest simulations, all or those with one status.
    pub(super) async fn list_runs(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let status = args.text("status").map(|status| status.parse::<JobStatus>()).transpose();
        let query = JobsQuery {
            kind: Some(JobKind::Simulate.to_string()),
            status: status.map_err(|why| bad(format!("status: {why}")))?,
            limit: Some(args.limit(RUNS, MAX_RUNS)),
            ..JobsQuery::default()
        };
        let found = view::jobs(&self.0, query).await.map_err(service_failure)?;
        let run = |job: &JobSummary| {
            let simulation = job.simulation.as_ref();
            // All that ever were members of an index are many, and say nothing of a day.
            let symbols = simulation.map(|run| match &run.universe {
                Some(index) => json!(format!("the members of {index} on each day")),
                None => json!(run.symbols),
            });
            json!({ "job_id": job.job_id, "status": job.status, "error": job.error, "progress": job.progress,
                "models": simulation.map(|run| run.agents.iter().map(|agent| &agent.name).collect::<Vec<_>>()),
                "symbols": symbols, "cash": simulation.map(|run| run.initial_cash),
                "start_date": simulation.map(|run| run.start_date),
                "end_date": simulation.map(|run| run.end_date) })
        };
        let runs: Vec<Value> = found.jobs.iter().map(run).collect();
        let (count, has_more) = (runs.len(), found.next_cursor.is_some());
        let state = args.text("status").unwrap_or_default();
        let word = |language: Language| match state.as_str() {
            "" => String::new(),
            state => format!("{} ", language.status(state)),
        };
        let message = match has_more {
            true => args.localized(
                format!("the newest {count} {}run(s); there are more", word(Language::En)),
                format!("最新的 {count} 个{}运行；还有更多", word(Language::Zh).trim()),
            ),
            false => args.localized(
                format!("{count} {}run(s)", word(Language::En)),
                format!("{count} 个{}运行", word(Language::Zh).trim()),
            ),
        };
        Ok(json!({ "message": message, "runs": runs, "has_more": has_more }))
    }

    /// The datasets with their days and symbols.
    pub(super) fn list_data(&self, args: &ToolArgs<'_>) -> Result<Value, CallFailure> {
        let named = args.text("dataset");
        let entries = self.0.catalogue.list().map_err(unavailable)?;
        let entries = entries.into_iter().filter(|entry| !entry.replaced);
        let entries: Vec<_> =
            entries.filter(|entry| named.as_ref().is_none_or(|name| *name == entry.name)).collect();
        if let Some(name) = named.as_ref().filter(|_| entries.is_empty()) {
            return Err(missing(
                args.localized(format!("there is no dataset {name}"), format!("没有数据集 {name}")),
            ));
        }
        let max = if named.is_some() { MAX_SYMBOLS } else { SYMBOLS };
        let dataset = |entry: &papertape_market::Entry| {
            json!({ "name": entry.name, "market": entry.market, "first_day": entry.first_day,
                "last_day": entry.last_day, "days": entry.days, "symbols_in_all": entry.symbols.len(),
                "symbols": entry.symbols.iter().take(max).collect::<Vec<_>>() })
        };
        let datasets: Vec<Value> = entries.iter().map(dataset).collect();
        let count = datasets.len();
        let message = args.localized(format!("{count} dataset(s)"), format!("{count} 个数据集"));
        Ok(json!({ "message": message, "datasets": datasets }))
    }
}
