//! The live turns of an external agent's session: the agent is started with the first of them, and gets the stored
//! replies as long as it makes the stored requests.

mod course;
mod session_token;

use self::course::EarlierOrders;
use self::session_token::SessionToken;
use super::{LiveHost, Reservation, Waiting};
use crate::cancellation::CancelToken;
use crate::doors::{DoorScope, OpenDoor, WaitingRequest};
use crate::services::Services;
use crate::sync::lock;
use papertape_agents::config::ExternalConfig;
use papertape_core::external::{
    AgentDay, AgentDoor, AgentReply, AgentRequest, AgentTurn, Exchange, ModelDoorCall, ModelDoorReply,
    Nondeterminism, RunningAgent, SessionEnding, Turn, estimate,
};
use papertape_core::json::{self, to_value};
use papertape_core::message::{CallFailure, FailureKind, ModelReply, ToolSpec, Usage};
use papertape_core::record::AttemptEnd;
use papertape_core::tape::{CallOptions, CallOutcome, SessionStop, StepPath, excerpts};
use papertape_core::time::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};

/// The agent's side of a session, if its agent is an external one.
#[derive(Default)]
pub(super) struct AgentSession {
    /// The agent's settings in the job.
    config: Option<ExternalConfig>,
    live: Mutex<Option<LiveAgent>>,
    calls: Mutex<Option<(mpsc::Receiver<ModelDoorCall>, SessionToken)>>,
    /// The agent has been started, so calls can come.
    started: Notify,
}

/// An agent that has been started.
struct LiveAgent {
    door: OpenDoor,
    token: SessionToken,
    running: Box<dyn RunningAgent>,
    /// The way back of the request that has not been answered.
    unanswered: Option<oneshot::Sender<AgentReply>>,
    earlier: EarlierOrders,
    /// The number of orders since it began its day.
    orders: usize,
}

impl AgentSession {
    pub(super) fn of(config: Option<ExternalConfig>) -> Self {
        Self { config, ..Self::default() }
    }

    pub(super) async fn next_model_call(&self) -> ModelDoorCall {
        loop {
            let came = match self.calls.lock().await.as_mut() {
                Some((calls, token)) => calls.recv().await.map(|call| token.remove_from_call(call)),
                None => None,
            };
            match came {
                Some(call) => return call,
                None => self.started.notified().await,
            }
        }
    }

    /// Ends the session of a live agent: it gets its last reply, and no door leads to it any more.
    pub(super) async fn end(&self, turn: &Turn<'_>, ending: SessionEnding) {
        let Some(mut agent) = self.live.lock().await.take() else { return };
        agent.reply(turn.history);
        self.close(agent, ending).await;
    }

    /// Ends a session that stops.
    pub(super) async fn stop(&self) {
        if let Some(agent) = self.live.lock().await.take() {
            self.close(agent, SessionEnding::Stopped).await;
        }
    }

    async fn close(&self, agent: LiveAgent, ending: SessionEnding) {
        self.calls.lock().await.take();
        agent.door.close(ending);
        agent.running.finish(ending).await;
    }
}

impl LiveAgent {
    /// Answers the last request.
    fn reply(&mut self, history: &[Exchange]) {
        if let (Some(unanswered), Some(last)) = (self.unanswered.take(), history.last()) {
            // The agent may be gone.
            let _ = unanswered.send(last.reply.clone());
        }
    }

    /// The next request, as the outcome of a turn. `redacted`: as it will be stored. `course`: it differs from the
    /// recorded one.
    fn turn(
        &mut self,
        next: WaitingRequest,
        redacted: &Value,
        course: Option<(usize, Nondeterminism)>,
    ) -> AgentTurn {
        let WaitingRequest { request, reply } = next;
        self.unanswered = Some(reply);
        let mut repeats = None;
        if matches!(request, AgentRequest::Order { .. }) {
            repeats = self.earlier.repeated(self.orders, redacted);
            self.orders += 1;
        }
        let (course, nondeterministic) = course.unzip();
        AgentTurn { request, repeats, course, nondeterministic }
    }
}

impl LiveHost {
    /// Delivers the last reply, and waits for the agent's next request. Starts the agent if it is not running.
    pub(super) async fn take_turn(
        &self,
        path: &StepPath,
        turn: &Turn<'_>,
        first: u32,
    ) -> Result<CallOutcome<AgentTurn>, SessionStop> {
        self.run.cancel.check()?;
        let mut live = self.external.live.lock().await;
        let result = match live.as_mut() {
            Some(agent) => {
                agent.reply(turn.history);
                self.next_turn(agent).await?
            }
            None => match self.start(path, turn).await? {
                Ok(agent) => self.catch_up(live.insert(agent), turn.history).await?,
                Err(failure) => Err(failure),
            },
        };
        let error = result.as_ref().err().map(|failure| self.redact(&failure.to_string()));
        Ok(CallOutcome { result, attempt: AttemptEnd { number: first, error, ..AttemptEnd::default() } })
    }

    /// Opens the session's doors, and gives the agent its day. Waiting for its turn among other sessions does not count
    /// toward the session's deadline.
    async fn start(
        &self,
        path: &StepPath,
        turn: &Turn<'_>,
    ) -> Result<Result<LiveAgent, CallFailure>, SessionStop> {
        let Services { external, doors, .. } = &self.run.services;
        let config = self.external.config.as_ref();
        let tools = |name: &str| -> Vec<ToolSpec> {
            turn.day
                .get(name)
                .cloned()
                .and_then(|tools| serde_json::from_value(tools).ok())
                .unwrap_or_default()
        };
        let instant = turn.day.get("instant").cloned().unwrap_or_default();
        let instant: Timestamp = serde_json::from_value(instant)
            .map_err(|error| SessionStop::ContractViolation(format!("a day without its instant: {error}")))?;
        let mut door = doors.open(DoorScope {
            job: self.job().clone(),
            name: self.line.agent.clone(),
            agent: turn.agent.to_owned(),
            date: self.line.date,
            instant,
            reads: tools("tools"),
            orders: tools("order_tools"),
            models: config.map(|config| config.models.clone()).unwrap_or_default(),
        });
        let mut message = turn.day.clone();
        message["job"] = json!(self.job());
        message["doors"] = to_value(&external.addresses(turn.agent, &door.token));
        let left = self.time_left(Duration::MAX);
        message["limits"]["session_secs"] = json!(self.deadline.map(|_| left.as_secs()));
        let day = AgentDay {
            agent: turn.agent.to_owned(),
            job: self.job().clone(),
            name: self.line.agent.clone(),
            date: self.line.date,
            instant,
            message,
            sandbox: config.is_some_and(|config| config.sandbox),
        };
        let (_, none) = mpsc::channel(1);
        let token = SessionToken::new(&door.token);
        let calls = std::mem::replace(&mut door.calls, none);
        *self.external.calls.lock().await = Some((calls, token.clone()));
        self.external.started.notify_one();
        let waiting = Waiting::new(self, path);
        let started = external.start(day, Arc::clone(&door.door) as Arc<dyn AgentDoor>);
        let started = self.run.cancel.unless_stopped(started).await?;
        drop(waiting);
        let earlier = EarlierOrders::of(turn.history);
        let started = started.map_err(|failure| token.remove_from_failure(failure));
        Ok(started.map(|running| LiveAgent { door, token, running, unanswered: None, earlier, orders: 0 }))
    }

    /// Answers the requests that the record has, as long as the agent repeats them.
    async fn catch_up(
        &self,
        agent: &mut LiveAgent,
        history: &[Exchange],
    ) -> Result<Result<AgentTurn, CallFailure>, SessionStop> {
        for (at, index) in course::newest(history).into_iter().enumerate() {
            let next = match self.next_request(agent).await? {
                Ok(next) => next,
                Err(failure) => return Ok(Err(failure)),
            };
            let Some(stored) = history.get(index) else { continue };
            let redacted = self.redacted(&next.request);
            if let Some(difference) = json::difference(&to_value(&stored.request), &redacted) {
                let (left, right) = excerpts(&difference);
                let difference = format!("{}: the record has {left}, now it is {right}", difference.pointer);
                tracing::warn!(job = %self.job(), agent = %self.line.agent, at, difference, "an external agent is nondeterministic");
                let stored = to_value(&stored.request);
                let differs = Nondeterminism { at, stored, difference };
                return Ok(Ok(agent.turn(next, &redacted, Some((at, differs)))));
            }
            agent.orders += usize::from(matches!(stored.request, AgentRequest::Order { .. }));
            // The agent may be gone.
            let _ = next.reply.send(stored.reply.clone());
        }
        self.next_turn(agent).await
    }

    /// The agent's next request, where the record has none.
    async fn next_turn(&self, agent: &mut LiveAgent) -> Result<Result<AgentTurn, CallFailure>, SessionStop> {
        Ok(self.next_request(agent).await?.map(|next| {
            let redacted = self.redacted(&next.request);
            agent.turn(next, &redacted, None)
        }))
    }

    /// Waits for the agent's next request, until it fails or the session's time is up.
    async fn next_request(
        &self,
        agent: &mut LiveAgent,
    ) -> Result<Result<WaitingRequest, CallFailure>, SessionStop> {
        let cancel: &CancelToken = &self.run.cancel;
        let failed = agent.running.failed();
        tokio::pin!(failed);
        loop {
            // The time runs from here, not from the first poll.
            let left = self.deadline.map(|_| self.run.services.clock.sleep(self.time_left(Duration::MAX)));
            let late = async {
                match left {
                    Some(left) => left.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                reason = cancel.stopped() => return Err(reason.into()),
                Some(WaitingRequest { request, reply }) = agent.door.requests.recv() => {
                    let request = agent.token.remove_from_request(request);
                    return Ok(Ok(WaitingRequest { request, reply }));
                }
                failure = &mut failed => return Ok(Err(agent.token.remove_from_failure(failure))),
                () = late => {}
            }
            // Calls that waited for a slot have moved the deadline.
            if self.is_late() {
                let message = "the session's time is up".to_owned();
                return Ok(Err(CallFailure { kind: FailureKind::TimedOut, message }));
            }
        }
    }

    /// A request as it is stored.
    fn redacted(&self, request: &AgentRequest) -> Value {
        let redacted = self.run.services.redactor.redact_value(to_value(request)).value;
        json::read_back(redacted).unwrap_or(Value::Null)
    }

    /// Makes a call of the model endpoint.
    pub(super) async fn forward_call(
        &self,
        (path, options, first): (&StepPath, CallOptions, u32),
        call: &ModelDoorCall,
    ) -> Result<CallOutcome<ModelDoorReply>, SessionStop> {
        let Services { models, call_slots, redactor, .. } = &self.run.services;
        let request = estimate(&call.request);
        let has_words = AtomicBool::new(false);
        let once = || async {
            if has_words.swap(false, Ordering::Relaxed) {
                call.client.restarted();
            }
            let words = std::sync::Mutex::new(redactor.stream());
            let on_delta = |text: &str| {
                let redacted = lock(&words).push(text);
                if !redacted.is_empty() {
                    has_words.store(true, Ordering::Relaxed);
                    call.client.delta(&redacted);
                }
            };
            let response = models.forward(&call.request, Some(&on_delta)).await;
            response.map(|response| (response.reply, response.usage))
        };
        let mut reservation = Reservation::new(self, path);
        let meter = |usage: Option<Usage>, result: Result<&ModelDoorReply, FailureKind>| {
            let reply = result.map(|reply| ModelReply {
                text: match reply.text.is_empty() {
                    true => json::canonical(&reply.body),
                    false => reply.text.clone(),
                },
                ..ModelReply::default()
            });
            reservation.meter(&request, usage, reply.as_ref().map_err(|kind| *kind))
        };
        let called = self.attempts((path, options, first), Some(call_slots), meter, once).await?;
        self.unless_denied(path, &call.request.model, called).await
    }
}
