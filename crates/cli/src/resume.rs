//! `papertape resume`

use super::failure::{no_job, of_trigger};
use super::record_access::{RecordAccess, job_named};
use super::{Common, Outcome, chat, execute, record_access};
use clap::Args;
use papertape_core::ports::Queue as _;
use papertape_protocol::fields::JsonObject;
use papertape_protocol::simulate::{BudgetBody, ChangedResponse, ResumeBody};
use papertape_runtime::assistant_job::is_assistants;
use papertape_runtime::budget::Limit;
use papertape_service::config::Config;
use papertape_service::trigger::{self, BudgetChange};
use rust_decimal::Decimal;

/// What to resume.
#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// The job, or `latest`
    job: String,
    /// Tokens that the job may use in all from now on, summaries left out
    #[arg(long, value_name = "COUNT")]
    budget_tokens: Option<u64>,
    /// US dollars that the job may cost in all from now on, summaries left out
    #[arg(long, value_name = "AMOUNT")]
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

    /// The same, as the API takes it.
    fn body(&self) -> ResumeBody {
        let line = |limit| JsonObject(trigger::limit_body(limit));
        let budget = |limit| JsonObject(BudgetBody { job: Some(line(limit)), ..BudgetBody::default() });
        ResumeBody { budget: self.limit().map(budget) }
    }
}

/// Resumes it.
pub(super) async fn resume(common: &Common, config: Config, args: ResumeArgs) -> Outcome {
    let way = record_access::open_existing(common, config).await?;
    let job = match &way {
        RecordAccess::Local(app) => {
            let job = job_named(app, &args.job).await?;
            trigger::resume(app, &job, args.budget()).await.map_err(of_trigger)?;
            job
        }
        RecordAccess::Remote(server) => {
            let job = server.job_named(&args.job).await?;
            let path = ["simulate", job.as_str(), "resume"];
            let _: ChangedResponse = server.post(&path, &args.body()).await?;
            job
        }
    };
    let reader = match &way {
        RecordAccess::Local(app) => app.as_ref().clone(),
        RecordAccess::Remote(server) => record_access::to_read(common, server.config.clone()).await?,
    };
    let row = reader.store.get_job(&job).await?.ok_or_else(|| no_job(job.as_str()))?;
    match &way {
        // An answer of the assistant's or the work on a plan: it starts jobs of its own.
        _ if is_assistants(&row.kind) => chat::go_on(common, &way, &job).await,
        RecordAccess::Local(app) => execute::run_local(app, common, &job).await,
        RecordAccess::Remote(server) => execute::run_remote(server, common, &job).await,
    }
}
