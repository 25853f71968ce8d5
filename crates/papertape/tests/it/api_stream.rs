//! The live stream: real clients over real connections, while the database changes.

use crate::api_support::{World, config, week};
use futures::StreamExt as _;
use papertape_core::id::JobId;
use papertape_core::ports::Queue as _;
use papertape_runtime::cancellation::{CancelSource, StopReason};
use papertape_runtime::simulate::NoopObserver;
use papertape_service::app::{Access, App};
use papertape_service::streams::StreamReader;
use papertape_service::trigger::{Request as Simulation, trigger};
use papertape_store::{DatabaseTarget, Store};
use papertape_testkit::clock::FakeClock;
use serde_json::Value;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// An event as a client reads it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Got {
    pub(crate) name: String,
    pub(crate) id: i64,
    pub(crate) data: Value,
}

/// A client's open stream.
pub(crate) struct Client {
    body: futures::stream::BoxStream<'static, reqwest::Result<Vec<u8>>>,
    text: String,
}

impl Client {
    pub(crate) async fn open(url: &str, job: &str, after: Option<i64>) -> Self {
        let answer = ask(url, job, after).await;
        assert_eq!(answer.status(), 200);
        Self {
            body: answer.bytes_stream().map(|piece| piece.map(|piece| piece.to_vec())).boxed(),
            text: String::new(),
        }
    }

    /// The next event; `None` once the server has closed the stream. Comments are skipped.
    pub(crate) async fn next(&mut self) -> Option<Got> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(got) = parse(&event) {
                    return Some(got);
                }
            }
            // To a client, a dropped connection is a stream that has ended.
            let piece = self.body.next().await?.ok()?;
            self.text.push_str(&String::from_utf8(piece).expect("whole characters"));
        }
    }

    pub(crate) async fn rest(mut self) -> Vec<Got> {
        let mut all = Vec::new();
        while let Some(got) = self.next().await {
            all.push(got);
        }
        all
    }
}

pub(crate) async fn ask(url: &str, job: &str, after: Option<i64>) -> reqwest::Response {
    let request = reqwest::Client::new().get(format!("{url}/jobs/{job}/stream"));
    let request = match after {
        Some(after) => request.header("Last-Event-ID", after.to_string()),
        None => request,
    };
    request.send().await.expect("an answer")
}

fn parse(event: &str) -> Option<Got> {
    let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name).map(str::trim_start));
    Some(Got {
        name: field("event:")?.to_owned(),
        id: field("id:")?.parse().expect("a number"),
        data: serde_json::from_str(field("data:")?).expect("JSON"),
    })
}

/// A server on its own port.
pub(crate) struct Server {
    pub(crate) url: String,
    stopper: CancelSource,
    serving: JoinHandle<anyhow::Result<()>>,
}

impl Server {
    pub(crate) async fn start(app: App) -> Self {
        // The product's commands set up TLS; a client here needs it too.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let stopper = CancelSource::default();
        let serving = tokio::spawn(papertape_api::serve(app, listener, stopper.signal()));
        Self { url, stopper, serving }
    }

    /// Stops it. Open streams must not block this: otherwise it never returns.
    pub(crate) async fn stop(mut self) {
        self.stop_now().await;
    }

    /// Stops it, so that another server can take its place.
    pub(crate) async fn stop_now(&mut self) {
        self.stopper.stop(StopReason::Shutdown);
        (&mut self.serving).await.expect("it does not panic").expect("it ends well");
    }
}

/// All events of a job from the first on, for a new client.
pub(crate) async fn whole(url: &str, job: &str) -> Vec<Got> {
    Client::open(url, job, Some(0)).await.rest().await
}

/// Compares events, ignoring the job's state when they were sent.
fn same(left: &[Got], right: &[Got]) {
    let plain = |all: &[Got]| -> Vec<(String, i64, Value)> {
        all.iter().map(|got| (got.name.clone(), got.id, got.data["event"].clone())).collect()
    };
    assert_eq!(plain(left), plain(right));
}

/// Goal: a finished job is a snapshot and its end; read from the beginning, the stream contains all its
/// events, in order and without gaps; and the response's headers keep proxies from buffering it.
#[tokio::test]
async fn a_finished_job_is_told_and_closed() {
    let world = World::new().await;
    let server = Server::start(world.app.clone()).await;
    let answer = ask(&server.url, &world.job, None).await;
    assert_eq!(answer.headers()["cache-control"], "no-cache, no-transform");
    assert_eq!(answer.headers()["x-accel-buffering"], "no");
    assert_eq!(answer.headers()["connection"], "keep-alive");
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let brief = Client::open(&server.url, &world.job, None).await.rest().await;
    let names: Vec<&str> = brief.iter().map(|got| got.name.as_str()).collect();
    assert_eq!(names, ["snapshot", "end"]);
    assert_eq!(brief[0].data["job"]["status"], "completed");
    assert_eq!(brief[1].data["event"]["status"], "completed");
    assert_eq!(brief[1].id, brief[0].id + 1);

    let all = whole(&server.url, &world.job).await;
    let kept = world.app.store.events(&JobId::new(&world.job), 0, 1000).await.expect("reads");
    let kept: Vec<(i64, String, Value)> = kept.into_iter().map(|one| (one.n, one.kind, one.data)).collect();
    let told: Vec<(i64, String, Value)> =
        all.iter().take(1000).map(|got| (got.id, got.name.clone(), got.data["event"].clone())).collect();
    assert_eq!(told, kept);
    assert!(all.iter().zip(1..).all(|(got, n)| got.id == n && got.data["cursor"] == n), "no gaps");
    for name in ["job", "progress", "message", "order", "end"] {
        assert!(all.iter().any(|got| got.name == name), "{name}");
    }
    drop(answer);
    server.stop().await;
}

/// Goal: a client that reconnects at any event gets the rest, without duplicates or losses; a client that has
/// the end learns that there is nothing more.
#[tokio::test]
async fn reconnecting_loses_and_repeats_nothing() {
    let world = World::empty().await;
    let job = world.run(Simulation { models: vec!["house::momentum".to_owned()], ..week() }).await;
    let server = Server::start(world.app.clone()).await;
    let all = whole(&server.url, &job).await;
    let last = all.last().expect("events").id;
    for got in &all[..all.len() - 1] {
        let rest = Client::open(&server.url, &job, Some(got.id)).await.rest().await;
        same(&rest, &all[usize::try_from(got.id).expect("from 1")..]);
    }
    assert_eq!(ask(&server.url, &job, Some(last)).await.status(), 204);
    server.stop().await;
}

/// Goal: a client that follows a running job receives everything as it is committed, even across a server restart.
#[tokio::test]
async fn a_running_job_is_told_as_it_goes_on() {
    let world = World::empty().await;
    let first = Server::start(world.app.clone()).await;
    let queued = trigger(&world.app, week()).await.expect("it is queued");
    let job = queued.job.to_string();
    let mut client = Client::open(&first.url, &job, Some(0)).await;
    let mut heard = vec![client.next().await.expect("that it is queued")];
    let app = world.app.clone();
    let working = tokio::spawn(async move {
        app.worker.run_job(&queued.job, &CancelSource::default().signal(), &NoopObserver).await
    });
    while heard.len() < 40 {
        heard.push(client.next().await.expect("more"));
    }
    first.stop().await;
    // Events sent before the shutdown arrive; then the stream ends.
    heard.extend(client.rest().await);
    let mut restarted = world.app.clone();
    restarted.streams = Arc::default();
    let second = Server::start(restarted).await;
    let at = heard.last().expect("events").id;
    heard.extend(Client::open(&second.url, &job, Some(at)).await.rest().await);
    working.await.expect("no panic").expect("the record holds").expect("the job was free");
    assert_eq!(heard.last().expect("events").name, "end");
    same(&heard, &whole(&second.url, &job).await);
    second.stop().await;
}

/// Goal: a client that never reads blocks neither the job, nor other clients, nor the server's shutdown.
#[tokio::test]
async fn who_never_reads_holds_up_nobody() {
    let world = World::empty().await;
    let server = Server::start(world.app.clone()).await;
    let job = trigger(&world.app, week()).await.expect("it is queued").job.to_string();
    let mut dead = Vec::new();
    for _ in 0..8 {
        dead.push(ask(&server.url, &job, Some(0)).await);
    }
    world.work(&job).await;
    assert_eq!(whole(&server.url, &job).await.last().expect("events").name, "end");
    assert!(world.app.streams.count() <= dead.len(), "the reader's own is closed");
    server.stop().await;
}

/// Goal: invalid stream requests are rejected like all others, with the field named; and one client cannot
/// use up all connections.
#[tokio::test]
async fn bad_requests_are_refused() {
    let world = World::new().await;
    let mut app = world.app.clone();
    let mut limited = (*app.config).clone();
    limited.server.max_streams_per_client = 1;
    app.config = Arc::new(limited);
    let server = Server::start(app).await;
    let uri = |query: &str| format!("{}/jobs/{}/stream{query}", server.url, world.job);
    let get = async |url: String| reqwest::get(url).await.expect("an answer");
    let cases = [("?after=-1", "after"), ("?after=x", "after"), ("?other=1", "other")];
    for (query, field) in cases {
        let answer = get(uri(query)).await;
        assert_eq!(answer.status(), 400, "{query}");
        let body: Value = answer.json().await.expect("JSON");
        assert_eq!(body["error"], "invalid_input");
        assert!(body["message"].as_str().expect("text").contains(field), "{query}: {body}");
    }
    for text in ["abc", "", "1.5"] {
        let ask = reqwest::Client::new().get(uri("")).header("Last-Event-ID", text);
        assert_eq!(ask.send().await.expect("an answer").status(), 400, "{text:?}");
    }
    let missing = get(format!("{}/jobs/none/stream", server.url)).await;
    assert_eq!(missing.status(), 404);
    assert_eq!(missing.json::<Value>().await.expect("JSON")["error"], "not_found");

    let queued = trigger(&world.app, Simulation { replace_existing: true, ..week() }).await.expect("queued");
    let mut open = Client::open(&server.url, queued.job.as_str(), None).await;
    assert_eq!(open.next().await.expect("a snapshot").name, "snapshot");
    let refused = ask(&server.url, queued.job.as_str(), None).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.json::<Value>().await.expect("JSON")["error"], "too_many_streams");
    server.stop().await;
}

/// Goal: the end that a job reached earlier is not its end once it is resumed.
#[tokio::test]
async fn a_resumed_job_has_one_end() {
    let world = World::empty().await;
    let job = trigger(&world.app, week()).await.expect("it is queued").job;
    world.app.store.cancel(&job).await.expect("writes");
    let server = Server::start(world.app.clone()).await;
    assert_eq!(whole(&server.url, job.as_str()).await.last().expect("events").name, "end");
    assert!(world.app.store.requeue(&job).await.expect("writes"));
    world.work(job.as_str()).await;
    let all = whole(&server.url, job.as_str()).await;
    let ends: Vec<i64> = all.iter().filter(|got| got.name == "end").map(|got| got.id).collect();
    assert_eq!(ends, [all.last().expect("events").id]);
    server.stop().await;
}

/// Goal: a client with an event number beyond the job's newest, as after a restore from a backup, gets the
/// job's current state, what follows, and its end.
#[tokio::test]
async fn a_number_of_another_record_begins_anew() {
    let world = World::empty().await;
    let server = Server::start(world.app.clone()).await;
    let job = trigger(&world.app, week()).await.expect("it is queued").job.to_string();
    let mut client = Client::open(&server.url, &job, Some(99_999)).await;
    let first = client.next().await.expect("a snapshot");
    assert_eq!((first.name.as_str(), first.id), ("snapshot", 1), "where the job is");
    world.work(&job).await;
    let rest = client.rest().await;
    same(&rest, &whole(&server.url, &job).await[1..]);
    let late = Client::open(&server.url, &job, Some(99_999)).await.rest().await;
    let names: Vec<&str> = late.iter().map(|got| got.name.as_str()).collect();
    assert_eq!(names, ["snapshot", "end"]);
    let query = reqwest::get(format!("{}/jobs/{job}/stream?after=99999", server.url)).await;
    assert_eq!(query.expect("an answer").status(), 200);
    server.stop().await;
}

/// The chunks of text that a reader receives, to the end.
async fn pieces(mut reader: StreamReader) -> Vec<axum::body::Bytes> {
    let mut pieces = Vec::new();
    while let Some(piece) = reader.next().await {
        pieces.push(piece);
    }
    pieces
}

/// Goal: an event is read and rendered once, however many clients follow: they share the same bytes, not
/// equal ones, both of a running and of a finished job. Once they have left, nothing remains.
#[tokio::test]
async fn readers_of_a_job_share_the_work() {
    let world = World::empty().await;
    let job = trigger(&world.app, week()).await.expect("it is queued").job.to_string();
    let open = async |after: Option<i64>| {
        papertape_service::view::read_stream(
            &world.app,
            &job,
            after.map(|n: i64| papertape_core::part::EventPosition::from(n)),
        )
        .await
        .expect("reads")
        .expect("goes on")
    };
    let places = |pieces: &[axum::body::Bytes]| -> Vec<(*const u8, usize)> {
        // The first chunk is the reader's own.
        pieces[1..].iter().map(|piece| (piece.as_ptr(), piece.len())).collect()
    };
    let (one, other) = (open(Some(1)).await, open(Some(1)).await);
    assert_eq!(world.app.streams.jobs(), 1);
    world.work(&job).await;
    let (one, other) = futures::future::join(pieces(one), pieces(other)).await;
    assert!(one.len() > 1 && places(&one) == places(&other), "of a job that goes on");
    assert_eq!(world.app.streams.jobs(), 0, "nobody follows");

    let (one, other) = (open(Some(0)).await, open(Some(0)).await);
    let (one, other) = futures::future::join(pieces(one), pieces(other)).await;
    assert!(one.len() > 1 && places(&one) == places(&other), "of a job that is over");
    assert_eq!(world.app.streams.jobs(), 0, "nobody follows");
}

/// Goal: a client that has read a run to its end does not prevent others from following the next run.
#[tokio::test]
async fn a_resumed_job_is_followed_beside_who_has_its_first_end() {
    let world = World::empty().await;
    let job = trigger(&world.app, week()).await.expect("it is queued").job;
    world.app.store.cancel(&job).await.expect("writes");
    let open = async |after: Option<i64>| {
        papertape_service::view::read_stream(
            &world.app,
            job.as_str(),
            after.map(|n: i64| papertape_core::part::EventPosition::from(n)),
        )
        .await
        .expect("reads")
        .expect("there is something")
    };
    let (mut stays, mut told) = (open(Some(0)).await, String::new());
    while !told.contains("event: end") {
        let piece = stays.next().await.expect("up to the end");
        told.push_str(std::str::from_utf8(&piece).expect("a text"));
    }
    assert!(world.app.store.requeue(&job).await.expect("writes"));
    let next = open(None).await;
    world.work(job.as_str()).await;
    let text = pieces(next).await.concat();
    assert_eq!(String::from_utf8(text).expect("a text").matches("event: end").count(), 1);
    assert!(stays.next().await.is_none());
}

/// Goal: on PostgreSQL a stream is notified of other processes' commits. The clock never advances here, so
/// that only the notification can wake it.
#[tokio::test]
async fn postgres_a_stream_hears_of_other_processes() {
    let place = papertape_testkit::postgres::place().expect("PostgreSQL");
    let dir = tempfile::tempdir().expect("a directory");
    let open = async || {
        let store = Store::open(DatabaseTarget::Postgres(place.url.clone(), place.schema.clone()))
            .await
            .expect("opens");
        App::compose(config(&dir), store, papertape::integrations()).expect("it is composed")
    };
    let (mut watching, working) = (open().await, open().await);
    watching.services.clock = Arc::new(FakeClock::new());
    let server = Server::start(watching).await;
    let job = trigger(&working, week()).await.expect("it is queued").job;
    let mut client = Client::open(&server.url, job.as_str(), Some(0)).await;
    let first = client.next().await.expect("that it is queued");
    let ended = working.worker.run_job(&job, &CancelSource::default().signal(), &NoopObserver).await;
    ended.expect("the record holds").expect("the job was free");
    let rest = client.rest().await;
    assert_eq!((first.id, rest.last().expect("events").name.as_str()), (1, "end"));
    server.stop().await;
}

/// Goal: pages of another site may use the API if the site is configured, and only then.
#[tokio::test]
async fn other_sites_are_let_in_by_name_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = config(&dir);
    config.server.allowed_origins = vec!["https://desk.example".to_owned()];
    let app = App::open(config, Access::Own, papertape::integrations()).await.expect("it opens");
    let server = Server::start(app).await;
    for (origin, let_in) in [("https://desk.example", true), ("https://evil.example", false)] {
        let client = reqwest::Client::new();
        let read = client.get(format!("{}/health", server.url)).header("Origin", origin);
        let read = read.send().await.expect("an answer");
        let allowed =
            read.headers().get("access-control-allow-origin").map(|value| value.as_bytes().to_owned());
        assert_eq!(allowed, let_in.then(|| origin.as_bytes().to_owned()), "{origin}");
        let write = client.post(format!("{}/simulate/none/cancel", server.url)).header("Origin", origin);
        let status = write.send().await.expect("an answer").status();
        assert_eq!(status, if let_in { 404 } else { 403 }, "{origin}");
    }
    server.stop().await;
}
