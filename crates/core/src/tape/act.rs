//! Actions: external steps that a person follows in the action log, and that may write to our own tables.
//!
//! An action's `running` row is committed with its intent, its `completed` or `failed` row with its outcome
//! and with what it writes. So an action whose row cannot be kept does not run, and one whose outcome is
//! kept never runs again.

use super::ask::{Asked, Effect};
use super::ctx::{Ctx, Session, ToolNote};
use super::host::{Host, Performed};
use super::stop::Stop;
use super::{Class, Doc, Step, StepPath};
use crate::action::{ACTION_KEY, ActionDraft, ActionEntry, ActionStatus};
use crate::json;
use crate::message::{CallFailure, FailureKind, ModelRequest};
use crate::plan::PlanId;
use crate::ports::{BoxFuture, ExternalCall};
use crate::record::Write;
use papertape_redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// An action that is to be done.
#[derive(Clone, Debug)]
pub struct ActionAsk {
    /// What is to be done: who does it, its name there, its arguments.
    pub call: ExternalCall,
    /// Its row in the action log; status and message are set here, and its path is put into the details.
    /// `None`: something that no person follows, as reading what the work is about. It has no row and is
    /// no message.
    pub row: Option<ActionDraft>,
    /// Why it is not to be done.
    pub hold: Option<ActionHold>,
    /// How it is done.
    pub options: ActionOptions,
}

/// Why an action is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionHold {
    /// It cannot be: it is unknown, badly formed or not allowed.
    Refused(String),
    /// A person has to be asked first.
    Waits(String),
}

/// How an action is done; nothing of it reaches a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionOptions {
    /// After so long one attempt is given up.
    pub timeout: Duration,
    /// So many attempts follow a failed one.
    pub retries: u32,
    /// Before each of them.
    pub backoff: Duration,
}

/// What came of an action.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionReply {
    /// In a sentence.
    pub message: String,
    /// The whole.
    pub data: Value,
    /// The plan that it belongs to, where that shows only now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanId>,
}

/// What came of an action, with what it writes: kept in one transaction with its outcome.
#[derive(Clone, Debug, Default)]
pub struct Acted {
    /// What came of it.
    pub reply: ActionReply,
    /// What it writes.
    pub effects: Vec<Write>,
}

impl Ctx {
    /// Does an action. Its place in the program is taken when this is called, so that several may be under
    /// way at once; what it gives is what is kept, redacted. The answer is a message of the conversation.
    ///
    /// An action must be such that doing it again does it once: one whose outcome was not kept is done
    /// again after a crash.
    ///
    /// # Errors
    /// A stop.
    pub fn action(
        &mut self,
        ask: ActionAsk,
    ) -> impl Future<Output = Result<Result<ActionReply, CallFailure>, Stop>> + Send + 'static {
        let path = self.next("action");
        let session = self.shared();
        async move { act(&session, path, ask).await }
    }
}

async fn act(
    session: &Session,
    path: StepPath,
    mut ask: ActionAsk,
) -> Result<Result<ActionReply, CallFailure>, Stop> {
    if let Some(row) = &mut ask.row {
        let mut details = row.details.take().filter(Value::is_object).unwrap_or_else(|| json!({}));
        details[ACTION_KEY] = path.as_str().into();
        row.details = Some(details);
    }
    let arguments = json::to_value(&ask.call);
    let step = Step::new(path, Class::External, &arguments);
    let request = Doc::of(&arguments);
    let note = ToolNote { name: ask.call.tool.clone(), input: ask.call.arguments.clone() };
    let asked = Asked {
        step,
        request_ref: request.hash,
        texts: request.texts,
        repeatable: true,
        show: ask.row.is_some().then_some(Some(note)),
    };
    session.ask(asked, &Acting(ask)).await
}

struct Acting(ActionAsk);

impl Effect for Acting {
    type Reply = ActionReply;
    const OPAQUE: Option<&'static str> = None;

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
    ) -> BoxFuture<'a, Result<Performed<ActionReply>, Stop>> {
        host.action(path, &self.0.call, self.0.options, first)
    }

    fn content(reply: &ActionReply) -> String {
        json::canonical(&json::to_value(reply))
    }

    fn held(&self) -> Option<CallFailure> {
        let (ActionHold::Refused(message) | ActionHold::Waits(message)) = self.0.hold.clone()?;
        Some(CallFailure { kind: FailureKind::BadRequest, message })
    }

    fn announced(&self, redactor: &Redactor) -> Vec<Write> {
        self.row(redactor, ActionStatus::Running, None)
    }

    fn ended(&self, redactor: &Redactor, result: &Result<ActionReply, CallFailure>) -> Vec<Write> {
        match result {
            Ok(reply) => self.row(redactor, ActionStatus::Completed, Some(reply)),
            Err(failure) => {
                let waits = matches!(self.0.hold, Some(ActionHold::Waits(_)));
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
