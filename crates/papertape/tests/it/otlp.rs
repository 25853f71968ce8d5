//! Spans: what they contain, and that a receiver gets each despite errors and restarts.

use crate::api_support::{MODELS, World, week};
use crate::assistant_support::Desk;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use papertape_agents::config::AgentConfig;
use papertape_core::id::{AgentName, JobId};
use papertape_integrations::metrics::Metrics;
use papertape_integrations::otlp::{start, write_job};
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_service::app::App;
use papertape_service::trigger::Request as Simulation;
use papertape_testkit::clock::FakeClock;
use papertape_testkit::model_server::{ModelServer, ScriptedAnswer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A receiver that responds as scripted, and otherwise accepts everything.
#[derive(Clone)]
pub(crate) struct Receiver(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    answers: Mutex<VecDeque<(u16, &'static str, &'static str)>>,
    requests: Mutex<Vec<(HeaderMap, Value)>>,
    count: watch::Sender<usize>,
    pub(crate) url: String,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let shared = Shared {
            answers: Mutex::default(),
            requests: Mutex::default(),
            count: watch::Sender::new(0),
            url,
        };
        let receiver = Self(Arc::new(shared));
        let router = Router::new().route("/v1/traces", post(receive)).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        receiver
    }

    fn answer(&self, status: u16, retry_after: &'static str, body: &'static str) {
        self.0.answers.lock().expect("whole").push_back((status, retry_after, body));
    }

    /// The bodies of the first `count` requests, once there are that many.
    pub(crate) async fn requests(&self, count: usize) -> Vec<Value> {
        self.0.count.subscribe().wait_for(|came| *came >= count).await.expect("it lives");
        self.0.requests.lock().expect("whole").iter().map(|(_, body)| body.clone()).collect()
    }
}

async fn receive(State(Receiver(shared)): State<Receiver>, headers: HeaderMap, body: String) -> Response {
    let body = serde_json::from_str(&body).expect("JSON");
    shared.requests.lock().expect("whole").push((headers, body));
    let answer = shared.answers.lock().expect("whole").pop_front();
    shared.count.send_modify(|count| *count += 1);
    let (status, retry_after, body) = answer.unwrap_or((200, "", "{}"));
    let status = StatusCode::from_u16(status).expect("a status");
    if retry_after.is_empty() {
        (status, body).into_response()
    } else {
        (status, [("retry-after", retry_after)], body).into_response()
    }
}

/// The world with counters that a test can read.
fn counted(mut world: World) -> (World, Arc<Metrics>) {
    let metrics = Arc::<Metrics>::default();
    world.app.telemetry = Arc::clone(&metrics) as _;
    world.router = papertape_api::router(world.app.clone());
    (world, metrics)
}

/// An exporter whose time is driven by hand.
struct Exporter {
    clock: FakeClock,
    stopper: CancelSource,
    running: JoinHandle<()>,
}

impl Exporter {
    /// Starts one, and waits for its first round.
    async fn start(world: &World, metrics: &Arc<Metrics>, receiver: &Receiver) -> Self {
        let (clock, stopper) = (FakeClock::new(), CancelSource::default());
        let mut app = world.app.clone();
        let mut config = (*app.config).clone();
        config.otlp.endpoint = Some(receiver.0.url.clone());
        app.config = Arc::new(config);
        app.services.clock = Arc::new(clock.clone());
        let running = start(&app, Arc::clone(metrics), stopper.signal())
            .expect("it can be used")
            .expect("it is configured");
        let exporter = Self { clock, stopper, running };
        exporter.rests().await;
        exporter
    }

    /// Waits until it has done what it can, and pauses.
    async fn rests(&self) {
        while !self.clock.has_sleepers() {
            tokio::task::yield_now().await;
        }
    }

    /// Lets its pause pass, and waits for the next one. Returns the length of the pause.
    async fn round(&self) -> Duration {
        let before = self.clock.elapsed();
        assert!(self.clock.advance_to_next(), "it rests");
        let pause = self.clock.elapsed() - before;
        self.rests().await;
        pause
    }

    async fn stop(self) {
        self.stopper.stop(StopReason::Shutdown);
        self.running.await.expect("no panic");
    }
}

fn spans(requests: &[Value]) -> Vec<Value> {
    let of = |request: &Value| request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned();
    requests.iter().flat_map(|request| of(request).expect("spans")).collect()
}

/// A span's attributes as plain values.
fn attributes(span: &Value) -> BTreeMap<String, Value> {
    let pair = |attribute: &Value| {
        let value = attribute["value"].as_object().expect("a value").values().next().expect("one").clone();
        (attribute["key"].as_str().expect("a key").to_owned(), value)
    };
    span["attributes"].as_array().expect("attributes").iter().map(pair).collect()
}

fn ids(spans: &[Value]) -> Vec<(String, String)> {
    let id = |span: &Value, key: &str| span[key].as_str().expect("an id").to_owned();
    spans.iter().map(|span| (id(span, "traceId"), id(span, "spanId"))).collect()
}

/// A job's spans, as the command writes them.
async fn exported(app: &App, job: &str) -> Vec<Value> {
    let mut lines = Vec::new();
    let sessions = write_job(app, &JobId::new(job), &mut lines).await.expect("exports");
    let lines = String::from_utf8(lines).expect("text");
    assert_eq!(lines.lines().count(), sessions);
    let requests: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    spans(&requests)
}

fn request(model: &str) -> Simulation {
    Simulation { models: vec![model.to_owned()], replace_existing: true, ..week() }
}

/// Goal: a session is a tree of spans whose names and values follow the conventions and the database.
#[tokio::test]
async fn a_session_is_a_tree_of_spans() {
    let world = World::new().await;
    let all = exported(&world.app, &world.job).await;
    let unique: BTreeSet<_> = ids(&all).into_iter().collect();
    assert_eq!(unique.len(), all.len(), "every span has an id of its own");
    let traces: BTreeSet<&str> = all.iter().filter_map(|span| span["traceId"].as_str()).collect();
    assert_eq!(traces.len(), 10, "a trace a session");
    let mut tokens = (0, 0);
    for span in &all {
        let trace = span["traceId"].as_str().expect("an id");
        assert_eq!((trace.len(), span["spanId"].as_str().map(str::len)), (32, Some(16)));
        let nanos = |key: &str| span[key].as_str().expect("a text").parse::<i64>().expect("a number");
        assert!(nanos("startTimeUnixNano") > 0 && nanos("endTimeUnixNano") >= nanos("startTimeUnixNano"));
        let name = span["name"].as_str().expect("a name");
        let said = attributes(span);
        match span["parentSpanId"].as_str().expect("a text") {
            "" => assert!(name.starts_with("invoke_agent "), "{name}"),
            parent => {
                assert!(unique.contains(&(trace.to_owned(), parent.to_owned())), "{name} has no parent");
            }
        }
        if let Some(model) = name.strip_prefix("chat ") {
            assert_eq!((&said["gen_ai.operation.name"], &span["kind"]), (&json!("chat"), &json!(3)));
            assert_eq!(
                (&said["gen_ai.request.model"], &said["gen_ai.provider.name"]),
                (&json!(model), &json!("house"))
            );
            let number = |key: &str| said[key].as_str().expect("a text").parse::<i64>().expect("a number");
            tokens.0 += number("gen_ai.usage.input_tokens");
            tokens.1 += number("gen_ai.usage.output_tokens");
        }
        if let Some(tool) = name.strip_prefix("execute_tool ") {
            assert_eq!(
                (&said["gen_ai.tool.name"], &said["gen_ai.operation.name"]),
                (&json!(tool), &json!("execute_tool"))
            );
        }
        assert!(
            said.values().all(|value| value.as_str().is_none_or(|text| text.len() < 200)),
            "no texts: {said:?}"
        );
    }
    let roots: Vec<BTreeMap<String, Value>> =
        all.iter().filter(|span| span["parentSpanId"] == "").map(attributes).collect();
    assert!(roots.iter().all(|root| root["gen_ai.provider.name"] == "house"), "{roots:?}");
    let sum = |key: &str| -> i64 {
        roots.iter().map(|root| root[key].as_str().expect("text").parse::<i64>().expect("a number")).sum()
    };
    assert_eq!(
        tokens,
        (sum("gen_ai.usage.input_tokens"), sum("gen_ai.usage.output_tokens")),
        "the parts make the whole"
    );
    let agents: BTreeSet<&str> = roots.iter().filter_map(|root| root["gen_ai.agent.name"].as_str()).collect();
    assert_eq!(agents, MODELS.into_iter().collect());
    let names: BTreeSet<&str> = all.iter().filter_map(|span| span["name"].as_str()).collect();
    for name in ["solo", "chat momentum", "execute_tool get_portfolio", "execute_tool buy", "order buy IBM"] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    assert_eq!(exported(&world.app, &world.job).await, all, "the same record, the same spans");
}

/// Buys more than it can pay for on the first day; on the second its provider rejects the call.
fn in_trouble(body: &Value) -> ScriptedAnswer {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said = |role: &'static str| messages.iter().filter(move |message| message["role"] == role);
    let is_day = |date: &str| said("user").any(|message| message["content"].to_string().contains(date));
    match said("tool").count() {
        _ if is_day("2012-10-02") => ScriptedAnswer::error(400, "no"),
        0 if is_day("2012-10-01") => {
            ScriptedAnswer::call("1", "buy", r#"{"symbol": "AAPL", "quantity": 100000}"#)
        }
        _ => ScriptedAnswer::text("Done. <FINISH_SIGNAL>"),
    }
}

/// Goal: errors are in `error.type` with the code that the database uses: a rejected order's on the order and
/// on the tool that placed it, a failed call's on the call and on the session that failed because of it.
#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_records_codes() {
    let server = ModelServer::answering(in_trouble).await;
    let desk = Desk::scripted(&server, |config| config.simulation.summaries = false).await;
    let agent = AgentConfig::solo(AgentName::new("trader"), "test::one".parse().expect("a model"));
    let body = json!({ "start_date": "2012-10-01", "end_date": "2012-10-02", "agents": [agent],
        "symbols": ["AAPL"], "memory": "off" });
    let queued = desk.world.post("/simulate/trigger", &body).await;
    let job = queued.json()["job_id"].as_str().expect("a job").to_owned();
    desk.ended(&job).await;
    let all = exported(&desk.world.app, &job).await;
    let mut told: Vec<(&str, String)> = Vec::new();
    for span in all.iter().filter(|span| span["status"]["code"] == 2) {
        let said = attributes(span);
        told.push((
            span["name"].as_str().expect("a name"),
            said["error.type"].as_str().expect("a code").to_owned(),
        ));
    }
    for expected in [
        ("execute_tool buy", "insufficient_cash"),
        ("order buy AAPL", "insufficient_cash"),
        ("chat one", "bad_request"),
        ("invoke_agent trader", "bad_request"),
    ] {
        assert!(told.iter().any(|(name, code)| (*name, code.as_str()) == expected), "{expected:?}: {told:?}");
    }
    assert_eq!(told.len(), 4, "and nothing else went wrong: {told:?}");
    desk.stop().await;
}

/// Goal: the turns of one conversation have the conversation's ID, also on their calls; every other session
/// is its own conversation; one agent has one ID on all its days.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_has_one_id() {
    let desk = Desk::new(|_| {}).await;
    let first = desk.say(None, "help").await;
    let chat = first["session_id"].as_str().expect("a session");
    let second = desk.say(Some(chat), "list plans").await;
    let mut sessions = BTreeSet::new();
    for turn in [&first, &second] {
        let job = turn["metadata"]["job_id"].as_str().expect("a job");
        let spans = exported(&desk.world.app, job).await;
        let talks = |span: &&Value| {
            let name = span["name"].as_str().expect("a name");
            name.starts_with("invoke_agent ") || name.starts_with("chat ")
        };
        let ids: Vec<Value> = spans
            .iter()
            .filter(talks)
            .map(|span| attributes(span)["gen_ai.conversation.id"].clone())
            .collect();
        assert!(ids.len() > 1 && ids.iter().all(|id| id == chat), "{ids:?}");
        sessions.insert(spans[0]["traceId"].as_str().expect("an id").to_owned());
        let said = attributes(&spans[0]);
        assert_eq!(
            (&said["gen_ai.agent.name"], &said["gen_ai.agent.id"]),
            (&json!("assistant"), &json!("assistant"))
        );
    }
    assert_eq!(sessions.len(), 2, "each turn is a trace of its own");
    desk.stop().await;

    let world = World::new().await;
    let all = exported(&world.app, &world.job).await;
    let roots = all.iter().filter(|span| span["parentSpanId"] == "").map(attributes);
    let (mut talks, mut agents) = (BTreeSet::new(), BTreeMap::new());
    for said in roots {
        assert_eq!(said["gen_ai.operation.name"], "invoke_agent");
        assert!(said.contains_key("gen_ai.request.model") && said.contains_key("gen_ai.usage.output_tokens"));
        talks.insert(said["gen_ai.conversation.id"].to_string());
        let ids: &mut BTreeSet<_> = agents.entry(said["gen_ai.agent.name"].to_string()).or_default();
        ids.insert(said["gen_ai.agent.id"].to_string());
    }
    assert_eq!((talks.len(), agents.len()), (10, 2));
    assert!(agents.values().all(|ids| ids.len() == 1), "{agents:?}");
    let ids: BTreeSet<_> = agents.values().flatten().collect();
    assert_eq!(ids.len(), 2, "and each its own");
    let mut lines = Vec::new();
    write_job(&world.app, &JobId::new(&world.job), &mut lines).await.expect("exports");
    let line: Value =
        serde_json::from_slice(lines.split(|byte| *byte == b'\n').next().expect("one")).expect("JSON");
    let resource = &line["resourceSpans"][0];
    let schemas = [&resource["schemaUrl"], &resource["scopeSpans"][0]["schemaUrl"]];
    assert!(schemas.iter().all(|url| **url == "https://opentelemetry.io/schemas/1.41.0"), "{schemas:?}");
}

/// Goal: sessions that end are exported once: a receiver that fails gets them again, and later ones wait for
/// it; a restarted exporter continues where the previous one stopped.
#[tokio::test]
async fn errors_are_retried_and_a_restart_goes_on() {
    let (world, metrics) = counted(World::new().await);
    let receiver = Receiver::start().await;
    let first = Exporter::start(&world, &metrics, &receiver).await;
    assert_eq!(receiver.requests(0).await.len(), 0, "what ended before the first start is not told");

    let job = world.run(request("house::momentum")).await;
    receiver.answer(503, "7", "");
    receiver.answer(500, "", "");
    assert_eq!(first.round().await, Duration::from_secs(5));
    assert_eq!(first.round().await, Duration::from_secs(7), "as the receiver asks");
    let requests = receiver.requests(2).await;
    assert_eq!(requests[0], requests[1], "the same spans once more");
    assert_eq!((metrics.otlp_retries.get(), metrics.otlp_spans_sent.get()), (1, 0));
    let all = exported(&world.app, &job).await;
    assert_eq!(metrics.otlp_spans_rejected.get(), all.len() as u64, "500 is final, by the protocol");
    first.stop().await;

    // Nobody listens while another job ends.
    let second = world.run(request("house::contrarian")).await;
    receiver.answer(502, "", "");
    receiver.answer(429, "", "");
    receiver.answer(504, "", "");
    let exporter = Exporter::start(&world, &metrics, &receiver).await;
    let pauses = [exporter.round().await, exporter.round().await, exporter.round().await];
    assert_eq!(pauses.map(|pause| pause.as_secs()), [1, 2, 4]);
    let requests = receiver.requests(6).await;
    let expected: BTreeSet<_> = ids(&exported(&world.app, &second).await).into_iter().collect();
    let got: BTreeSet<_> = ids(&spans(&requests[5..])).into_iter().collect();
    assert_eq!(got, expected, "the further job's, and no others");
    assert_eq!(metrics.otlp_spans_sent.get(), expected.len() as u64);
    exporter.round().await;
    assert_eq!(receiver.requests(6).await.len(), 6, "nothing is sent twice");
    let answer = metrics.otlp_retries.get();
    assert_eq!(answer, 4);
    exporter.stop().await;
}

/// Goal: only what the protocol names is retried. A receiver that denies access, or does not exist at that
/// address, has rejected permanently: that is counted by its status, and later spans do not wait for it.
#[tokio::test]
async fn a_refusal_is_final_and_counted() {
    let (world, metrics) = counted(World::empty().await);
    let receiver = Receiver::start().await;
    let exporter = Exporter::start(&world, &metrics, &receiver).await;
    let models = ["house::momentum", "house::contrarian", "house::buy_and_hold"];
    let mut refused = 0;
    for (count, (status, model)) in [401, 403, 404].into_iter().zip(models).enumerate() {
        receiver.answer(status, "3", "no");
        let job = world.run(request(model)).await;
        refused += exported(&world.app, &job).await.len() as u64;
        assert_eq!(exporter.round().await, Duration::from_secs(5), "{status}: it asks for no pause");
        assert_eq!(receiver.requests(count + 1).await.len(), count + 1, "{status}: it is sent once");
    }
    assert_eq!((metrics.otlp_spans_rejected.get(), metrics.otlp_retries.get()), (refused, 0));
    let text = world.get("/metrics").await.text;
    for status in [401, 403, 404] {
        let line = format!("papertape_otlp_rejections_total{{status=\"{status}\"}} 1\n");
        assert!(text.contains(&line), "{text}");
    }
    exporter.stop().await;
}

/// Goal: a server that dies after the receiver has accepted spans, but before that was saved, sends the same
/// ones again.
#[tokio::test]
async fn what_is_sent_twice_is_the_same() {
    let (world, metrics) = counted(World::empty().await);
    let receiver = Receiver::start().await;
    let first = Exporter::start(&world, &metrics, &receiver).await;
    let file = world.app.config.data_dir.join("otlp.json");
    let noted = std::fs::read(&file).expect("is kept");
    let job = world.run(request("house::momentum")).await;
    receiver.answer(200, "", r#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#);
    first.round().await;
    first.stop().await;
    assert_eq!(metrics.otlp_spans_rejected.get(), 2);
    std::fs::write(&file, noted).expect("as it was before");
    let second = Exporter::start(&world, &metrics, &receiver).await;
    let requests = receiver.requests(2).await;
    assert_eq!(requests[0], requests[1]);
    assert_eq!(ids(&spans(&requests[..1])), ids(&exported(&world.app, &job).await));
    second.stop().await;
}
