//! An in-memory host: follows a script, stores what is written, and can crash at any moment.

use crate::clock::FakeClock;
use crate::kept::StoredSnapshot;
use futures::FutureExt as _;
use papertape_core::id::ContentHash;
use papertape_core::message::{CallFailure, FailureKind, ModelReply, ModelRequest, Usage};
use papertape_core::ports::{BoxFuture, Clock as _, ExternalCall, ExternalReply};
use papertape_core::record::{AttemptEnd, Write};
use papertape_core::tape::{
    ActionOptions, ActionOutcome, ActionReply, CallOptions, CallOutcome, CallOutcomeWithWrites, Host,
    SessionStop, StepPath,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A script's reaction to a call.
#[derive(Clone, Debug)]
pub enum Act<T> {
    /// Returns this immediately.
    Answer(T),
    /// Fails permanently.
    Fail(FailureKind, String),
    /// Does that after a delay.
    After(Duration, Box<Act<T>>),
    /// Never returns.
    Hang,
    /// Stops the session.
    Stop(SessionStop),
}

impl Act<ModelReply> {
    /// A response with text only.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Answer(ModelReply { text: text.into(), ..ModelReply::default() })
    }
}

impl<T> Act<T> {
    /// The same, after a delay.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self::After(duration, Box::new(self))
    }
}

type Script<Q, T> = Box<dyn Fn(&StepPath, &Q) -> Act<T> + Send + Sync>;

/// Performs a session's effects by script. Its storage outlives it.
pub struct MemoryHost {
    clock: FakeClock,
    models: Script<ModelRequest, ModelReply>,
    tools: Script<ExternalCall, ExternalReply>,
    actions: Script<ExternalCall, ActionOutcome>,
    refuses_plans: bool,
    kept: Arc<Mutex<StoredSnapshot>>,
    crash_at: Option<usize>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    boundaries: usize,
    crashed: bool,
    calls: BTreeMap<StepPath, usize>,
    admitted: Vec<StepPath>,
    trace: Vec<String>,
    admission: Option<SessionStop>,
}

impl MemoryHost {
    /// A host that stores into `kept`, and whose models follow the script.
    #[must_use]
    pub fn new(
        clock: &FakeClock,
        kept: &Arc<Mutex<StoredSnapshot>>,
        models: impl Fn(&StepPath, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static,
    ) -> Self {
        Self {
            clock: clock.clone(),
            models: Box::new(models),
            tools: Box::new(|path, _| Act::Fail(FailureKind::ToolError, format!("no tools at {path}"))),
            actions: Box::new(|path, _| Act::Fail(FailureKind::ToolError, format!("no actions at {path}"))),
            refuses_plans: false,
            kept: Arc::clone(kept),
            crash_at: None,
            state: Mutex::default(),
        }
    }

    /// With a script for external tools.
    #[must_use]
    pub fn with_tools(
        mut self,
        tools: impl Fn(&StepPath, &ExternalCall) -> Act<ExternalReply> + Send + Sync + 'static,
    ) -> Self {
        self.tools = Box::new(tools);
        self
    }

    /// With a script for actions.
    #[must_use]
    pub fn with_actions(
        mut self,
        actions: impl Fn(&StepPath, &ExternalCall) -> Act<ActionOutcome> + Send + Sync + 'static,
    ) -> Self {
        self.actions = Box::new(actions);
        self
    }

    /// Rejects every change to a plan, as by a plan rule.
    #[must_use]
    pub fn refusing_plans(mut self) -> Self {
        self.refuses_plans = true;
        self
    }

    /// Crashes at the nth boundary, from 0. Boundaries are before and after each commit and each call. From then
    /// on nothing is performed or stored.
    #[must_use]
    pub fn crashing_at(mut self, boundary: usize) -> Self {
        self.crash_at = Some(boundary);
        self
    }

    /// From now on, rejects every external step.
    pub fn refuse(&self, stop: SessionStop) {
        self.state().admission = Some(stop);
    }

    /// Number of boundaries passed.
    #[must_use]
    pub fn boundaries(&self) -> usize {
        self.state().boundaries
    }

    /// How often each step was actually performed.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<StepPath, usize> {
        self.state().calls.clone()
    }

    /// `commit N`, `call PATH`, `answer PATH`, in chronological order.
    #[must_use]
    pub fn trace(&self) -> Vec<String> {
        self.state().trace.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stored(&self) -> MutexGuard<'_, StoredSnapshot> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn boundary(&self) -> Result<(), SessionStop> {
        let mut state = self.state();
        if !state.crashed && self.crash_at == Some(state.boundaries) {
            state.crashed = true;
        }
        state.boundaries += 1;
        if state.crashed { Err(SessionStop::Shutdown) } else { Ok(()) }
    }

    async fn perform<T>(
        &self,
        path: &StepPath,
        first: u32,
        mut act: Act<T>,
    ) -> Result<CallOutcome<T>, SessionStop> {
        self.boundary()?;
        assert_eq!(
            self.stored().state(path.as_str()),
            "intent",
            "{path} is called before its intent is kept"
        );
        {
            let mut state = self.state();
            *state.calls.entry(path.clone()).or_default() += 1;
            state.trace.push(format!("call {path}"));
        }
        let result = loop {
            act = match act {
                Act::Answer(value) => break Ok(value),
                Act::Fail(kind, message) => break Err(CallFailure { kind, message }),
                Act::After(duration, then) => {
                    self.clock.sleep(duration).await;
                    *then
                }
                Act::Hang => futures::future::pending().await,
                Act::Stop(stop) => return Err(stop),
            };
        };
        self.state().trace.push(format!("answer {path}"));
        self.boundary()?;
        let error = result.as_ref().err().map(ToString::to_string);
        let usage = Some(Usage { input_tokens: 10, cached_tokens: 0, output_tokens: 5 });
        Ok(CallOutcome {
            result,
            attempt: AttemptEnd { number: first, error, usage, ..AttemptEnd::default() },
        })
    }
}

impl Host for MemoryHost {
    fn reserve<'a>(
        &'a self,
        path: &'a StepPath,
        _: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), SessionStop>> {
        async move {
            let mut state = self.state();
            state.admitted.push(path.clone());
            state.admission.clone().map_or(Ok(()), Err)
        }
        .boxed()
    }

    fn model<'a>(
        &'a self,
        path: &'a StepPath,
        request: &'a ModelRequest,
        _: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelReply>, SessionStop>> {
        self.perform(path, first, (self.models)(path, request)).boxed()
    }

    fn external<'a>(
        &'a self,
        path: &'a StepPath,
        call: &'a ExternalCall,
        _: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ExternalReply>, SessionStop>> {
        self.perform(path, first, (self.tools)(path, call)).boxed()
    }

    fn action<'a>(
        &'a self,
        path: &'a StepPath,
        call: &'a ExternalCall,
        _: ActionOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcomeWithWrites<ActionReply>, SessionStop>> {
        async move {
            let CallOutcome { result, attempt } =
                self.perform(path, first, (self.actions)(path, call)).await?;
            Ok(match result {
                Ok(ActionOutcome { reply, effects }) => (CallOutcome { result: Ok(reply), attempt }, effects),
                Err(failure) => (CallOutcome { result: Err(failure), attempt }, Vec::new()),
            })
        }
        .boxed()
    }

    fn commit<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        async move {
            self.boundary()?;
            if self.refuses_plans && writes.iter().any(|write| matches!(write, Write::Plan(_))) {
                return Err(SessionStop::Refused("the plan is gone".to_owned()));
            }
            let commit = {
                let mut kept = self.stored();
                kept.apply(writes);
                kept.commits
            };
            self.state().trace.push(format!("commit {commit}"));
            self.boundary()
        }
        .boxed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.clock.sleep(duration)
    }

    fn request<'a>(&'a self, at: ContentHash) -> BoxFuture<'a, Option<Value>> {
        async move { self.stored().document(at) }.boxed()
    }
}
