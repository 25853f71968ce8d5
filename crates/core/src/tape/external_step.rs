//! The lifecycle of an external step: found on the tape, or announced, performed and recorded.

use super::host::{CallOptions, CallOutcomeWithWrites, Host};
use super::session::{SessionRun, ToolInvocation, message_row};
use super::stop::SessionStop;
use super::tape::Lookup;
use crate::content::{ContentDoc, StoredText};
use crate::id::ContentHash;
use crate::json;
use crate::message::{CallFailure, FailureKind, ModelReply, ModelRequest, Role};
use crate::ports::{BoxFuture, ExternalCall, ExternalReply};
use crate::record::{AttemptEnd, Intent, ReusedFrom, StepEnd, Write};
use crate::step::{OutcomeKind, Step, StepPath};
use papertape_redact::Redactor;
use serde::de::DeserializeOwned;
use serde_json::Value;

impl SessionRun {
    /// Runs an external step through its lifecycle.
    pub(super) async fn run_external_step<E: Effect>(
        &self,
        mut asked: ExternalStep,
        effect: &E,
    ) -> Result<Result<E::Reply, CallFailure>, SessionStop> {
        let session = self;
        let path = asked.step.path.clone();
        let found = session.tape().look_up(&asked.step);
        let held = effect.held();
        let first = match found {
            Lookup::Done { kind, outcome, .. } => return read_outcome(&path, kind, outcome),
            Lookup::Differs { request_ref } => {
                return Err(session.diverged(&path, "request", request_ref, effect.request()).await);
            }
            Lookup::Missing => return Err(SessionStop::Missing(path)),
            Lookup::Inherited { kind, outcome, origin } => {
                let result: Result<E::Reply, CallFailure> = read_outcome(&path, kind, Some(outcome))?;
                let end = asked.end(session, &result, kind, None, Some(origin), E::content);
                match E::IS_SEEN_OUTSIDE {
                    true => session.commit(end).await?,
                    false => session.defer_writes(end),
                }
                return Ok(result);
            }
            Lookup::Open { attempts, has_ended, .. } if !asked.repeatable => {
                let failure = CallFailure {
                    kind: FailureKind::ToolError,
                    message: "the call was interrupted: whether it took effect is unknown".to_owned(),
                };
                let result = Err(failure);
                let lost = (!has_ended).then(|| interrupted(attempts));
                let end = asked.end(session, &result, OutcomeKind::Unknown, lost, None, E::content);
                session.commit(end).await?;
                return Ok(result);
            }
            found @ (Lookup::Open { .. } | Lookup::Absent) if held.is_some() => {
                // Nothing is sent, so intent and outcome go into one transaction.
                let failure = held.unwrap_or_else(blocked_without_reason);
                let number = match found {
                    Lookup::Open { attempts, has_ended, .. } => attempts + u32::from(has_ended),
                    _ => 1,
                };
                let error = Some(failure.message.clone());
                let attempt = AttemptEnd { number, error, ..AttemptEnd::default() };
                let mut writes = Vec::new();
                if matches!(found, Lookup::Absent) {
                    writes = session.new_texts(std::mem::take(&mut asked.texts).into_iter());
                    writes.push(Write::Intent(asked.intent()));
                }
                let result = redacted::<E>(session.redactor(), Err(failure));
                let attempt = Some(redacted_attempt(session.redactor(), attempt));
                writes.extend(asked.end(session, &result, outcome_kind(&result), attempt, None, E::content));
                writes.extend(effect.ended(session.redactor(), &result));
                session.commit(writes).await?;
                return Ok(result);
            }
            Lookup::Open { attempts, has_ended: true, .. } => {
                // The session stopped because of how the last attempt ended; the process did not crash.
                session.host().reserve(&path, effect.model_request()).await?;
                let next = attempts + 1;
                session.commit(vec![Write::SendAgain { path: path.clone(), attempt: next }]).await?;
                next
            }
            Lookup::Open { attempts, interrupted: earlier, has_ended: false } => {
                let times = earlier.saturating_add(1);
                let estimate = session.host().interrupted(&path, times, effect.model_request());
                let ended = AttemptEnd { estimate, ..interrupted(attempts) };
                if let Err(stop) = session.host().reserve(&path, effect.model_request()).await {
                    if matches!(stop, SessionStop::Budget(_)) {
                        // It may have been paid for, so it counts even if it is not sent again.
                        session.commit(vec![Write::Attempt { path, ended, next: None }]).await?;
                    }
                    return Err(stop);
                }
                let next = attempts + 1;
                let lost = Write::Attempt { path: path.clone(), ended, next: Some(next) };
                session.commit(vec![lost]).await?;
                next
            }
            Lookup::Absent => {
                session.host().reserve(&path, effect.model_request()).await?;
                let mut writes = session.new_texts(std::mem::take(&mut asked.texts).into_iter());
                writes.push(Write::Intent(asked.intent()));
                writes.extend(effect.announced(session.redactor()));
                session.commit(writes).await?;
                1
            }
        };
        let (called, effects) = effect.perform(session.host(), &path, first).await?;
        let result = redacted::<E>(session.redactor(), called.result);
        let attempt = redacted_attempt(session.redactor(), called.attempt);
        let changes = !effects.is_empty();
        let ending = |result: &Result<E::Reply, CallFailure>, effects: Vec<Write>| {
            let (kind, attempt) = (outcome_kind(result), Some(attempt.clone()));
            let mut end = asked.end(session, result, kind, attempt, None, E::content);
            end.extend(effects);
            end.extend(effect.ended(session.redactor(), result));
            end
        };
        if asked.repeatable && !E::IS_SEEN_OUTSIDE {
            session.hand_over(ending(&result, effects)).await?;
            return Ok(result);
        }
        match session.commit(ending(&result, effects)).await {
            // What it was to change has changed in the meantime; that is its outcome.
            Err(SessionStop::Refused(why)) if changes => {
                let failure = CallFailure { kind: FailureKind::ToolError, message: why };
                let refused = redacted::<E>(session.redactor(), Err(failure));
                session.commit(ending(&refused, Vec::new())).await?;
                Ok(refused)
            }
            ended => ended.map(|()| result),
        }
    }
}

/// An effect that only the host can perform.
pub(super) trait Effect: Sync {
    /// The type of its reply.
    type Reply: serde::Serialize + DeserializeOwned + Send + Sync;

    /// The field of a reply that must stay unchanged apart from configured credentials.
    const OPAQUE: Option<&'static str>;

    /// Whether others than the session see its outcome: it is durable before it is returned.
    const IS_SEEN_OUTSIDE: bool = false;

    /// The request, for reporting differences.
    fn request(&self) -> Value;

    /// The model request whose budget must be reserved, if it is one.
    fn model_request(&self) -> Option<&ModelRequest>;

    /// Performs it, starting with attempt number `first`. Returns the writes to commit with the outcome.
    fn perform<'a>(
        &'a self,
        host: &'a dyn Host,
        path: &'a StepPath,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<Self::Reply>, SessionStop>>;

    /// Why it must not be performed.
    fn held(&self) -> Option<CallFailure> {
        None
    }

    /// Writes to commit with its intent.
    fn announced(&self, _: &Redactor) -> Vec<Write> {
        Vec::new()
    }

    /// Writes to commit with its outcome.
    fn ended(&self, _: &Redactor, _: &Result<Self::Reply, CallFailure>) -> Vec<Write> {
        Vec::new()
    }

    /// The reply's text for the conversation.
    fn content(reply: &Self::Reply) -> String;

    /// Redacts a reply. The field [`Self::OPAQUE`] is sent back to the provider, which would reject it if it changed:
    /// signatures look like secrets. So only configured credentials are removed from it.
    fn redact(redactor: &Redactor, mut reply: Value) -> Value {
        let note = Self::OPAQUE.and_then(|key| Some((key, reply.as_object_mut()?.remove(key)?)));
        let mut reply = redactor.redact_value(reply).value;
        if let (Some((key, note)), Some(fields)) = (note, reply.as_object_mut()) {
            fields.insert(key.to_owned(), redactor.redact_opaque(note).value);
        }
        reply
    }
}

pub(super) struct ModelCall<'r> {
    pub(super) request: &'r ModelRequest,
    pub(super) options: CallOptions,
}

impl Effect for ModelCall<'_> {
    type Reply = ModelReply;
    const OPAQUE: Option<&'static str> = Some("provider");

    fn request(&self) -> Value {
        self.request.to_json()
    }

    fn model_request(&self) -> Option<&ModelRequest> {
        Some(self.request)
    }

    fn perform<'a>(
        &'a self,
        host: &'a dyn Host,
        path: &'a StepPath,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<ModelReply>, SessionStop>> {
        Box::pin(async move { Ok((host.model(path, self.request, self.options, first).await?, Vec::new())) })
    }

    fn content(reply: &ModelReply) -> String {
        reply.text.clone()
    }
}

pub(super) struct ToolCallEffect<'r> {
    pub(super) call: &'r ExternalCall,
    pub(super) options: CallOptions,
}

impl Effect for ToolCallEffect<'_> {
    type Reply = ExternalReply;
    const OPAQUE: Option<&'static str> = None;

    fn request(&self) -> Value {
        json::to_value(self.call)
    }

    fn model_request(&self) -> Option<&ModelRequest> {
        None
    }

    fn perform<'a>(
        &'a self,
        host: &'a dyn Host,
        path: &'a StepPath,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<ExternalReply>, SessionStop>> {
        Box::pin(async move { Ok((host.external(path, self.call, self.options, first).await?, Vec::new())) })
    }

    fn content(reply: &ExternalReply) -> String {
        reply.text.clone()
    }
}

/// The failure of a blocked effect that gives no reason.
fn blocked_without_reason() -> CallFailure {
    CallFailure { kind: FailureKind::BadRequest, message: "it is not done".to_owned() }
}

/// An external step before its lookup.
pub(super) struct ExternalStep {
    pub(super) step: Step,
    pub(super) request_ref: ContentHash,
    pub(super) texts: Vec<StoredText>,
    /// Whether it may be sent again when its outcome is unknown.
    pub(super) repeatable: bool,
    /// `Some(None)`: a message of the assistant; `Some(Some(tool))`: a message of a tool; `None`: no message.
    pub(super) show: Option<Option<ToolInvocation>>,
}

impl ExternalStep {
    fn intent(&self) -> Intent {
        Intent { path: self.step.path.clone(), digest: self.step.digest, request_ref: self.request_ref }
    }

    fn end<T: serde::Serialize>(
        &self,
        session: &SessionRun,
        result: &Result<T, CallFailure>,
        outcome_kind: OutcomeKind,
        attempt: Option<AttemptEnd>,
        reused_from: Option<ReusedFrom>,
        content: fn(&T) -> String,
    ) -> Vec<Write> {
        let outcome = ContentDoc::of(&match result {
            Ok(value) => json::to_value(value),
            Err(failure) => json::to_value(failure),
        });
        let message = match (result, &self.show) {
            (Ok(value), Some(None)) => Some((Role::Assistant, content(value), None)),
            (Ok(value), Some(Some(tool))) => Some((Role::Tool, content(value), Some(tool))),
            (Err(failure), Some(Some(tool))) => Some((Role::Tool, failure.to_string(), Some(tool))),
            (Err(_), Some(None)) | (_, None) => None,
        };
        // The request of a copied step has not been written by this run.
        let mut texts = if reused_from.is_some() { self.texts.clone() } else { Vec::new() };
        let mut implied = Vec::new();
        if let Some((role, content, tool)) = message {
            let hash = outcome.add_text(content.into(), &mut texts);
            implied.push(message_row(role, hash, tool.cloned()));
        }
        texts.extend(outcome.texts);
        let mut writes = session.new_texts(texts.into_iter());
        writes.push(Write::End(StepEnd {
            path: self.step.path.clone(),
            class: self.step.class,
            digest: self.step.digest,
            request_ref: self.request_ref,
            outcome_kind,
            outcome_ref: outcome.hash,
            attempt,
            reused_from,
            implied,
        }));
        writes
    }
}

/// Everything that enters is redacted before it is used, and returned in its stored form (keys in canonical
/// order, for example), so that a resumed session continues with identical data. If redaction leaves no valid
/// reply, that is a failure: the call was made and is not repeated.
fn redacted<E: Effect>(
    redactor: &Redactor,
    result: Result<E::Reply, CallFailure>,
) -> Result<E::Reply, CallFailure> {
    match result {
        Ok(value) => {
            let value = E::redact(redactor, json::to_value(&value));
            let stored = json::read_back(value).and_then(|value| serde_json::from_value(value).ok());
            stored.ok_or_else(|| CallFailure {
                kind: FailureKind::BadAnswer,
                message: "the answer could not be stored: nothing readable is left of it after redaction"
                    .to_owned(),
            })
        }
        Err(failure) => Err(CallFailure { message: redactor.redact_text(&failure.message).value, ..failure }),
    }
}

/// An attempt's error may contain text from the provider.
fn redacted_attempt(redactor: &Redactor, attempt: AttemptEnd) -> AttemptEnd {
    AttemptEnd { error: attempt.error.map(|error| redactor.redact_text(&error).value), ..attempt }
}

/// The end of an attempt whose process crashed.
fn interrupted(number: u32) -> AttemptEnd {
    AttemptEnd { number, error: Some("interrupted".to_owned()), ..AttemptEnd::default() }
}

fn outcome_kind<T>(result: &Result<T, CallFailure>) -> OutcomeKind {
    match result.as_ref().map_err(|failure| failure.kind) {
        Ok(_) => OutcomeKind::Ok,
        Err(FailureKind::TimedOut) => OutcomeKind::TimedOut,
        Err(FailureKind::BadRequest) => OutcomeKind::Refused,
        Err(_) => OutcomeKind::Failed,
    }
}

fn read_outcome<T: DeserializeOwned>(
    path: &StepPath,
    kind: OutcomeKind,
    outcome: Option<Value>,
) -> Result<Result<T, CallFailure>, SessionStop> {
    let unreadable =
        |why: String| SessionStop::Record(format!("the outcome of {path} cannot be read: {why}"));
    let outcome = outcome.ok_or_else(|| unreadable("it is not there".to_owned()))?;
    match kind {
        OutcomeKind::Ok => {
            serde_json::from_value(outcome).map(Ok).map_err(|error| unreadable(error.to_string()))
        }
        _ => serde_json::from_value(outcome).map(Err).map_err(|error| unreadable(error.to_string())),
    }
}
