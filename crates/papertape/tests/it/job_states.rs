//! Every state that a step can be in, over the real database.

use crate::crash_support::{
    Desk, LONG, agent, completed, day, faulty, noting, queue, request, run, script, steps,
};
use futures::FutureExt as _;
use papertape_core::id::{AgentName, ContentHash, JobId};
use papertape_core::message::{Message, ModelReply, ModelRequest, Sampling, ToolChoice};
use papertape_core::ports::{BoxFuture, ExternalCall, ExternalReply, Queue as _, RecordStore as _};
use papertape_core::record::{Commit, Lease, NewSession, SessionId, Write};
use papertape_core::tape::{
    CallOptions, CallOutcome, Ctx, GuardOutcome, Host, NodeFailure, OutcomeKind, ScopeKey, SessionRun,
    SessionStop, StepPath, StepState, Tape,
};
use papertape_core::time::Timestamp;
use papertape_redact::Redactor;
use papertape_service::app::App;
use papertape_service::trigger::Request;
use papertape_store::{PageRequest, SessionFilter, Store};
use papertape_testkit::fault::FaultPoints;
use papertape_testkit::model_server::Recorded;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

async fn states(app: &App, job: &JobId) -> BTreeMap<String, StepState> {
    let steps = steps(&app.store, job, "alpha", day(0)).await;
    steps.into_iter().map(|step| (step.path.to_string(), step.state)).collect()
}

/// The number of the nth fault point of this name, from 1, in an undisturbed run.
pub(crate) async fn point(desk: &Desk, job: &JobId, name: &str, nth: usize) -> usize {
    let calm = desk.copy().await;
    if desk.notes.with_file_name("careful").exists() {
        std::fs::write(calm.notes.with_file_name("careful"), "").expect("writes");
    }
    let app = calm.app().await;
    let points = FaultPoints::counting();
    completed(&run(&faulty(app.services.clone(), &points), job).await.expect("claims"));
    let passed = points.passed();
    let mut found = passed.iter().enumerate().filter(|(_, point)| **point == name).map(|(at, _)| at);
    found.nth(nth - 1).expect("is passed")
}

fn one_day() -> Request {
    Request { agents: vec![noting("alpha")], ..request(1) }
}

/// Sent without a response: `intent`. The next process sends it again as the next attempt, and it is done.
#[tokio::test]
async fn crash_an_intent_is_sent_again() {
    let desk = Desk::new().await;
    let job = desk.queue(one_day()).await;
    let at = point(&desk, &job, "after answer", 2).await;
    desk.run_and_kill(&job, at).await;
    let app = desk.app().await;
    let killed = states(&app, &job).await;
    assert_eq!(killed["solo#1/model#1"], StepState::Done(OutcomeKind::Ok));
    assert_eq!(killed["solo#1/order#1"], StepState::Done(OutcomeKind::Ok));
    assert_eq!(killed["solo#1/order#2"], StepState::Done(OutcomeKind::Refused), "the broker refused it");
    assert_eq!(killed["solo#1/model#2"], StepState::Intent);
    completed(&run(&app.services, &job).await.expect("claims"));
    let steps = steps(&app.store, &job, "alpha", day(0)).await;
    let model = steps.iter().find(|step| step.path.as_str() == "solo#1/model#2").expect("is there");
    assert_eq!((model.state, model.attempts, model.interrupted), (StepState::Done(OutcomeKind::Ok), 2, 1));
    assert_eq!(desk.server.repeats(), 1);
}

/// A call that is not repeatable, cut off: whether it took effect is `unknown`, it is not sent again, and the
/// agent is told.
#[tokio::test]
async fn crash_what_may_not_be_repeated_is_unknown() {
    for (name, noted) in [("before tool", 0), ("after tool", 1)] {
        let desk = Desk::new().await;
        std::fs::write(desk.notes.with_file_name("careful"), "").expect("writes");
        let job = desk.queue(one_day()).await;
        let at = point(&desk, &job, name, 2).await;
        desk.run_and_kill(&job, at).await;
        let app = desk.app().await;
        assert_eq!(states(&app, &job).await["solo#1/tool#2"], StepState::Intent);
        completed(&run(&app.services, &job).await.expect("claims"));
        assert_eq!(states(&app, &job).await["solo#1/tool#2"], StepState::Done(OutcomeKind::Unknown));
        assert_eq!(desk.noted().len(), noted, "killed {name}: it is not sent again");
        let filter = SessionFilter { job: Some(job.clone()), ..SessionFilter::default() };
        let sessions = app.store.sessions(&filter, true, &PageRequest::default()).await.expect("reads").items;
        let said = sessions[0].conversation.as_ref().expect("was asked for");
        let told = said.iter().find(|message| message.tool_name.as_deref() == Some("notes__write"));
        let told = &told.expect("the agent is told").content;
        assert!(told.contains("whether it took effect is unknown"), "{told}");
        let read = |asked: &Recorded| asked.body.to_string().contains("whether it took effect is unknown");
        assert!(desk.server.requests().iter().any(read), "the model reads it");
        // Listing the tools is repeatable, and was not needed here.
        assert_eq!(app.store.interrupted_attempts(&job).await.expect("counts"), 1);
    }
}

/// A host over the real database whose model never responds, and whose deadlines pass on request.
struct Silent {
    store: Store,
    lease: Lease,
    session: SessionId,
    asked: Notify,
}

impl Host for Silent {
    fn reserve<'a>(
        &'a self,
        _: &'a StepPath,
        _: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), SessionStop>> {
        async { Ok(()) }.boxed()
    }

    fn model<'a>(
        &'a self,
        _: &'a StepPath,
        _: &'a ModelRequest,
        _: CallOptions,
        _: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelReply>, SessionStop>> {
        self.asked.notify_one();
        std::future::pending().boxed()
    }

    fn external<'a>(
        &'a self,
        _: &'a StepPath,
        _: &'a ExternalCall,
        _: CallOptions,
        _: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ExternalReply>, SessionStop>> {
        std::future::pending().boxed()
    }

    fn commit<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        let commit = Commit {
            lease: self.lease.clone(),
            session: self.session,
            at: Timestamp::UNIX_EPOCH,
            detached: false,
            writes,
        };
        async move { self.store.commit(commit).await.map_err(|error| SessionStop::Record(error.to_string())) }
            .boxed()
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }

    fn request<'a>(&'a self, _: ContentHash) -> BoxFuture<'a, Option<Value>> {
        async { None }.boxed()
    }
}

/// [`Silent`], once its deadlines are due.
struct Late(Arc<Silent>);

impl Host for Late {
    fn reserve<'a>(
        &'a self,
        path: &'a StepPath,
        request: Option<&'a ModelRequest>,
    ) -> BoxFuture<'a, Result<(), SessionStop>> {
        self.0.reserve(path, request)
    }

    fn model<'a>(
        &'a self,
        path: &'a StepPath,
        request: &'a ModelRequest,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ModelReply>, SessionStop>> {
        self.0.model(path, request, options, first)
    }

    fn external<'a>(
        &'a self,
        path: &'a StepPath,
        call: &'a ExternalCall,
        options: CallOptions,
        first: u32,
    ) -> BoxFuture<'a, Result<CallOutcome<ExternalReply>, SessionStop>> {
        self.0.external(path, call, options, first)
    }

    fn commit<'a>(&'a self, writes: Vec<Write>) -> BoxFuture<'a, Result<(), SessionStop>> {
        self.0.commit(writes)
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        let silent = Arc::clone(&self.0);
        async move { silent.asked.notified().await }.boxed()
    }

    fn request<'a>(&'a self, at: ContentHash) -> BoxFuture<'a, Option<Value>> {
        self.0.request(at)
    }
}

/// A call whose guard closed before its response is `abandoned`; on a re-run the verdict stays, and the body
/// is not run.
#[tokio::test]
async fn what_a_closed_guard_leaves_is_abandoned() {
    let desk = Desk::new().await;
    let app = desk.app().await;
    let job = queue(&app, Request { agents: vec![agent("alpha")], ..request(1) }).await;
    let (lease, _) = app.store.claim("test", LONG, Some(&job)).await.expect("asks").expect("claims");
    let new = NewSession { agent: AgentName::new("alpha"), date: day(0), at: Timestamp::UNIX_EPOCH };
    let opened = app.store.open_session(&lease, new).await.expect("opens");
    let store = app.store.clone();
    let host = Arc::new(Late(Arc::new(Silent { store, lease, session: opened.id, asked: Notify::new() })));
    let redactor = Arc::new(Redactor::new(Vec::new()).expect("no secrets"));
    let seed = ContentHash::of(b"seed");

    let session = SessionRun::new(Arc::clone(&host) as _, Tape::new(Vec::new()), Arc::clone(&redactor), seed);
    let verdict = guarded(&mut session.root(), true).await;
    assert_eq!(verdict, GuardOutcome::TimedOut);
    session.finish(Vec::new()).await.expect("finishes");
    let found = states(&app, &job).await;
    assert_eq!(found["Bull Researcher#1/guard#1"], StepState::Done(OutcomeKind::TimedOut));
    assert_eq!(found["Bull Researcher#1/model#1"], StepState::Abandoned);
    assert_eq!(app.store.verify_chain(&job).await.expect("verifies").broken, None);

    let rows = app.store.load_tape(opened.id, false).await.expect("reads");
    let session = SessionRun::new(host, Tape::new(rows), redactor, seed);
    assert_eq!(guarded(&mut session.root(), false).await, GuardOutcome::TimedOut);
    session.finish(Vec::new()).await.expect("all of the tape was read");
}

async fn guarded(root: &mut Ctx, may_run: bool) -> GuardOutcome<()> {
    let key = ScopeKey::node("Bull Researcher");
    let body = |mut ctx: Ctx| {
        async move {
            assert!(may_run, "the body of a closed guard is not run");
            let request = ModelRequest {
                model: "test::scripted".parse().expect("a model"),
                house_version: None,
                instructions: None,
                messages: vec![Message::user("What do you think?")],
                tools: Vec::new(),
                tool_choice: ToolChoice::None,
                response_schema: None,
                sampling: Sampling::default(),
            };
            let options = CallOptions { timeout: LONG, max_attempts: 1 };
            let reply = ctx.model(&request, options).await?;
            Ok(reply.map(drop).map_err(|failure| NodeFailure {
                kind: failure.kind.as_str().to_owned(),
                message: failure.message,
            }))
        }
        .boxed()
    };
    root.guard(key, LONG, Box::new(body)).await.expect("no stop")
}

/// The script is a function of the request, on which all these tests depend.
#[test]
fn the_script_answers_alike() {
    let body = serde_json::json!({ "messages": [{ "role": "user", "content": "Hello" }] });
    assert_eq!(format!("{:?}", script(&body)), format!("{:?}", script(&body)));
}
