//! The doors of running sessions of external agents, by their tokens. API, MCP server and model endpoint find a session
//! here; the session's host takes what comes in.

use crate::sync::lock;
use futures::FutureExt as _;
use papertape_core::external::{
    AgentDoor, AgentReply, AgentRequest, ErrorCode, ModelDoorCall, SessionEnding,
};
use papertape_core::id::{AgentName, JobId};
use papertape_core::message::{ModelName, ToolSpec};
use papertape_core::ports::BoxFuture;
use papertape_core::time::{Date, Timestamp};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot, watch};

/// Requests and model calls that wait at one session's doors; further clients wait to get in.
const MAX_WAITING: usize = 64;

/// What a door may show of its session.
#[derive(Clone, Debug)]
pub struct DoorScope {
    /// The job.
    pub job: JobId,
    /// The agent in the job.
    pub name: AgentName,
    /// The configured agent.
    pub agent: String,
    /// The trading day.
    pub date: Date,
    /// The session's instant: nothing later may be reached.
    pub instant: Timestamp,
    /// The tools that read.
    pub reads: Vec<ToolSpec>,
    /// The tools that trade.
    pub orders: Vec<ToolSpec>,
    /// The models of the model endpoint; the first is the default.
    pub models: Vec<ModelName>,
}

/// A request on its way to the session, with the way back.
pub struct WaitingRequest {
    /// The request.
    pub request: AgentRequest,
    /// The way back.
    pub reply: oneshot::Sender<AgentReply>,
}

/// One session's doors.
pub struct SessionDoor {
    scope: DoorScope,
    requests: mpsc::Sender<WaitingRequest>,
    calls: mpsc::Sender<ModelDoorCall>,
    ended: watch::Sender<Option<SessionEnding>>,
    is_used: AtomicBool,
}

impl SessionDoor {
    /// The session.
    #[must_use]
    pub const fn scope(&self) -> &DoorScope {
        &self.scope
    }

    /// Takes a call of the model endpoint; its client gets the answer. Waits while many are waiting.
    ///
    /// # Errors
    /// The call, if the session has ended.
    pub async fn call(&self, call: ModelDoorCall) -> Result<(), ModelDoorCall> {
        self.is_used.store(true, Ordering::Relaxed);
        if self.ended.borrow().is_some() {
            return Err(call);
        }
        self.calls.send(call).await.map_err(|unsent| unsent.0)
    }
}

impl AgentDoor for SessionDoor {
    fn ask(&self, request: AgentRequest) -> BoxFuture<'_, AgentReply> {
        self.is_used.store(true, Ordering::Relaxed);
        async move {
            let over = || AgentReply::error(ErrorCode::SessionEnded, "the session has ended");
            let (reply, replied) = oneshot::channel();
            if self.ended.borrow().is_some()
                || self.requests.send(WaitingRequest { request, reply }).await.is_err()
            {
                return over();
            }
            replied.await.unwrap_or_else(|_| over())
        }
        .boxed()
    }

    fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    fn ended(&self) -> BoxFuture<'_, SessionEnding> {
        let mut ended = self.ended.subscribe();
        async move {
            match ended.wait_for(Option::is_some).await {
                Ok(ending) => ending.unwrap_or(SessionEnding::Stopped),
                Err(_) => SessionEnding::Stopped,
            }
        }
        .boxed()
    }
}

/// The session's side of its doors. Dropping it ends the token.
pub struct OpenDoor {
    /// The doors, as those outside see them.
    pub door: Arc<SessionDoor>,
    /// Their token.
    pub token: String,
    /// Requests that came in.
    pub requests: mpsc::Receiver<WaitingRequest>,
    /// Model calls that came in.
    pub calls: mpsc::Receiver<ModelDoorCall>,
    doors: Arc<Doors>,
}

impl OpenDoor {
    /// Closes the doors. Whoever waits at them is told so.
    pub fn close(&self, ending: SessionEnding) {
        self.door.ended.send_if_modified(|now| {
            let is_first = now.is_none();
            now.get_or_insert(ending);
            is_first
        });
    }
}

impl Drop for OpenDoor {
    fn drop(&mut self) {
        self.close(SessionEnding::Stopped);
        lock(&self.doors.open).remove(&self.token);
    }
}

/// The doors of all sessions of this process.
#[derive(Default)]
pub struct Doors {
    open: Mutex<HashMap<String, Arc<SessionDoor>>>,
}

impl Doors {
    /// The session with this token; `None`: there is none, or it has ended.
    #[must_use]
    pub fn find(&self, token: &str) -> Option<Arc<SessionDoor>> {
        lock(&self.open).get(token).filter(|door| door.ended.borrow().is_none()).cloned()
    }

    /// Opens the doors of a session under a new token.
    #[must_use]
    pub fn open(self: &Arc<Self>, scope: DoorScope) -> OpenDoor {
        let token = format!("pts_{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let (requests, requests_in) = mpsc::channel(MAX_WAITING);
        let (calls, calls_in) = mpsc::channel(MAX_WAITING);
        let door = Arc::new(SessionDoor {
            scope,
            requests,
            calls,
            ended: watch::Sender::new(None),
            is_used: AtomicBool::new(false),
        });
        lock(&self.open).insert(token.clone(), Arc::clone(&door));
        OpenDoor { door, token, requests: requests_in, calls: calls_in, doors: Arc::clone(self) }
    }
}
