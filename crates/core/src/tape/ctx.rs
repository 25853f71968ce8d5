//! The session's only access to the outside. It fixes the order in which steps are looked up, performed and
//! recorded.

use super::external_step::{ExternalStep, ModelCall, ToolCallEffect};
use super::host::{CallOptions, Host};
use super::stop::{Divergence, SessionStop};
use super::tape::{Lookup, Tape};
use super::{ContentDoc, NodeFailure, OutcomeKind, RequestChain, ScopeKey, Step, StepClass, StepPath, text};
use crate::id::ContentHash;
use crate::json;
use crate::message::{CallFailure, ModelReply, ModelRequest, Role};
use crate::ports::{ExternalCall, ExternalReply};
use crate::record::{DerivedRow, MessageRow, StepEnd, StoredText, Write};
use papertape_redact::Redactor;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One run of a session: its tape, its pending writes and its host.
pub struct SessionRun {
    host: Arc<dyn Host>,
    tape: Mutex<Tape>,
    riders: Mutex<Vec<Write>>,
    written: Mutex<HashSet<ContentHash>>,
    redactor: Arc<Redactor>,
    seed: ContentHash,
}

impl SessionRun {
    /// A run on `tape`. The seed combines the job's and the agent-day's.
    #[must_use]
    pub fn new(host: Arc<dyn Host>, tape: Tape, redactor: Arc<Redactor>, seed: ContentHash) -> Arc<Self> {
        Arc::new(Self {
            host,
            tape: Mutex::new(tape),
            riders: Mutex::default(),
            written: Mutex::default(),
            redactor,
            seed,
        })
    }

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

    /// Ends the run. Every step of the tape must have been used; pending writes and `closing` go into one
    /// transaction. A replay writes nothing.
    ///
    /// # Errors
    /// [`SessionStop::UnconsumedSteps`], or the error of the host's commit.
    pub async fn finish(&self, closing: Vec<Write>) -> Result<(), SessionStop> {
        let unread = self.tape().unread();
        if !unread.is_empty() {
            return Err(SessionStop::UnconsumedSteps(unread));
        }
        if self.tape().is_sealed() {
            return Ok(());
        }
        self.commit(closing).await
    }

    pub(super) fn tape(&self) -> MutexGuard<'_, Tape> {
        lock(&self.tape)
    }

    pub(super) fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// The texts that this run has not written yet, as writes.
    pub(super) fn new_texts(&self, texts: impl Iterator<Item = StoredText>) -> Vec<Write> {
        let mut written = lock(&self.written);
        texts.filter(|text| written.insert(text.hash)).map(Write::Text).collect()
    }

    pub(super) fn redact_failure(&self, failure: NodeFailure) -> NodeFailure {
        let message = self.redactor.redact_text(&failure.message).value;
        NodeFailure { message, ..failure }
    }

    /// Commits the pending writes, then `writes`.
    pub(super) async fn commit(&self, writes: Vec<Write>) -> Result<(), SessionStop> {
        let mut batch = std::mem::take(&mut *lock(&self.riders));
        let waiting = batch.len();
        batch.extend(writes);
        if batch.is_empty() {
            return Ok(());
        }
        // After a rejected transaction comes another one, which needs the pending writes and the texts.
        let refusable = batch.iter().any(|write| matches!(write, Write::Plan(_)));
        let kept = refusable.then(|| (batch[..waiting].to_vec(), texts_of(&batch[waiting..])));
        match (self.host.commit(batch).await, kept) {
            (Err(SessionStop::Refused(why)), Some((riders, texts))) => {
                let mut written = lock(&self.written);
                written.retain(|hash| !texts.contains(hash));
                drop(written);
                let mut waits = lock(&self.riders);
                let later = std::mem::replace(&mut *waits, riders);
                waits.extend(later);
                Err(SessionStop::Refused(why))
            }
            (result, _) => result,
        }
    }

    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    pub(super) fn ride(&self, writes: Vec<Write>) {
        lock(&self.riders).extend(writes);
    }

    pub(super) async fn diverged(
        &self,
        path: &StepPath,
        part: &'static str,
        was: Option<ContentHash>,
        now: Value,
    ) -> SessionStop {
        let was = match was {
            Some(at) => self.host.request(at).await,
            None => None,
        };
        let difference = was.and_then(|was| json::difference(&was, &now));
        SessionStop::Diverged(Box::new(Divergence { path: path.clone(), part, difference }))
    }
}

/// A tool call whose result enters the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolInvocation {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Value,
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
    pub said: Option<TranscriptMessage>,
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
        let seed = format!("{}\n{}\n{}", self.session.seed, self.scope, self.draws);
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
        let outcome = self.session.redactor.redact_value(entry.outcome).value;
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
        texts.extend(outcome_doc.texts);
        let mut implied = entry.implied;
        if let Some(said) = entry.said {
            let content = text(self.session.redactor.redact_text(&said.content).value);
            implied.insert(0, message_row(said.role, content.hash, said.tool.as_ref()));
            texts.push(content);
        }
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
        self.session.ride(writes);
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
        let said = TranscriptMessage { role: Role::User, content: content.to_owned(), tool: None };
        let entry = LocalStep {
            kind: "message",
            class: StepClass::Local,
            arguments: json!({ "role": Role::User }),
            outcome: json!(content),
            outcome_kind: OutcomeKind::Ok,
            said: Some(said),
            implied,
        };
        let kept = self.record_local(entry).await?;
        Ok(kept.as_str().unwrap_or_default().to_owned())
    }

    /// Records the system prompt of this scope's model. Returns it as recorded.
    pub fn set_system_prompt(&mut self, instructions: &str) -> String {
        let kept = text(self.session.redactor.redact_text(instructions).value);
        let body = kept.body.clone();
        if self.session.tape().is_sealed() {
            return body;
        }
        let hash = kept.hash;
        let mut writes = self.session.new_texts(std::iter::once(kept));
        writes.push(Write::Instructions { node: self.scope.clone(), hash });
        self.session.ride(writes);
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

/// The hashes of the texts in these writes.
fn texts_of(writes: &[Write]) -> Vec<ContentHash> {
    let text = |write: &Write| if let Write::Text(text) = write { Some(text.hash) } else { None };
    writes.iter().filter_map(text).collect()
}

pub(super) fn message_row(role: Role, content: ContentHash, tool: Option<&ToolInvocation>) -> DerivedRow {
    DerivedRow::Message(MessageRow {
        role,
        content,
        tool_name: tool.map(|tool| tool.name.clone()),
        tool_input: tool.map(|tool| tool.input.clone()),
    })
}

/// Ignores poisoning: every change under the lock is a single call, so the data is intact even if its holder
/// panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
