//! `papertape resume`

use super::args::{parse_budget, whole};
use super::failure::{no_job, service_error};
use super::record_access::{RecordAccess, Target, find_target, find_target_remote};
use super::{Common, Outcome, chat, execute, experiment_run, probe, record_access};
use clap::Args;
use papertape_core::ports::Queue as _;
use papertape_core::record::JobKind;
use papertape_protocol::experiments::{ChangedExperimentResponse, ResumeExperimentBody};
use papertape_protocol::fields::JsonObject;
use papertape_protocol::simulate::{BudgetBody, ChangedResponse, ResumeBody};
use papertape_runtime::budget::Limit;
use papertape_service::config::Config;
use papertape_service::experiments;
use papertape_service::trigger::{self, BudgetChange};
use rust_decimal::Decimal;

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The job or experiment, or `latest`
    job: String,
    /// Set the total token budget of the job, or of the experiment's jobs together, without summaries
    #[arg(long, value_name = "COUNT", value_parser = whole(1_u64..), allow_negative_numbers = true)]
    budget_tokens: Option<u64>,
    /// Set the same total model cost budget in US dollars, without summaries
    #[arg(long, value_name = "AMOUNT", value_parser = parse_budget, allow_negative_numbers = true)]
    budget_usd: Option<Decimal>,
}

impl ResumeArgs {
    fn limit(&self) -> Option<Limit> {
        let limit = Limit { tokens: self.budget_tokens, usd: self.budget_usd };
        (limit != Limit::default()).then_some(limit)
    }

    fn budget(&self) -> Option<BudgetChange> {
        self.limit().map(|limit| BudgetChange { job: Some(limit), ..BudgetChange::default() })
    }

    /// The same for an experiment.
    fn experiment_body(&self) -> ResumeExperimentBody {
        ResumeExperimentBody { budget: self.limit().map(|limit| JsonObject(trigger::limit_body(limit))) }
    }

    /// The same, as the API takes it.
    fn body(&self) -> ResumeBody {
        let line = |limit| JsonObject(trigger::limit_body(limit));
        let budget = |limit| JsonObject(BudgetBody { job: Some(line(limit)), ..BudgetBody::default() });
        ResumeBody { budget: self.limit().map(budget) }
    }
}

pub(super) async fn resume(common: &Common, config: Config, args: ResumeArgs) -> Outcome {
    let access = record_access::open_existing(common, config).await?;
    let job = match &access {
        RecordAccess::Local(app) => {
            let job = match find_target(app, &args.job).await? {
                Target::Job(job) => job,
                Target::Experiment(id) => {
                    experiments::resume(app, &id, args.limit()).await.map_err(service_error)?;
                    return experiment_run::run_local(app, common, &id).await;
                }
            };
            trigger::resume(app, &job, args.budget()).await.map_err(service_error)?;
            job
        }
        RecordAccess::Remote(server) => {
            let job = match find_target_remote(common, server, &args.job).await? {
                Target::Job(job) => job,
                Target::Experiment(id) => {
                    let body = args.experiment_body();
                    let _: ChangedExperimentResponse =
                        server.post(&["experiments", id.as_str(), "resume"], &body).await?;
                    return experiment_run::run_remote(server, common, &id).await;
                }
            };
            let path = ["simulate", job.as_str(), "resume"];
            let _: ChangedResponse = server.post(&path, &args.body()).await?;
            job
        }
    };
    let reader = match &access {
        RecordAccess::Local(app) => app.as_ref().clone(),
        RecordAccess::Remote(server) => record_access::open_read_only(common, server.config.clone()).await?,
    };
    let row = reader.store.get_job(&job).await?.ok_or_else(|| no_job(job.as_str()))?;
    match &access {
        // The assistant's jobs start other jobs, which a worker has to run.
        _ if row.kind.is_assistant() => chat::follow_job(common, &access, &job).await,
        RecordAccess::Local(app) if row.kind == JobKind::MemoryProbe => {
            probe::run_local(app, common, &job).await
        }
        RecordAccess::Remote(server) if row.kind == JobKind::MemoryProbe => {
            probe::follow(&reader, common, &job, Some(server.url())).await
        }
        RecordAccess::Local(app) => execute::run_local(app, common, &job).await,
        RecordAccess::Remote(server) => execute::run_remote(server, common, &job).await,
    }
}
