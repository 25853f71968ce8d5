//! External agents on a database: requested as the API does, killed anywhere, verified, replayed and branched. The agents
//! are scripts in this process.

use crate::crash_support::{Desk, completed, day, export, run, same, steps};
use futures::FutureExt as _;
use papertape_core::external::{
    AgentDay, AgentDoor, DoorProtocol, ExternalAgentFacts, ModelDoorCall, ModelDoorReply, ModelDoorRequest,
    ModelDoorResponse, NoExternalAgents,
};
use papertape_core::id::JobId;
use papertape_core::message::{CallFailure, ModelName, ModelRequest, Usage};
use papertape_core::ports::{AttemptFailure, BoxFuture, DeltaSink, ModelClient, ModelResponse, Queue as _};
use papertape_core::record::JobStatus;
use papertape_runtime::doors::Doors;
use papertape_runtime::replay;
use papertape_runtime::services::Services;
use papertape_service::ServiceError;
use papertape_service::app::App;
use papertape_service::trigger::{BranchRequest, Request, branch, request_of_json, trigger};
use papertape_testkit::external::{ScriptedAgents, TestClient, ask, done, order, read};
use papertape_testkit::fault::{FaultPoints, FaultyStore};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A model whose answer is the question.
#[derive(Default)]
struct Echo {
    forwarded: AtomicUsize,
}

impl ModelClient for Echo {
    fn call<'a>(
        &'a self,
        request: &'a ModelRequest,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelResponse, AttemptFailure>> {
        async move { panic!("nobody but the agent calls {}", request.model) }.boxed()
    }

    fn forward<'a>(
        &'a self,
        request: &'a ModelDoorRequest,
        _: Option<DeltaSink<'a>>,
    ) -> BoxFuture<'a, Result<ModelDoorResponse, AttemptFailure>> {
        self.forwarded.fetch_add(1, Ordering::SeqCst);
        let text = format!("re: {}", request.body["ask"].as_str().unwrap_or_default());
        // A signature of a provider looks like a secret, and must come back unchanged.
        let body = json!({ "id": "msg_1", "signature": SIGNATURE, "text": text });
        let usage = Some(Usage { input_tokens: 80, cached_tokens: 0, output_tokens: 20 });
        async move { Ok(ModelDoorResponse { reply: ModelDoorReply { body, text, finish: None }, usage }) }
            .boxed()
    }

    fn check(&self, _: &ModelName) -> Result<(), String> {
        Ok(())
    }

    fn house_version(&self, _: &ModelName) -> Option<u32> {
        None
    }

    fn cost(&self, _: &ModelName, _: &Usage) -> Option<Decimal> {
        None
    }
}

const SIGNATURE: &str = "sk-ant-REDACTED";

/// A desk with the external agent `mine`.
struct World {
    desk: Desk,
    app: App,
    models: Arc<Echo>,
    agents: ScriptedAgents,
}

/// On each day it asks its model, reads, buys as much as the model was asked for, asks twice the same at once, and counts
/// its days.
async fn usual(day: AgentDay, door: Arc<dyn AgentDoor>, doors: Arc<Doors>) -> Option<CallFailure> {
    let token = day.message["doors"]["token"].as_str().expect("a token").to_owned();
    let session = doors.find(&token).expect("the session has doors");
    let send = async |ask: &str| {
        let client = Arc::new(TestClient::default());
        let model = session.scope().models[0].clone();
        let (protocol, body) = (DoorProtocol::ChatCompletions, json!({ "ask": ask }));
        let request = ModelDoorRequest { protocol, model, house_version: None, body, key: None };
        let call = ModelDoorCall { request, client: Arc::clone(&client) as _ };
        // If the session has ended, nobody answers.
        let _ = session.call(call).await;
        client
    };
    let days = day.message["state"]["days"].as_u64().unwrap_or_default() + 1;
    let advice = send(&format!("day {days}")).await.answered().await.expect("an answer");
    assert_eq!(advice.body["signature"], SIGNATURE);
    let price = ask(&door, read("get_price", json!({ "symbol": "AAPL" }))).await?;
    let bought = ask(&door, order("buy", json!({ "symbol": "AAPL", "quantity": days }))).await?;
    assert_eq!(bought["price"], price["price"]);
    let (one, two) = (send("same").await, send("same").await);
    let rejected = door.ask(order("sell", json!({ "symbol": "IBM", "quantity": 1 }))).await;
    let code = json!(rejected)["error"]["code"].clone();
    assert!(code == "order_rejected" || code == "session_ended", "{code}");
    one.answered().await.expect("an answer");
    two.answered().await.expect("an answer");
    ask(&door, done(&format!("{}, so {days}", advice.text), Some(json!({ "days": days })))).await?;
    None
}

impl World {
    async fn new() -> Self {
        let desk = Desk::new().await;
        let mut app = desk.app().await;
        let doors = Arc::clone(&app.services.doors);
        let facts = ExternalAgentFacts {
            models: vec!["test::scripted".parse().expect("a model")],
            normalize: vec!["[0-9]{2}:[0-9]{2}".to_owned()],
            sandbox: true,
        };
        let agents =
            ScriptedAgents::new("mine", move |day, door| usual(day, door, Arc::clone(&doors)).boxed());
        let agents = agents.with_facts(&facts);
        let models = Arc::new(Echo::default());
        app.services.external = Arc::new(agents.clone());
        app.services.models = Arc::clone(&models) as _;
        app.services.linger = Duration::MAX;
        Self { desk, app, models, agents }
    }

    async fn queue(&self) -> JobId {
        trigger(&self.app, request()).await.expect("queues").job
    }

    fn forwarded(&self) -> usize {
        self.models.forwarded.load(Ordering::SeqCst)
    }

    /// Runs a job whose record fails at the nth transaction, as if the process had died there.
    async fn run_until(&self, job: &JobId, at: usize) -> Arc<FaultPoints> {
        let points = FaultPoints::full_at(at);
        let record = FaultyStore::new(Arc::clone(&self.app.services.record), &points);
        let services = Services { record, ..self.app.services.clone() };
        let _ = run(&services, job).await;
        points
    }
}

fn request() -> Request {
    request_of_json(&json!({
        "start_date": "2012-10-01", "end_date": "2012-10-02", "symbols": ["AAPL", "IBM"], "summaries": false,
        "replace_existing": true,
        "agents": [{ "name": "mine", "kind": "external", "external": "mine" }],
    }))
    .expect("a request")
}

// Goal: a job of an external agent, requested as the API does, has the server's settings of the agent; its repeat is equal
// in the canonical form; its record verifies, extends its head and replays without agent and models.
#[tokio::test]
async fn a_job_is_repeated_verified_and_replayed() {
    let world = World::new().await;
    let job = world.queue().await;
    completed(&run(&world.app.services, &job).await.expect("claims"));
    let store = &world.app.store;
    let row = store.get_job(&job).await.expect("reads").expect("is there");
    let config = &row.config["agents"][0];
    assert_eq!(config["model"], "test::scripted");
    let external = json!({ "name": "mine", "models": ["test::scripted"], "normalize": ["[0-9]{2}:[0-9]{2}"],
        "sandbox": true, "max_requests": 500, "max_orders": 100 });
    assert_eq!(config["external"], external);
    assert_eq!(world.forwarded(), 6);

    let again = world.queue().await;
    completed(&run(&world.app.services, &again).await.expect("claims"));
    same(&export(store, &job).await, &export(store, &again).await, "the repeat");

    assert_eq!(store.verify_chain(&job).await.expect("verifies").broken, None);
    let head = store.job_head(&job).await.expect("reads").expect("is there");
    let verified = store.verify_chain_from(&job, Some(&head)).await.expect("verifies");
    assert_eq!(verified.broken, None);

    let asked = world.forwarded();
    let services = Services { external: Arc::new(NoExternalAgents), ..world.app.services.clone() };
    let report = replay::run(&services, &row).await.expect("can be replayed");
    assert_eq!((report.equal, report.unfinished, report.faults), (2, 0, Vec::new()));
    assert_eq!(world.forwarded(), asked, "a replay performs nothing");
    assert_eq!(world.agents.started().len(), 4);
}

// Goal: wherever the process of a job dies, its agent begins the day again, gets what was stored, and the job ends as if
// nothing had happened; no call whose answer was stored is paid for again.
#[tokio::test]
async fn a_kill_at_any_transaction_changes_nothing() {
    let undisturbed = World::new().await;
    let job = undisturbed.queue().await;
    let counted = undisturbed.run_until(&job, usize::MAX).await;
    let expected = export(&undisturbed.app.store, &job).await;
    let calls = undisturbed.forwarded();
    for at in 0..counted.transactions() {
        let world = World::new().await;
        let job = world.queue().await;
        world.run_until(&job, at).await;
        let store = &world.app.store;
        let row = store.get_job(&job).await.expect("reads").expect("is there");
        if row.status != JobStatus::Queued {
            assert!(store.requeue(&job).await.expect("requeues"), "at {at}: {:?}", row.status);
        }
        completed(&run(&world.app.services, &job).await.expect("claims"));
        same(&expected, &export(store, &job).await, &format!("killed at transaction {at}"));
        assert_eq!(store.verify_chain(&job).await.expect("verifies").broken, None, "killed at {at}");
        let mut interrupted = 0;
        for n in 0..2 {
            let steps = steps(store, &job, "mine", day(n)).await;
            let calls = steps.iter().filter(|step| step.path.kind() == "model");
            interrupted += calls.map(|step| step.attempts.saturating_sub(1) as usize).sum::<usize>();
        }
        assert!(
            world.forwarded() <= calls + interrupted,
            "at {at}: {} calls, {interrupted} of them again",
            world.forwarded()
        );
    }
    assert!(counted.transactions() > 12, "{} transactions", counted.transactions());
}

// Goal: an unknown agent, a missing one, and settings that it does not have are named in a sentence.
#[tokio::test]
async fn a_wrong_request_is_named() {
    let world = World::new().await;
    let agent = |agent: Value| {
        let body = json!({ "start_date": "2012-10-01", "end_date": "2012-10-02", "agents": [agent] });
        request_of_json(&body)
    };
    for (body, expected) in [
        (
            json!({ "name": "a", "kind": "external", "external": "other" }),
            "agents: a: the external agent `other` is not configured: add [external_agents.other] to the config",
        ),
        (
            json!({ "name": "a", "kind": "external", "model": "external::mine" }),
            "agents: a: `external` is missing: the name of the external agent",
        ),
        (
            json!({ "name": "a", "kind": "external", "external": "mine", "instructions": "Be bold." }),
            "agents: a: `instructions` is for agents with a prompt; an external agent has none",
        ),
        (
            json!({ "name": "a", "model": "house::momentum", "external": "mine" }),
            "agents: a: `external` is for agents of the kind `external`",
        ),
    ] {
        let request = agent(body).expect("a request");
        let Err(ServiceError::Invalid { field, message }) = trigger(&world.app, request).await else {
            panic!("it is invalid: {expected}")
        };
        assert_eq!(format!("{field}: {message}"), expected);
    }
    let error = agent(json!({ "name": "a" })).expect_err("no model");
    assert!(error.contains("a: `model` is missing"), "{error}");
}

// Goal: a branch at a request reuses everything before it and starts the agent again, which repeats its requests from the
// record; what it does not have cannot be changed.
#[tokio::test]
async fn a_branch_at_a_request_reuses_what_came_before() {
    let world = World::new().await;
    let job = world.queue().await;
    completed(&run(&world.app.services, &job).await.expect("claims"));
    let cut = |model: Option<&str>| BranchRequest {
        agent: None,
        date: day(1),
        at: Some("external#1/turn#3".to_owned()),
        model: model.map(str::to_owned),
        instructions: None,
        sampling: None,
    };
    let Err(ServiceError::Invalid { field, .. }) = branch(&world.app, &job, cut(Some("a::b"))).await else {
        panic!("an external agent has no model to change")
    };
    assert_eq!(field, "model");
    let branched = branch(&world.app, &job, cut(None)).await.expect("branches").job;
    completed(&run(&world.app.services, &branched).await.expect("claims"));
    let steps = steps(&world.app.store, &branched, "mine", day(1)).await;
    let turns = steps.iter().filter(|step| step.path.kind() == "turn");
    let reused: Vec<bool> = turns.map(|step| step.reused_from.is_some()).collect();
    assert_eq!(reused, [true, true, false, false]);
    assert_eq!(world.forwarded(), 6 + 2, "the first call of the day came before the cut");
    let earlier = crate::crash_support::steps(&world.app.store, &branched, "mine", day(0)).await;
    assert!(earlier.iter().filter(|step| step.attempts > 0).count() == 0, "an earlier day is copied whole");
    assert_eq!(earlier.iter().filter(|step| step.path.kind() == "model").count(), 3);
    assert_eq!(world.app.store.verify_chain(&branched).await.expect("verifies").broken, None);
    assert_eq!(world.desk.server.count(), 0);
}

// Goal: an agent that takes another course after its process died is named with the first difference, and none of its
// orders is placed twice.
#[tokio::test]
async fn another_course_after_a_kill_is_named() {
    let mut world = World::new().await;
    let life = Arc::new(AtomicUsize::new(0));
    let bought: Arc<Mutex<Vec<Value>>> = Arc::default();
    let (lives, heard) = (Arc::clone(&life), Arc::clone(&bought));
    world.app.services.external = Arc::new(ScriptedAgents::new("mine", move |_, door| {
        let (life, heard) = (lives.fetch_add(1, Ordering::SeqCst), Arc::clone(&heard));
        async move {
            let symbol = if life == 0 { "AAPL" } else { "IBM" };
            door.ask(read("get_price", json!({ "symbol": symbol }))).await;
            let reply = door.ask(order("buy", json!({ "symbol": "AAPL", "quantity": 2 }))).await;
            heard.lock().expect("a lock").push(json!(reply));
            door.ask(done("done", None)).await;
            None
        }
        .boxed()
    }));
    let job = trigger(&world.app, Request { end_date: Some(day(0)), ..request() }).await.expect("queues").job;
    // After the intents of three turns: the outcome of the last is lost.
    world.run_until(&job, 3).await;
    let store = &world.app.store;
    assert!(store.requeue(&job).await.expect("requeues"));
    completed(&run(&world.app.services, &job).await.expect("claims"));
    assert_eq!(life.load(Ordering::SeqCst), 2);
    let bought = bought.lock().expect("a lock").clone();
    assert_eq!(bought.len(), 2);
    assert_eq!(bought[0], bought[1], "the stored reply");
    let lines = export(store, &job).await;
    assert!(lines.contains("external_nondeterministic"), "{lines}");
    assert!(lines.contains("/arguments/symbol: the record has"), "{lines}");
    let orders = steps(store, &job, "mine", day(0)).await;
    assert_eq!(orders.iter().filter(|step| step.path.kind() == "order").count(), 1);
}
