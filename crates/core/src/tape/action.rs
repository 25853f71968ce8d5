//! Actions: external steps that a user can follow in the action log, and that may write to our own tables.
//!
//! An action's `running` row is committed with its intent, its `completed` or `failed` row with its outcome
//! and its writes. So an action whose row cannot be written does not run, and an action with a recorded
//! outcome never runs again.

use super::ctx::Ctx;
use super::external_step::{Effect, ExternalStep};
use super::host::{ActionOptions, ActionReply, CallOutcomeWithWrites, Host};
use super::session::{SessionRun, ToolInvocation};
use super::stop::SessionStop;
use crate::action::{ACTION_KEY, ActionDraft, ActionEntry, ActionStatus};
use crate::content::ContentDoc;
use crate::json;
use crate::message::{CallFailure, FailureKind, ModelRequest};
use crate::ports::{BoxFuture, ExternalCall};
use crate::record::Write;
use crate::step::{Step, StepClass, StepPath};
use papertape_redact::Redactor;
use serde_json::{Value, json};

/// A requested action.
#[derive(Clone, Debug)]
pub struct ActionRequest {
    /// The call: the server, the action's name there, the arguments.
    pub call: ExternalCall,
    /// Its row in the action log; status and message are set here, and its path is added to the details.
    /// `None`: an action that users do not follow, such as reading data for the work. It has no row and is
    /// not a message.
    pub row: Option<ActionDraft>,
    /// Why it must not run.
    pub hold: Option<ActionBlock>,
    /// How to run it.
    pub options: ActionOptions,
}

/// Why an action does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionBlock {
    /// It is unknown, malformed or not allowed.
    Denied(String),
    /// A user must confirm it first.
    AwaitingConfirmation(String),
}

/// The result of an action and its writes, which are committed in one transaction with the outcome.
#[derive(Clone, Debug, Default)]
pub struct ActionOutcome {
    /// The result.
    pub reply: ActionReply,
    /// The writes.
    pub effects: Vec<Write>,
}

impl Ctx {
    /// Runs an action. Its position in the program's order is fixed by the call, so several can run at once;
    /// the returned result is the recorded, redacted one. The result is a message of the conversation.
    ///
    /// Actions must be idempotent: an action without a recorded outcome runs again after a crash.
    ///
    /// # Errors
    /// A stop.
    pub fn action(
        &mut self,
        ask: ActionRequest,
    ) -> impl Future<Output = Result<Result<ActionReply, CallFailure>, SessionStop>> + Send + 'static {
        let path = self.next("action");
        let session = self.shared();
        async move { act(&session, path, ask).await }
    }
}

async fn act(
    session: &SessionRun,
    path: StepPath,
    mut ask: ActionRequest,
) -> Result<Result<ActionReply, CallFailure>, SessionStop> {
    if let Some(row) = &mut ask.row {
        let mut details = row.details.take().filter(Value::is_object).unwrap_or_else(|| json!({}));
        details[ACTION_KEY] = path.as_str().into();
        row.details = Some(details);
    }
    let arguments = json::to_value(&ask.call);
    let step = Step::new(path, StepClass::External, &arguments);
    let request = ContentDoc::of(&arguments);
    let note = ToolInvocation { name: ask.call.tool.clone(), input: ask.call.arguments.clone() };
    let asked = ExternalStep {
        step,
        request_ref: request.hash,
        texts: request.texts,
        repeatable: true,
        show: ask.row.is_some().then_some(Some(note)),
    };
    session.run_external_step(asked, &Acting(ask)).await
}

struct Acting(ActionRequest);

impl Effect for Acting {
    type Reply = ActionReply;
    const OPAQUE: Option<&'static str> = None;
    const IS_SEEN_OUTSIDE: bool = true;

    fn request(&self) -> Value {
        json::to_value(&self.0.call)
    }

    fn model_request(&self) -> Option<&ModelRequest> {
        None
    }

    fn perform<'a>(
        &'a self,
        host: &'a dyn Host,
        path: &'a StepPath,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<ActionReply>, SessionStop>> {
        host.action(path, &self.0.call, self.0.options, first)
    }

    fn content(reply: &ActionReply) -> String {
        json::canonical(&json::to_value(reply))
    }

    fn held(&self) -> Option<CallFailure> {
        let (ActionBlock::Denied(message) | ActionBlock::AwaitingConfirmation(message)) =
            self.0.hold.clone()?;
        Some(CallFailure { kind: FailureKind::BadRequest, message })
    }

    fn announced(&self, redactor: &Redactor) -> Vec<Write> {
        self.row(redactor, ActionStatus::Running, None)
    }

    fn ended(&self, redactor: &Redactor, result: &Result<ActionReply, CallFailure>) -> Vec<Write> {
        match result {
            Ok(reply) => self.row(redactor, ActionStatus::Completed, Some(reply)),
            Err(failure) => {
                let waits = matches!(self.0.hold, Some(ActionBlock::AwaitingConfirmation(_)));
                let status = if waits { ActionStatus::Queued } else { ActionStatus::Failed };
                let reply = ActionReply { message: failure.message.clone(), ..ActionReply::default() };
                self.row(redactor, status, Some(&reply))
            }
        }
    }
}

impl Acting {
    fn row(&self, redactor: &Redactor, status: ActionStatus, reply: Option<&ActionReply>) -> Vec<Write> {
        let Some(row) = &self.0.row else { return Vec::new() };
        let mut draft = ActionDraft { status, ..row.clone() };
        if let Some(reply) = reply {
            draft.message = Some(reply.message.clone());
            draft.plan = reply.plan.or(draft.plan);
            if let (Some(details), false) = (&mut draft.details, reply.data.is_null()) {
                details["result"] = reply.data.clone();
            }
        }
        vec![Write::Action(Box::new(ActionEntry::redacted(redactor, draft)))]
    }
}
