//! The model endpoint of an external agent's session. Its calls are steps next to the turns: `door#1/model@DIGEST#n` is the
//! nth request with this digest, whenever it comes.

use super::ctx::Ctx;
use super::external_step::{Effect, ExternalStep};
use super::guard::copied;
use super::host::{CallOptions, CallOutcomeWithWrites, Host};
use super::redacted_requests::RedactedRequests;
use super::session::{SessionRun, lock};
use super::stop::{SessionStop, excerpts};
use crate::content::ContentDoc;
use crate::external::{
    DoorProtocol, ModelDoorCall, ModelDoorClient, ModelDoorReply, ModelDoorRequest, Nondeterminism,
    Normalize, call_digest, estimate,
};
use crate::id::ContentHash;
use crate::json;
use crate::message::{CallFailure, FailureKind, ModelRequest};
use crate::ports::BoxFuture;
use crate::record::Write;
use crate::step::{ScopeKey, Step, StepClass, StepPath};
use futures::stream::{FuturesUnordered, StreamExt as _};
use papertape_redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Digits of a digest in a path. The step's own digest is complete.
const DIGEST_DIGITS: usize = 16;
/// The most stored requests that a new one is compared with.
const MAX_COMPARED: usize = 32;

/// The model endpoint of a session.
pub struct ModelDoor<'a> {
    scope: Ctx,
    normalize: Normalize<'a>,
    options: CallOptions,
    /// How often each digest has come.
    counts: BTreeMap<ContentHash, u32>,
    calls: usize,
    /// The calls that have not ended.
    open: BTreeMap<StepPath, OpenCall>,
    redacted: RedactedRequests,
    pub(super) running: FuturesUnordered<BoxFuture<'static, Result<StepPath, SessionStop>>>,
    seen: Arc<Mutex<Seen>>,
}

/// What this run has seen of the agent.
#[derive(Default)]
pub(super) struct Seen {
    /// It was asked for a request that the tape does not have, so it has begun its day.
    pub(super) is_live: bool,
    /// The first call that differs from the recorded ones, until a turn has it.
    pub(super) difference: Option<Nondeterminism>,
}

struct OpenCall {
    digest: ContentHash,
    client: Arc<ReplaceableClient>,
}

/// What is left when a session's agent has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoorEnd {
    /// The number of calls of this run.
    pub calls: usize,
    /// Recorded calls that the agent has not made again.
    pub unread: Vec<StepPath>,
    /// The first difference, if no turn has it.
    pub nondeterministic: Option<Nondeterminism>,
}

impl<'a> ModelDoor<'a> {
    /// Opens the endpoint. `normalize`: leaves out what the digests of calls are not to cover.
    ///
    /// # Errors
    /// [`SessionStop::ContractViolation`] if the session has one already.
    pub fn open(root: &Ctx, normalize: Normalize<'a>, options: CallOptions) -> Result<Self, SessionStop> {
        Ok(Self {
            scope: root.child(ScopeKey::node("door"))?,
            normalize,
            options,
            counts: BTreeMap::new(),
            calls: 0,
            open: BTreeMap::new(),
            redacted: RedactedRequests::default(),
            running: FuturesUnordered::new(),
            seen: Arc::default(),
        })
    }

    /// Waits for the calls that have not ended. None of them can outlive the session's deadline.
    ///
    /// # Errors
    /// A stop.
    pub async fn drain(&mut self) -> Result<(), SessionStop> {
        while let Some(ended) = self.running.next().await {
            self.end(ended)?;
        }
        Ok(())
    }

    /// Lets the calls end that are under way when the session stops, so that nothing is lost. Returns the stop.
    pub(super) async fn stop(&mut self, stop: SessionStop) -> SessionStop {
        while !matches!(stop, SessionStop::LostLease) && self.running.next().await.is_some() {}
        stop
    }

    /// Closes the endpoint. Recorded calls that the agent has not made again are given up; on a replay, whose agent makes
    /// no calls, all are taken as made. A branch that has copied all requests of its agent copies its calls too.
    ///
    /// # Errors
    /// A call of a branch's parent that cannot be copied.
    pub fn close(self) -> Result<DoorEnd, SessionStop> {
        let (session, scope) = (self.scope.shared(), self.scope.scope().to_owned());
        let mut tape = session.tape();
        let unread: Vec<StepPath> = tape.unread_within(&scope).into_iter().map(|(path, _)| path).collect();
        let (is_sealed, has_open) = (tape.is_sealed(), tape.has_open_within(&scope));
        let inherited = tape.inherited_within(&scope);
        tape.consume(&scope);
        drop(tape);
        if is_sealed {
            return Ok(DoorEnd::default());
        }
        if !lock(&self.seen).is_live {
            let copies = inherited.into_iter().map(copied).collect::<Result<Vec<_>, _>>()?;
            session.defer_writes(copies);
        }
        if has_open {
            session.defer_writes(vec![Write::CloseScope { scope }]);
        }
        let mut seen = lock(&self.seen);
        // An agent whose day had ended before was not started again.
        let unread = if seen.is_live { unread } else { Vec::new() };
        Ok(DoorEnd { calls: self.calls, unread, nondeterministic: seen.difference.take() })
    }

    pub(super) fn seen(&self) -> Arc<Mutex<Seen>> {
        Arc::clone(&self.seen)
    }

    /// Takes a call that has come in.
    pub(super) fn begin(&mut self, call: ModelDoorCall) {
        let session = self.scope.shared();
        let ModelDoorCall { request, client } = call;
        // What is stored and compared is redacted; what is sent is not.
        let recorded = self.redacted.redact(session.redactor(), json::to_value(&request));
        let body = recorded.get("body").cloned().unwrap_or_default();
        let digest = call_digest(&ModelDoorRequest { body, ..request.clone() }, self.normalize);
        let is_same = |open: &&OpenCall| open.digest == digest && open.client.has_left();
        if let Some(open) = self.open.values().find(is_same) {
            open.client.replace(client);
            return;
        }
        self.calls += 1;
        let count = self.counts.entry(digest).or_default();
        *count += 1;
        let kind = format!("model@{}", &digest.to_hex()[..DIGEST_DIGITS]);
        let path = StepPath::of(self.scope.scope(), &kind, *count);
        let client = Arc::new(ReplaceableClient::new(client));
        self.open.insert(path.clone(), OpenCall { digest, client: Arc::clone(&client) });
        let unread = {
            let tape = session.tape();
            if tape.has(&path) { Vec::new() } else { tape.unread_within(self.scope.scope()) }
        };
        let new = NewCall {
            step: Step { path, class: StepClass::External, digest },
            effect: ForwardedCall {
                estimate: estimate(&request),
                call: ModelDoorCall { request, client: Arc::clone(&client) as _ },
                recorded,
                options: self.options,
            },
            number: self.calls - 1,
            unread,
            seen: Arc::clone(&self.seen),
        };
        self.running.push(Box::pin(new.serve(session)));
    }

    /// Notes the end of a call.
    pub(super) fn end(&mut self, ended: Result<StepPath, SessionStop>) -> Result<(), SessionStop> {
        self.open.remove(&ended?);
        Ok(())
    }
}

/// A call before its lookup.
struct NewCall {
    step: Step,
    effect: ForwardedCall,
    /// Its number in this run, from 0.
    number: usize,
    /// If the tape does not have it: the recorded calls that have not been made again.
    unread: Vec<(StepPath, Option<ContentHash>)>,
    seen: Arc<Mutex<Seen>>,
}

impl NewCall {
    /// Makes the call, and answers its client once the answer is durable. Returns its path.
    async fn serve(self, session: Arc<SessionRun>) -> Result<StepPath, SessionStop> {
        let Self { step, effect, number, unread, seen } = self;
        if !unread.is_empty() && lock(&seen).difference.is_none() {
            let found = differs_from(&session, &effect.recorded, number, &unread).await;
            lock(&seen).difference.get_or_insert(found);
        }
        let path = step.path.clone();
        let doc = ContentDoc::of(&effect.recorded);
        let is_message = effect.call.request.protocol != DoorProtocol::Embeddings;
        let asked = ExternalStep {
            step,
            request_ref: doc.hash,
            texts: doc.texts,
            repeatable: true,
            show: is_message.then_some(None),
        };
        let result = Box::pin(session.run_external_step(asked, &effect)).await?;
        effect.call.client.answer(result.and_then(|outcome| match outcome.left {
            false => Ok(outcome.reply),
            true => Err(CallFailure {
                kind: FailureKind::TimedOut,
                message: "the client closed its connection before the answer came, in the session that this one repeats"
                    .to_owned(),
            }),
        }));
        Ok(path)
    }
}

/// The nearest recorded request, and where the new one differs from it.
async fn differs_from(
    session: &SessionRun,
    request: &Value,
    number: usize,
    unread: &[(StepPath, Option<ContentHash>)],
) -> Nondeterminism {
    let now = json::canonical(request);
    let mut nearest: Option<(usize, Value)> = None;
    for (_, at) in unread.iter().take(MAX_COMPARED) {
        let Some(at) = at else { continue };
        let Some(stored) = session.host().request(*at).await else { continue };
        let text = json::canonical(&stored);
        let same = text.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count();
        if nearest.as_ref().is_none_or(|(most, _)| same > *most) {
            nearest = Some((same, stored));
        }
    }
    let stored = nearest.map(|(_, stored)| stored).unwrap_or_default();
    let difference = json::difference(&stored, request).map_or_else(String::new, |difference| {
        let (left, right) = excerpts(&difference);
        format!("{}: the record has {left}, now it is {right}", difference.pointer)
    });
    Nondeterminism { at: number, stored, difference }
}

/// A call's client. A request that equals an open one whose client has gone takes its place.
struct ReplaceableClient {
    current: Mutex<Arc<dyn ModelDoorClient>>,
    /// Whether the client came in the middle of an answer: it gets no words of this attempt, only the whole answer.
    is_muted: AtomicBool,
}

impl ReplaceableClient {
    fn new(client: Arc<dyn ModelDoorClient>) -> Self {
        Self { current: Mutex::new(client), is_muted: AtomicBool::new(false) }
    }

    fn current(&self) -> Arc<dyn ModelDoorClient> {
        Arc::clone(&lock(&self.current))
    }

    fn replace(&self, client: Arc<dyn ModelDoorClient>) {
        self.is_muted.store(true, Ordering::Release);
        *lock(&self.current) = client;
    }
}

impl ModelDoorClient for ReplaceableClient {
    fn delta(&self, text: &str) {
        if !self.is_muted.load(Ordering::Acquire) {
            self.current().delta(text);
        }
    }

    fn restarted(&self) {
        self.is_muted.store(false, Ordering::Release);
        self.current().restarted();
    }

    fn answer(&self, answer: Result<ModelDoorReply, CallFailure>) {
        self.current().answer(answer);
    }

    fn has_left(&self) -> bool {
        self.current().has_left()
    }

    fn left(&self) -> BoxFuture<'_, ()> {
        let client = self.current();
        Box::pin(async move { client.left().await })
    }
}

/// An answer as it is recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CallOutcomeDoc {
    #[serde(flatten)]
    reply: ModelDoorReply,
    /// Whether its client had left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left: bool,
}

/// Fields of an answer that a provider wants back unchanged, or that link results to calls.
const OPAQUE_FIELDS: [&str; 8] = [
    "id",
    "call_id",
    "item_id",
    "signature",
    "thought_signature",
    "encrypted_content",
    "embedding",
    "system_fingerprint",
];

struct ForwardedCall {
    call: ModelDoorCall,
    /// The request as it is stored.
    recorded: Value,
    estimate: ModelRequest,
    options: CallOptions,
}

impl Effect for ForwardedCall {
    type Reply = CallOutcomeDoc;
    const OPAQUE: Option<&'static str> = None;
    const IS_SEEN_OUTSIDE: bool = true;

    fn request(&self) -> Value {
        self.recorded.clone()
    }

    fn model_request(&self) -> Option<&ModelRequest> {
        Some(&self.estimate)
    }

    fn perform<'a>(
        &'a self,
        host: &'a dyn Host,
        path: &'a StepPath,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<CallOutcomeDoc>, SessionStop>> {
        Box::pin(async move {
            let called = host.forward(path, &self.call, self.options, first).await?;
            let left = self.call.client.has_left();
            let result = called.result.map(|reply| CallOutcomeDoc { reply, left });
            let called = super::host::CallOutcome { result, attempt: called.attempt };
            Ok((called, Vec::new()))
        })
    }

    fn content(outcome: &CallOutcomeDoc) -> String {
        outcome.reply.text.clone()
    }

    fn redact(redactor: &Redactor, mut reply: Value) -> Value {
        let mut opaque = Vec::new();
        take_opaque(&mut reply, &mut String::new(), &mut opaque);
        let mut reply = redactor.redact_value(reply).value;
        for (pointer, value) in opaque {
            if let Some(field) = reply.pointer_mut(&pointer) {
                *field = redactor.redact_opaque(value).value;
            }
        }
        reply
    }
}

/// Takes out the fields that must stay unchanged, with their places.
fn take_opaque(value: &mut Value, at: &mut String, taken: &mut Vec<(String, Value)>) {
    let length = at.len();
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                at.push('/');
                at.push_str(&name.replace('~', "~0").replace('/', "~1"));
                match OPAQUE_FIELDS.contains(&name.as_str()) {
                    true => taken.push((at.clone(), field.take())),
                    false => take_opaque(field, at, taken),
                }
                at.truncate(length);
            }
        }
        Value::Array(items) => {
            for (n, item) in items.iter_mut().enumerate() {
                at.push('/');
                at.push_str(&n.to_string());
                take_opaque(item, at, taken);
                at.truncate(length);
            }
        }
        _ => {}
    }
}
