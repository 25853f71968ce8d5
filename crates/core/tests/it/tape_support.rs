//! Shared helpers for the tests of the tape.

use futures::FutureExt as _;
use papertape_core::id::ContentHash;
use papertape_core::message::{Message, ModelReply, ModelRequest, Sampling, ToolChoice};
use papertape_core::ports::{BoxFuture, ExternalCall, ExternalReply};
use papertape_core::tape::{
    Branch, CallOptions, Ctx, GuardedBranch, LocalStep, NodeFailure, OutcomeKind, SessionRun, SessionStop,
    StepClass, Tape,
};
use papertape_redact::Redactor;
use papertape_testkit::clock::FakeClock;
use papertape_testkit::host::{Act, MemoryHost};
use papertape_testkit::kept::StoredSnapshot;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const CALL: CallOptions = CallOptions { timeout: Duration::from_secs(60), max_attempts: 1 };

pub(crate) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) fn request(question: &str) -> ModelRequest {
    ModelRequest {
        model: "openai::gpt-5".parse().expect("a model's name"),
        house_version: None,
        instructions: Some("Trade well.".to_owned()),
        messages: vec![Message::user(question)],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        sampling: Sampling::default(),
    }
}

pub(crate) fn tool_call(tool: &str) -> ExternalCall {
    ExternalCall { server: "web".to_owned(), tool: tool.to_owned(), arguments: json!({ "q": "AAPL" }) }
}

pub(crate) fn tool_reply(text: &str) -> Act<ExternalReply> {
    Act::Answer(ExternalReply { text: text.to_owned(), is_error: false })
}

pub(crate) fn entry(class: StepClass, arguments: Value, outcome: Value) -> LocalStep {
    let kind = if class == StepClass::Order { "order" } else { "read" };
    let outcome_kind = OutcomeKind::Ok;
    LocalStep { kind, class, arguments, outcome, outcome_kind, message: None, implied: Vec::new() }
}

pub(crate) fn read(question: &str, answer: &str) -> LocalStep {
    entry(StepClass::Local, json!({ "q": question }), json!(answer))
}

/// Answers every user message with `re: QUESTION`.
pub(crate) fn echo(request: &ModelRequest) -> Act<ModelReply> {
    Act::text(format!("re: {}", last(request)))
}

pub(crate) fn last(request: &ModelRequest) -> &str {
    request.messages.last().map_or("", Message::content)
}

/// A body of a scope, for [`Ctx::all`].
pub(crate) fn body<'a, T, F>(f: impl FnOnce(Ctx) -> F + Send + 'a) -> Branch<'a, T>
where
    F: Future<Output = Result<T, SessionStop>> + Send + 'a,
{
    Box::new(move |ctx| -> BoxFuture<'a, Result<T, SessionStop>> { f(ctx).boxed() })
}

/// A body for [`Ctx::guard`].
pub(crate) fn guarded<'a, T, F>(f: impl FnOnce(Ctx) -> F + Send + 'a) -> GuardedBranch<'a, T>
where
    F: Future<Output = Result<Result<T, NodeFailure>, SessionStop>> + Send + 'a,
{
    body(f)
}

/// A record, a clock and the session that uses them.
pub(crate) struct Stage {
    pub(crate) clock: FakeClock,
    pub(crate) kept: Arc<Mutex<StoredSnapshot>>,
    pub(crate) secrets: Vec<(String, String)>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { clock: FakeClock::new(), kept: Arc::default(), secrets: Vec::new() }
    }

    /// A separate record in the store of another: a branch next to its parent.
    pub(crate) fn beside(parent: &Self) -> Self {
        Self { kept: Arc::new(Mutex::new(parent.kept().beside())), ..Self::new() }
    }

    pub(crate) fn kept(&self) -> StoredSnapshot {
        self.kept.lock().expect("no test panics while it holds the lock").clone()
    }

    /// A host whose models echo.
    pub(crate) fn host(&self) -> MemoryHost {
        self.host_with(|_, request| echo(request))
    }

    pub(crate) fn host_with(
        &self,
        models: impl Fn(&papertape_core::tape::StepPath, &ModelRequest) -> Act<ModelReply> + Send + Sync + 'static,
    ) -> MemoryHost {
        MemoryHost::new(&self.clock, &self.kept, models)
    }

    /// The tape recorded so far.
    pub(crate) fn tape(&self) -> Tape {
        Tape::new(self.kept().rows())
    }

    /// A session on this tape.
    pub(crate) fn session(&self, host: &Arc<MemoryHost>, tape: Tape) -> Arc<SessionRun> {
        let host: Arc<MemoryHost> = Arc::clone(host);
        let redactor = Redactor::new(self.secrets.clone()).expect("a redactor");
        SessionRun::new(host, tape, Arc::new(redactor), ContentHash::of(b"seed"))
    }

    /// Runs `program` on the recorded tape, to its end or stop.
    pub(crate) fn run<T>(
        &self,
        host: MemoryHost,
        program: impl AsyncFnOnce(Ctx) -> Result<T, SessionStop>,
    ) -> (Result<T, SessionStop>, Arc<MemoryHost>) {
        self.run_on(self.tape(), host, program)
    }

    /// Runs `program` on this tape, to its end or stop.
    pub(crate) fn run_on<T>(
        &self,
        tape: Tape,
        host: MemoryHost,
        program: impl AsyncFnOnce(Ctx) -> Result<T, SessionStop>,
    ) -> (Result<T, SessionStop>, Arc<MemoryHost>) {
        let host = Arc::new(host);
        let session = self.session(&host, tape);
        let result = self.clock.run(async {
            let value = program(session.root()).await?;
            session.finish(Vec::new()).await?;
            Ok(value)
        });
        (result, host)
    }
}
