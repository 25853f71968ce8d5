//! The assistant's view of simulations: the toolbox, the arguments of its tools, and their failures.

use crate::app::App;
use crate::error::ServiceError;
use papertape_core::action::Language;
use papertape_core::id::JobId;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::Queue as _;
use papertape_core::record::JobKind;
use papertape_core::time::{Date, parse_date};
use papertape_store::{JobFilter, PageRequest};
use serde_json::Value;

/// The jobs of this product, as the assistant's actions see them.
pub(super) struct JobToolbox(pub(super) App);

/// Arguments already validated by the action table, and the language of the answer.
pub(super) struct ToolArgs<'a> {
    pub(super) values: &'a Value,
    pub(super) language: Language,
}

impl ToolArgs<'_> {
    pub(super) fn localized(&self, english: String, chinese: String) -> String {
        match self.language {
            Language::En => english,
            Language::Zh => chinese,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.values[name].as_str().map(str::to_owned)
    }

    pub(super) fn day(&self, name: &'static str) -> Result<Option<Date>, CallFailure> {
        let text = self.values[name].as_str();
        text.map(|text| parse_date(text).map_err(|why| bad(format!("{name}: {why}")))).transpose()
    }

    pub(super) fn limit(&self, default: u32, max: u32) -> u32 {
        let given = self.values["limit"].as_u64().map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        given.unwrap_or(default).clamp(1, max)
    }
}

pub(super) fn bad(message: String) -> CallFailure {
    CallFailure { kind: FailureKind::BadRequest, message }
}

pub(super) fn missing(message: String) -> CallFailure {
    CallFailure { kind: FailureKind::ToolError, message }
}

pub(super) fn unavailable(error: impl std::fmt::Display) -> CallFailure {
    CallFailure { kind: FailureKind::Unavailable, message: error.to_string() }
}

pub(super) fn service_failure(error: ServiceError) -> CallFailure {
    match error {
        ServiceError::Invalid { .. } => bad(error.to_string()),
        ServiceError::Internal(cause) => unavailable(format!("{cause:#}")),
        other => missing(other.to_string()),
    }
}

pub(super) fn no_job(name: &str, args: &ToolArgs<'_>) -> String {
    args.localized(format!("there is no job {name}"), format!("没有任务 {name}"))
}

impl JobToolbox {
    /// The named job; `latest` is the newest simulation.
    pub(super) async fn job(&self, args: &ToolArgs<'_>) -> Result<JobId, CallFailure> {
        let name = args.text("job_id").ok_or_else(|| bad("job_id: it is missing".to_owned()))?;
        self.named(&name, args).await
    }

    pub(super) async fn named(&self, name: &str, args: &ToolArgs<'_>) -> Result<JobId, CallFailure> {
        let store = &self.0.store;
        if name == "latest" {
            let filter = JobFilter { kind: Some(JobKind::Simulate), status: None };
            let newest = store.jobs(&filter, &PageRequest::first(1)).await.map_err(unavailable)?;
            let newest = newest.items.into_iter().next();
            return newest.map(|item| item.job.id).ok_or_else(|| {
                missing(args.localized("there are no runs yet".to_owned(), "还没有任何运行".to_owned()))
            });
        }
        let id = JobId::new(name);
        match store.get_job(&id).await.map_err(unavailable)? {
            Some(_) => Ok(id),
            None => Err(missing(no_job(name, args))),
        }
    }
}
