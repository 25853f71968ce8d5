//! `papertape profile chain`

use super::super::args::whole;
use super::super::failure::{FAILED, STOPPED, no_job, service_error, usage};
use super::super::output::{json, note, say};
use super::super::record_access::RecordAccess;
use super::super::run::style;
use super::super::{Common, Outcome, execute, record_access, signals};
use super::files::Dump;
use super::show::style as drawing_style;
use super::waterfall::waterfall;
use anyhow::{Context as _, Result};
use clap::Args;
use papertape_agents::config::{AgentConfig, Analyst, DeskConfig, PromptStyle};
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::ModelName;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobStatus;
use papertape_core::time::{Date, parse_date};
use papertape_runtime::cancellation::CancelSource;
use papertape_runtime::profile::trace::{Status, Trace};
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::config::Config;
use papertape_service::trigger::{Request, trigger};
use papertape_service::view;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub(super) struct ChainArgs {
    /// The instrument
    #[arg(long, value_name = "SYMBOL")]
    ticker: String,
    /// The trading day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    date: Date,
    /// The model's provider: a configured one, or house
    #[arg(long, value_name = "NAME", default_value = "house")]
    provider: String,
    /// The quick and the deep model
    #[arg(long, value_name = "NAME", default_value = "momentum")]
    model: String,
    /// Timeout of one attempt at a call
    #[arg(long, value_name = "SECS", default_value_t = 45, value_parser = whole(1_u64..))]
    timeout: u64,
    /// Max retries of a failed call
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = whole(0_u32..=99))]
    max_retries: u32,
    /// Style of the analyses: standard, compact or detailed
    #[arg(long, value_name = "STYLE", default_value = "standard", value_parser = style)]
    analysis_prompt_style: PromptStyle,
    /// Analysts: market, social, news, fundamentals [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = str::parse::<Analyst>)]
    selected_analysts: Vec<Analyst>,
    /// Timeout of the whole run
    #[arg(long, value_name = "SECS", default_value_t = 120, value_parser = whole(1_u64..))]
    overall_timeout: u64,
    /// Directory for the trace
    #[arg(long, value_name = "DIR", default_value = super::DUMP_DIR)]
    dump_dir: PathBuf,
    /// Include the steps of a failed run as raw_events
    #[arg(long)]
    dump_raw_on_failure: bool,
}

/// Runs one ticker-day and writes its trace, also if the run fails (exit code 1) or is stopped (exit code 3).
pub(super) async fn chain(common: &Common, config: Config, args: ChainArgs) -> Outcome {
    let app = match record_access::open_for_writing(common, config).await? {
        RecordAccess::Local(app) => app,
        RecordAccess::Remote(server) => {
            return Err(anyhow::anyhow!(
                "the server at {} owns the database; stop it, or use another --data-dir: nothing else may run during a \
                 profile",
                server.url()
            ));
        }
    };
    let dump = Dump::new(args.dump_dir.clone())?;
    let queued = trigger(&app, args.request()?).await.map_err(describe)?;
    for warning in &queued.warnings {
        note!("note: {warning}");
    }
    run(&app, &queued.job).await?;
    let mut traces: Vec<Trace> = Vec::new();
    let read = view::traces(&app, &queued.job, args.dump_raw_on_failure, |trace| {
        traces.push(trace);
        Ok(())
    });
    read.await.map_err(service_error)?;
    let row = app.store.get_job(&queued.job).await?.ok_or_else(|| no_job(queued.job.as_str()))?;
    let mut trace = traces.pop().with_context(|| {
        let reason = row.error.as_deref().unwrap_or("the run was stopped before it started");
        format!("job {} has no trace: {reason}", queued.job)
    })?;
    let path = dump.write(&mut trace)?;
    if common.json {
        json(&trace)?
    } else {
        say(waterfall(&trace, drawing_style()))?
    }
    note!("written to {path}");
    Ok(match (trace.status, row.status) {
        (Status::Ok, _) => ExitCode::SUCCESS,
        (Status::Error, JobStatus::Queued | JobStatus::Running | JobStatus::Cancelled) => {
            let job = &queued.job;
            note!(
                "job {job} stopped; to resume it:\n  papertape resume {job} && papertape profile export {job}"
            );
            ExitCode::from(STOPPED)
        }
        (Status::Error, _) => ExitCode::from(FAILED),
    })
}

/// As [`service_error`], with this command's options.
fn describe(error: ServiceError) -> anyhow::Error {
    match error {
        ServiceError::Invalid { field: "symbols", message } => usage(format!("--ticker: {message}")),
        ServiceError::Invalid { field: "start_date" | "end_date", message } => {
            usage(format!("--date: {message}"))
        }
        error => service_error(error),
    }
}

/// Runs the job to its end, in this process or in the worker that claimed it.
async fn run(app: &App, job: &JobId) -> Result<()> {
    let cancel = CancelSource::default();
    let id = job.clone();
    signals::listen(&cancel, move || {
        note!("job {id} stops after its current step; press Ctrl-C again to stop immediately");
    })?;
    execute::run_quietly(app, job, &cancel).await
}

impl ChainArgs {
    fn request(&self) -> Result<Request> {
        let model = ModelName { provider: self.provider.clone(), model: self.model.clone() };
        let mut agent = AgentConfig::desk(AgentName::new(format!("profile {model}")), model);
        agent.limits.call_timeout_secs = self.timeout;
        agent.limits.max_attempts = self.max_retries.saturating_add(1);
        agent.limits.session_timeout_secs = self.overall_timeout;
        let mut desk =
            DeskConfig { analysis_prompt_style: self.analysis_prompt_style, ..DeskConfig::default() };
        if !self.selected_analysts.is_empty() {
            desk.selected_analysts = self.selected_analysts.iter().copied().collect();
        }
        agent.desk = Some(desk);
        agent.validate().map_err(usage)?;
        Ok(Request {
            start_date: Some(self.date),
            end_date: Some(self.date),
            agents: vec![agent],
            symbols: vec![self.ticker.clone()],
            summaries: Some(false),
            profile: true,
            ..Request::default()
        })
    }
}
