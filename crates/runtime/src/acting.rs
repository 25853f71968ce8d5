//! Actions of the assistant, performed for a live session.

use crate::assist::Assisting;
use crate::host::LiveHost;
use crate::purse::Purser;
use futures::future::{Either, select};
use papertape_assistant::perform::Performer;
use papertape_core::action::Language;
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::ExternalCall;
use papertape_core::record::{AttemptEnd, Write};
use papertape_core::tape::{Acted, ActionOptions, ActionReply, Called, Performed, StepPath, Stop};

impl LiveHost {
    /// Attempts at an action until one succeeds, none is left or worth making, or somebody says stop. A
    /// stop leaves the action open: it is done again when the job is taken up, and finds what it had
    /// begun.
    pub(crate) async fn act(
        &self,
        path: &StepPath,
        call: &ExternalCall,
        options: ActionOptions,
        first: u32,
    ) -> Result<Performed<ActionReply>, Stop> {
        let assisting = self.assisting().ok_or_else(|| {
            Stop::Misuse(format!("the action {path} stands in a job that is none of the assistant's"))
        })?;
        let last = first.saturating_add(options.retries);
        let mut number = first;
        loop {
            let attempt = |error: Option<String>| AttemptEnd { number, error, ..AttemptEnd::default() };
            // An attempt that a crash has broken off is no failure: what it began is found again.
            let again = number > first;
            let failure = match self.once(assisting, path, call, options, again).await? {
                Ok(Acted { reply, effects }) => {
                    let called = Called { result: Ok(reply), attempt: attempt(None) };
                    return Ok((called, effects));
                }
                Err(failure) => failure,
            };
            let ended = attempt(Some(self.clean(&failure.to_string())));
            if number >= last || failure.kind == FailureKind::BadRequest {
                return Ok((Called { result: Err(failure), attempt: ended }, Vec::new()));
            }
            tracing::warn!(path = %path, attempt = number, "action failed, trying again");
            let mut signal = self.signal();
            let pause = self.pause(options.backoff);
            if let Either::Left((reason, _)) = select(Box::pin(signal.stopped()), pause).await {
                return Err(reason.into());
            }
            let write = Write::Attempt { path: path.clone(), ended, next: Some(number + 1) };
            self.write(vec![write]).await?;
            number += 1;
        }
    }

    async fn once(
        &self,
        assisting: &Assisting,
        path: &StepPath,
        call: &ExternalCall,
        options: ActionOptions,
        again: bool,
    ) -> Result<Result<Acted, CallFailure>, Stop> {
        let (services, lease) = self.job();
        let assistant = &assisting.assistant;
        let purser = Purser {
            services,
            budgets: self.budgets(),
            purses: &assisting.purses,
            language: assisting.language,
        };
        let performer = Performer {
            plans: &*assistant.plans,
            chats: &*assistant.chats,
            jobs: &*assistant.jobs,
            queue: &*services.queue,
            purse: &purser,
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
