//! A turn of an external agent's session. While the session waits for the agent, it serves the agent's model calls.

use super::ctx::Ctx;
use super::door::{ModelDoor, Seen};
use super::external_step::{Effect, ExternalStep};
use super::host::{CallOptions, CallOutcomeWithWrites, Host};
use super::session::lock;
use super::stop::SessionStop;
use crate::content::ContentDoc;
use crate::external::{AgentTurn, ModelDoorCall, SessionEnding, Turn};
use crate::json;
use crate::message::{CallFailure, ModelRequest};
use crate::ports::BoxFuture;
use crate::step::{Step, StepClass, StepPath};
use futures::stream::StreamExt as _;
use serde_json::Value;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;

impl Ctx {
    /// Delivers the last reply of `turn` to the agent, and waits for its next request. The request is stored like a
    /// model's answer, so a resumed session begins with the stored ones. Meanwhile, model calls of the agent come in at
    /// `door`; those that have not ended go on in the next turn.
    ///
    /// # Errors
    /// A stop, also of one of the model calls.
    pub async fn turn(
        &mut self,
        turn: &Turn<'_>,
        door: &mut ModelDoor<'_>,
        options: CallOptions,
    ) -> Result<Result<AgentTurn, CallFailure>, SessionStop> {
        let request =
            turn.history.last().map_or_else(|| turn.day.clone(), |last| json::to_value(&last.reply));
        let step = Step::new(self.next("turn"), StepClass::External, &request);
        let doc = ContentDoc::of(&request);
        let asked =
            ExternalStep { step, request_ref: doc.hash, texts: doc.texts, repeatable: true, show: None };
        let session = self.shared();
        let effect = NextTurn { turn, request, seen: door.seen(), options };
        let mut waiting = Box::pin(session.run_external_step(asked, &effect));
        loop {
            let mut next = session.host().next_model_call();
            let event = poll_fn(|cx| {
                if let Poll::Ready(ended) = waiting.as_mut().poll(cx) {
                    return Poll::Ready(Event::Turn(ended));
                }
                if let Poll::Ready(Some(ended)) = door.running.poll_next_unpin(cx) {
                    return Poll::Ready(Event::Ended(ended));
                }
                next.as_mut().poll(cx).map(|call| Event::Call(Box::new(call)))
            });
            match event.await {
                Event::Turn(Err(stop)) | Event::Ended(Err(stop)) => return Err(door.stop(stop).await),
                Event::Turn(ended) => return ended,
                Event::Ended(ended) => door.end(ended)?,
                Event::Call(call) => door.begin(*call),
            }
        }
    }

    /// Stores everything so far, delivers the last reply of `turn` to the agent, and tells it that its session is over.
    ///
    /// # Errors
    /// A stop.
    pub async fn end_turns(&self, turn: &Turn<'_>, ending: SessionEnding) -> Result<(), SessionStop> {
        let session = self.shared();
        if session.tape().is_sealed() {
            return Ok(());
        }
        self.flush().await?;
        session.host().end_turns(turn, ending).await;
        Ok(())
    }
}

/// What a session that waits for its agent can go on with.
enum Event<T> {
    Turn(T),
    /// A model call has ended.
    Ended(Result<StepPath, SessionStop>),
    /// A model call has come in.
    Call(Box<ModelDoorCall>),
}

struct NextTurn<'t> {
    turn: &'t Turn<'t>,
    /// What the agent answers with its request.
    request: Value,
    seen: Arc<Mutex<Seen>>,
    options: CallOptions,
}

impl Effect for NextTurn<'_> {
    type Reply = AgentTurn;
    const OPAQUE: Option<&'static str> = None;

    fn request(&self) -> Value {
        self.request.clone()
    }

    fn model_request(&self) -> Option<&ModelRequest> {
        None
    }

    fn perform<'a>(
        &'a self,
        host: &'a dyn Host,
        path: &'a StepPath,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<AgentTurn>, SessionStop>> {
        Box::pin(async move {
            lock(&self.seen).is_live = true;
            let mut called = host.turn(path, self.turn, self.options, first).await?;
            if let Ok(turn) = &mut called.result
                && turn.nondeterministic.is_none()
            {
                turn.nondeterministic = lock(&self.seen).difference.take();
            }
            Ok((called, Vec::new()))
        })
    }

    fn content(turn: &AgentTurn) -> String {
        json::canonical(&json::to_value(&turn.request))
    }
}
