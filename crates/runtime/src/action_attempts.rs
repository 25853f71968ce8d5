//! Actions of the assistant, performed for a live session.

use crate::assistant_job::AssistantRun;
use crate::child_budgets::BudgetAllocator;
use crate::host::LiveHost;
use crate::tape_reader::stop_of;
use futures::future::{Either, select};
use papertape_assistant::perform::ActionExecutor;
use papertape_core::action::{ACTION_KEY, ActionDraft, ActionEntry, ActionStatus};
use papertape_core::language::Language;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::ExternalCall;
use papertape_core::record::{AttemptEnd, Write};
use papertape_core::tape::{
    ActionOptions, ActionOutcome, ActionReply, CallOutcome, CallOutcomeWithWrites, SessionStop, StepPath,
};
use serde_json::json;

impl LiveHost {
    /// Attempts an action until it succeeds, another attempt is impossible or pointless, or the job is stopped. A
    /// stop leaves the action open: it is repeated when the job is resumed, and finds what it had started.
    pub(crate) async fn act(
        &self,
        path: &StepPath,
        call: &ExternalCall,
        options: ActionOptions,
        first: u32,
    ) -> Result<CallOutcomeWithWrites<ActionReply>, SessionStop> {
        let assisting = self.assisting().ok_or_else(|| {
            SessionStop::ContractViolation(format!(
                "the action {path} stands in a job that is none of the assistant's"
            ))
        })?;
        let last = first.saturating_add(options.retries);
        let mut number = first;
        loop {
            let attempt = |error: Option<String>| AttemptEnd { number, error, ..AttemptEnd::default() };
            // An attempt interrupted by a crash is not a failure: what it started is found again.
            let again = number > first;
            let failure = match self.once(assisting, path, call, options, again).await? {
                Ok(ActionOutcome { reply, effects }) => {
                    let called = CallOutcome { result: Ok(reply), attempt: attempt(None) };
                    return Ok((called, effects));
                }
                Err(failure) => failure,
            };
            let ended = attempt(Some(self.clean(&failure.to_string())));
            if number >= last || failure.kind == FailureKind::BadRequest {
                return Ok((CallOutcome { result: Err(failure), attempt: ended }, Vec::new()));
            }
            tracing::warn!(path = %path, attempt = number, "action failed, trying again");
            let mut signal = self.signal();
            let pause = self.pause(options.backoff);
            if let Either::Left((reason, _)) = select(Box::pin(signal.stopped()), pause).await {
                return Err(reason.into());
            }
            let row = self.attempt_row(path, assisting.language, &ended, (last, options)).await?;
            let write = Write::Attempt { path: path.clone(), ended, next: Some(number + 1) };
            self.write(std::iter::once(write).chain(row).collect()).await?;
            number += 1;
        }
    }

    /// The log row of a failed attempt that will be retried: committed with the attempt, so that each has exactly
    /// one, whatever happens in between. `None` for an action without rows.
    async fn attempt_row(
        &self,
        path: &StepPath,
        language: Language,
        ended: &AttemptEnd,
        (last, options): (u32, ActionOptions),
    ) -> Result<Option<Write>, SessionStop> {
        let (services, lease) = self.job();
        let rows = services.actions.action_log(&lease.job).await.map_err(stop_of)?;
        let is_its = |row: &ActionDraft| {
            row.details.as_ref().is_some_and(|details| details[ACTION_KEY] == path.as_str())
        };
        let Some(row) = rows.into_iter().map(|row| row.row).rfind(is_its) else { return Ok(None) };
        let (number, pause) = (ended.number, options.backoff.as_secs_f64());
        let error = ended.error.as_deref().unwrap_or_default();
        let message = match language {
            Language::En => format!("attempt {number} of {last} failed: {error}; next one after {pause} s"),
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

    async fn once(
        &self,
        assisting: &AssistantRun,
        path: &StepPath,
        call: &ExternalCall,
        options: ActionOptions,
        again: bool,
    ) -> Result<Result<ActionOutcome, CallFailure>, SessionStop> {
        let (services, lease) = self.job();
        let assistant = &assisting.assistant;
        let purser = BudgetAllocator {
            services,
            budgets: self.budgets(),
            purses: &assisting.purses,
            language: assisting.language,
        };
        let performer = ActionExecutor {
            plans: &*assistant.plans,
            chats: &*assistant.chats,
            jobs: &*assistant.jobs,
            queue: &*services.queue,
            child_budget: &purser,
            web: &*assistant.web,
            clock: &*services.clock,
            redactor: &services.redactor,
            lease,
            config: &assisting.config,
            language: assisting.language,
            wait: assisting.wait,
        };
        let mut signal = self.signal();
        let stopped = Box::pin(signal.stopped());
        let work =
            Box::pin(select(Box::pin(performer.perform(path, call, again)), self.pause(options.timeout)));
        match select(stopped, work).await {
            Either::Left((reason, _)) => Err(reason.into()),
            Either::Right((Either::Left((result, _)), _)) => Ok(result),
            Either::Right((Either::Right(_), _)) => Ok(Err(CallFailure {
                kind: FailureKind::TimedOut,
                message: match assisting.language {
                    Language::En => format!("it did not end within {} s", options.timeout.as_secs_f64()),
                    Language::Zh => format!("未在 {} 秒内结束", options.timeout.as_secs_f64()),
                },
            })),
        }
    }
}
