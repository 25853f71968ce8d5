//! External agents that follow a script in this process, through the door that a session gives them.

use futures::FutureExt as _;
use futures::future::{Either, ready, select};
use papertape_core::external::{
    AgentDay, AgentDoor, AgentReply, AgentRequest, DoorAddresses, ErrorCode, ExternalAgentFacts,
    ExternalAgents, ModelDoorClient, ModelDoorReply, RunningAgent, SessionEnding, not_configured,
};
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::BoxFuture;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What an agent does on a day. If it returns a failure, the agent has died; if it returns nothing, it falls silent.
pub type Script =
    Arc<dyn Fn(AgentDay, Arc<dyn AgentDoor>) -> BoxFuture<'static, Option<CallFailure>> + Send + Sync>;

/// Agents that follow a script. It runs while its session waits for it, so nothing depends on time.
#[derive(Clone)]
pub struct ScriptedAgents {
    facts: BTreeMap<String, ExternalAgentFacts>,
    script: Script,
    started: Arc<Mutex<Vec<AgentDay>>>,
    endings: Arc<Mutex<Vec<SessionEnding>>>,
}

impl ScriptedAgents {
    /// The agent `name` without models.
    pub fn new(
        name: &str,
        script: impl Fn(AgentDay, Arc<dyn AgentDoor>) -> BoxFuture<'static, Option<CallFailure>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let facts = ExternalAgentFacts { models: Vec::new(), normalize: Vec::new(), sandbox: false };
        Self {
            facts: BTreeMap::from([(name.to_owned(), facts)]),
            script: Arc::new(script),
            started: Arc::default(),
            endings: Arc::default(),
        }
    }

    /// With settings for every agent.
    #[must_use]
    pub fn with_facts(mut self, facts: &ExternalAgentFacts) -> Self {
        self.facts.values_mut().for_each(|own| own.clone_from(facts));
        self
    }

    /// The days that were started.
    #[must_use]
    pub fn started(&self) -> Vec<AgentDay> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How the sessions ended whose agents were told.
    #[must_use]
    pub fn endings(&self) -> Vec<SessionEnding> {
        self.endings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ExternalAgents for ScriptedAgents {
    fn facts(&self, agent: &str) -> Result<ExternalAgentFacts, String> {
        self.facts.get(agent).cloned().ok_or_else(|| not_configured(agent))
    }

    fn addresses(&self, agent: &str, token: &str) -> Option<DoorAddresses> {
        let facts = self.facts.get(agent)?;
        Some(DoorAddresses {
            token: token.to_owned(),
            session_url: "http://127.0.0.1:1/sessions/current".to_owned(),
            mcp_url: "http://127.0.0.1:1/mcp".to_owned(),
            model_base_url: "http://127.0.0.1:1/v1".to_owned(),
            models: facts.models.iter().map(ToString::to_string).collect(),
        })
    }

    fn start<'a>(
        &'a self,
        day: AgentDay,
        door: Arc<dyn AgentDoor>,
    ) -> BoxFuture<'a, Result<Box<dyn RunningAgent>, CallFailure>> {
        if !self.facts.contains_key(&day.agent) {
            let failure = CallFailure { kind: FailureKind::BadRequest, message: not_configured(&day.agent) };
            return ready(Err(failure)).boxed();
        }
        self.started.lock().unwrap_or_else(PoisonError::into_inner).push(day.clone());
        let script = futures::lock::Mutex::new(Some((self.script)(day, door)));
        let endings = Arc::clone(&self.endings);
        ready(Ok(Box::new(Running { script, endings }) as Box<dyn RunningAgent>)).boxed()
    }
}

struct Running {
    script: futures::lock::Mutex<Option<BoxFuture<'static, Option<CallFailure>>>>,
    endings: Arc<Mutex<Vec<SessionEnding>>>,
}

impl RunningAgent for Running {
    fn failed(&self) -> BoxFuture<'_, CallFailure> {
        async move {
            let mut script = self.script.lock().await;
            if let Some(running) = script.as_mut() {
                let ended = running.await;
                *script = None;
                if let Some(failure) = ended {
                    return failure;
                }
            }
            futures::future::pending().await
        }
        .boxed()
    }

    fn finish(self: Box<Self>, ending: SessionEnding) -> BoxFuture<'static, ()> {
        async move {
            self.endings.lock().unwrap_or_else(PoisonError::into_inner).push(ending);
            // It reads its last reply, if it waits for it.
            if let Some(script) = self.script.lock().await.take() {
                match select(script, ready(())).await {
                    Either::Left(_) | Either::Right(_) => {}
                }
            }
        }
        .boxed()
    }
}

/// A read.
#[must_use]
pub fn read(tool: &str, arguments: Value) -> AgentRequest {
    AgentRequest::Read { tool: tool.to_owned(), arguments }
}

/// An order.
///
/// # Panics
/// If the arguments are no object.
#[must_use]
pub fn order(side: &str, arguments: Value) -> AgentRequest {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    AgentRequest::Order { side: side.to_owned(), arguments }
}

/// The end of a day.
#[must_use]
pub fn done(decision: &str, state: Option<Value>) -> AgentRequest {
    AgentRequest::Done { decision: Some(decision.to_owned()), state }
}

/// Makes a request. Returns its result; `None` if the session has ended.
///
/// # Panics
/// If the request fails.
pub async fn ask(door: &Arc<dyn AgentDoor>, request: AgentRequest) -> Option<Value> {
    match door.ask(request).await {
        AgentReply::Ok { result } => Some(result),
        AgentReply::Error { error } if error.code == ErrorCode::SessionEnded => None,
        AgentReply::Error { error } => panic!("a result was expected: {error:?}"),
    }
}

/// A client of the model endpoint, which stores its answer.
#[derive(Default)]
pub struct TestClient {
    left: AtomicBool,
    answer: Mutex<Option<Result<ModelDoorReply, CallFailure>>>,
    words: Mutex<String>,
    waker: futures::task::AtomicWaker,
}

impl TestClient {
    /// Closes its connection.
    pub fn leave(&self) {
        self.left.store(true, Ordering::SeqCst);
    }

    /// The words that it got before its answer.
    pub fn words(&self) -> String {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the first words.
    pub async fn first_words(&self) {
        std::future::poll_fn(|cx| {
            self.waker.register(cx.waker());
            match self.words().is_empty() {
                true => std::task::Poll::Pending,
                false => std::task::Poll::Ready(()),
            }
        })
        .await;
    }

    /// Its answer, once it has come.
    pub async fn answered(&self) -> Result<ModelDoorReply, CallFailure> {
        std::future::poll_fn(|cx| {
            self.waker.register(cx.waker());
            match self.answer.lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(answer) => std::task::Poll::Ready(answer),
                None => std::task::Poll::Pending,
            }
        })
        .await
    }
}

impl ModelDoorClient for TestClient {
    fn delta(&self, text: &str) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        self.waker.wake();
    }

    fn answer(&self, answer: Result<ModelDoorReply, CallFailure>) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        self.waker.wake();
    }

    fn has_left(&self) -> bool {
        self.left.load(Ordering::SeqCst)
    }

    fn left(&self) -> BoxFuture<'_, ()> {
        futures::future::pending().boxed()
    }
}
