//! Actions of the assistant, performed for a live session.

use super::child_budgets::{BudgetAllocator, ChildBudgets};
use super::{Assistant, AssistantConfig};
use crate::delta_stream::DeltaListener;
use crate::host::{HostActions, LiveHost};
use crate::tape_reader::stop_of;
use futures::FutureExt as _;
use futures::future::{Either, select};
use papertape_assistant::perform::ActionExecutor;
use papertape_core::action::{ACTION_KEY, ActionDraft, ActionEntry, ActionStatus};
use papertape_core::language::Language;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::{BoxFuture, ExternalCall};
use papertape_core::record::{AttemptEnd, JobRow, Write};
use papertape_core::tape::{
    ActionOptions, ActionOutcome, ActionReply, CallOutcome, CallOutcomeWithWrites, SessionStop, StepPath,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The actions of one running assistant job.
pub(super) struct AssistantActions {
    pub(super) assistant: Arc<Assistant>,
    config: Value,
    language: Language,
    wait: Duration,
    is_streamed: bool,
    child_budgets: ChildBudgets,
}

impl AssistantActions {
    pub(super) fn new(
        job: &JobRow,
        config: &AssistantConfig,
        assistant: &Arc<Assistant>,
        child_budgets: ChildBudgets,
        is_streamed: bool,
    ) -> Self {
        Self {
            assistant: Arc::clone(assistant),
            config: job.config.clone(),
            language: config.language,
            wait: Duration::from_secs(config.settings.wait_secs),
            is_streamed,
            child_budgets,
        }
    }

    /// The log row of a failed attempt that will be retried: committed with the attempt, so that each has exactly
    /// one, whatever happens in between. `None` for an action without rows.
    async fn attempt_row(
        &self,
        host: &LiveHost,
        path: &StepPath,
        ended: &AttemptEnd,
        (last, options): (u32, ActionOptions),
    ) -> Result<Option<Write>, SessionStop> {
        let services = host.services();
        let rows = services.actions.action_log(host.job()).await.map_err(stop_of)?;
        let is_its = |row: &ActionDraft| {
            row.details.as_ref().is_some_and(|details| details[ACTION_KEY] == path.as_str())
        };
        let Some(row) = rows.into_iter().map(|row| row.row).rfind(is_its) else { return Ok(None) };
        let (number, pause) = (ended.number, options.backoff.as_secs_f64());
        let error = ended.error.as_deref().unwrap_or_default();
        let message = match self.language {
            Language::En => format!("attempt {number} of {last} failed: {error}; next attempt in {pause} s"),
            Language::Zh => format!("第 {number} 次尝试（共 {last} 次）失败：{error}；{pause} 秒后重试"),
        };
        let mut details = row.details.clone().unwrap_or_default();
        details["attempt"] =
            json!({ "number": number, "max_attempts": last, "error": error, "pause_sec": pause });
        let draft = ActionDraft {
            status: ActionStatus::Running,
            message: Some(message),
            details: Some(details),
            ..row
        };
        Ok(Some(Write::Action(Box::new(ActionEntry::redacted(&services.redactor, draft)))))
    }

    /// One attempt, until its timeout or a stop.
    async fn attempt(
        &self,
        host: &LiveHost,
        (path, call): (&StepPath, &ExternalCall),
        timeout: Duration,
        is_repeated: bool,
    ) -> Result<Result<ActionOutcome, CallFailure>, SessionStop> {
        let (services, assistant) = (host.services(), &*self.assistant);
        let allocator = BudgetAllocator {
            services,
            budgets: host.budgets(),
            children: &self.child_budgets,
            language: self.language,
        };
        let executor = ActionExecutor {
            plans: &*assistant.plans,
            chats: &*assistant.chats,
            jobs: &*assistant.jobs,
            queue: &*services.queue,
            child_budget: &allocator,
            web: &*assistant.web,
            clock: &*services.clock,
            redactor: &services.redactor,
            lease: host.lease(),
            config: &self.config,
            language: self.language,
            wait: self.wait,
        };
        let work = Box::pin(executor.perform(path, call, is_repeated));
        let work = Box::pin(select(work, services.clock.sleep(timeout)));
        Ok(match host.cancel().unless_stopped(work).await? {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err(CallFailure {
                kind: FailureKind::TimedOut,
                message: match self.language {
                    Language::En => format!("it did not finish within {} s", timeout.as_secs_f64()),
                    Language::Zh => format!("未在 {} 秒内结束", timeout.as_secs_f64()),
                },
            }),
        })
    }

    /// Attempts an action until it succeeds, another attempt is impossible or pointless, or the job is stopped. A
    /// stop leaves the action open: it is repeated when the job is resumed, and finds what it had started.
    async fn attempts(
        &self,
        host: &LiveHost,
        (path, call): (&StepPath, &ExternalCall),
        options: ActionOptions,
        first: u32,
    ) -> Result<CallOutcomeWithWrites<ActionReply>, SessionStop> {
        let last = first.saturating_add(options.retries);
        let mut number = first;
        loop {
            // An attempt interrupted by a crash is not a failure: what it started is found again.
            let is_repeated = number > first;
            let attempted = self.attempt(host, (path, call), options.timeout, is_repeated).await;
            let failure = match attempted {
                Err(stop) => {
                    let error = Some("the session stopped".to_owned());
                    let ended = AttemptEnd { number, error, ..AttemptEnd::default() };
                    return Err(host.end_open(path, ended, stop).await);
                }
                Ok(Ok(ActionOutcome { reply, effects })) => {
                    let attempt = AttemptEnd { number, ..AttemptEnd::default() };
                    return Ok((CallOutcome { result: Ok(reply), attempt }, effects));
                }
                Ok(Err(failure)) => failure,
            };
            let error = Some(host.redact(&failure.to_string()));
            let ended = AttemptEnd { number, error, ..AttemptEnd::default() };
            if number >= last || failure.kind == FailureKind::BadRequest {
                return Ok((CallOutcome { result: Err(failure), attempt: ended }, Vec::new()));
            }
            tracing::warn!(path = %path, attempt = number, "action failed, trying again");
            if let Err(stop) =
                host.cancel().unless_stopped(host.services().clock.sleep(options.backoff)).await
            {
                return Err(host.end_open(path, ended, stop.into()).await);
            }
            let row = self.attempt_row(host, path, &ended, (last, options)).await?;
            let write = Write::Attempt { path: path.clone(), ended, next: Some(number + 1) };
            host.write(std::iter::once(write).chain(row).collect()).await?;
            number += 1;
        }
    }
}

impl HostActions for AssistantActions {
    fn act<'a>(
        &'a self,
        host: &'a LiveHost,
        step: (&'a StepPath, &'a ExternalCall),
        options: ActionOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<ActionReply>, SessionStop>> {
        self.attempts(host, step, options, first).boxed()
    }

    fn listener(&self) -> Option<&dyn DeltaListener> {
        self.is_streamed.then_some(&*self.assistant.listener)
    }
}
