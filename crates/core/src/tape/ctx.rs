//! The session's only access to the outside. It fixes the order in which steps are looked up, performed and
//! recorded.

use super::chain::RequestChain;
use super::external_step::{ExternalStep, ModelCall, ToolCallEffect};
use super::host::CallOptions;
use super::session::{SessionRun, ToolInvocation, lock, message_row};
use super::stop::SessionStop;
use super::tape::Lookup;
use crate::content::{ContentDoc, StoredText, text};
use crate::id::ContentHash;
use crate::json;
use crate::message::{CallFailure, ModelReply, ModelRequest, Role};
use crate::ports::{ExternalCall, ExternalReply};
use crate::record::{DerivedRow, StepEnd, Write};
use crate::step::{OutcomeKind, ScopeKey, Step, StepClass, StepPath};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};

impl SessionRun {
    /// The outermost scope.
    #[must_use]
    pub fn root(self: &Arc<Self>) -> Ctx {
        Ctx {
            session: Arc::clone(self),
            scope: String::new(),
            counters: BTreeMap::new(),
            children: Mutex::default(),
            chain: None,
            guarded: false,
            draws: 0,
        }
    }
}

/// A local or order step: an effect of our own pure code.
#[derive(Debug)]
pub struct LocalStep {
    /// The step's kind, such as `read` or `order`.
    pub kind: &'static str,
    /// [`StepClass::Local`] or [`StepClass::Order`].
    pub class: StepClass,
    /// The arguments.
    pub arguments: Value,
    /// The outcome.
    pub outcome: Value,
    /// How it ended.
    pub outcome_kind: OutcomeKind,
    /// Its message in the conversation.
    pub message: Option<TranscriptMessage>,
    /// The rows derived from it.
    pub implied: Vec<DerivedRow>,
}

/// A message to record with a step.
#[derive(Debug)]
pub struct TranscriptMessage {
    /// The author.
    pub role: Role,
    /// The text.
    pub content: String,
    /// The tool call, for a tool's result.
    pub tool: Option<ToolInvocation>,
}

/// A scope of a running session. One scope is sequential; only [`Ctx::all`] forks.
pub struct Ctx {
    session: Arc<SessionRun>,
    scope: String,
    counters: BTreeMap<String, u32>,
    children: Mutex<HashSet<String>>,
    chain: Option<RequestChain>,
    guarded: bool,
    draws: u32,
}

impl Ctx {
    /// A child scope.
    ///
    /// # Errors
    /// [`SessionStop::ContractViolation`] when a sibling already has the key.
    pub fn child(&self, key: ScopeKey) -> Result<Self, SessionStop> {
        if !lock(&self.children).insert(key.to_string()) {
            return Err(SessionStop::ContractViolation(format!(
                "the scope {}/{key} is there already",
                self.scope
            )));
        }
        let scope = if self.scope.is_empty() { key.to_string() } else { format!("{}/{key}", self.scope) };
        Ok(Self {
            session: Arc::clone(&self.session),
            scope,
            counters: BTreeMap::new(),
            children: Mutex::default(),
            chain: None,
            guarded: self.guarded,
            draws: 0,
        })
    }

    /// The scope's path, `AAPL/Trader#1`.
    #[must_use]
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// Random numbers seeded by the job's seed, this scope and the number of earlier calls here.
    pub fn rng(&mut self) -> ChaCha8Rng {
        self.draws += 1;
        let seed = format!("{}\n{}\n{}", self.session.seed(), self.scope, self.draws);
        ChaCha8Rng::from_seed(*ContentHash::of(seed.as_bytes()).as_bytes())
    }

    /// Calls a model. The response is a message of the conversation, recorded in the transaction of its
    /// outcome. The returned response is the recorded, redacted one.
    ///
    /// # Errors
    /// A stop.
    pub async fn model(
        &mut self,
        request: &ModelRequest,
        options: CallOptions,
    ) -> Result<Result<ModelReply, CallFailure>, SessionStop> {
        self.call_model(request, options, Some(None)).await
    }

    /// Calls a model outside the conversation, for example for a summary: the response is not a message of
    /// it.
    ///
    /// # Errors
    /// A stop.
    pub async fn model_off_transcript(
        &mut self,
        request: &ModelRequest,
        options: CallOptions,
    ) -> Result<Result<ModelReply, CallFailure>, SessionStop> {
        self.call_model(request, options, None).await
    }

    async fn call_model(
        &mut self,
        request: &ModelRequest,
        options: CallOptions,
        show: Option<Option<ToolInvocation>>,
    ) -> Result<Result<ModelReply, CallFailure>, SessionStop> {
        let (chain, texts) = RequestChain::link(self.chain.take(), request);
        let step = Step { path: self.next("model"), class: StepClass::External, digest: chain.digest };
        let request_ref = chain.at;
        self.chain = Some(chain);
        let asked = ExternalStep { step, request_ref, texts, repeatable: true, show };
        self.session.run_external_step(asked, &ModelCall { request, options }).await
    }

    /// Calls an external tool. `repeatable`: a call whose outcome is unknown after a crash may be sent again;
    /// otherwise its outcome is reported to the session as unknown. `note` adds the result to the
    /// conversation.
    ///
    /// # Errors
    /// A stop.
    pub async fn external(
        &mut self,
        call: &ExternalCall,
        repeatable: bool,
        options: CallOptions,
        note: Option<ToolInvocation>,
    ) -> Result<Result<ExternalReply, CallFailure>, SessionStop> {
        let arguments = json::to_value(call);
        let step = Step::new(self.next("tool"), StepClass::External, &arguments);
        let request = ContentDoc::of(&arguments);
        let show = note.map(Some);
        let asked = ExternalStep { step, request_ref: request.hash, texts: request.texts, repeatable, show };
        self.session.run_external_step(asked, &ToolCallEffect { call, options }).await
    }

    /// Records an effect of our own pure code as a deferred write, committed with the session's next
    /// transaction. Returns the recorded, redacted outcome. When running on a tape, the outcome is compared
    /// with the recorded one.
    ///
    /// # Errors
    /// A stop; [`SessionStop::ContractViolation`] for an order inside a guard.
    pub async fn record_local(&mut self, entry: LocalStep) -> Result<Value, SessionStop> {
        if entry.class == StepClass::Order && self.guarded {
            return Err(SessionStop::ContractViolation(format!(
                "an order inside of a guard, at {}",
                self.scope
            )));
        }
        let step = Step::new(self.next(entry.kind), entry.class, &entry.arguments);
        // A string has the same redaction as an outcome and as a message.
        let shows_outcome =
            entry.message.as_ref().is_some_and(|message| entry.outcome.as_str() == Some(&message.content));
        let outcome = self.session.redactor().redact_value(entry.outcome).value;
        let outcome_doc = ContentDoc::of(&outcome);
        let found = self.session.tape().look_up(&step);
        match found {
            Lookup::Done { outcome_ref, .. } if outcome_ref == Some(outcome_doc.hash) => {
                return Ok(outcome);
            }
            Lookup::Done { outcome_ref, .. } => {
                return Err(self.session.diverged(&step.path, "outcome", outcome_ref, outcome).await);
            }
            Lookup::Differs { request_ref } => {
                return Err(self.session.diverged(&step.path, "request", request_ref, entry.arguments).await);
            }
            Lookup::Missing => return Err(SessionStop::Missing(step.path)),
            Lookup::Open { .. } | Lookup::Inherited { .. } => {
                return Err(SessionStop::ContractViolation(format!("the local step {} is open", step.path)));
            }
            Lookup::Absent => {}
        }
        let request = ContentDoc::of(&entry.arguments);
        let mut texts: Vec<StoredText> = request.texts;
        let mut implied = entry.implied;
        if let Some(message) = entry.message {
            let content = match &outcome {
                Value::String(recorded) if shows_outcome => Cow::Borrowed(recorded.as_str()),
                _ => Cow::Owned(self.session.redactor().redact_text(&message.content).value),
            };
            let hash = outcome_doc.add_text(content, &mut texts);
            implied.insert(0, message_row(message.role, hash, message.tool));
        }
        texts.extend(outcome_doc.texts);
        let mut writes = self.session.new_texts(texts.into_iter());
        writes.push(Write::End(StepEnd {
            path: step.path,
            class: step.class,
            digest: step.digest,
            request_ref: request.hash,
            outcome_kind: entry.outcome_kind,
            outcome_ref: outcome_doc.hash,
            attempt: None,
            reused_from: None,
            implied,
        }));
        self.session.defer_writes(writes);
        Ok(outcome)
    }

    /// Adds a user message to the conversation. Returns it as recorded.
    ///
    /// # Errors
    /// A stop.
    pub async fn push_user_message(&mut self, content: &str) -> Result<String, SessionStop> {
        self.push_with_exposure(content, Vec::new()).await
    }

    /// Like [`Self::push_user_message`], with the rows derived from the text: the market data it contains.
    ///
    /// # Errors
    /// A stop.
    pub async fn push_with_exposure(
        &mut self,
        content: &str,
        implied: Vec<DerivedRow>,
    ) -> Result<String, SessionStop> {
        let message = TranscriptMessage { role: Role::User, content: content.to_owned(), tool: None };
        let entry = LocalStep {
            kind: "message",
            class: StepClass::Local,
            arguments: json!({ "role": Role::User }),
            outcome: json!(content),
            outcome_kind: OutcomeKind::Ok,
            message: Some(message),
            implied,
        };
        let recorded = self.record_local(entry).await?;
        Ok(recorded.as_str().unwrap_or_default().to_owned())
    }

    /// Records the system prompt of this scope's model. Returns it as recorded.
    pub fn set_system_prompt(&mut self, instructions: &str) -> String {
        let recorded = text(self.session.redactor().redact_text(instructions).value);
        let body = recorded.body.clone();
        if self.session.tape().is_sealed() {
            return body;
        }
        let hash = recorded.hash;
        let mut writes = self.session.new_texts(std::iter::once(recorded));
        writes.push(Write::Instructions { node: self.scope.clone(), hash });
        self.session.defer_writes(writes);
        body
    }

    /// Commits the pending writes. Called at the end of a phase, so that a later crash does not repeat it.
    ///
    /// # Errors
    /// A stop.
    pub async fn flush(&self) -> Result<(), SessionStop> {
        self.session.commit(Vec::new()).await
    }

    pub(super) fn shared(&self) -> Arc<SessionRun> {
        Arc::clone(&self.session)
    }

    pub(super) fn guarded(mut self) -> Self {
        self.guarded = true;
        self
    }

    /// The path of the nth step of its kind in this scope, in the program's order.
    pub(super) fn next(&mut self, kind: &str) -> StepPath {
        let n = self.counters.entry(kind.to_owned()).or_insert(0);
        *n += 1;
        StepPath::of(&self.scope, kind, *n)
    }
}
