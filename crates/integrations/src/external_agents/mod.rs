//! External agents: programs that are started, and URLs that are called, for each day of a session.
//!
//! The messages are those of `papertape_core::external`; `docs/own-agents.md` specifies them. A program writes its
//! requests to its standard output, and they go to the session's door. An agent at a URL finds the door by the
//! addresses in its day.

mod doors;
mod group;
mod lines;
mod process;
mod program;
mod sandbox;
mod slot;
mod stderr;
mod url;

use futures::FutureExt as _;
use papertape_core::external::{
    AgentDay, AgentDoor, DoorAddresses, ExternalAgentFacts, ExternalAgents, RunningAgent, SessionEnding,
    not_configured,
};
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::{CallFailure, FailureKind};
use papertape_core::ports::BoxFuture;
use papertape_llm::{ApiKey, find_key};
use papertape_service::config::ExternalAgent;
use papertape_service::integrations::AgentSetup;
use program::Program;
use sandbox::{Sandbox, SandboxTools};
use secrecy::ExposeSecret as _;
use serde::Deserialize as _;
use serde_json::Value;
use slot::ProgramDay;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

/// How long a program waits for its agent's next day before it is ended.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// A program is kept for one agent of one job: the job, the agent's name in it, and the configured agent.
type SlotKey = (JobId, AgentName, String);

/// The configured agents and the adapters.
pub struct ConfiguredAgents {
    setup: AgentSetup,
    max_idle: Duration,
    tools: SandboxTools,
    sandbox_check: OnceLock<Result<(), String>>,
    places: Mutex<BTreeMap<String, Arc<Semaphore>>>,
    slots: Mutex<BTreeMap<SlotKey, mpsc::Sender<ProgramDay>>>,
}

impl ConfiguredAgents {
    /// Starts nothing.
    #[must_use]
    pub fn new(setup: AgentSetup) -> Self {
        let tools = SandboxTools {
            bubblewrap: PathBuf::from("bwrap"),
            own: std::env::current_exe().unwrap_or_default(),
            hidden: setup.hidden.clone(),
        };
        Self {
            setup,
            max_idle: MAX_IDLE,
            tools,
            sandbox_check: OnceLock::new(),
            places: Mutex::default(),
            slots: Mutex::default(),
        }
    }

    /// Changes how long a program waits for its agent's next day.
    #[must_use]
    pub fn with_max_idle(self, max_idle: Duration) -> Self {
        Self { max_idle, ..self }
    }

    /// Changes the programs that make sandboxes: `bwrap`, and our own binary.
    #[must_use]
    pub fn with_sandbox_programs(mut self, bubblewrap: impl Into<PathBuf>, own: impl Into<PathBuf>) -> Self {
        (self.tools.bubblewrap, self.tools.own) = (bubblewrap.into(), own.into());
        self
    }

    fn agent(&self, name: &str) -> Result<ExternalAgent, String> {
        let configured = self.setup.agents.get(name).cloned();
        configured.or_else(|| ExternalAgent::adapter(name)).ok_or_else(|| not_configured(name))
    }

    /// Whether the agent can be started here; the error follows its name.
    fn check(&self, agent: &ExternalAgent) -> Result<(), String> {
        if agent.url.is_some() {
            if agent.sandbox {
                return Err("a program at a URL cannot run in a sandbox".to_owned());
            }
            return key(agent).map(|_| ());
        }
        program::find(agent)?;
        if agent.sandbox { self.sandbox_check.get_or_init(|| self.tools.check()).clone() } else { Ok(()) }
    }

    async fn place(&self, name: &str, agent: &ExternalAgent) -> Result<OwnedSemaphorePermit, CallFailure> {
        let places = {
            let mut places = lock(&self.places);
            let new = || Arc::new(Semaphore::new(agent.max_concurrent.max(1)));
            Arc::clone(places.entry(name.to_owned()).or_insert_with(new))
        };
        places.acquire_owned().await.map_err(|_| unavailable(name, "is being shut down"))
    }

    /// Hands the day to the program of its job and agent.
    async fn start_program(
        &self,
        agent: ExternalAgent,
        mut day: AgentDay,
        door: Arc<dyn AgentDoor>,
        place: OwnedSemaphorePermit,
    ) -> Result<ProgramRun, CallFailure> {
        let name = day.agent.clone();
        let (started, is_started) = oneshot::channel();
        let (failed, failure) = watch::channel(None);
        let (ending, ended) = oneshot::channel();
        let (done, is_done) = oneshot::channel();
        let key = (day.job, day.name, day.agent);
        if agent.sandbox {
            move_doors(&mut day.message);
        }
        let mut day =
            ProgramDay { message: day.message, door, started, failure: failed, ending: ended, done };
        loop {
            let slot = self.slot(&key, &agent).map_err(|reason| cannot_start(&name, &reason))?;
            match slot.send(day).await {
                Ok(()) => break,
                // It has been idle for too long, and ends.
                Err(unsent) => day = unsent.0,
            }
        }
        match is_started.await {
            Ok(Ok(())) => Ok(ProgramRun { failure, ending, is_done, _place: place }),
            Ok(Err(failure)) => Err(failure),
            Err(_) => Err(unavailable(&name, "is being shut down")),
        }
    }

    fn slot(&self, key: &SlotKey, agent: &ExternalAgent) -> Result<mpsc::Sender<ProgramDay>, String> {
        let mut slots = lock(&self.slots);
        slots.retain(|_, slot| !slot.is_closed());
        if let Some(slot) = slots.get(key) {
            return Ok(slot.clone());
        }
        let sandbox = match agent.sandbox {
            true => Some(Sandbox::new(self.tools.clone(), &self.setup.doors)?),
            false => None,
        };
        let (agent, config) = (key.2.clone(), agent.clone());
        let program = Program { agent, config, redactor: Arc::clone(&self.setup.redactor), sandbox };
        let (slot, days) = mpsc::channel(1);
        tokio::spawn(slot::run(program, days, self.max_idle));
        slots.insert(key.clone(), slot.clone());
        Ok(slot)
    }

    fn endpoint(&self, agent: ExternalAgent) -> Result<url::Endpoint, String> {
        let client = crate::mcp::http_client()?;
        let key = key(&agent)?;
        let url = agent.url.unwrap_or_default();
        Ok(url::Endpoint { client, url, key, redactor: Arc::clone(&self.setup.redactor) })
    }
}

impl ExternalAgents for ConfiguredAgents {
    fn facts(&self, name: &str) -> Result<ExternalAgentFacts, String> {
        let agent = self.agent(name)?;
        self.check(&agent)
            .map_err(|reason| format!("the external agent `{name}` cannot be started: {reason}"))?;
        Ok(ExternalAgentFacts { models: agent.models, normalize: agent.normalize, sandbox: agent.sandbox })
    }

    fn addresses(&self, name: &str, token: &str) -> Option<DoorAddresses> {
        let agent = self.agent(name).ok()?;
        let address = self.setup.doors.address()?;
        let base = match &self.setup.public_url {
            Some(url) if agent.url.is_some() => url.trim_end_matches('/').to_owned(),
            _ => format!("http://{address}"),
        };
        let models = agent.models.iter().map(ToString::to_string).collect();
        Some(addresses_at(&base, token.to_owned(), models))
    }

    fn start<'a>(
        &'a self,
        day: AgentDay,
        door: Arc<dyn AgentDoor>,
    ) -> BoxFuture<'a, Result<Box<dyn RunningAgent>, CallFailure>> {
        async move {
            let name = day.agent.clone();
            let unknown = |message| CallFailure { kind: FailureKind::BadRequest, message };
            let mut agent = self.agent(&name).map_err(unknown)?;
            agent.sandbox |= day.sandbox;
            self.check(&agent).map_err(|reason| cannot_start(&name, &reason))?;
            let place = self.place(&name, &agent).await?;
            if agent.url.is_some() {
                let endpoint = self.endpoint(agent).map_err(|reason| unavailable(&name, &reason))?;
                return Ok(Box::new(url::start(endpoint, day, place)?) as Box<dyn RunningAgent>);
            }
            Ok(Box::new(self.start_program(agent, day, door, place).await?) as Box<dyn RunningAgent>)
        }
        .boxed()
    }
}

/// A day of a program. Dropping it ends the program.
struct ProgramRun {
    failure: watch::Receiver<Option<CallFailure>>,
    ending: oneshot::Sender<SessionEnding>,
    is_done: oneshot::Receiver<()>,
    _place: OwnedSemaphorePermit,
}

impl RunningAgent for ProgramRun {
    fn failed(&self) -> BoxFuture<'_, CallFailure> {
        failed(self.failure.clone())
    }

    fn finish(self: Box<Self>, ending: SessionEnding) -> BoxFuture<'static, ()> {
        async move {
            let Self { ending: sender, is_done, .. } = *self;
            let _ = sender.send(ending);
            let _ = is_done.await;
        }
        .boxed()
    }
}

/// Resolves when there is a failure.
fn failed(mut failure: watch::Receiver<Option<CallFailure>>) -> BoxFuture<'static, CallFailure> {
    async move {
        let found = failure.wait_for(Option::is_some).await.ok().and_then(|failure| failure.clone());
        match found {
            Some(failure) => failure,
            // Without a failure, only the session's own end matters.
            None => futures::future::pending().await,
        }
    }
    .boxed()
}

fn addresses_at(base: &str, token: String, models: Vec<String>) -> DoorAddresses {
    DoorAddresses {
        token,
        session_url: format!("{base}/sessions/current"),
        mcp_url: format!("{base}/mcp"),
        model_base_url: format!("{base}/v1"),
        models,
    }
}

/// Replaces the addresses of the doors by those inside a sandbox.
fn move_doors(day: &mut Value) {
    let Some(doors) = day.get_mut("doors") else { return };
    if let Ok(outside) = DoorAddresses::deserialize(&*doors) {
        let inside = addresses_at(&format!("http://{}", sandbox::DOORS), outside.token, outside.models);
        *doors = serde_json::to_value(inside).unwrap_or_default();
    }
}

/// The key for the agent's URL.
fn key(agent: &ExternalAgent) -> Result<Option<String>, String> {
    let Some(variable) = agent.key_env.as_deref() else { return Ok(None) };
    match find_key(variable, Some(variable), &|name| std::env::var(name).ok()) {
        ApiKey::Found { value, .. } => Ok(Some(value.expose_secret().to_owned())),
        ApiKey::NotNeeded => Ok(None),
        ApiKey::Missing(_) => Err(format!("its key is missing: set the environment variable {variable}")),
    }
}

fn cannot_start(name: &str, reason: &str) -> CallFailure {
    unavailable(name, &format!("cannot be started: {reason}"))
}

fn unavailable(name: &str, reason: &str) -> CallFailure {
    CallFailure { kind: FailureKind::Unavailable, message: format!("the external agent `{name}` {reason}") }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
